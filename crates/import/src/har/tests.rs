use serde_json::{Value, json};

use super::*;
use crate::draft::Transaction;

fn entry(method: &str, url: &str, status: i64, mime: &str, time: &str) -> Value {
    json!({
        "startedDateTime": time, "time": 20,
        "request": {"method": method, "url": url, "headers": [
            {"name": ":authority", "value": "x"}, {"name": "Cookie", "value": "a=b"}, {"name": "Accept", "value": "*/*"},
            {"name": "sec-ch-ua", "value": "x"}], "queryString": [{"name": "wrong", "value": "1"}]},
        "response": {"status": status, "headers": [], "content": {"mimeType": mime, "text": "x"}}
    })
}

fn imported(entries: Vec<Value>) -> Draft {
    import(
        &json!({"log": {"entries": entries}}),
        &ImportOptions::default(),
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

/// A visit in the wrong order: two pages, a log-in that redirects, their resources, and requests to other sites.
fn visit() -> Vec<Value> {
    let shop = |method: &str, path: &str, status: i64, mime: &str, seconds: &str| {
        let url = format!("https://www.shop.example{path}");
        entry(method, &url, status, mime, &at(seconds))
    };
    let mut redirect = shop("POST", "/login", 302, "", "09.000");
    redirect["response"]["headers"] = json!([{"name": "Location", "value": "/account"}]);
    redirect["request"]["postData"] =
        json!({"mimeType": "application/x-www-form-urlencoded", "text": "user=a%20b&x=%3D"});
    let script = "https://static.shop.example/app.js?v=2";
    let tracker = "https://tracker.example/pixel";
    vec![
        shop("GET", "/account", 200, "text/html", "09.100"),
        shop("GET", "/?a=%20b", 200, "text/html", "00.000"),
        entry("GET", script, 200, "text/javascript", &at("00.100")),
        entry("GET", tracker, 200, "image/gif", &at("00.200")),
        entry("GET", "data:text/plain,x", 200, "", &at("00.300")),
        shop("GET", "/gone", 0, "", "00.400"),
        shop("GET", "/api/items", 200, "application/json", "00.500"),
        redirect,
    ]
}

/// A moment of the visit's first minute.
fn at(seconds: &str) -> String {
    format!("2026-01-01T10:00:{seconds}Z")
}

#[test]
fn only_the_sites_own_requests_are_left() {
    let draft = imported(visit());
    let labels = |one: &Transaction| -> Vec<String> {
        one.steps
            .iter()
            .map(|step| names::label(&step.request))
            .collect()
    };
    let shown: Vec<(Option<&str>, Vec<String>)> = draft
        .transactions
        .iter()
        .map(|one| (one.name.as_deref(), labels(one)))
        .collect();
    assert_eq!(
        shown,
        [
            (
                Some("GET /"),
                vec!["GET /".to_owned(), "GET /api/items".to_owned()]
            ),
            (Some("POST /login"), vec!["POST /login".to_owned()])
        ]
    );
    let steps: Vec<_> = draft.steps().collect();
    assert_eq!(steps[0].request.address.path.template(), "/?a=%20b");
    assert_eq!(
        steps[0].request.headers,
        [(PlanText::from("Accept"), PlanText::from("*/*"))]
    );
    assert_eq!(
        steps[2].request.body,
        RequestBody::Form(vec![
            ("user".into(), "a b".into()),
            ("x".into(), "=".into())
        ])
    );
    assert_eq!(steps[2].think_ms, 8480);
    assert_eq!(
        steps[2].response.as_ref().map(|response| response.status),
        Some(200)
    );
    assert_eq!(
        draft.left_out.values().sum::<usize>(),
        5,
        "{:?}",
        draft.left_out
    );
    assert!(
        draft
            .embedded
            .as_deref()
            .is_some_and(|hosts| hosts.contains("static\\.shop\\.example"))
    );
}

#[test]
fn a_har_may_lack_nearly_everything() {
    let draft = imported(vec![
        json!({"request": {"url": "http://h/1"}}),
        json!({"request": {"url": "http://h/2", "method": "post", "postData": {"text": "{}", "mimeType": null}}, "response": {}}),
        json!({"request": {}}),
        json!(5),
    ]);
    assert_eq!(draft.steps().count(), 2, "{:?}", draft.left_out);
    assert_eq!(draft.left_out.values().sum::<usize>(), 2);
    assert!(import(&json!({"log": {"entries": []}}), &ImportOptions::default()).is_err());
    assert!(
        import(
            &json!({"log": {"entries": [{"request": {"url": "data:,x"}}]}}),
            &ImportOptions::default()
        )
        .is_err()
    );
    assert!(import(&json!({"log": 5}), &ImportOptions::default()).is_err());
}

#[test]
fn multipart_bodies() {
    let text = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"C:\\\\x\\\\me.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--b--\r\n";
    let parts = body(
        &json!({"mimeType": "multipart/form-data; boundary=b", "text": text}),
        "",
    );
    assert_eq!(
        parts,
        RequestBody::Multipart(vec![
            FormPart::Field {
                name: "a".into(),
                value: "1".into(),
                mime: String::new()
            },
            FormPart::File {
                name: "f".into(),
                path: "me.png".into(),
                mime: "image/png".to_owned(),
                content: Some("PNG".to_owned()),
            },
        ])
    );
}
