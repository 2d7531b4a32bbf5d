//! TCP Samplers against a server of the test's own; codes and messages are those of JMeter 5.6.3.

use drumfire_testkit::ports::free_port;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::support::{Row, group, run_group};

/// Answers `echo…` with the text, the number of the request on its connection and a line feed, `part` with a part of a line,
/// `close` with a word and the end, bytes 01… with bytes, and length-prefixed requests of two bytes with three.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

fn answer(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    let mut number = 0;
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        number += 1;
        let request = &buffer[..count];
        let response = match request {
            [0, 2, ..] => vec![0, 3, 10, 11, 12],
            [1, ..] => vec![0xab, 0xcd, b'\n'],
            _ if request.starts_with(b"echo") => {
                [request, format!("#{number}\n").as_bytes()].concat()
            }
            _ if request.starts_with(b"rc=") => [request, b";\n"].concat(),
            _ if request.starts_with(b"close") => b"bye".to_vec(),
            _ => b"half".to_vec(),
        };
        if stream.write_all(&response).is_err() || request.starts_with(b"close") {
            return;
        }
    }
}

/// A sampler with these settings, `name=value` with line feeds between, and line feeds as the end of responses.
fn tcp(port: u16, settings: &str) -> String {
    let own: String = settings
        .lines()
        .filter_map(|line| line.trim().split_once('='))
        .map(|(name, value)| {
            format!(r#"<stringProp name="TCPSampler.{name}">{value}</stringProp>"#)
        })
        .collect();
    let port = if settings.contains("port=") {
        String::new()
    } else {
        format!(r#"<stringProp name="TCPSampler.port">{port}</stringProp>"#)
    };
    format!(
        r#"<TCPSampler guiclass="TCPSamplerGui" testclass="TCPSampler" testname="t">{own}{port}
        <stringProp name="TCPSampler.server">127.0.0.1</stringProp></TCPSampler><hashTree/>"#
    )
}

fn shown(row: &Row) -> String {
    let [code, message, success, bytes] =
        ["responseCode", "responseMessage", "success", "bytes"].map(|column| row[column].as_str());
    format!("{code} {message} {success} {bytes}")
}

fn run(samplers: &[String], properties: &[(&str, &str)]) -> Vec<String> {
    let ran = run_group(&group(1, 1, true), &samplers.concat(), properties);
    ran.rows.iter().map(shown).collect()
}

fn echo(port: u16, more: &str) -> String {
    tcp(port, &format!("request=echo\nEolByte=10\n{more}"))
}

#[test]
fn connections_are_used_again_unless_that_is_switched_off() {
    let port = serve();
    // The number of the request on its connection is compared by what follows the response.
    let last = |number: u32| {
        format!(
            r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="a"><collectionProp name="Asserion.test_strings"><stringProp name="1">echo#{number}</stringProp></collectionProp>
            <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#
        )
    };
    let expecting = |more: &str, number: u32| {
        echo(port, more).replace(
            "<hashTree/>",
            &format!("<hashTree>{}</hashTree>", last(number)),
        )
    };
    let samplers = [
        expecting("", 1),
        expecting("", 2),
        expecting("reUseConnection=false", 1),
        expecting("", 1),
        expecting("closeConnection=true", 2),
        expecting("", 1),
    ];
    assert_eq!(run(&samplers, &[]), vec!["200 OK true 7"; 6]);
}

#[test]
fn a_response_ends_with_the_connection_or_fails_with_the_timeout() {
    let port = serve();
    let samplers = [
        tcp(port, "request=close"),
        // The connection is kept although the server has closed it.
        echo(port, ""),
        tcp(port, "request=part\ntimeout=50\nreUseConnection=false"),
    ];
    let failure = "500 org.apache.jmeter.protocol.tcp.sampler.ReadException: Error reading from server, bytes read: 4 false 4";
    assert_eq!(
        run(&samplers, &[]),
        ["200 OK true 3", "200 OK true 0", failure]
    );
}

#[test]
fn a_failure_to_connect_is_a_sample() {
    let port = free_port();
    let samplers = [tcp(port, "request=x"), tcp(0, "request=x\nport=70000")];
    assert_eq!(
        run(&samplers, &[("drumfire.bad_numbers", "jmeter")]),
        [
            "500 java.net.ConnectException: Connection refused false 0",
            "500 java.lang.IllegalArgumentException: port out of range:70000 false 0"
        ]
    );
}

#[test]
fn binary_clients_speak_in_hexadecimal_digits() {
    let port = serve();
    let of = |class: &str, settings: &str| tcp(port, &format!("classname={class}\n{settings}"));
    let binary = |settings: &str| of("BinaryTCPClientImpl", settings);
    let prefixed = "org.apache.jmeter.protocol.tcp.sampler.LengthPrefixedBinaryTCPClientImpl";
    let samplers = [
        binary("request=0102\nEolByte=10"),
        binary("request=01\ntimeout=50"),
        binary("request=01\ntimeout=50\nEolByte=99"),
        binary("request=012"),
        of(prefixed, "request=0102"),
    ];
    assert_eq!(
        run(&samplers, &[]),
        [
            "200 OK true 6",
            "200 OK true 6",
            "500 org.apache.jmeter.protocol.tcp.sampler.ReadException: Socket timed out while looking for EOM false 6",
            "500 java.lang.IllegalArgumentException: Hex-encoded binary string contains an uneven no. of digits false 0",
            "200 OK true 6"
        ]
    );
}

#[test]
fn status_codes_are_found_in_responses() {
    let port = serve();
    let samplers = ["rc=404", "rc=200", "rc=abc", "echo"]
        .map(|request| tcp(port, &format!("request={request}\nEolByte=10")));
    let properties = [("tcp.status.prefix", "rc="), ("tcp.status.suffix", ";")];
    assert_eq!(
        run(&samplers, &properties),
        [
            "404 No status property file true 8",
            "200 No status property file false 8",
            "500 java.lang.NumberFormatException: For input string: \"abc\" false 0",
            "999 Status value not found false 7"
        ]
    );
}

#[test]
fn a_configuration_element_gives_what_the_sampler_lacks() {
    let port = serve();
    let config = format!(
        r#"<ConfigTestElement guiclass="TCPConfigGui" testclass="ConfigTestElement" testname="c"><stringProp name="TCPSampler.server">127.0.0.1</stringProp>
        <stringProp name="TCPSampler.port">{port}</stringProp><stringProp name="TCPSampler.request">echo config</stringProp></ConfigTestElement><hashTree/>"#
    );
    let own = r#"<TCPSampler guiclass="TCPSamplerGui" testclass="TCPSampler" testname="t"><stringProp name="TCPSampler.server"></stringProp></TCPSampler><hashTree/>"#;
    let rows = run(&[config, own.to_owned()], &[("tcp.eolByte", "10")]);
    assert_eq!(rows, ["200 OK true 14"]);
}

#[test]
fn a_response_beyond_the_limit_is_a_failed_sample() {
    let port = serve();
    let prefixed = "LengthPrefixedBinaryTCPClientImpl";
    let samplers = [
        echo(port, ""),
        tcp(port, &format!("classname={prefixed}\nrequest=0102")),
        echo(port, ""),
        tcp(port, "request=rc=1\nEolByte=10"),
    ];
    let failure = "500 java.io.IOException: the response exceeds 6 bytes (drumfire.tcp.max_response_bytes) false 0";
    assert_eq!(
        run(&samplers, &[("drumfire.tcp.max_response_bytes", "6")]),
        [failure, "200 OK true 6", failure, "200 OK true 6"]
    );
    let unlimited = run(&samplers, &[("drumfire.tcp.max_response_bytes", "0")]);
    assert_eq!(unlimited[0], "200 OK true 7");
}
