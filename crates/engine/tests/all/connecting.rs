//! Proxies, source addresses and what is tried again. The expected values were seen in JMeter 5.6.3.

use crate::support::{get, group, run_group};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok, respond};

/// Where the requests would go without the proxy; nobody listens there.
const NOWHERE: u16 = 9;

fn by_proxy(server: &Server, user: &str) -> String {
    format!(
        r#"<stringProp name="HTTPSampler.proxyHost">127.0.0.1</stringProp><stringProp name="HTTPSampler.proxyPort">{}</stringProp>
<stringProp name="HTTPSampler.proxyUser">{user}</stringProp><stringProp name="HTTPSampler.proxyPass">p</stringProp>"#,
        server.address().port()
    )
}

/// A proxy that wants credentials and refuses tunnels.
fn strict_proxy(challenge: &'static str) -> Server {
    Server::start(move |request| {
        vec![ResponseStep::Send(
            if request.header("Proxy-Authorization").is_none() {
                let header = format!("Proxy-Authenticate: {challenge}\r\n");
                respond("407 Proxy Auth", &header, "plead")
            } else if request.method == "CONNECT" {
                respond("403 No Way", "X-P: 1\r\n", "why?")
            } else {
                ok("hi")
            },
        )]
    })
}

fn heads(server: &Server) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests
        .map(|request| request.head.replace('\r', ""))
        .collect()
}

#[test]
fn a_proxy_is_given_credentials_when_it_asks_and_from_then_on() {
    let proxy = strict_proxy("Basic realm=\"p\"");
    let more = by_proxy(&proxy, "u");
    let two = get("a", NOWHERE, "/a", &more, "") + &get("b", NOWHERE, "/b", &more, "");
    let ran = run_group(&group(1, 2, false), &two, &[]);
    assert_eq!((ran.users, ran.column("responseCode")), (1, vec!["200"; 4]));
    let agent = "Apache-HttpClient/4.5.14 (Java/17.0.15)";
    let common = format!(
        "Connection: keep-alive\nHost: 127.0.0.1:9\nProxy-Connection: Keep-Alive\nUser-Agent: {agent}\n"
    );
    let bare = |path| format!("GET http://127.0.0.1:9{path} HTTP/1.1\n{common}\n");
    let full = |path| {
        format!(
            "GET http://127.0.0.1:9{path} HTTP/1.1\n{common}Proxy-Authorization: Basic dTpw\n\n"
        )
    };
    // The second iteration is another user's.
    let iteration = [bare("/a"), full("/a"), full("/b")];
    assert_eq!(heads(&proxy), [iteration.clone(), iteration].concat());
    assert_eq!(proxy.connections(), 2);
}

#[test]
fn digest_for_a_proxy_counts_on() {
    let proxy = strict_proxy(r#"Digest realm="p", nonce="abc", qop="auth", algorithm=MD5"#);
    let more = by_proxy(&proxy, "u");
    let two = get("a", NOWHERE, "/a", &more, "") + &get("b", NOWHERE, "/b", &more, "");
    run_group(&group(1, 1, true), &two, &[]);
    let heads = heads(&proxy);
    assert_eq!(heads.len(), 3);
    assert!(
        heads[1].contains(r#"uri="http://127.0.0.1:9/a""#),
        "{}",
        heads[1]
    );
    assert!(heads[1].contains("nc=00000001") && heads[2].contains("nc=00000002"));
}

#[test]
fn the_refusal_of_a_tunnel_is_the_response() {
    let proxy = strict_proxy("Basic realm=\"p\"");
    let secure = r#"<stringProp name="HTTPSampler.protocol">https</stringProp>"#;
    let with = |user| {
        get(
            "t",
            NOWHERE,
            "/",
            &format!("{secure}{}", by_proxy(&proxy, user)),
            "",
        )
    };
    let ran = run_group(&group(1, 2, false), &with("u"), &[]);
    assert_eq!(ran.column("responseCode"), ["403", "403"]);
    assert_eq!(ran.column("responseMessage"), ["No Way", "No Way"]);
    let agent = "Apache-HttpClient/4.5.14 (Java/17.0.15)";
    let bare = format!("CONNECT 127.0.0.1:9 HTTP/1.1\nHost: 127.0.0.1:9\nUser-Agent: {agent}\n");
    let full = format!("{bare}Proxy-Authorization: Basic dTpw\n\n");
    assert_eq!(
        heads(&proxy),
        [format!("{bare}\n"), full.clone(), format!("{bare}\n"), full]
    );
    // sby of JMeter counts the last CONNECT.
    assert_eq!(ran.column("sentBytes"), ["137", "137"]);
    let ran = run_group(&group(1, 1, true), &with(""), &[]);
    assert_eq!(ran.column("responseCode"), ["407"]);
}

#[test]
fn the_implementation_java_cannot_tunnel_past_a_refusal() {
    let proxy = strict_proxy("Basic realm=\"p\"");
    let java = r#"<stringProp name="HTTPSampler.implementation">Java</stringProp>"#;
    let plain = format!("{java}{}", by_proxy(&proxy, "u"));
    let secure = format!(r#"<stringProp name="HTTPSampler.protocol">https</stringProp>{plain}"#);
    let two = get("p", NOWHERE, "/a", &plain, "") + &get("s", NOWHERE, "/a", &secure, "");
    let ran = run_group(&group(1, 1, true), &two, &[]);
    assert_eq!(
        ran.column("responseCode"),
        ["407", "Non HTTP response code: java.io.IOException"]
    );
    assert_eq!(
        ran.rows[1]["responseMessage"],
        "Non HTTP response message: Unable to tunnel through proxy. Proxy returns \"HTTP/1.1 407 Proxy Auth\""
    );
    let accept =
        "Accept: text/html, image/gif, image/jpeg, */*; q=0.2\nProxy-Connection: keep-alive\n\n";
    assert_eq!(
        heads(&proxy)[0],
        format!(
            "GET http://127.0.0.1:9/a HTTP/1.1\nConnection: keep-alive\nUser-Agent: Java/17.0.15\nHost: 127.0.0.1:9\n{accept}"
        )
    );
}

fn source(text: &str, kind: u8) -> String {
    format!(
        r#"<stringProp name="HTTPSampler.ipSource">{text}</stringProp><intProp name="HTTPSampler.ipSourceType">{kind}</intProp>"#
    )
}

#[test]
fn a_source_that_is_not_there_fails_the_sample() {
    let server = Server::start(|_: &ReceivedRequest| vec![ResponseStep::Send(ok("hi"))]);
    let ask = |text, kind| {
        let body = get("a", server.address().port(), "/", &source(text, kind), "");
        let ran = run_group(&group(1, 1, true), &body, &[]);
        let row = &ran.rows[0];
        (row["responseCode"].clone(), row["responseMessage"].clone())
    };
    assert_eq!(ask("lo", 2).0, "200");
    assert_eq!(ask("127.0.0.2-127.0.0.4,127.0.0.9", 0).0, "200");
    let unknown = "Non HTTP response code: java.net.UnknownHostException".to_owned();
    assert_eq!(
        ask("nosuch", 1),
        (
            unknown,
            "Non HTTP response message: Cannot find interface nosuch".to_owned()
        )
    );
    assert_eq!(
        ask("192.0.2.77", 0),
        (
            "Non HTTP response code: java.net.BindException".to_owned(),
            "Non HTTP response message: Cannot assign requested address".to_owned()
        )
    );
}

#[test]
fn a_request_without_an_answer_is_tried_again_if_the_property_says_so() {
    let failing = || {
        Server::start(|request: &ReceivedRequest| {
            let first = request.connection < 2;
            vec![if first {
                ResponseStep::Close
            } else {
                ResponseStep::Send(ok("hi"))
            }]
        })
    };
    let outcome = |method: &str, properties: &[(&str, &str)]| {
        let server = failing();
        let body =
            get("a", server.address().port(), "/", "", "").replace(">GET<", &format!(">{method}<"));
        let ran = run_group(&group(1, 1, true), &body, properties);
        (ran.rows[0]["responseCode"].clone(), server.connections())
    };
    let retries = ("httpclient4.retrycount", "2");
    let lost = "Non HTTP response code: org.apache.http.NoHttpResponseException";
    assert_eq!(outcome("GET", &[]), (lost.to_owned(), 1));
    assert_eq!(
        outcome("GET", &[("httpclient4.retrycount", "1")]),
        (lost.to_owned(), 2)
    );
    assert_eq!(outcome("GET", &[retries]), ("200".to_owned(), 3));
    assert_eq!(outcome("POST", &[retries]), (lost.to_owned(), 1));
    let sent = ("httpclient4.request_sent_retry_enabled", "true");
    assert_eq!(outcome("POST", &[retries, sent]), ("200".to_owned(), 3));
}
