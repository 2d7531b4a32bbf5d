//! A search in JSON text finds the same as a search in the parsed body.

use drumfire_query::json::Json;
use drumfire_query::jsonpath::JsonPath;
use fastrand::Rng;

const SCALARS: [&str; 12] = [
    "1",
    "-2.5e3",
    "true",
    "null",
    "\"x\"",
    "\"a \\\"b\\\" c\\u0041\"",
    "'q'",
    "word",
    "1.",
    "\"\"",
    "1234567890123456789012",
    "\"a long string, longer than eight bytes\"",
];
const KEYS: [&str; 5] = ["\"a\"", "\"b\"", "'a'", "b", "\"\\u0061\""];
const STRAY: [&str; 14] = [
    ",", ":", "{", "}", "[", "]", "\"", "'", "\\", "\u{1A}", " ", "x", "1", "\n",
];

fn value(numbers: &mut Rng, depth: usize, out: &mut String) {
    if numbers.usize(..60) == 0 {
        out.push_str(STRAY[numbers.usize(..STRAY.len())]);
    }
    let is_object = match numbers.usize(..if depth > 4 { 2 } else { 5 }) {
        0 | 1 => return out.push_str(SCALARS[numbers.usize(..SCALARS.len())]),
        kind => kind == 2,
    };
    out.push(if is_object { '{' } else { '[' });
    for index in 0..numbers.usize(..4) {
        out.push_str(if index > 0 {
            [",", " , "][numbers.usize(..2)]
        } else {
            ""
        });
        if is_object {
            let kinds = if numbers.usize(..8) > 0 {
                2
            } else {
                KEYS.len()
            };
            out.push_str(KEYS[numbers.usize(..kinds)]);
            out.push(':');
        }
        value(numbers, depth + 1, out);
    }
    out.push(if is_object { '}' } else { ']' });
}

#[test]
fn a_search_finds_what_the_parsed_body_holds() {
    let paths = [
        "$.a",
        "$.b",
        "$.a.b",
        "$[0]",
        "$[1].a",
        "$.b[0]",
        "$.a[1][0]",
    ];
    let paths = paths.map(|path| JsonPath::compile(path).expect("a path"));
    let mut numbers = Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    let (mut hits, mut faults) = (0, 0);
    for _ in 0..30_000 {
        let mut text = String::new();
        value(&mut numbers, 0, &mut text);
        let json = Json::parse(&text);
        faults += usize::from(json.is_err());
        for path in &paths {
            let Some(found) = path.find_in_text(&text) else {
                continue;
            };
            let json = json
                .as_ref()
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            let nodes = path.find(json).expect("it is found");
            let [node] = nodes.as_slice() else {
                panic!("{} of {path:?} in {text}", nodes.len());
            };
            assert_eq!(
                format!("{:?}", **node),
                format!("{found:?}"),
                "{path:?} in {text}"
            );
            hits += 1;
        }
    }
    assert!(hits > 5_000 && faults > 500, "{hits} hits, {faults} faults");
}
