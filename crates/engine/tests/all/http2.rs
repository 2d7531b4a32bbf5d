//! HTTP Requests over HTTP/2, from the plan to the wire and back.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};

use crate::support::{get, group, run_group};
use bytes::Bytes;
use http::Response;

/// A server that speaks HTTP/2 over plain TCP and nothing else.
struct Server {
    address: SocketAddr,
    seen: Receiver<(u32, String)>,
}

impl Server {
    fn start() -> Server {
        let (tell_address, address) = channel();
        let (tell_seen, seen) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(tokio::task::LocalSet::new().run_until(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
                let listener = listener.expect("a free port");
                let address = listener.local_addr().expect("it is bound");
                tell_address.send(address).expect("the test waits");
                for number in 0_u32.. {
                    let (stream, _) = listener.accept().await.expect("a connection");
                    let tell = tell_seen.clone();
                    tokio::task::spawn_local(async move {
                        let Ok(mut connection) = h2::server::handshake(stream).await else {
                            return;
                        };
                        while let Some(Ok((request, mut respond))) = connection.accept().await {
                            let path = request.uri().path();
                            // The test may be over.
                            let _ = tell.send((number, path.to_owned()));
                            let (status, kind, body) = page(path);
                            let response = Response::builder()
                                .status(status)
                                .header("content-type", kind)
                                .body(())
                                .expect("a response");
                            let mut stream =
                                respond.send_response(response, false).expect("it is sent");
                            stream.send_data(body, true).expect("it is sent");
                        }
                    });
                }
            }));
        });
        Server {
            address: address.recv().expect("it starts"),
            seen,
        }
    }

    /// Connections used so far, and what was asked for, in order.
    fn seen(&self) -> (usize, Vec<String>) {
        let seen: Vec<(u32, String)> = self.seen.try_iter().collect();
        let mut connections: Vec<u32> = seen.iter().map(|(number, _)| *number).collect();
        connections.sort_unstable();
        connections.dedup();
        let paths = seen.into_iter().map(|(_, path)| path).collect();
        (connections.len(), paths)
    }
}

fn page(path: &str) -> (u16, &'static str, Bytes) {
    match path {
        "/page" => {
            let page = "<html><img src=a.png><img src=b.png><img src=c.png></html>";
            (200, "text/html", Bytes::from_static(page.as_bytes()))
        }
        "/long" => (200, "text/plain", Bytes::from_static(&[b'x'; 32_000])),
        "/missing" => (404, "text/plain", Bytes::from_static(b"no")),
        _ => (200, "image/png", Bytes::from_static(b"image")),
    }
}

const HTTP2: (&str, &str) = ("drumfire.http.version", "2");

#[test]
fn rows_read_as_those_of_http_1() {
    let server = Server::start();
    let port = server.address.port();
    let two = get("found", port, "/a", "", "") + &get("missing", port, "/missing", "", "");
    let ran = run_group(&group(1, 1, true), &two, &[HTTP2]);
    assert_eq!(ran.column("responseCode"), ["200", "404"]);
    assert_eq!(ran.column("responseMessage"), ["OK", "Not Found"]);
    assert_eq!(ran.column("success"), ["true", "false"]);
    // `HTTP/2.0 200 OK`, the type, an empty line, and 5 bytes of body.
    assert_eq!(ran.column("bytes")[0], "49");
    let paths = ["/a", "/missing"].map(str::to_owned).to_vec();
    assert_eq!(server.seen(), (1, paths));
}

#[test]
fn a_connection_lives_as_long_as_one_of_http_1() {
    let server = Server::start();
    let request = get("a", server.address.port(), "/", "", "");
    run_group(&group(1, 3, true), &request, &[HTTP2]);
    assert_eq!(server.seen().0, 1);
    run_group(&group(1, 3, false), &request, &[HTTP2]);
    assert_eq!(server.seen().0, 3);
}

#[test]
fn resources_fetched_at_once_share_the_connection() {
    let server = Server::start();
    let embedded = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp>
<boolProp name="HTTPSampler.concurrentDwn">true</boolProp><stringProp name="HTTPSampler.concurrentPool">6</stringProp>"#;
    let request = get("a", server.address.port(), "/page", embedded, "");
    let ran = run_group(&group(1, 1, true), &request, &[HTTP2]);
    assert_eq!(ran.column("success"), ["true"]);
    let (connections, paths) = server.seen();
    assert_eq!((connections, paths.len()), (1, 4));
}

/// BlazeMeter's sampler, with further properties.
fn blazemeter(port: u16, more: &str) -> String {
    get("a", port, "/", more, "").replace(
        "HTTPSamplerProxy",
        "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler",
    )
}

#[test]
fn the_sampler_of_blazemeter_asks_in_http_2_where_it_knows_the_server() {
    let server = Server::start();
    let port = server.address.port();
    let known = r#"<boolProp name="HTTP2Sampler.http2PriorKnowledge">true</boolProp>"#;
    let ran = run_group(&group(1, 1, true), &blazemeter(port, known), &[]);
    assert_eq!(ran.column("responseCode"), ["200"]);
    let only = r#"<boolProp name="HTTP2Sampler.enableHttp1">false</boolProp>"#;
    let ran = run_group(&group(1, 1, true), &blazemeter(port, only), &[]);
    assert_eq!(ran.column("responseCode"), ["200"]);
    assert_eq!(server.seen().1.len(), 2);
    // By itself it asks plain servers in HTTP/1.1, which this one does not speak.
    let legacy = r#"<stringProp name="HTTP2Sampler.profile">legacy</stringProp>"#;
    for more in ["", legacy] {
        let ran = run_group(&group(1, 1, true), &blazemeter(port, more), &[]);
        assert_eq!(ran.column("success"), ["false"]);
        assert_eq!(server.seen().1.len(), 0);
    }
}

/// The element of the plugin's first version is today's with other names (`HTTP2SamplerConverter`).
#[test]
fn the_request_of_blazemeters_first_version_is_that_of_today() {
    let server = drumfire_testkit::server::Server::start(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        vec![drumfire_testkit::server::ResponseStep::Send(
            drumfire_testkit::server::ok(&body),
        )]
    });
    let class = "com.blazemeter.jmeter.http2.sampler.HTTP2Request";
    let port = server.address().port();
    let request = format!(
        r#"<{class} guiclass="com.blazemeter.jmeter.http2.sampler.gui.HTTP2RequestGui" testclass="{class}" testname="old">
<boolProp name="HTTP2Request.postBodyRaw">true</boolProp>
<elementProp name="HTTP2Request.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">false</boolProp><stringProp name="Argument.value">raw body</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp>
<stringProp name="HTTP2Request.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTP2Request.protocol">http</stringProp><stringProp name="HTTP2Request.path">/old</stringProp>
<stringProp name="HTTP2Sampler.method">POST</stringProp><boolProp name="HTTP2Request.sync_request">true</boolProp>
</{class}><hashTree/>"#
    );
    let ran = run_group(&group(1, 1, true), &request, &[]);
    assert_eq!(ran.column("success"), ["true"]);
    let [seen] = &server.requests()[..] else {
        panic!("one request");
    };
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("POST", "/old")
    );
    assert_eq!(seen.body, b"raw body");
}

/// As over HTTP/1.1: the limit of all connections, and one of the sampler's own.
#[test]
fn limits_on_the_speed_hold_for_streams() {
    let server = Server::start();
    let port = server.address.port();
    let request = get("a", port, "/long", "", "");
    let elapsed_ms = |ran: &crate::support::Ran| -> u64 {
        assert_eq!(ran.column("success"), ["true"]);
        ran.column("elapsed")[0].parse().expect("it is a number")
    };
    let cps = ("httpclient.socket.http.cps", "320000");
    let all = elapsed_ms(&run_group(&group(1, 1, true), &request, &[HTTP2, cps]));
    let own = r#"<stringProp name="drumfire.bytes_per_second">320000</stringProp>"#;
    let request = get("a", port, "/long", own, "");
    let own = elapsed_ms(&run_group(&group(1, 1, true), &request, &[HTTP2]));
    // 32,000 bytes, 100 ms, less what is lost to whole milliseconds in each frame.
    assert!(all >= 80 && own >= 80, "{all} and {own} ms");
}

#[test]
fn the_async_controller_of_blazemeter_runs_its_requests_in_turn() {
    let server = Server::start();
    let port = server.address.port();
    let two = get("a", port, "/a", "", "") + &get("b", port, "/b", "", "");
    let class = "com.blazemeter.jmeter.http2.control.HTTP2Controller";
    let body = format!(
        r#"<{class} guiclass="HTTP2ControllerGUI" testclass="{class}" testname="c"/><hashTree>{two}</hashTree>"#
    );
    let ran = run_group(&group(1, 1, true), &body, &[HTTP2]);
    assert_eq!(ran.column("label"), ["a", "b"]);
}

#[test]
fn a_server_of_http_1_alone_fails_the_sample() {
    let server = drumfire_testkit::server::Server::start(|_| {
        vec![drumfire_testkit::server::ResponseStep::Send(
            drumfire_testkit::server::ok("hi"),
        )]
    });
    let request = get("a", server.address().port(), "/", "", "");
    let ran = run_group(&group(1, 1, true), &request, &[HTTP2]);
    assert_eq!(ran.column("success"), ["false"]);
    assert!(ran.column("responseCode")[0].starts_with("Non HTTP response code: java."));
}
