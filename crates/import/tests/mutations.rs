//! Inputs of every format, damaged in thousands of ways: no importer panics, and a plan that comes out can be read again.

use std::path::Path;

use drumfire_import::correlate::correlate;
use drumfire_import::{FORMATS, Format, ImportOptions, import};
use drumfire_testkit::mutation::{Random, damaged, rounds};

const SEEDS: [(Format, &str); 7] = [
    (
        Format::Har,
        r#"{"log":{"pages":[{"id":"p","title":"Log in"}],"entries":[
{"startedDateTime":"2026-01-01T10:00:00.000Z","time":5,"pageref":"p","request":{"method":"GET","url":"https://h.example/login?x=%20"},
"response":{"status":200,"content":{"mimeType":"text/html","text":"<input type=hidden name=csrf value='f3a9c1d27b'>"}}},
{"startedDateTime":"2026-01-01T10:00:09.000Z","request":{"method":"POST","url":"https://h.example/login/f3a9c1d27b",
"postData":{"mimeType":"application/x-www-form-urlencoded","text":"csrf=f3a9c1d27b&user=ann"}},
"response":{"status":302,"headers":[{"name":"Location","value":"/a"}]}}]}}"#,
    ),
    (
        Format::Curl,
        "curl 'https://h.example/a?b=c' \\\n  -H \"A: b\" --data-raw $'{\"a\":\"\\u00e9\"}' -F 'f=@x;type=a/b' --next -u a:b h | jq .\ncurl ^\"http://h/^\"",
    ),
    (
        Format::PowerShell,
        "$session.UserAgent = \"M\"\nInvoke-WebRequest -Uri \"http://h/a?b=`$c\" `\n-Headers @{\n\"x\"=\"y\"\n} -Body \"{`\"a`\":$([char]233)}\"",
    ),
    (
        Format::OpenApi,
        r##"{"openapi":"3.0.0","servers":[{"url":"https://{r}.h/v1","variables":{"r":{"default":"eu"}}}],"paths":{"/p/{id}":{"parameters":[
{"name":"id","in":"path","schema":{"type":"string","minLength":3,"maxLength":5}}],"post":{"requestBody":{"content":{"application/json":
{"schema":{"$ref":"#/components/schemas/N"}}}},"responses":{"2XX":{}}}}},"components":{"schemas":{"N":{"allOf":[{"properties":
{"n":{"$ref":"#/components/schemas/N"},"u":{"type":"string","format":"uuid"}}}]}}}}"##,
    ),
    (
        Format::Postman,
        r#"{"item":[{"name":"f","auth":{"type":"basic","basic":[{"key":"username","value":"{{u}}"}]},"item":[{"name":"r","request":{"method":"POST",
"url":{"raw":"{{base}}/:id?x={{$guid}}","variable":[{"key":"id","value":"1"}]},"body":{"mode":"graphql","graphql":{"query":"{a}",
"variables":"{}"}}},"event":[{"listen":"test","script":{"exec":["pm.environment.set('a', pm.response.json().b);"]}}]}]}]}"#,
    ),
    (
        Format::GraphQl,
        "query A($id: ID!, $n: [Int!] = [1], $f: F!) { a(id: $id, t: \"\"\"x\"\"\") { ...B } }\nfragment B on C { d(e: \"\\\"\") } # f\nmutation { g }",
    ),
    (
        Format::AccessLog,
        "1.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?x=1 HTTP/1.0\" 200 1\n1.1.1.1 - - [31/Dec/9999:23:59:59 +1400] \"GET /b HTTP/1.0\" 200 1\n",
    ),
];

/// Pieces that are likely to matter somewhere.
const PIECES: [&str; 16] = [
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "${",
    "{{",
    "\0",
    "\u{1}",
    "%",
    "&",
    "://",
    "\n",
    "é",
    "[",
    "99999999999999999999",
];

#[test]
fn damaged_inputs_never_panic_and_plans_can_be_read() {
    /// More for a longer search: `MUTATIONS=1000000 cargo test -p drumfire-import --test mutations`.
    const USUAL: usize = 200;
    let mut random = Random::default();
    let mut plans = 0;
    for _ in 0..rounds(USUAL) {
        for (format, seed) in SEEDS {
            let content = damaged(seed.as_bytes(), &PIECES, &mut random);
            let format = match random.below(8) {
                0 => None,
                1 => Some(FORMATS[random.below(FORMATS.len())].0),
                _ => Some(format),
            };
            let options = ImportOptions {
                format,
                server: Some("http://h.example".to_owned()),
                ..ImportOptions::default()
            };
            let Ok(mut draft) = import(&[("input".to_owned(), content.clone())], &options) else {
                continue;
            };
            correlate(&mut draft, None, &[]);
            let plan = drumfire_jmx::write(&draft.tree("data.csv"));
            let read = drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx"));
            assert!(read.is_ok(), "{}", String::from_utf8_lossy(&content));
            plans += 1;
        }
    }
    assert!(plans > 100, "{plans}");
}
