use super::*;
use crate::draft::Transaction;
use crate::exchange::{Request, Response};
use crate::url::Address;

fn step(method: &str, url: &str, body: RequestBody, response: &str, mime: &str) -> DraftStep {
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

fn path(draft: &Draft, place: usize) -> String {
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
            .headers
            .push(("Location".to_owned(), "/order/a81f00c2b7/pay".to_owned()));
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
fn what_the_client_makes_becomes_a_function() {
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

#[test]
fn words_are_no_identifiers() {
    for word in [
        "products",
        "password",
        "checkout",
        "Europe/Berlin",
        "en-GB",
        "text/html",
        "hello world",
    ] {
        assert!(!is_telling(word), "{word}");
    }
    for value in [
        "f3a9c1d27b",
        "c-8812ab90",
        "eyJhbGciOi.J9x12",
        "AbCdEfGhIjKl",
        "1234567",
    ] {
        assert!(is_telling(value), "{value}");
    }
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
        [("csrf", 0, &[1][..], true), ("cart", 3, &[4], true)]
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
    assert_eq!(path(&draft, 4), "/cart/${cart}/order");
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
    let pattern = ExtractorSource::HeaderPattern("Set-Cookie: XSRF=([^;]+)".to_owned());
    assert_eq!(source, pattern);
    assert_eq!(
        (field.as_str(), path.as_str()),
        ("${__urldecode(${t})}", "/next?t=${t}")
    );
    let small = [("set-cookie", "XSRF=k9%2FXq%2B27abZ%3D%3D; Path=/")];
    let pattern = ExtractorSource::HeaderPattern("(?i)set-cookie: XSRF=([^;]+)".to_owned());
    assert_eq!(seen(&small, "", "text/html").0, pattern);
    let (source, _, _) = seen(&[("x-key", value)], "", "text/html");
    assert_eq!(
        source,
        ExtractorSource::HeaderPattern("(?i)x-key: (.+)".to_owned())
    );
    let script = "<script>boot({\"build\":\"1.2\",\"token\":\"k9\\/Xq+27abZ==\"})</script>";
    let (_, field, path) = seen(&[], script, "text/html");
    assert_eq!(field, "${__unescape(${t})}");
    assert_eq!(path, "/next?t=${__urlencode(${__unescape(${t})})}");
    let xml = "<a><key>k9/Xq&#x2B;27abZ==</key></a>";
    assert_eq!(seen(&[], xml, "text/xml").1, "${__unescapeHtml(${t})}");
}
