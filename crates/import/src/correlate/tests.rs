use super::*;
use crate::draft::Transaction;
use crate::exchange::{Redirect, Request, RequestBody, Response};
use crate::url::Address;

pub fn step(method: &str, url: &str, body: RequestBody, response: &str, mime: &str) -> DraftStep {
    let mut request = Request::new(method, Address::parse(url).expect("an address"));
    request.body = body;
    let response = Response {
        status: 200,
        body: Some(response.to_owned()),
        mime: mime.to_owned(),
        ..Response::default()
    };
    DraftStep {
        request,
        response: Some(response),
        ..DraftStep::default()
    }
}

fn redirect(field: &str, value: &str) -> Redirect {
    Redirect {
        status: 302,
        headers: vec![(field.to_owned(), value.to_owned())],
    }
}

fn correlated(steps: Vec<DraftStep>) -> (Draft, Vec<Finding>) {
    let mut draft = Draft::new("t");
    draft.transactions.push(Transaction {
        steps,
        ..Transaction::default()
    });
    let findings = correlate(&mut draft, None, &[]);
    (draft, findings)
}

/// A page with a form, and the answer to it.
fn login(page: &str, form: RequestBody) -> Vec<DraftStep> {
    let url = "http://h/login";
    vec![
        step("GET", url, RequestBody::None, page, "text/html"),
        step("POST", url, form, "", "text/html"),
    ]
}

pub fn path(draft: &Draft, place: usize) -> String {
    draft
        .steps()
        .nth(place)
        .expect("a step")
        .request
        .address
        .path
        .template()
}

#[test]
fn a_hidden_field_comes_from_the_page() {
    let page = "<form><input type=hidden name=csrf value=\"f3a9c1d27b\"></form>";
    let form = vec![
        ("csrf".into(), "f3a9c1d27b".into()),
        ("user".into(), "ann".into()),
        ("password".into(), "secret".into()),
    ];
    let (draft, findings) = correlated(login(page, RequestBody::Form(form)));
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (findings[0].from, findings[0].used_in.as_slice()),
        (0, &[1][..])
    );
    let steps: Vec<&DraftStep> = draft.steps().collect();
    let css = ExtractorSource::Css {
        selector: "input[name=\"csrf\"][value]".to_owned(),
        attribute: "value".to_owned(),
        number: 1,
    };
    assert_eq!(
        steps[0].extractors,
        [Extractor {
            variable: "csrf".to_owned(),
            source: css
        }]
    );
    let RequestBody::Form(fields) = &steps[1].request.body else {
        panic!("a form")
    };
    let values: Vec<String> = fields.iter().map(|(_, value)| value.template()).collect();
    assert_eq!(values, ["${csrf}", "${user}", "${password}"]);
    assert_eq!(draft.data.names, ["user", "password"]);
    assert_eq!(draft.data.rows, [["ann", "secret"]]);
}

#[test]
fn identifiers_in_json_are_found_by_value_and_short_ones_by_name() {
    let json = r#"{"items":[{"cartId":7,"token":"eyJhbGciOi.J9x12"}],"page":3}"#;
    let body = RequestBody::Raw(r#"{"cart_id": 7, "page": 3, "quantity":7}"#.into());
    let mut pay = step("POST", "http://h/pay?page=3", body, "", "");
    pay.request
        .headers
        .push(("Authorization".into(), "Bearer eyJhbGciOi.J9x12".into()));
    let (draft, findings) = correlated(vec![
        step(
            "GET",
            "http://h/cart",
            RequestBody::None,
            json,
            "application/json",
        ),
        pay,
    ]);
    let names: Vec<&str> = findings.iter().map(|one| one.variable.as_str()).collect();
    assert_eq!(names, ["token", "cart_id"]);
    let steps: Vec<&DraftStep> = draft.steps().collect();
    assert_eq!(
        steps[0].extractors[0].source,
        ExtractorSource::Json("$.items[0].token".to_owned())
    );
    let RequestBody::Raw(body) = &steps[1].request.body else {
        panic!("a body")
    };
    assert_eq!(
        body.template(),
        r#"{"cart_id": ${cart_id}, "page": 3, "quantity":7}"#
    );
    assert_eq!(steps[1].request.headers[0].1.template(), "Bearer ${token}");
    assert_eq!(path(&draft, 1), "/pay?page=3");
}

#[test]
fn segments_of_paths_and_texts_in_scripts() {
    let page = "<script>var cart = 'c-8812ab90';</script>";
    let (draft, findings) = correlated(vec![
        step("GET", "http://h/", RequestBody::None, page, "text/html"),
        step(
            "GET",
            "http://h/carts/c-8812ab90/items?x=1",
            RequestBody::None,
            "",
            "",
        ),
    ]);
    assert_eq!(findings.len(), 1);
    assert_eq!(path(&draft, 1), "/carts/${cart_id}/items?x=1");
    let extractor = &draft.steps().next().expect("a step").extractors[0];
    assert!(
        matches!(&extractor.source, ExtractorSource::Boundary { right, .. } if right == "'"),
        "{extractor:?}"
    );
}

#[test]
fn a_redirect_gives_its_value_by_the_address() {
    let mut first = step(
        "POST",
        "http://h/start",
        RequestBody::None,
        "<p>",
        "text/html",
    );
    if let Some(response) = &mut first.response {
        response
            .hops
            .push(redirect("Location", "/order/a81f00c2b7/pay"));
    }
    let (draft, _) = correlated(vec![
        first,
        step(
            "POST",
            "http://h/order/a81f00c2b7/confirm",
            RequestBody::None,
            "",
            "",
        ),
    ]);
    assert_eq!(path(&draft, 1), "/order/${order_id}/confirm");
    let extractor = &draft.steps().next().expect("a step").extractors[0];
    assert_eq!(
        extractor.source,
        ExtractorSource::Address("/order/([^/?&#;]+)".to_owned())
    );
}

#[test]
fn values_that_the_client_makes_become_functions() {
    let id = "9f86d081-884c-4d65-9a2f-eaa0c55ad015";
    let (draft, findings) = correlated(vec![step(
        "GET",
        &format!("http://h/x?rid={id}&_=1763876543210&n=12"),
        RequestBody::None,
        "",
        "",
    )]);
    assert!(findings.is_empty());
    assert_eq!(path(&draft, 0), "/x?rid=${__UUID}&_=${__time()}&n=12");
}

/// A visit of a user: log-in, search, cart, order.
fn visit(user: &str, token: &str, cart: u32, product: &str) -> Draft {
    let page = format!(
        "<form><input type=hidden name=csrf value=\"{token}\"><i data-v=\"7c11ab90d2\"></i></form>"
    );
    let form = vec![
        ("csrf".into(), token.into()),
        ("nick".into(), user.into()),
        ("lang".into(), "en".into()),
        ("build".into(), "7c11ab90d2".into()),
    ];
    let cart_json = format!(r#"{{"cart":{{"id":{cart},"size":1}}}}"#);
    let order = RequestBody::Raw(format!(r#"{{"cart": {cart}, "user": "{user}"}}"#).into());
    let mut steps = login(&page, RequestBody::Form(form));
    steps.extend([
        step(
            "GET",
            &format!("http://h/product/{product}?ref=top"),
            RequestBody::None,
            "",
            "text/html",
        ),
        step(
            "POST",
            "http://h/cart",
            RequestBody::None,
            &cart_json,
            "application/json",
        ),
        step(
            "POST",
            &format!("http://h/cart/{cart}/order"),
            order,
            "",
            "",
        ),
    ]);
    let mut draft = Draft::new("t");
    draft.transactions.push(Transaction {
        steps,
        ..Transaction::default()
    });
    draft
}

#[test]
fn two_users_tell_data_from_constants_and_from_values_of_the_server() {
    let mut draft = visit("ann", "f3a9c1d27b", 7, "12");
    let other = visit("bob", "0c55e81f6a", 31, "4");
    let findings = correlate(&mut draft, Some(&other), &[]);
    let found: Vec<(&str, usize, &[usize], bool)> = findings
        .iter()
        .map(|one| {
            (
                one.variable.as_str(),
                one.from,
                one.used_in.as_slice(),
                one.is_confirmed,
            )
        })
        .collect();
    assert_eq!(
        found,
        [("csrf", 0, &[1][..], true), ("cart_id", 3, &[4], true)]
    );
    assert_eq!(draft.data.names, ["nick", "product_id", "user"]);
    assert_eq!(draft.data.rows, [["ann", "12", "ann"], ["bob", "4", "bob"]]);
    let RequestBody::Form(fields) = &draft.steps().nth(1).expect("a step").request.body else {
        panic!("a form")
    };
    let values: Vec<String> = fields.iter().map(|(_, value)| value.template()).collect();
    // The page contains the build, but it is the same for both users.
    assert_eq!(values, ["${csrf}", "${nick}", "en", "7c11ab90d2"]);
    assert_eq!(path(&draft, 2), "/product/${product_id}?ref=top");
    assert_eq!(path(&draft, 4), "/cart/${cart_id}/order");
    assert!(draft.warnings.is_empty());
}

#[test]
fn requests_of_one_user_alone_are_judged_by_one_recording() {
    let mut draft = visit("ann", "f3a9c1d27b", 7, "12");
    let mut other = visit("bob", "0c55e81f6a", 31, "4");
    other.transactions[0].steps.remove(1);
    assert_eq!(counterparts(&draft, &other), 4);
    let findings = correlate(&mut draft, Some(&other), &[]);
    assert_eq!(findings[0].variable, "csrf");
    assert!(!findings[0].is_confirmed);
    assert!(
        draft.warnings[0].contains("lacks 1 of 5 requests"),
        "{:?}",
        draft.warnings
    );
    assert!(
        draft
            .data
            .rows
            .iter()
            .all(|row| row.len() == draft.data.names.len())
    );
}

#[test]
fn values_that_a_response_writes_in_another_form_are_read_by_a_function() {
    let value = "k9/Xq+27abZ==";
    let seen = |headers: &[(&str, &str)], body: &str, mime: &str| {
        let mut first = step("GET", "http://h/", RequestBody::None, body, mime);
        let response = first.response.as_mut().expect("it has one");
        let own = headers.iter();
        response.headers = own
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let address = "http://h/next?t=k9%2FXq%2B27abZ%3D%3D";
        let mut next = step("GET", address, RequestBody::None, "", "");
        next.request.headers.push(("X-Token".into(), value.into()));
        let (draft, findings) = correlated(vec![first, next]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let steps: Vec<&DraftStep> = draft.steps().collect();
        let field = steps[1].request.headers[0].1.template();
        (
            steps[0].extractors[0].source.clone(),
            field,
            path(&draft, 1),
        )
    };
    let cookie = [("Set-Cookie", "XSRF=k9%2FXq%2B27abZ%3D%3D; Path=/")];
    let (source, field, path) = seen(&cookie, "", "text/html");
    let header = |pattern: &str| ExtractorSource::Header {
        pattern: pattern.to_owned(),
        number: 1,
        in_redirects: false,
    };
    assert_eq!(source, header("Set-Cookie: XSRF=([^;\\s]+)"));
    assert_eq!(
        (field.as_str(), path.as_str()),
        ("${__urldecode(${t})}", "/next?t=${t}")
    );
    let small = [("set-cookie", "XSRF=k9%2FXq%2B27abZ%3D%3D; Path=/")];
    let pattern = header("(?i)set-cookie: XSRF=([^;\\s]+)");
    assert_eq!(seen(&small, "", "text/html").0, pattern);
    let (source, _, _) = seen(&[("x-key", value)], "", "text/html");
    assert_eq!(source, header("(?i)x-key: (.+)"));
    let script = "<script>boot({\"build\":\"1.2\",\"token\":\"k9\\/Xq+27abZ==\"})</script>";
    let (_, field, path) = seen(&[], script, "text/html");
    assert_eq!(field, "${__unescape(${t})}");
    assert_eq!(path, "/next?t=${__urlencode(${__unescape(${t})})}");
    let xml = "<a><key>k9/Xq&#x2B;27abZ==</key></a>";
    assert_eq!(seen(&[], xml, "text/xml").1, "${__unescapeHtml(${t})}");
}

/// The variables and the path, header or body of the second of two steps.
fn of_pair(first: DraftStep, second: DraftStep) -> (Vec<String>, DraftStep) {
    let (draft, findings) = correlated(vec![first, second]);
    let names = findings.into_iter().map(|one| one.variable).collect();
    (names, draft.steps().nth(1).expect("a step").clone())
}

fn json(method: &str, url: &str, body: &str, response: &str) -> DraftStep {
    let body = match body {
        "" => RequestBody::None,
        body => RequestBody::Raw(body.into()),
    };
    step(method, url, body, response, "application/json")
}

fn sent_body(step: &DraftStep) -> String {
    match &step.request.body {
        RequestBody::Raw(text) => text.template(),
        RequestBody::Form(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}={}", name.template(), value.template()));
            fields.collect::<Vec<_>>().join("&")
        }
        _ => String::new(),
    }
}

#[test]
fn short_ids_count_by_what_they_name() {
    let made = |response: &str, url: &str| {
        let first = json("POST", "http://h/api/carts", "{}", response);
        let (names, second) = of_pair(first, json("GET", url, "", ""));
        (names.join(","), second.request.address.path.template())
    };
    let own = |name: &str, path: &str| (name.to_owned(), path.to_owned());
    for (response, url, expected) in [
        (
            r#"{"id":482}"#,
            "http://h/api/carts/482",
            own("cart_id", "/api/carts/${cart_id}"),
        ),
        (
            r#"{"id":7}"#,
            "http://h/api/carts/7/lines",
            own("cart_id", "/api/carts/${cart_id}/lines"),
        ),
        (
            r#"{"data":{"id":48213}}"#,
            "http://h/x/48213",
            own("x_id", "/x/${x_id}"),
        ),
        (
            r#"{"order":{"no":"A-17"}}"#,
            "http://h/orders/A-17",
            own("order_id", "/orders/${order_id}"),
        ),
        (
            r#"{"cartId":7}"#,
            "http://h/pay?cart_id=7&n=7",
            own("cart_id", "/pay?cart_id=${cart_id}&n=7"),
        ),
        (r#"{"id":7}"#, "http://h/other/7", own("", "/other/7")),
        (
            r#"{"page":3}"#,
            "http://h/list?page=3",
            own("", "/list?page=3"),
        ),
        (
            r#"{"total":48213}"#,
            "http://h/x/48213",
            own("", "/x/48213"),
        ),
    ] {
        assert_eq!(made(response, url), expected, "{response} {url}");
    }
}

#[test]
fn headers_of_each_redirect_are_read() {
    let mut first = step("POST", "http://h/a", RequestBody::None, "x", "text/html");
    let response = first.response.as_mut().expect("it has one");
    response
        .hops
        .push(redirect("Set-Cookie", "XSRF=q7Zx9kPw2a; Path=/"));
    response.hops.push(redirect("Location", "/h"));
    let mut second = json("POST", "http://h/b", "{}", "");
    second
        .request
        .headers
        .push(("X-XSRF".into(), "q7Zx9kPw2a".into()));
    let (draft, _) = correlated(vec![first, second]);
    let steps: Vec<&DraftStep> = draft.steps().collect();
    let source = ExtractorSource::Header {
        pattern: "Set-Cookie: XSRF=([^;\\s]+)".to_owned(),
        number: 1,
        in_redirects: true,
    };
    assert_eq!(steps[0].extractors[0].source, source);
    assert_eq!(steps[1].request.headers[0].1.template(), "${xsrf}");
}

#[test]
fn values_within_longer_texts_and_other_encodings() {
    let id = "8f3e2d1c9b7a4455";
    let held = format!(r#"{{"id":"{id}","no":482}}"#);
    let hidden =
        base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("Cart:{id}:open"));
    for (body, expected) in [
        (
            format!(r#"{{"ref":"urn:cart:{id}:open"}}"#),
            r#"{"ref":"urn:cart:${cart}:open"}"#.to_owned(),
        ),
        (
            format!(r#"{{"text":"{{\"id\":\"{id}\"}}"}}"#),
            r#"{"text":"{\\"id\\":\\"${id}\\"}"}"#.to_owned(),
        ),
        (
            r#"{"text":"{\"cartNo\":482}"}"#.to_owned(),
            r#"{"text":"{\\"cartNo\\":${cartNo}}"}"#.to_owned(),
        ),
        (
            format!("payload=%7B%22id%22%3A%22{id}%22%7D&x=1"),
            "payload=%7B%22id%22%3A%22${id}%22%7D&x=1".to_owned(),
        ),
        (
            format!("<a><b>{id}</b></a>"),
            "<a><b>${b}</b></a>".to_owned(),
        ),
        (
            format!(r#"{{"at":"{hidden}"}}"#),
            r#"{"at":"${__base64Encode(Cart:${Cart}:open)}"}"#.to_owned(),
        ),
    ] {
        let first = json("POST", "http://h/carts", "{}", &held);
        let (_, second) = of_pair(first, json("POST", "http://h/b", &body, ""));
        assert_eq!(sent_body(&second), expected);
    }
}

#[test]
fn a_claim_of_a_token_is_decoded() {
    let part = |text: &str| base64::Engine::encode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, text);
    let token = format!(
        "{}.{}.{}",
        part(r#"{"alg":"HS256"}"#),
        part(r#"{"sub":"u-91827364"}"#),
        "c2lnbmF0dXJl"
    );
    let first = json(
        "POST",
        "http://h/login",
        "{}",
        &format!(r#"{{"token":"{token}"}}"#),
    );
    let (draft, _) = correlated(vec![
        first,
        json("GET", "http://h/users/u-91827364", "", ""),
    ]);
    assert!(
        path(&draft, 1).contains("${__base64Decode(${__strReplaceRegex(${user_id},"),
        "{}",
        path(&draft, 1)
    );
    let extractor = &draft.steps().next().expect("a step").extractors[0];
    assert_eq!(
        extractor.source,
        ExtractorSource::Json("$.token".to_owned())
    );
}

#[test]
fn delimiters_are_words_and_count_their_matches() {
    let source = |body: &str, mime: &str| {
        let first = step("GET", "http://h/a", RequestBody::None, body, mime);
        let (draft, findings) = correlated(vec![
            first,
            json("GET", "http://h/items/8f3e2d1c9b7a", "", ""),
        ]);
        assert_eq!(findings.len(), 1, "{body}");
        draft.steps().next().expect("a step").extractors[0]
            .source
            .clone()
    };
    let boundary = |left: &str, right: &str, number| ExtractorSource::Boundary {
        left: left.to_owned(),
        right: right.to_owned(),
        number,
    };
    assert_eq!(
        source("<a href=\"/items/8f3e2d1c9b7a\">x</a>", "text/html"),
        boundary("items/", "\"", 1)
    );
    let list: String = ["11aa22bb33cc", "22aa22bb33cc", "8f3e2d1c9b7a"]
        .iter()
        .map(|id| format!("<li><a href=\"/items/{id}\">x</a></li>\n"))
        .collect();
    assert_eq!(source(&list, "text/html"), boundary("items/", "\"", 3));
    let text = |pattern: &str| ExtractorSource::Body {
        pattern: pattern.to_owned(),
        number: 1,
    };
    assert_eq!(
        source("ok token=8f3e2d1c9b7a", "text/plain"),
        text("token=([^\\s]+)")
    );
    assert_eq!(
        source("ok token=8f3e2d1c9b7a\nx=1", "text/plain"),
        text("token=([^\\s]+)")
    );
    assert_eq!(
        source("8f3e2d1c9b7a\n", "text/plain"),
        text("^\\s*([^\\s]+)")
    );
}

#[test]
fn values_of_the_client_stay_its_own() {
    let id = "0b9c8a7e-1111-4222-8333-444455556666";
    let mut first = json(
        "POST",
        "http://h/orders",
        &format!(r#"{{"clientRef":"{id}","at":"2026-01-01T10:00:00.123Z"}}"#),
        &format!(r#"{{"ref":"{id}"}}"#),
    );
    first.sent_at_ms = Some(1_767_261_600_500);
    first.request.headers.push((
        "X-Request-Id".into(),
        "5f1c8a7e-1111-4222-8333-444455556666".into(),
    ));
    let (draft, findings) = correlated(vec![
        first,
        json("GET", &format!("http://h/orders/{id}"), "", ""),
    ]);
    assert!(findings.is_empty(), "{findings:?}");
    let steps: Vec<&DraftStep> = draft.steps().collect();
    assert_eq!(
        steps[0].assigned,
        [("clientRef".to_owned(), PlanText::expression("${__UUID}"))]
    );
    assert_eq!(
        sent_body(steps[0]),
        r#"{"clientRef":"${clientRef}","at":"${__time(yyyy-MM-dd'T'HH:mm:ss.SSSXXX)}"}"#
    );
    assert_eq!(steps[0].request.headers[0].1.template(), "${__UUID}");
    assert_eq!(path(&draft, 1), "/orders/${clientRef}");
}

#[test]
fn values_that_look_constant_stay() {
    let page = r#"<html><head><script src="/app.3f9a8b7c2d1e.js"></script><link href="/s.77aa88bb99cc.css"></head>
        <body><a href="/list?page=2&sort=price_asc&v=2024.11.3">next</a><a href="/p/summer-sale-2024">s</a>
        <input type=hidden name=locale value="en-GB"><input type=hidden name=step value="2"><input name=day value="2026-12-24">
        <script>var config={"buildId":"8f3e2d1c9b7a","version":"4.12.0","client_id":"aa11bb22cc33dd44","currency":"EUR"}</script></body></html>"#;
    let mut second = json(
        "POST",
        "http://h/list?page=2&sort=price_asc&v=2024.11.3&day=2026-12-24",
        r#"{"buildId":"8f3e2d1c9b7a","version":"4.12.0","client_id":"aa11bb22cc33dd44","currency":"EUR","locale":"en-GB","step":2}"#,
        "",
    );
    second
        .request
        .headers
        .push(("X-App-Version".into(), "4.12.0".into()));
    let first = step("GET", "http://h/", RequestBody::None, page, "text/html");
    let (names, second) = of_pair(first.clone(), second);
    assert!(names.is_empty(), "{names:?} {}", sent_body(&second));
    for url in [
        "http://h/p/summer-sale-2024",
        "http://h/app.3f9a8b7c2d1e.js",
        "http://h/_next/data/8f3e2d1c9b7a/x?v=2024.11.3",
    ] {
        let (names, _) = of_pair(first.clone(), json("GET", url, "", ""));
        let is_build = url.contains("_next");
        assert!(names.is_empty() || is_build, "{url}: {names:?}");
    }
}

#[test]
fn a_script_of_all_visitors_makes_constants() {
    let mut draft = Draft::new("t");
    draft.shared.push(
        "const key='9c1de77ab0f2';const id='0b9c8a7e-1111-4222-8333-444455556666'".to_owned(),
    );
    let first = step(
        "GET",
        "http://h/",
        RequestBody::None,
        "<p data-key=\"9c1de77ab0f2\">",
        "text/html",
    );
    let body = r#"{"key":"9c1de77ab0f2","ref":"0b9c8a7e-1111-4222-8333-444455556666"}"#;
    draft.transactions.push(Transaction {
        steps: vec![first, json("POST", "http://h/b", body, "")],
        ..Transaction::default()
    });
    assert!(correlate(&mut draft, None, &[]).is_empty());
    assert_eq!(sent_body(draft.steps().nth(1).expect("a step")), body);
}

#[test]
fn a_token_that_no_response_holds_is_no_column() {
    let visit = |user: &str, token: &str| {
        let mut draft = Draft::new("t");
        let body = format!(r#"{{"nick":"{user}","csrf":"{token}"}}"#);
        draft.transactions.push(Transaction {
            steps: vec![json("POST", "http://h/login", &body, "")],
            ..Transaction::default()
        });
        draft
    };
    let mut draft = visit("ann", "f3a9c1d27b44");
    let other = visit("bob", "0c55e81f6a99");
    correlate(&mut draft, Some(&other), &[]);
    assert_eq!(draft.data.names, ["nick"]);
    assert!(draft.warnings[0].contains("`csrf`"), "{:?}", draft.warnings);
}

#[test]
fn links_and_addresses_in_json_hold_ids() {
    for (body, mime, url) in [
        (
            r#"{"_links":{"self":{"href":"/carts/482"}}}"#,
            "application/json",
            "http://h/carts/482/pay",
        ),
        (
            r#"{"next":"http://h/orders?order=A17"}"#,
            "application/json",
            "http://h/x?orderId=A17",
        ),
        ("<p>Order #4821</p>", "text/html", "http://h/orders/4821"),
        (
            "<a href='/orders/4821/edit'>x</a>",
            "text/html",
            "http://h/orders/4821/edit",
        ),
        (
            "<form action='/orders/7/pay'></form>",
            "text/html",
            "http://h/orders/7/pay",
        ),
        (
            r#"{"urn":"urn:cart:4821"}"#,
            "application/json",
            "http://h/carts/4821",
        ),
    ] {
        let first = step("POST", "http://h/a", RequestBody::None, body, mime);
        let (names, _) = of_pair(first, json("GET", url, "", ""));
        assert_eq!(names.len(), 1, "{body} {url}");
    }
    let page = step(
        "GET",
        "http://h/",
        RequestBody::None,
        "<a href='/product/3'>x</a>",
        "text/html",
    );
    assert!(
        of_pair(page, json("GET", "http://h/product/3", "", ""))
            .0
            .is_empty()
    );
}

#[test]
fn credentials_of_http_basic_become_columns() {
    let visit = |token: &str| {
        let mut own = json("GET", "http://h/a", "", "");
        own.request
            .headers
            .push(("Authorization".into(), format!("Basic {token}").into()));
        let mut draft = Draft::new("t");
        draft.transactions.push(Transaction {
            steps: vec![own.clone(), own],
            ..Transaction::default()
        });
        draft
    };
    let (mut draft, other) = (visit("YW5uOnB3"), visit("Ym9iOnNlY3JldDE="));
    correlate(&mut draft, Some(&other), &[]);
    assert_eq!(draft.data.names, ["username", "password"]);
    assert_eq!(draft.data.rows, [["ann", "pw"], ["bob", "secret1"]]);
    for step in draft.steps() {
        let auth = step.request.auth.as_ref().expect("credentials");
        assert_eq!(auth.user.template(), "${username}");
        assert!(step.request.headers.is_empty());
    }
}

#[test]
fn a_row_of_numbers_is_one_value_and_none_of_it_alone() {
    let numbers: Vec<String> = (0..80)
        .map(|place| (4_038_012 + place * 37).to_string())
        .collect();
    let row = numbers.join(",");
    let page = format!("<script>var c={{id:1,kEXPI:'{row}',en:1}}</script>");
    let url = |sent: &str| format!("http://h/gen?v=3&e={sent}&s=web");
    let visit = |sent: &str| {
        vec![
            step("GET", "http://h/", RequestBody::None, &page, "text/html"),
            step("GET", &url(sent), RequestBody::None, "", "text/html"),
        ]
    };
    let (draft, findings) = correlated(visit(&row));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].value, row);
    assert_eq!(path(&draft, 1), "/gen?v=3&e=${e}&s=web");
    let some = numbers[3..20].join(",") + ",77";
    let (draft, findings) = correlated(visit(&some));
    assert_eq!(findings, [], "{:?}", draft.steps().next());
}

#[test]
fn base64_is_one_word() {
    let token = "YAAQTYVlX7XhxsB+AQAAHSwwww/cVekEyhw9WyJIP2N7exoIihkW6M6+0Eu21bQ/cmabxJylcry0==";
    let mut first = step("GET", "http://h/", RequestBody::None, "", "text/html");
    let response = first.response.as_mut().expect("a response");
    let field = format!("_abck=0~{token}~-1; Path=/");
    response.headers.push(("Set-Cookie".to_owned(), field));
    let body = RequestBody::Raw(format!("{{\"s\":\"1,2,-94,{token},x\"}}").into());
    let second = step("POST", "http://h/s", body, "", "text/html");
    let (_, findings) = correlated(vec![first, second]);
    let is_whole = |finding: &Finding| token.trim_end_matches('=').starts_with(&finding.value);
    assert!(
        findings
            .iter()
            .all(|finding| is_whole(finding) && finding.value.len() > 70),
        "{findings:?}"
    );
}

#[test]
fn a_name_in_a_link_that_all_visitors_get_stays() {
    let page = "<iframe src=\"/button?user=annabel&repo=shop\"></iframe>";
    let (draft, findings) = correlated(vec![
        step("GET", "http://h/", RequestBody::None, page, "text/html"),
        step(
            "GET",
            "http://h/button?user=annabel&repo=shop",
            RequestBody::None,
            "",
            "text/html",
        ),
    ]);
    assert_eq!(findings, []);
    assert_eq!(path(&draft, 1), "/button?user=annabel&repo=shop");
    assert!(draft.data.names.is_empty(), "{:?}", draft.data.names);
}
