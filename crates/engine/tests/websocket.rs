//! The WebSocket samplers against the server half of `tokio-websockets`. What is expected is what the plugin's code says.

mod support;

use std::net::SocketAddr;
use std::sync::mpsc::channel;

use futures_util::{SinkExt, StreamExt};
use support::{Ran, group, run_group};
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::{CloseCode, Config, Message, ServerBuilder};

/// Starts a server that answers messages by what they say: `fragments` in three frames, `ping` with a ping before the answer,
/// `bin` with bytes, `silence` not at all, `bye` with a close frame, everything else with itself.
fn server() -> SocketAddr {
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
                tokio::task::spawn_local(serve(stream));
            }
        }));
    });
    address.recv().expect("it starts")
}

async fn serve(stream: TcpStream) {
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
fn told(ran: &Ran) -> Vec<[&str; 3]> {
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
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let closed = free.local_addr().expect("it is bound").port().to_string();
    drop(free);
    let http = drumfire_testkit::server::Server::start(|_| {
        vec![drumfire_testkit::server::Step::Send(
            drumfire_testkit::server::ok("hi"),
        )]
    });
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
