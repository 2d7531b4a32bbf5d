//! The WebSocket Sampler of Maciej Zaleski against the servers of `websocket.rs`. `compat/websocket-sampler` has what the plugin
//! wrote; the values here are of cases whose rows hold Java's stack traces there, or that need another server.

use drumfire_testkit::ports::free_port;
use drumfire_testkit::server::{ResponseStep, Server};
use drumfire_testkit::websocket::switch;

use crate::support::{Ran, group, run_group};
use crate::websocket::{header, says, server, server_with, tls, told};

const CLASS: &str = "JMeter.plugins.functional.samplers.websocket.WebSocketSampler";

/// A sampler that sends `name`, with these properties.
fn sampler(port: &str, name: &str, properties: &[(&str, &str)], children: &str) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
        .collect();
    format!(
        r#"<{CLASS} guiclass="{CLASS}Gui" testclass="{CLASS}" testname="{name}"><stringProp name="serverAddress">127.0.0.1</stringProp><stringProp name="serverPort">{port}</stringProp><stringProp name="requestPayload">{name}</stringProp>{properties}</{CLASS}><hashTree>{children}</hashTree>"#
    )
}

fn run(body: &str) -> Ran {
    run_group(&group(1, 1, true), body, &[])
}

#[test]
fn fragments_are_one_message_and_pings_and_bytes_none() {
    let port = server().port().to_string();
    let soon = [("responseTimeout", "300")];
    let body = sampler(
        &port,
        "fragments",
        &[],
        &says("[Message 1]\nonetwothree\n\n"),
    ) + &sampler(&port, "ping", &[], &says("[Message 1]\npong\n\n"))
        + &sampler(&port, "bin", &soon, "")
        + &sampler(&port, "silence", &soon, "");
    let ran = run(&body);
    let results: Vec<[&str; 2]> = told(&ran).iter().map(|row| [row[0], row[2]]).collect();
    assert_eq!(results, [["200", "true"]; 4]);
    assert_eq!(ran.column("bytes"), ["25", "18", "0", "0"]);
}

#[test]
fn streaming_connections_have_ids_and_the_settings_of_their_first_sampler() {
    let port = server().port().to_string();
    let stream = |id, text: &str, pattern, body: &str| {
        let properties = [
            ("streamingConnection", "true"),
            ("connectionId", id),
            ("messageBacklog", "2"),
            ("responsePattern", pattern),
        ];
        sampler(&port, text, &properties, &says(body))
    };
    let body = stream("a", "one", "^o", "[Message 1]\none\n\n")
        + &stream("b", "other", "", "[Message 1]\nother\n\n")
        + &stream(
            "a",
            "of two",
            "never",
            "[Message 1]\none\n\n[Message 2]\nof two\n\n",
        )
        + &stream("a", "ok", "", "[Message 2]\nof two\n\n[Message 3]\nok\n\n");
    let ran = run(&body);
    let told = told(&ran);
    assert!(told.iter().all(|row| row[2] == "true"), "{told:?}");
    let reused = "\n\n[Execution Flow]\n - Reusing exising connection\n - Waiting for messages for 20000 MILLISECONDS\n \
        - Received message #3 (2 bytes); matched response pattern\n - Leaving streaming connection open\n\n\n[Variables]\n \
        - Message count: 3\n\n\n[Problems]\n";
    assert_eq!(told[3][1], reused);
}

#[test]
fn a_connection_that_the_server_closed_stays_closed() {
    let port = server().port().to_string();
    let stream = [("streamingConnection", "true")];
    let body = sampler(&port, "bye", &stream, "") + &sampler(&port, "hey", &stream, "");
    let ran = run(&body);
    let told = told(&ran);
    assert_eq!((told[0][0], told[0][2]), ("200", "true"));
    assert!(told[0][1].contains("has been successfully closed by the server"));
    let problem = " - Unexpected error: RemoteEndpoint unavailable, current state [CLOSED], expecting [OPEN or CONNECTED]\n";
    assert!(told[1][1].ends_with(problem), "{}", told[1][1]);
    assert_eq!((told[1][0], told[1][2]), ("", "false"));
}

/// In the plugin the end of the row's log is a race of two threads.
#[test]
fn a_close_pattern_ends_the_connection() {
    let port = server().port().to_string();
    let patterns = [
        ("streamingConnection", "true"),
        ("responsePattern", "never"),
        ("closeConncectionPattern", "^the e"),
        ("responseTimeout", "300"),
    ];
    let body = sampler(&port, "a start", &patterns, "")
        + &sampler(
            &port,
            "the end",
            &patterns,
            &says("[Message 1]\na start\n\n[Message 2]\nthe end\n\n"),
        )
        + &sampler(&port, "hey", &patterns, "");
    let ran = run(&body);
    let told = told(&ran);
    assert!(told[0][1].contains("(7 bytes); didn't match any pattern\n - Leaving streaming"));
    let end = "(7 bytes); matched connection close pattern\n - WebSocket conection has been successfully closed by the server\n \
        - WebSocket session closed by the client\n - Leaving streaming connection open\n";
    assert!(told[1][1].contains(end), "{}", told[1][1]);
    assert!(told[2][1].contains("RemoteEndpoint unavailable"));
    let succeeded: Vec<&str> = told.iter().map(|row| row[2]).collect();
    assert_eq!(succeeded, ["true", "true", "false"]);
}

/// Frames after the handshake, and the row that they lead to: code, the end of the log's line about the end, success.
#[test]
fn statuses_of_closed_connections_are_codes() {
    for (frames, code, line) in [
        (&b"\x88\x07\x03\xe9going"[..], "1001", "[1001] going"),
        (b"\x88\x00", "1005", "[1005] null"),
        (b"\x81\x02\xff\xfe", "1007", "[1007] Not valid UTF8!"),
        (b"\x81\x05he", "1006", "[1006]"),
        (b"\x83\x00", "1002", "[1002]"),
    ] {
        let server = Server::start(move |request| {
            let answer = [&switch(request)[..], frames].concat();
            vec![ResponseStep::Send(answer), ResponseStep::Close]
        });
        let port = server.address().port().to_string();
        let ran = run(&sampler(&port, "", &[], ""));
        let told = told(&ran);
        assert_eq!((told[0][0], told[0][2]), (code, "false"), "{}", told[0][1]);
        let whole = format!("closed unexpectedly by the server: {line}");
        assert!(told[0][1].contains(&whole), "{}", told[0][1]);
    }
}

#[test]
fn what_cannot_be_opened_takes_the_whole_timeout() {
    let port = free_port().to_string();
    let limits = [("connectionTimeout", "200"), ("responseTimeout", "100")];
    let http = Server::start(|_| vec![ResponseStep::Send(drumfire_testkit::server::ok("hi"))]);
    let http = http.address().port().to_string();
    let body = sampler(&port, "hey", &limits, "")
        + &sampler(&port, "", &limits, "")
        + &sampler(&http, "hey", &limits, "")
        + &sampler(&port, "x", &[("protocol", "http")], "");
    let ran = run(&body);
    let told = told(&ran);
    assert!(told[0][1].ends_with("because \"this.session\" is null\nConnection refused\n"));
    assert!(told[1][1].contains("- WebSocket session wasn't started (...that's odd)"));
    assert!(
        told[2][1].contains("Got unexpected status 200"),
        "{}",
        told[2][1]
    );
    let scheme = "\n\n[Problems]\n - Unexpected error: WebSocket URI scheme only supports [ws] and [wss], not [http]\n";
    assert_eq!(told[3][1], scheme);
    let succeeded: Vec<&str> = told.iter().map(|row| row[2]).collect();
    assert_eq!(succeeded, ["false", "true", "false", "false"]);
    let elapsed_ms = |row: usize| ran.column("elapsed")[row].parse::<u64>().expect("a number");
    assert!(elapsed_ms(0) >= 200 && elapsed_ms(1) >= 300);
}

/// The frames are examples of RFC 7692 section 7.2.3.
#[test]
fn headers_are_sent_and_compression_is_theirs_to_ask_for() {
    const FRAMES: &[u8] = b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00";
    let server = Server::start(|request| {
        assert_eq!(request.target, "/chat?room=%25C3%25A9+1");
        let answer = [&switch(request)[..], FRAMES].concat();
        vec![ResponseStep::Send(answer), ResponseStep::Hang]
    });
    let port = server.address().port().to_string();
    let query = r#"<elementProp name="queryStringParameters" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="room" elementType="Argument"><stringProp name="Argument.name">room</stringProp><stringProp name="Argument.value">é 1</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp>"#;
    let children =
        header("Sec-WebSocket-Extensions", "permessage-deflate") + &says("[Message 1]\nHello\n\n");
    let body = sampler(&port, "", &[("contextPath", "chat")], &children);
    let end = format!("</{CLASS}>");
    let ran = run(&body.replace(&end, &format!("{query}{end}")));
    assert_eq!(told(&ran)[0][2], "true", "{:?}", told(&ran));
    assert_eq!(
        server.requests()[0].header("Sec-WebSocket-Extensions"),
        Some("permessage-deflate")
    );
}

#[test]
fn connections_by_tls() {
    let port = server_with(Some(tls())).port().to_string();
    let path = format!("wss://127.0.0.1:{port}/x");
    let body = sampler(
        &port,
        "hey",
        &[("protocol", "wss")],
        &says("[Message 1]\nhey\n\n"),
    ) + &sampler("", "hey", &[("contextPath", &path)], "");
    let ran = run(&body);
    let told = told(&ran);
    assert!(
        told.iter().all(|row| (row[0], row[2]) == ("200", "true")),
        "{told:?}"
    );
}

#[test]
fn messages_take_bounded_memory() {
    let port = server().port().to_string();
    let long = "long ".repeat(1000);
    let body = sampler(&port, &long, &[], "");
    let bound = [("drumfire.http.max_body_bytes", "2000")];
    let ran = run_group(&group(1, 1, true), &body, &bound);
    let told = told(&ran);
    assert_eq!((told[0][0], told[0][2]), ("1009", "false"));
    assert!(
        told[0][1].contains("(drumfire.http.max_body_bytes)"),
        "{}",
        told[0][1]
    );
}
