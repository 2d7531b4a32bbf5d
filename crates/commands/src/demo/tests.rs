//! The site over a plain socket, as a client sees it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;

fn start() -> DemoSite {
    DemoSite::start(0, 0).expect("free ports")
}

/// One request on a connection of its own; the head and the body.
fn send(site: &DemoSite, request: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(site.http).expect("the site listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a timeout can be set");
    let (line, rest) = request.split_once("\r\n").unwrap_or((request, ""));
    let text = format!("{line} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n{rest}");
    stream
        .write_all(text.as_bytes())
        .expect("the request goes out");
    let mut answer = Vec::new();
    stream
        .read_to_end(&mut answer)
        .expect("the answer comes in");
    let end = answer
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .expect("a whole head")
        + 4;
    (
        String::from_utf8_lossy(&answer[..end]).into_owned(),
        answer[end..].to_vec(),
    )
}

fn get(site: &DemoSite, target: &str) -> (String, String) {
    let (head, body) = send(site, &format!("GET {target}\r\n\r\n"));
    (head, String::from_utf8_lossy(&body).into_owned())
}

fn post(site: &DemoSite, target: &str, headers: &str, body: &str) -> (String, String) {
    let request = format!(
        "POST {target}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (head, body) = send(site, &request);
    (head, String::from_utf8_lossy(&body).into_owned())
}

fn between<'a>(text: &'a str, left: &str, right: &str) -> &'a str {
    let start = text.find(left).expect("the left mark") + left.len();
    &text[start..start + text[start..].find(right).expect("the right mark")]
}

#[test]
fn home_has_resources_that_exist() {
    let site = start();
    let (head, page) = get(&site, "/");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    for target in [
        "/favicon.ico",
        "/static/shop.css",
        "/static/shop.js",
        "/static/logo.png",
        "/static/product-6.png",
    ] {
        assert!(
            page.contains(&format!("\"{target}\"")),
            "the page asks for {target}"
        );
        let (head, _) = get(&site, target);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{target}: {head}");
    }
}

#[test]
fn login_needs_the_token_of_its_session() {
    let site = start();
    let (head, form) = get(&site, "/login");
    let cookie = between(&head, "set-cookie: ", ";").to_owned();
    let token = between(&form, "name=\"csrf\" value=\"", "\"").to_owned();
    let headers =
        format!("Cookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    let good = format!("username=al+ice%21&password=secret&csrf={token}");

    let (head, _) = post(
        &site,
        "/login",
        &headers,
        "username=alice&password=secret&csrf=0",
    );
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let (head, _) = post(&site, "/login", "", &good);
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let (head, _) = post(&site, "/login", &headers, &good.replace("secret", "wrong"));
    assert!(head.starts_with("HTTP/1.1 401"), "{head}");
    let (head, _) = send(&site, &format!("GET /account\r\nCookie: {cookie}\r\n\r\n"));
    assert!(
        head.starts_with("HTTP/1.1 302") && head.contains("location: /login\r\n"),
        "{head}"
    );
    let (head, _) = post(&site, "/login", &headers, &good);
    assert!(
        head.starts_with("HTTP/1.1 302") && head.contains("location: /account\r\n"),
        "{head}"
    );
    let (_, page) = send(&site, &format!("GET /account\r\nCookie: {cookie}\r\n\r\n"));
    assert!(String::from_utf8_lossy(&page).contains("<b id=\"user\">al ice!</b>"));
}

#[test]
fn api_answers_json() {
    let site = start();
    let (_, list) = get(&site, "/api/products?size=2&page=2");
    assert!(
        list.contains("\"id\":3") && list.contains("\"id\":4") && !list.contains("\"id\":5"),
        "{list}"
    );
    let (_, one) = get(&site, "/api/products/1");
    assert_eq!(
        one,
        r#"{"id":1,"name":"red kettle","price_cents":495,"stock":3}"#
    );
    let (head, _) = get(&site, "/api/products/99");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    let (_, found) = get(&site, "/api/search?q=blue+d");
    assert!(
        found.contains("\"found\":1") && found.contains("blue drum"),
        "{found}"
    );
    let json = "Content-Type: application/json\r\n";
    let (head, added) = post(&site, "/api/cart", json, r#"{"product":2,"quantity":3}"#);
    assert!(
        head.starts_with("HTTP/1.1 201 Created\r\n") && head.contains("location: /api/cart/1\r\n"),
        "{head}"
    );
    assert!(added.contains("\"total_cents\":2235"), "{added}");
    for (body, status) in [("{", "400"), (r#"{"product":99}"#, "422")] {
        assert!(
            post(&site, "/api/cart", json, body)
                .0
                .starts_with(&format!("HTTP/1.1 {status}"))
        );
    }
}

#[test]
fn gzip_is_for_those_who_take_it() {
    let site = start();
    let (head, body) = send(&site, "GET /\r\nAccept-Encoding: br, gzip;q=0.5\r\n\r\n");
    assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
    let mut page = String::new();
    flate2::read::GzDecoder::new(&body[..])
        .read_to_string(&mut page)
        .expect("whole gzip");
    assert!(page.contains("<h1>Welcome</h1>"));
    let (head, _) = get(&site, "/");
    assert!(!head.contains("content-encoding"), "{head}");
}

#[test]
fn static_files_are_validated() {
    let site = start();
    let (head, _) = get(&site, "/static/shop.css");
    let tag = between(&head, "etag: ", "\r\n").to_owned();
    let (head, body) = send(
        &site,
        &format!("GET /static/shop.css\r\nIf-None-Match: {tag}\r\n\r\n"),
    );
    assert!(
        head.starts_with("HTTP/1.1 304") && body.is_empty(),
        "{head}"
    );
}

#[test]
fn large_slow_and_broken_pages() {
    let site = start();
    let (head, body) = send(&site, "GET /large?mib=1\r\n\r\n");
    assert!(
        head.contains("content-length: 1048576\r\n") && body.len() == 1 << 20,
        "{head}"
    );
    assert!(get(&site, "/slow?ms=1").1.contains("took 1 ms"));
    assert!(get(&site, "/error").0.starts_with("HTTP/1.1 500"));
    assert!(get(&site, "/nowhere").0.starts_with("HTTP/1.1 404"));
    assert!(
        send(&site, "DELETE /\r\n\r\n")
            .0
            .starts_with("HTTP/1.1 405")
    );
}

#[test]
fn https_presents_a_certificate_for_loopback() {
    let site = start();
    assert_ne!(site.http.port(), site.https.port());
    let names: Vec<&str> = site.properties().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["demo.host", "demo.port", "demo.https.port"]);
    let mut stream = TcpStream::connect(site.https).expect("the site listens");
    // Not a handshake: a server that speaks TLS answers with an alert record or closes.
    stream
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .expect("the bytes go out");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(
        !answer.starts_with(b"HTTP"),
        "HTTPS does not answer plain HTTP"
    );
}

#[test]
fn a_port_in_use_is_named() {
    let site = start();
    let error = DemoSite::start(site.http.port(), 0).expect_err("the port is taken");
    assert!(
        error
            .to_string()
            .contains(&format!("cannot listen on 127.0.0.1:{}", site.http.port())),
        "{error}"
    );
}

#[test]
fn dropping_the_site_ends_it() {
    let site = start();
    let address = site.http;
    drop(site);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_cart_has_an_address_of_its_own_and_orders_need_the_token() {
    let site = start();
    let (head, _) = post(&site, "/cart", "", "product=3");
    assert!(head.contains(" 302 ") || head.contains(" 303 "), "{head}");
    let cookie = format!(
        "Cookie: {}\r\n",
        between(&head.to_lowercase(), "set-cookie: ", ";").replace("shopsession", "SHOPSESSION")
    );
    let cart = between(&head.to_lowercase(), "location: ", "\r").to_owned();
    let (head, body) = get(&site, &format!("{cart}\r\n{}", cookie.trim_end()));
    assert!(
        head.contains(" 200 ") && body.contains(&format!("action=\"{cart}/pay\"")),
        "{head}{body}"
    );
    assert!(
        get(&site, &cart).0.contains(" 404 "),
        "a cart of another session"
    );
    assert!(
        post(&site, &format!("{cart}/pay"), &cookie, "")
            .0
            .contains(" 200 ")
    );
    assert!(
        post(&site, &format!("{cart}/pay"), &cookie, "")
            .0
            .contains(" 409 ")
    );
    assert!(
        post(&site, "/api/token", &cookie, "").0.contains(" 401 "),
        "not logged in"
    );
    let (_, form) = get(&site, &format!("/login\r\n{}", cookie.trim_end()));
    let login = format!(
        "csrf={}&username=ann&password=x",
        between(&form, "name=\"csrf\" value=\"", "\"")
    );
    post(&site, "/login", &cookie, &login);
    let (_, answer) = post(&site, "/api/token", &cookie, "");
    let token = between(&answer, "\"access_token\":\"", "\"");
    let with_token = format!("/api/orders\r\n{cookie}Authorization: Bearer {token}");
    assert!(get(&site, &with_token).1.contains("\"orders\":1"));
    assert!(get(&site, "/api/orders").0.contains(" 401 "));
}
