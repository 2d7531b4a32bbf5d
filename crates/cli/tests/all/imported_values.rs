//! Values of a recording that a plan reads from its CSV file arrive as they were sent.

use std::time::Duration;

use drumfire_testkit::program::{Finished, Workshop};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(120);

/// A password with everything that a format might take for its own.
const PASSWORD: &str = "p\"w\\n,'${x}\u{e9}\n\t{}</a>&%41 \r\n;\\";

fn shop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

fn server() -> Server {
    Server::start(|_| vec![ResponseStep::Send(ok("{}"))])
}

fn succeeded(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

/// A request of a recording: its method, path, header fields and body.
type Recorded<'r> = (
    &'r str,
    &'r str,
    &'r [(&'r str, &'r str)],
    Option<(&'r str, String)>,
);

fn har(server: &Server, requests: &[Recorded<'_>]) -> String {
    let entries = requests.iter().map(|(method, path, headers, body)| {
        let fields = headers.iter().map(|(name, value)| json!({"name": name, "value": value}));
        let mut request = json!({"method": method, "url": server.url(path), "headers": fields.collect::<Vec<_>>()});
        if let Some((mime, text)) = body {
            request["postData"] = json!({"mimeType": mime, "text": text});
        }
        json!({"request": request, "response": {"status": 200, "content": {"mimeType": "application/json", "text": "{}"}}})
    });
    json!({"log": {"entries": entries.collect::<Vec<_>>()}}).to_string()
}

/// Imports the recording, runs the plan, and returns what the import printed and what the server got.
fn replayed(
    shop: &Workshop,
    server: &Server,
    har: &str,
    words: &[&str],
) -> (Finished, Vec<ReceivedRequest>) {
    shop.write("visit.har", har);
    let import = ["import", "visit.har", "-o", "visit.jmx", "--no-think-time"];
    let imported = shop.run(&[&import[..], words].concat(), LIMIT);
    succeeded(&imported);
    let run = shop.run(&["run", "visit.jmx", "--fail-on", "errors > 0"], LIMIT);
    succeeded(&run);
    (imported, server.requests())
}

fn form(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        let each = text.bytes().map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        });
        each.collect::<String>()
    };
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn json_body(request: &ReceivedRequest) -> Value {
    serde_json::from_slice(&request.body)
        .unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&request.body)))
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn passwords_arrive_in_json_and_in_forms() {
    let (server, shop) = (server(), shop());
    let login = json!({"user": "ann", "password": PASSWORD, "nested": [{"password": PASSWORD}]});
    let pretty = serde_json::to_string_pretty(&login).expect("JSON");
    let spaced = login.to_string().replace(':', " :\t").replace('{', "{ ");
    let in_form = form(&[("user", "ann"), ("password", PASSWORD)]);
    let har = har(
        &server,
        &[
            (
                "POST",
                "/json",
                &[("Content-Type", JSON)],
                Some((JSON, login.to_string())),
            ),
            (
                "POST",
                "/pretty",
                &[("Content-Type", JSON)],
                Some((JSON, pretty)),
            ),
            (
                "POST",
                "/spaced",
                &[("Content-Type", JSON)],
                Some((JSON, spaced.clone())),
            ),
            (
                "POST",
                "/form",
                &[("Content-Type", FORM)],
                Some((FORM, in_form.clone())),
            ),
        ],
    );
    let (imported, requests) = replayed(&shop, &server, &har, &[]);
    assert!(
        imported.out.contains("visit.csv: user, password"),
        "{}",
        imported.out
    );
    assert_eq!(json_body(&requests[0]), login);
    assert_eq!(json_body(&requests[1]), login);
    assert_eq!(
        json_body(&requests[2]),
        serde_json::from_str::<Value>(&spaced).expect("JSON")
    );
    let sent = String::from_utf8_lossy(&requests[3].body).replace('+', "%20");
    let plain = |text: &str| {
        text.replace("%2D", "-")
            .replace("%2E", ".")
            .replace("%5F", "_")
    };
    assert_eq!(plain(&sent), plain(&in_form));
    let plan = shop.read("visit.jmx");
    assert!(
        !plan.contains("p&quot;w") && !plan.contains("p%22w"),
        "{plan}"
    );
}

#[test]
fn a_document_is_no_typed_text_and_columns_have_readers() {
    let (server, shop) = (server(), shop());
    let document = "query Q($a: String) {\n  a(b: \"c\\\\d\") { e }\n}";
    let bodies = [
        json!({"query": document, "variables": {"a": "x"}}),
        json!({"query": "{ a { b } }"}),
        json!({"query": {"match": {"a": "b"}}, "search": "[1]"}),
    ];
    let post = |body: &Value| {
        (
            "POST",
            "/q",
            &[("Content-Type", JSON)][..],
            Some((JSON, body.to_string())),
        )
    };
    let mut visit: Vec<Recorded<'_>> = bodies.iter().map(post).collect();
    // The password of a text that is neither JSON nor a form is not found there again.
    visit.push((
        "POST",
        "/x",
        &[("Content-Type", "text/xml")],
        Some(("text/xml", "<password>x</password>".to_owned())),
    ));
    visit.push(("GET", "/s?query=%7Ba%7D&q=red%20shoes", &[], None));
    let (imported, requests) = replayed(&shop, &server, &har(&server, &visit), &[]);
    for (request, body) in requests.iter().zip(&bodies) {
        assert_eq!(&json_body(request), body);
    }
    assert!(
        requests[4].target.starts_with("/s?query=%7Ba%7D&q=red"),
        "{}",
        requests[4].target
    );
    let line = imported.out.lines().find(|line| line.contains("visit.csv"));
    assert!(
        line.is_some_and(|line| line.ends_with("visit.csv: q")),
        "{}",
        imported.out
    );
}

#[test]
fn equal_values_of_different_meaning_have_columns_of_their_own() {
    let (server, shop) = (server(), shop());
    let fields = form(&[("username", "admin"), ("password", "admin")]);
    let again = json!({"login": "admin", "pwd": "admin"}).to_string();
    let har = har(
        &server,
        &[
            (
                "POST",
                "/a",
                &[("Content-Type", FORM)],
                Some((FORM, fields)),
            ),
            ("POST", "/b", &[("Content-Type", JSON)], Some((JSON, again))),
        ],
    );
    let (_, requests) = replayed(&shop, &server, &har, &[]);
    assert_eq!(requests.len(), 2);
    assert_eq!(shop.read("visit.csv"), "username,password\nadmin,admin\n");
    shop.write("visit.csv", "username,password\nann,secret\n");
    succeeded(&shop.run(&["run", "visit.jmx", "--fail-on", "errors > 0"], LIMIT));
    let requests = server.requests();
    assert_eq!(requests[2].body, b"username=ann&password=secret");
    assert_eq!(
        json_body(&requests[3]),
        json!({"login": "ann", "pwd": "secret"})
    );
}

#[test]
fn an_api_with_equal_examples_has_a_column_for_each_meaning() {
    let (server, shop) = (server(), shop());
    let example = json!({"email": "string", "password": "string"});
    let operation = json!({"post": {"requestBody": {"content": {JSON: {"example": example}}}, "responses": {}}});
    let api = json!({"openapi": "3.0.0", "info": {"title": "t"}, "paths": {"/login": operation}});
    shop.write("api.json", api.to_string());
    let origin = server.url("");
    let words = ["import", "api.json", "-o", "api.jmx", "--server", &origin];
    succeeded(&shop.run(&words, LIMIT));
    assert_eq!(shop.read("api.csv"), "email,password\nstring,string\n");
    let plan = shop.read("api.jmx");
    assert!(
        plan.contains("${email}") && plan.contains("${password}"),
        "{plan}"
    );
}

#[test]
fn cookies_of_a_recording_that_begins_logged_in_are_told_and_offered() {
    let (server, shop) = (server(), shop());
    let cookies = ("Cookie", "session=s1=; _ga=GA1.2; lang=en");
    let visit: [Recorded<'_>; 2] = [
        ("GET", "/a", &[cookies], None),
        ("GET", "/b", &[cookies], None),
    ];
    let har = har(&server, &visit);
    let (imported, requests) = replayed(&shop, &server, &har, &[]);
    assert!(
        imported
            .err
            .contains("`session`, `lang`; record the log-in"),
        "{}",
        imported.err
    );
    assert!(
        requests
            .iter()
            .all(|request| request.header("cookie").is_none())
    );
    let (kept, requests) = replayed(&shop, &server, &har, &["--cookies", "--force"]);
    assert!(!kept.err.contains("no response set"), "{}", kept.err);
    assert_eq!(
        shop.read("visit.csv"),
        "cookie_session,cookie_lang\ns1=,en\n"
    );
    for request in &requests[2..] {
        let mut sent: Vec<&str> = request
            .header("cookie")
            .expect("cookies")
            .split("; ")
            .collect();
        sent.sort_unstable();
        assert_eq!(sent, ["lang=en", "session=s1="]);
    }
    assert_eq!(requests.len(), 4);
}
