//! The WebSocket samplers against the server half of `tokio-websockets`. The plugin's code gives the expected values.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use crate::support::{Ran, group, run_group};
use drumfire_testkit::ports::free_port;
use drumfire_testkit::server::{ResponseStep, Server};
use drumfire_testkit::websocket;
use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_websockets::{CloseCode, Config, Message, ServerBuilder};

/// Starts a server that answers messages by what they say: `fragments` in three frames, `ping` with a ping before the answer,
/// `bin` with bytes, `silence` not at all, `bye` with a close frame, everything else with itself.
pub(crate) fn server() -> SocketAddr {
    server_with(None)
}

/// The same, by TLS if there are settings for it.
pub(crate) fn server_with(tls: Option<TlsAcceptor>) -> SocketAddr {
    let (tell, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(tokio::task::LocalSet::new().run_until(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("it is bound");
            tell.send(address).expect("the test waits");
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                match tls.clone() {
                    None => tokio::task::spawn_local(serve(stream)),
                    Some(tls) => tokio::task::spawn_local(async move {
                        if let Ok(stream) = tls.accept(stream).await {
                            serve(stream).await;
                        }
                    }),
                };
            }
        }));
    });
    address.recv().expect("it starts")
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let config = Config::default().frame_size(4);
    let builder = ServerBuilder::new().config(config);
    let Ok((_, mut socket)) = builder.accept(stream).await else {
        return;
    };
    while let Some(Ok(message)) = socket.next().await {
        let Some(text) = message.as_text() else {
            if message.is_binary() {
                let _ = socket.send(message).await;
            }
            continue;
        };
        let answers = match text {
            "fragments" => vec![Message::text("onetwothree")],
            "ping" => vec![Message::ping("p"), Message::text("pong")],
            "bin" => vec![Message::binary(&b"\x01\xff"[..])],
            "silence" => vec![],
            "bye" => vec![Message::close(Some(CloseCode::NORMAL_CLOSURE), "so long")],
            other => vec![Message::text(other.to_owned())],
        };
        for answer in answers {
            if socket.send(answer).await.is_err() {
                return;
            }
        }
    }
}

/// One sampler with its properties, and what stands below it.
fn sampler(class: &str, name: &str, properties: &[(&str, &str)], children: &str) -> String {
    let class = format!("eu.luminis.jmeter.wssampler.{class}");
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
        .collect();
    format!(
        r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="{name}">{properties}</{class}><hashTree>{children}</hashTree>"#
    )
}

fn open(port: &str) -> String {
    let properties = [("server", "127.0.0.1"), ("port", port), ("path", "chat")];
    sampler("OpenWebSocketSampler", "open", &properties, "")
}

fn ask(text: &str, children: &str) -> String {
    let properties = [
        ("createNewConnection", "false"),
        ("requestData", text),
        ("readTimeout", "300"),
    ];
    sampler(
        "RequestResponseWebSocketSampler",
        text,
        &properties,
        children,
    )
}

fn read(data_type: &str, optional: &str) -> String {
    let properties = [
        ("createNewConnection", "false"),
        ("dataType", data_type),
        ("readTimeout", "300"),
        ("optional", optional),
    ];
    sampler("SingleReadWebSocketSampler", "read", &properties, "")
}

fn write(text: &str) -> String {
    let properties = [("createNewConnection", "false"), ("requestData", text)];
    sampler("SingleWriteWebSocketSampler", "write", &properties, "")
}

fn run(body: &str) -> Ran {
    run_group(&group(1, 1, true), body, &[])
}

/// Code, message and success of each row.
pub(crate) fn told(ran: &Ran) -> Vec<[&str; 3]> {
    let columns = ["responseCode", "responseMessage", "success"].map(|name| ran.column(name));
    (0..ran.rows.len())
        .map(|at| [columns[0][at], columns[1][at], columns[2][at]])
        .collect()
}

#[test]
fn one_connection_from_opening_to_closing() {
    let port = server().port().to_string();
    let close = sampler("CloseWebSocketSampler", "close", &[], "");
    let ping = sampler("PingPongSampler", "ping", &[("readTimeout", "5000")], "");
    let body = open(&port)
        + &ask("hey", "")
        + &write("you")
        + &read("Text", "false")
        + &ping
        + &close
        + &close;
    let ran = run(&body);
    let expected = [
        ["101", "Switching Protocols", "true"],
        ["200", "OK", "true"],
        ["200", "OK", "true"],
        ["200", "OK", "true"],
        ["200", "OK", "true"],
        ["1000", "Connection closed.", "true"],
        ["", "No connection; nothing to close.", "false"],
    ];
    assert_eq!(told(&ran), expected);
    // The head of the answer; then frames: 2 bytes and the payload one way, 4 of the mask more the other.
    assert_eq!(ran.column("bytes")[1..5], ["5", "0", "5", "2"]);
    assert_eq!(ran.column("sentBytes")[1..5], ["9", "9", "0", "6"]);
    assert_eq!(ran.column("dataType")[..3], ["", "text", ""]);
}

#[test]
fn fragments_are_frames_of_their_own() {
    let port = server().port().to_string();
    let show = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="final ${websocket.last_frame_final}"><boolProp name="displayJMeterVariables">false</boolProp></DebugSampler><hashTree/>"#;
    let body = open(&port)
        + &ask("fragments", "")
        + show
        + &read("Any", "false")
        + &read("Text", "false")
        + show
        + &read("Text", "true");
    let ran = run(&body);
    assert_eq!(ran.column("bytes")[1], "6");
    let labels = ran.column("label");
    assert_eq!((labels[2], labels[5]), ("final false", "final true"));
    let silent = ["No response", "Read timeout, no response received.", "true"];
    assert_eq!(told(&ran)[6], silent);
}

#[test]
fn frames_that_nobody_expects() {
    let port = server().port().to_string();
    let body =
        open(&port) + &ask("ping", "") + &read("Binary", "false") + &ask("bye", "") + &write("x");
    let ran = run(&body);
    let told = told(&ran);
    assert_eq!(told[1][0], "Sampler error: unexpected frame type (ping).");
    assert_eq!(told[1][1], "Received: Ping frame with application data 'p'");
    assert_eq!(told[2][0], "Sampler error: unexpected frame type (text).");
    assert_eq!(told[2][1], "Received: Text frame with text 'pong'");
    let bye = "Received: Close frame with status code 1000 and close reason 'so long'";
    assert_eq!(told[3][1], bye);
    // The connection that the server has closed is forgotten.
    let none = "Sampler configured for using existing connection, but there is no connection";
    assert_eq!(told[4], ["Sampler error", none, "false"]);
}

#[test]
fn filters_leave_frames_out() {
    let port = server().port().to_string();
    let class = "eu.luminis.jmeter.wssampler.PingFrameFilter";
    let filter = format!(
        r#"<{class} guiclass="PingFrameFilterGui" testclass="{class}" testname="no pings"><stringProp name="filterType">FilterAll</stringProp></{class}><hashTree/>"#
    );
    let ran = run(&(open(&port) + &ask("ping", &filter)));
    assert_eq!(told(&ran)[1], ["200", "OK", "true"]);
    assert_eq!(ran.column("bytes")[1], "6");
}

#[test]
fn binary_data_goes_both_ways() {
    let port = server().port().to_string();
    let properties = [
        ("server", "127.0.0.1"),
        ("port", &port),
        ("path", "/"),
        ("createNewConnection", "true"),
        ("payloadType", "Binary"),
        ("requestData", "0xca fe"),
    ];
    let binary = sampler("RequestResponseWebSocketSampler", "bin", &properties, "");
    let mut odd = properties;
    odd[5] = ("requestData", "not hex");
    let odd = sampler("RequestResponseWebSocketSampler", "odd", &odd, "");
    let ran = run(&(binary + &odd));
    assert_eq!(told(&ran)[0], ["101", "Switching Protocols", "true"]);
    assert_eq!(ran.column("dataType")[0], "bin");
    let message = "Request data is not binary: not hex";
    assert_eq!(told(&ran)[1], ["Sampler Error", message, "false"]);
}

#[test]
fn connections_that_do_not_come_about() {
    let closed = free_port().to_string();
    let http = Server::start(|_| vec![ResponseStep::Send(drumfire_testkit::server::ok("hi"))]);
    let http = http.address().port().to_string();
    let body = open(&closed) + &open(&http) + &open("x") + &open("0") + &ask("hey", "");
    let ran = run(&body);
    let told = told(&ran);
    let refused = "WebSocket I/O error: Connection refused";
    assert_eq!(told[0], ["Websocket I/O error", refused, "false"]);
    let status = "Got unexpected status 200 with statusLine:HTTP/1.1 200 OK";
    assert_eq!(told[1], ["200", status, "false"]);
    let port = "Sampler error: Port number 'x' is not a number.";
    assert_eq!(told[2], ["Sampler error", port, "false"]);
    assert_eq!(told[3][1], "Sampler error: Port number '0' is not valid.");
    assert_eq!(told[4][0], "Sampler error");
}

#[test]
fn a_timeout_leaves_the_connection_as_it_is() {
    let port = server().port().to_string();
    let ran = run(&(open(&port) + &ask("silence", "") + &ask("hey", "")));
    let timeout = "WebSocket I/O error: Read timed out";
    assert_eq!(told(&ran)[1], ["Websocket I/O error", timeout, "false"]);
    assert_eq!(told(&ran)[2], ["200", "OK", "true"]);
}

/// A server of TLS with a certificate that nobody knows.
pub(crate) fn tls() -> TlsAcceptor {
    let certified = rcgen::generate_simple_self_signed(["peer.test".to_owned()]);
    let certified = certified.expect("a valid name");
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).expect("PKCS#8");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider knows them")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .expect("they belong together");
    TlsAcceptor::from(Arc::new(config))
}

#[test]
fn connections_by_tls() {
    let port = server_with(Some(tls())).port().to_string();
    let properties = [
        ("TLS", "true"),
        ("server", "127.0.0.1"),
        ("port", &port),
        ("path", "/"),
    ];
    let open = sampler("OpenWebSocketSampler", "open", &properties, "");
    let long = "long ".repeat(20_000);
    let ran = run(&(open + &ask("hey", "") + &ask(&long, "") + &ask("fragments", "")));
    let told = told(&ran);
    assert_eq!(told[0], ["101", "Switching Protocols", "true"]);
    assert!(told[1..].iter().all(|told| *told == ["200", "OK", "true"]));
    assert_eq!(ran.column("sentBytes")[1..3], ["9", "100014"]);
}

/// A Header Manager with one header.
pub(crate) fn header(name: &str, value: &str) -> String {
    format!(
        r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">{name}</stringProp><stringProp name="Header.value">{value}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#
    )
}

/// An assertion that the response is this text.
pub(crate) fn says(text: &str) -> String {
    format!(
        r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="a"><collectionProp name="Asserion.test_strings"><stringProp name="0">{text}</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><boolProp name="Assertion.assume_success">false</boolProp><intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>"#
    )
}

/// The bytes of version 1.3.1 of the plugin for these frames; the first two are examples of RFC 7692 section 7.2.3.
#[test]
fn compressed_messages_are_inflated_where_they_are_asked_for() {
    const FRAMES: &[u8] = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00\x41\x03\xf2\x00\x11\x80\x02\x00\x00";
    let server = Server::start(|request| {
        let answer = [&websocket::switch(request)[..], FRAMES].concat();
        vec![ResponseStep::Send(answer), ResponseStep::Hang]
    });
    let port = server.address().port().to_string();
    let properties = [("server", "127.0.0.1"), ("port", &port), ("path", "/")];
    let asks = header("Sec-WebSocket-Extensions", "permessage-deflate");
    let open = |headers: &str| sampler("OpenWebSocketSampler", "open", &properties, headers);
    let read = |text: &str| {
        let properties = [
            ("createNewConnection", "false"),
            ("dataType", "Text"),
            ("readTimeout", "5000"),
        ];
        sampler(
            "SingleReadWebSocketSampler",
            "read",
            &properties,
            &says(text),
        )
    };
    let incomplete =
        "&lt;not showing response data, because it is compressed and at this stage incomplete&gt;";
    let ran = run(&(open(&asks)
        + &read("Hello")
        + &read("Hello")
        + &read(incomplete)
        + &read("Hello")
        + &open("")
        + &read("Hello")));
    assert_eq!(
        ran.column("success"),
        ["true", "true", "true", "true", "true", "true", "false"]
    );
    // As they came.
    assert_eq!(ran.column("bytes")[1..5], ["9", "7", "5", "4"]);
    let nobody = "Sampler error: java.lang.NullPointerException: Cannot invoke \"eu.luminis.websocket.WebSocketInflater.appendCompressedData(byte[], boolean, org.apache.log.Logger)\" because \"webSocketInflater\" is null";
    assert_eq!(told(&ran)[6][1], nobody);
}

/// Opens a connection to a port of a server that only the proxy knows.
fn to(port: &str) -> String {
    let properties = [
        ("server", "shop.test"),
        ("port", port),
        ("path", "/chat?a=b"),
    ];
    sampler("OpenWebSocketSampler", "open", &properties, "")
}

fn proxied(body: &str, port: &str) -> Ran {
    let properties = [
        ("-Dhttp.proxyHost", "127.0.0.1"),
        ("-Dhttp.proxyPort", port),
        ("-Dhttp.nonProxyHosts", "other.test|*.own.test"),
        ("http.proxyUser", "u"),
        ("http.proxyPass", "pw"),
    ];
    run_group(&group(1, 1, true), body, &properties)
}

/// Recorded with version 1.3.1 of the plugin: the requests, codes and messages.
#[test]
fn a_proxy_makes_tunnels_also_without_tls() {
    let proxy = Server::start(|request| {
        if request.method != "CONNECT" {
            let frame = b"\x81\x02hi";
            return vec![
                ResponseStep::Send([&websocket::switch(request)[..], frame].concat()),
                ResponseStep::Hang,
            ];
        }
        let answer = match request.target.as_str() {
            "shop.test:80" => "HTTP/1.1 200 Ok\r\nX: y\r\n\r\n",
            "shop.test:81" => "HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n",
            _ => "hello\r\n\r\n",
        };
        let mut steps = vec![ResponseStep::Send(answer.into())];
        if request.target != "shop.test:80" {
            steps.push(ResponseStep::Close);
        }
        steps
    });
    let port = proxy.address().port().to_string();
    let ran = proxied(
        &(to("80") + &read("Text", "false") + &to("81") + &to("82")),
        &port,
    );
    let expected = [
        ["101", "Switching Protocols", "true"],
        ["200", "OK", "true"],
        [
            "407",
            "Connecting proxy failed with status code 407",
            "false",
        ],
        [
            "Websocket I/O error",
            "WebSocket I/O error: Invalid status line",
            "false",
        ],
    ];
    assert_eq!(told(&ran), expected);
    let seen = proxy.requests();
    assert_eq!(
        seen[0].head.trim_end(),
        "CONNECT shop.test:80 HTTP/1.1\r\nHost: shop.test\r\nProxy-Authorization: Basic dTpwdw=="
    );
    assert_eq!(seen[1].target, "http://shop.test:80/chat?a=b");
    assert_eq!(seen[1].header("Host"), Some("shop.test:80"));
    let closed = free_port().to_string();
    let refused = proxied(&to("80"), &closed);
    let text = "WebSocket I/O error: Proxy connection setup error: Connection refused";
    assert_eq!(told(&refused)[0][1], text);
}
