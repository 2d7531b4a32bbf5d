//! GRPC Requests beyond what `compat/grpc` records with the plugin: streams, reflection, limits, and calls after a failure.

#![cfg(feature = "grpc")]

use std::path::Path;

use drumfire_testkit::grpc::GrpcServer;
use drumfire_testkit::server::{ResponseStep, Server};

use crate::support::{Ran, group, refusals, run_group};

/// The folder with the service of the test server.
fn protos() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat/grpc/protos");
    folder.display().to_string()
}

/// A call, with a Debug Sampler whose label is the part of the response at `path`.
fn call(port: u16, folder: &str, method: &str, json: &str, path: &str) -> String {
    const CLASS: &str = "vn.zalopay.benchmark.GRPCSampler";
    let json = json.replace('"', "&quot;");
    let text = |name: &str, value: &str| {
        format!(r#"<stringProp name="GRPCSampler.{name}">{value}</stringProp>"#)
    };
    let properties = [
        text("host", "127.0.0.1"),
        text("port", &port.to_string()),
        text("protoFolder", folder),
        text("fullMethod", method),
        text("deadline", "2000"),
        text("requestJson", &json),
    ];
    format!(
        r#"<{CLASS} guiclass="{CLASS}Gui" testclass="{CLASS}" testname="call">{}</{CLASS}><hashTree>
        <JSONPostProcessor guiclass="g" testclass="JSONPostProcessor" testname="j"><stringProp name="JSONPostProcessor.referenceNames">part</stringProp>
        <stringProp name="JSONPostProcessor.jsonPathExprs">{path}</stringProp><stringProp name="JSONPostProcessor.match_numbers"></stringProp></JSONPostProcessor><hashTree/></hashTree>
        <DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="part ${{part}}"/><hashTree/>"#,
        properties.concat()
    )
}

fn run(body: &str, loops: u32, properties: &[(&str, &str)]) -> Ran {
    run_group(&group(1, loops, true), body, properties)
}

#[test]
fn all_kinds_of_streams_are_one_sample_with_all_messages() {
    let server = GrpcServer::start(Vec::new()).expect("a server");
    let (port, folder) = (server.address().port(), protos());
    let three = r#"[{"value": 1}, {"value": 2}, {"value": 4}]"#;
    let body = [
        call(
            port,
            &folder,
            "compat.Echo/Count",
            r#"{"code": 3}"#,
            "$[2].value",
        ),
        call(port, &folder, "compat.Echo/Count", "{}", "$.none"),
        call(port, &folder, "compat.Echo/Sum", three, "$.value"),
        call(port, &folder, "compat.Echo/Chat", three, "$[2].value"),
    ];
    let ran = run(&body.concat(), 1, &[]);
    assert_eq!(
        ran.column("label"),
        [
            "call", "part 3", "call", "part ", "call", "part 7", "call", "part 4"
        ]
    );
    assert!(
        ran.column("success")
            .iter()
            .all(|success| *success == "true")
    );
}

#[test]
fn each_message_of_a_stream_is_a_sub_result_from_the_one_before_it() {
    let server = GrpcServer::start(Vec::new()).expect("a server");
    let (port, folder) = (server.address().port(), protos());
    let results = tempfile::tempdir().expect("a folder");
    let file = results.path().join("results.xml");
    let listener = format!(
        r#"<ResultCollector guiclass="g" testclass="ResultCollector" testname="r"><objProp><name>saveConfig</name>
        <value class="SampleSaveConfiguration"><xml>true</xml><time>true</time><label>true</label><subresults>true</subresults><timestamp>true</timestamp></value></objProp>
        <stringProp name="filename">{}</stringProp></ResultCollector><hashTree/>"#,
        file.display()
    );
    let order = r#"{"code": 3, "delay_ms": 20}"#;
    let count = call(port, &folder, "compat.Echo/Count", order, "$[2].value");
    for (most, labels) in [
        ("1000", vec!["call", "call-0", "call-1", "call-2"]),
        ("1", vec!["call", "call-0"]),
    ] {
        let _ = std::fs::remove_file(&file);
        run(
            &(count.clone() + &listener),
            1,
            &[("drumfire.grpc.max_sub_results", most)],
        );
        let text = std::fs::read_to_string(&file).expect("results");
        let samples: Vec<&str> = text
            .split("<sample ")
            .skip(1)
            .filter(|one| one.contains("lb=\"call"))
            .collect();
        let value = |sample: &str, name: &str| -> String {
            let start = sample
                .split(&format!("{name}=\""))
                .nth(1)
                .unwrap_or_default();
            start.split('"').next().unwrap_or_default().to_owned()
        };
        let found: Vec<String> = samples.iter().map(|sample| value(sample, "lb")).collect();
        assert_eq!(found, labels, "{text}");
        let times: Vec<u64> = samples
            .iter()
            .filter_map(|sample| value(sample, "t").parse().ok())
            .collect();
        assert_eq!(times.len(), labels.len());
        // Each is rounded to milliseconds.
        assert!(times[1..].iter().sum::<u64>() <= times[0] + 3, "{times:?}");
        assert!(times[1..].iter().all(|ms| *ms > 0), "{times:?}");
    }
}

#[test]
fn a_server_is_asked_for_its_services_if_there_is_no_folder() {
    let set = drumfire_grpc::compile(Path::new(&protos()), &[]).expect("they are sound");
    let server = GrpcServer::start(drumfire_grpc::descriptors(&set)).expect("a server");
    let hello = |port| call(port, "", "compat.Echo/Hello", r#"{"text": "Bo"}"#, "$.text");
    let ran = run(&hello(server.address().port()), 2, &[]);
    assert_eq!(ran.column("label")[1], "part Hello, Bo");
    assert_eq!(ran.column("responseCode")[2], "200");
    let silent = GrpcServer::start(Vec::new()).expect("a server");
    let ran = run(&hello(silent.address().port()), 1, &[]);
    assert_eq!(ran.column("responseCode")[0], " 400");
}

#[test]
fn a_channel_opens_again_where_the_faults_of_the_plugin_are_not_wanted() {
    let server = GrpcServer::start(Vec::new()).expect("a server");
    let port = server.address().port();
    let fails = call(
        port,
        &protos(),
        "compat.Echo/Obey",
        r#"{"code": 16}"#,
        "$.none",
    );
    let ran = run(&fails, 2, &[("drumfire.grpc.plugin_faults", "false")]);
    let messages: Vec<&str> = ran
        .column("responseMessage")
        .into_iter()
        .step_by(2)
        .collect();
    assert_eq!(messages, [" 16 UNAUTHENTICATED"; 2]);
    let ran = run(&fails, 2, &[]);
    assert_eq!(
        ran.column("responseMessage"),
        ["OK", " 14 UNAVAILABLE", "OK"]
    );
}

#[test]
fn silent_servers_and_large_responses_end_at_their_limits() {
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let ran = run(
        &call(port, &protos(), "compat.Echo/Hello", "{}", "$.none"),
        1,
        &[],
    );
    assert_eq!(ran.column("responseMessage")[0], " 4 DEADLINE_EXCEEDED");
    let server = GrpcServer::start(Vec::new()).expect("a server");
    let port = server.address().port();
    let large = call(
        port,
        &protos(),
        "compat.Echo/Obey",
        r#"{"bytes": 100000}"#,
        "$.none",
    );
    let ran = run(&large, 1, &[("drumfire.http.max_body_bytes", "1000")]);
    assert_eq!(ran.column("responseMessage")[0], " 8 RESOURCE_EXHAUSTED");
}

#[test]
fn servers_are_verified_by_the_authorities_that_the_user_names() {
    let server = GrpcServer::start_tls().expect("a server");
    let port = server.address().port();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, server.certificate()).expect("a file");
    let hello = call(port, &protos(), "compat.Echo/Hello", "{}", "$.text");
    let tls =
        r#"<boolProp name="GRPCSampler.tls">true</boolProp></vn.zalopay.benchmark.GRPCSampler>"#;
    let hello = hello.replace("</vn.zalopay.benchmark.GRPCSampler>", tls);
    let ca = file.display().to_string();
    let ran = run(&hello, 1, &[("drumfire.tls_ca_file", &ca)]);
    assert_eq!(ran.column("responseMessage")[0], " success");
    let ran = run(&hello, 1, &[]);
    assert_eq!(ran.column("responseMessage")[0], " 14 UNAVAILABLE");
}

#[test]
fn a_wrong_method_is_refused_before_the_run() {
    let body = call(1, &protos(), "compat.Echo/Helo", "{}", "$.none");
    let told = refusals(&group(1, 1, true), &body, &[]);
    assert!(
        told.iter()
            .any(|fault| fault.contains("did you mean `compat.Echo/Hello`?")),
        "{told:?}"
    );
}

/// A response of HTTP/1.1 with these headers and this body.
fn respond(status: &str, headers: &str, body: &[u8]) -> Vec<ResponseStep> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    vec![ResponseStep::Send([head.as_bytes(), body].concat())]
}

#[test]
fn grpc_web_and_connect_are_spoken_over_http_1() {
    let server = Server::start(|request| {
        let failed = request.target.ends_with("/Obey");
        match request.header("content-type") {
            // The message comes back in its frame, then the trailers come in theirs.
            Some("application/grpc-web+proto") => {
                let trailers: &[u8] = if failed {
                    b"grpc-status: 5\r\n"
                } else {
                    b"grpc-status: 0\r\n"
                };
                let length = (trailers.len() as u32).to_be_bytes();
                let end = [&[0x80][..], &length, trailers].concat();
                let message = if failed { &[][..] } else { &request.body[..] };
                let body = [message, &end].concat();
                respond(
                    "200 OK",
                    "Content-Type: application/grpc-web+proto\r\n",
                    &body,
                )
            }
            Some("application/proto") if failed => {
                let error = br#"{"code": "not_found", "message": "no such"}"#;
                respond("404 Not Found", "Content-Type: application/json\r\n", error)
            }
            Some("application/proto") => respond(
                "200 OK",
                "Content-Type: application/proto\r\n",
                &request.body,
            ),
            // The messages come back, and then the end of the stream.
            _ => {
                let body = [&request.body[..], &[2, 0, 0, 0, 2], b"{}"].concat();
                respond(
                    "200 OK",
                    "Content-Type: application/connect+proto\r\n",
                    &body,
                )
            }
        }
    });
    let (port, folder) = (server.address().port(), protos());
    let types = call(
        port,
        &folder,
        "compat.Echo/Types",
        r#"{"stringValue": "x"}"#,
        "$.string_value",
    );
    let obey = call(port, &folder, "compat.Echo/Obey", "{}", "$.none");
    let three = r#"[{"value": 1}, {"value": 2}, {"value": 4}]"#;
    let chat = call(port, &folder, "compat.Echo/Chat", three, "$[2].value");
    for dialect in ["grpc-web", "connect"] {
        let body = [types.as_str(), &chat, &obey].concat();
        let ran = run(
            &body,
            1,
            &[
                ("drumfire.grpc.protocol", dialect),
                ("drumfire.grpc.plugin_faults", "false"),
            ],
        );
        let labels = ["call", "part x", "call", "part 4", "call", "part 4"];
        assert_eq!(ran.column("label")[..4], labels[..4], "{dialect}");
        assert_eq!(
            ran.column("responseMessage")[4],
            " 5 NOT_FOUND",
            "{dialect}"
        );
    }
    let refused = refusals(
        &group(1, 1, true),
        &types,
        &[("drumfire.grpc.protocol", "soap")],
    );
    assert!(
        refused.iter().any(|fault| fault.contains("`soap`")),
        "{refused:?}"
    );
}
