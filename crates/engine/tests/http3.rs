//! HTTP Requests over HTTP/3, from the plan to the wire and back; and what is said where HTTP/3 is not built in.

#[path = "all/support/mod.rs"]
mod support;

const HTTP3: (&str, &str) = ("drumfire.http.version", "3");

#[cfg(feature = "http3")]
mod built {
    use drumfire_testkit::http3::{Http3Options, Http3Server};

    use super::HTTP3;
    use super::support::{get, group, run_group};

    const HTTPS: &str = r#"<stringProp name="HTTPSampler.protocol">https</stringProp>"#;

    #[test]
    fn rows_read_as_those_of_http_1() {
        let server = Http3Server::start();
        let port = server.address.port();
        let two =
            get("found", port, "/a", HTTPS, "") + &get("missing", port, "/missing", HTTPS, "");
        let ran = run_group(&group(1, 1, true), &two, &[HTTP3]);
        assert_eq!(ran.column("responseCode"), ["200", "404"]);
        assert_eq!(ran.column("responseMessage"), ["OK", "Not Found"]);
        assert_eq!(ran.column("success"), ["true", "false"]);
        // `HTTP/3.0 200 OK`, `server: peer`, an empty line, and 5 bytes of body.
        assert_eq!(ran.column("bytes")[0], "38");
        let times = |name: &str| -> Vec<u64> {
            let column = ran.column(name);
            column.iter().filter_map(|ms| ms.parse().ok()).collect()
        };
        let (connect, latency, elapsed) = (times("Connect"), times("Latency"), times("elapsed"));
        assert!(connect[0] <= latency[0] && latency[0] <= elapsed[0]);
        assert_eq!(connect[1], 0);
    }

    #[test]
    fn a_connection_lives_as_long_as_one_of_http_1() {
        let server = Http3Server::start();
        let request = get("a", server.address.port(), "/", HTTPS, "");
        for (same_user, connections) in [(true, 1), (false, 3)] {
            run_group(&group(1, 3, same_user), &request, &[HTTP3]);
            let seen = server.seen();
            assert_eq!(seen.len(), 3);
            let mut numbers: Vec<&str> = seen
                .iter()
                .filter_map(|text| text.split(' ').next())
                .collect();
            numbers.dedup();
            assert_eq!(numbers.len(), connections);
        }
    }

    #[test]
    fn resources_fetched_at_once_share_the_connection() {
        let server = Http3Server::start();
        let embedded = HTTPS.to_owned()
            + r#"<boolProp name="HTTPSampler.image_parser">true</boolProp>
<boolProp name="HTTPSampler.concurrentDwn">true</boolProp><stringProp name="HTTPSampler.concurrentPool">6</stringProp>"#;
        let request = get("a", server.address.port(), "/page", &embedded, "");
        let ran = run_group(&group(1, 1, true), &request, &[HTTP3]);
        assert_eq!(ran.column("success"), ["true"]);
        let seen = server.seen();
        assert!(seen.len() == 4 && seen.iter().all(|text| text.starts_with("0 ")));
    }

    #[test]
    fn failures_have_words() {
        let server = Http3Server::start();
        let other = Http3Server::with(Http3Options {
            alpn: b"hq-interop",
            ..Http3Options::default()
        });
        let port = server.address.port();
        let limit =
            HTTPS.to_owned() + r#"<stringProp name="HTTPSampler.response_timeout">60</stringProp>"#;
        let all = get("reset", port, "/refuse", HTTPS, "")
            + &get("silent", port, "/silent", &limit, "")
            + &get("closed", port, "/vanish", HTTPS, "")
            + &get("alpn", other.address.port(), "/", HTTPS, "");
        let ran = run_group(&group(1, 1, true), &all, &[HTTP3]);
        let code = |class: &str| format!("Non HTTP response code: {class}");
        let failed = code("java.util.concurrent.ExecutionException");
        let expected = [
            failed.clone(),
            code("java.net.SocketTimeoutException"),
            failed,
            code("javax.net.ssl.SSLHandshakeException"),
        ];
        assert_eq!(ran.column("responseCode"), expected);
        let messages = [
            "java.io.IOException: stream reset: H3_INTERNAL_ERROR",
            "Read timed out",
            "java.io.IOException: connection closed: H3_INTERNAL_ERROR",
            "Received fatal alert: no_application_protocol",
        ];
        let messages = messages.map(|text| format!("Non HTTP response message: {text}"));
        assert_eq!(ran.column("responseMessage"), messages);
    }

    /// There is no HTTP/3 without TLS.
    #[test]
    fn plain_addresses_are_asked_by_http_1() {
        use drumfire_testkit::server::{ResponseStep, Server, ok};
        let server = Server::start(|_| vec![ResponseStep::Send(ok("hi"))]);
        let request = get("a", server.address().port(), "/", "", "");
        let ran = run_group(&group(1, 1, true), &request, &[HTTP3]);
        assert_eq!(ran.column("success"), ["true"]);
    }
}

#[cfg(not(feature = "http3"))]
#[test]
fn a_plan_is_refused_once_where_http_3_is_not_built_in() {
    use crate::support::{get, group, refusals};
    let two = get("a", 1, "/", "", "") + &get("b", 1, "/", "", "");
    let refused = refusals(&group(1, 1, true), &two, &[HTTP3]);
    let [refused] = &refused[..] else {
        panic!("{refused:?}");
    };
    assert!(refused.contains("this build has no HTTP/3"), "{refused}");
}
