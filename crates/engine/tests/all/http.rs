//! HTTP Requests from the plan to the wire and back. The expected values were seen in JMeter 5.6.3.

use crate::support::{get, group, run_group};
use drumfire_testkit::ports::free_port;
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok, respond};

fn echo(_: &ReceivedRequest) -> Vec<ResponseStep> {
    vec![ResponseStep::Send(ok("hi"))]
}

#[test]
fn a_connection_is_kept_over_iterations_of_the_same_user() {
    let server = Server::start(echo);
    let ran = run_group(
        &group(1, 3, true),
        &get("a", server.address().port(), "/", "", ""),
        &[],
    );
    assert_eq!((ran.rows.len(), server.connections()), (3, 1));
}

#[test]
fn every_iteration_of_another_user_has_its_own_connection() {
    let server = Server::start(echo);
    let port = server.address().port();
    let two = get("a", port, "/a", "", "") + &get("b", port, "/b", "", "");
    let ran = run_group(&group(1, 3, false), &two, &[]);
    assert_eq!((ran.rows.len(), server.connections()), (6, 3));
}

#[test]
fn state_is_kept_when_the_property_says_so() {
    let server = Server::start(echo);
    let keep = [("httpclient.reset_state_on_thread_group_iteration", "false")];
    run_group(
        &group(1, 3, false),
        &get("a", server.address().port(), "/", "", ""),
        &keep,
    );
    assert_eq!(server.connections(), 1);
}

#[test]
fn users_share_no_connection() {
    let server = Server::start(echo);
    let ran = run_group(
        &group(4, 2, true),
        &get("a", server.address().port(), "/", "", ""),
        &[],
    );
    assert_eq!((ran.users, ran.rows.len(), server.connections()), (4, 8, 4));
}

#[test]
fn a_followed_redirect_is_one_row_with_the_last_address() {
    let server = Server::start(|request| {
        vec![ResponseStep::Send(match request.target.as_str() {
            "/start" => respond("302 Found", "Location: next?a=b c\r\n", ""),
            _ => ok("there"),
        })]
    });
    let port = server.address().port();
    let follow = r#"<boolProp name="HTTPSampler.follow_redirects">true</boolProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("go", port, "/start", follow, ""),
        &[],
    );
    assert_eq!(ran.column("label"), ["go"]);
    assert_eq!(ran.column("responseCode"), ["200"]);
    assert_eq!(
        ran.column("URL"),
        [format!("http://127.0.0.1:{port}/next?a=b%20c")]
    );
    let asked: Vec<_> = server
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    assert_eq!(asked, ["/start", "/next?a=b%20c"]);
}

#[test]
fn redirects_in_a_circle_end_after_twenty() {
    let server = Server::start(|_| {
        vec![ResponseStep::Send(respond(
            "302 Found",
            "Location: /again\r\n",
            "",
        ))]
    });
    let follow = r#"<boolProp name="HTTPSampler.follow_redirects">true</boolProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("go", server.address().port(), "/", follow, ""),
        &[],
    );
    assert_eq!(
        ran.column("responseCode"),
        ["Non HTTP response code: java.io.IOException"]
    );
    assert_eq!(
        ran.column("responseMessage"),
        ["Non HTTP response message: Exceeded maximum number of redirects: 20"]
    );
    assert_eq!(server.requests().len(), 21);
}

#[test]
fn an_automatic_redirect_is_followed_within_the_sample() {
    let server = Server::start(|request| {
        vec![ResponseStep::Send(match request.target.as_str() {
            "/start" => respond("301 Moved", "Location: /there\r\n", "moved"),
            _ => ok("there"),
        })]
    });
    let port = server.address().port();
    let auto = r#"<boolProp name="HTTPSampler.auto_redirects">true</boolProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("go", port, "/start", auto, ""),
        &[],
    );
    assert_eq!(
        ran.column("URL"),
        [format!("http://127.0.0.1:{port}/there")]
    );
    assert_eq!(ran.column("success"), ["true"]);
}

const PAGE: &str = r#"<html><head><link rel="stylesheet" href="/s.css"></head><body><img src="a.png"><img src="/b.png"><img src="a.png"></body></html>"#;

fn page(request: &ReceivedRequest) -> Vec<ResponseStep> {
    vec![ResponseStep::Send(match request.target.as_str() {
        "/page" => respond("200 OK", "Content-Type: text/html\r\n", PAGE),
        "/b.png" => respond("404 Not Found", "", ""),
        _ => ok(""),
    })]
}

#[test]
fn embedded_resources_are_asked_for_once_each_and_one_that_fails_fails_the_page() {
    let server = Server::start(page);
    let embedded = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("p", server.address().port(), "/page", embedded, ""),
        &[],
    );
    let asked: Vec<_> = server
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    assert_eq!(asked, ["/page", "/s.css", "/a.png", "/b.png"]);
    assert_eq!(ran.column("success"), ["false"]);
    assert!(
        ran.column("responseMessage")[0]
            .starts_with("Embedded resource download error:http://127.0.0.1:"),
        "{:?}",
        ran.rows
    );
}

#[test]
fn only_wanted_resources_are_asked_for() {
    let server = Server::start(page);
    let embedded = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp><stringProp name="HTTPSampler.embedded_url_re">.*png</stringProp>
<stringProp name="HTTPSampler.embedded_url_exclude_re">.*/b.png</stringProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("p", server.address().port(), "/page", embedded, ""),
        &[],
    );
    assert_eq!(server.requests().len(), 2);
    assert_eq!(ran.column("success"), ["true"]);
}

#[test]
fn a_pool_asks_for_resources_together() {
    let server = Server::start(page);
    let embedded = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp><boolProp name="HTTPSampler.concurrentDwn">true</boolProp><stringProp name="HTTPSampler.concurrentPool">3</stringProp>"#;
    run_group(
        &group(1, 1, true),
        &get("p", server.address().port(), "/page", embedded, ""),
        &[],
    );
    assert_eq!(server.requests().len(), 4);
    assert_eq!(
        server.connections(),
        3,
        "three downloads at once need three connections, one of them the page's"
    );
}

const COOKIES: &str = r#"<CookieManager guiclass="CookiePanel" testclass="CookieManager" testname="c"><collectionProp name="CookieManager.cookies"/><boolProp name="CookieManager.clearEachIteration">CLEAR</boolProp></CookieManager><hashTree/>"#;

fn cookies_seen(clear: &str) -> Vec<String> {
    let server = Server::start(|_| {
        vec![ResponseStep::Send(respond(
            "200 OK",
            "Set-Cookie: id=7; Path=/\r\n",
            "",
        ))]
    });
    let body = COOKIES.replace("CLEAR", clear)
        + &get("a", server.address().port(), "/", "", "")
        + &get("b", server.address().port(), "/", "", "");
    run_group(&group(1, 2, true), &body, &[]);
    server
        .requests()
        .iter()
        .map(|request| request.header("Cookie").unwrap_or("-").to_owned())
        .collect()
}

#[test]
fn cookies_are_the_users_and_end_with_the_iteration_if_so_wished() {
    assert_eq!(cookies_seen("false"), ["-", "id=7", "id=7", "id=7"]);
    assert_eq!(cookies_seen("true"), ["-", "id=7", "-", "id=7"]);
}

#[test]
fn the_nearest_header_wins_and_defaults_fill_what_is_empty() {
    let server = Server::start(echo);
    let headers = |value: &str| {
        format!(
            r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">X-From</stringProp><stringProp name="Header.value">{value}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#
        )
    };
    let defaults = r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="d"><stringProp name="HTTPSampler.path">/default</stringProp></ConfigTestElement><hashTree/>"#;
    let body = headers("group")
        + defaults
        + &get("a", server.address().port(), "", "", &headers("sampler"));
    run_group(&group(1, 1, true), &body, &[]);
    let request = &server.requests()[0];
    assert_eq!(
        (request.target.as_str(), request.header("X-From")),
        ("/default", Some("sampler"))
    );
}

#[test]
fn unreachable_servers_give_rows_in_javas_words() {
    let closed = free_port();
    let ran = run_group(&group(1, 1, true), &get("a", closed, "/", "", ""), &[]);
    assert_eq!(
        ran.column("responseCode"),
        ["Non HTTP response code: org.apache.http.conn.HttpHostConnectException"]
    );
    let message = format!(
        "Non HTTP response message: Connect to 127.0.0.1:{closed} [/127.0.0.1] failed: Connection refused"
    );
    assert_eq!(ran.column("responseMessage"), [message]);
    assert_eq!(ran.column("success"), ["false"]);
}

#[test]
fn a_server_that_says_nothing_ends_at_the_response_timeout() {
    let server = Server::start(|_| vec![ResponseStep::Hang]);
    let timeout = r#"<stringProp name="HTTPSampler.response_timeout">150</stringProp>"#;
    let ran = run_group(
        &group(1, 1, true),
        &get("a", server.address().port(), "/", timeout, ""),
        &[],
    );
    assert_eq!(
        ran.column("responseCode"),
        ["Non HTTP response code: java.net.SocketTimeoutException"]
    );
    assert_eq!(
        ran.column("responseMessage"),
        ["Non HTTP response message: Read timed out"]
    );
}

/// A POST whose raw body has a long variable several times, and what the server got.
fn long_body(pre: &str) -> Vec<u8> {
    let server = Server::start(echo);
    let part = "0123456789abcdef".repeat(40_000);
    let variables = format!(
        r#"<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="v"><collectionProp name="Arguments.arguments">
        <elementProp name="part" elementType="Argument"><stringProp name="Argument.name">part</stringProp>
        <stringProp name="Argument.value">{part}</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#
    );
    let more = r#"<boolProp name="HTTPSampler.postBodyRaw">true</boolProp><elementProp name="HTTPsampler.Arguments"
        elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument">
        <stringProp name="Argument.value">[${part},${__intSum(1,2)},${part},${none}]</stringProp></elementProp></collectionProp>
        </elementProp>"#;
    let post = get("a", server.address().port(), "/", more, pre).replace(">GET<", ">POST<");
    run_group(&group(1, 1, true), &(variables + &post), &[]);
    let request = server.requests().remove(0);
    let expected = format!("[{part},3,{part},${{none}}]");
    assert_eq!(
        request.header("Content-Length"),
        Some(&*expected.len().to_string())
    );
    assert!(request.body == expected.as_bytes());
    request.body
}

#[test]
fn a_long_body_with_variables_is_sent_whole() {
    assert!(long_body("").len() > 1 << 20);
    // Looked at by a pre-processor, it is put together first.
    let rewriting = r#"<AnchorModifier guiclass="AnchorModifierGui" testclass="AnchorModifier" testname="l"/><hashTree/>"#;
    assert!(long_body(rewriting).len() > 1 << 20);
}

/// 64,000 bytes at 320,000 a second, in pieces of 8 KiB that wait 25 ms each. The limit is that of one sampler, on a connection
/// that others use, too.
#[test]
fn a_sampler_may_be_slowed_down_by_itself() {
    let server = Server::start(|request| {
        vec![match request.target.as_str() {
            "/long" => ResponseStep::Send(ok(&"x".repeat(64_000))),
            _ => ResponseStep::Send(ok("hi")),
        }]
    });
    let port = server.address().port();
    let limit = r#"<stringProp name="drumfire.bytes_per_second">320000</stringProp>"#;
    let unset = r#"<stringProp name="drumfire.bytes_per_second">${SPEED}</stringProp>"#;
    let body = get("slow", port, "/long", limit, "")
        + &get("fast", port, "/long", "", "")
        + &get("unlimited", port, "/long", unset, "");
    let ran = run_group(&group(1, 1, true), &body, &[]);
    assert_eq!(ran.column("success"), ["true"; 3]);
    assert_eq!(server.connections(), 1);
    let slow_ms: u64 = ran.column("elapsed")[0].parse().expect("it is a number");
    assert!(slow_ms >= 150, "{slow_ms} ms");
}
