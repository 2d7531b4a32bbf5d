//! FTP Requests beyond what `compat/ftp*` records with JMeter: a real server, limits, and servers that fall silent.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use drumfire_testkit::vsftpd::Vsftpd;

use crate::support::{Ran, group, run_group};

/// A request with these properties, without `FTPSampler.`, and elements below it.
fn request(port: u16, name: &str, properties: &[(&str, &str)], below: &str) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| {
            let long = match *name {
                "username" | "password" => format!("ConfigTestElement.{name}"),
                name => format!("FTPSampler.{name}"),
            };
            format!(r#"<stringProp name="{long}">{value}</stringProp>"#)
        })
        .collect();
    format!(
        r#"<FTPSampler guiclass="FtpTestSamplerGui" testclass="FTPSampler" testname="{name}"><stringProp name="FTPSampler.server">127.0.0.1</stringProp>
        <stringProp name="FTPSampler.port">{port}</stringProp>{properties}</FTPSampler><hashTree>{below}</hashTree>"#
    )
}

/// An assertion that reads the response.
const READS: &str = r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="reads"><collectionProp name="Asserion.test_strings"><stringProp name="1">none of this</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">6</intProp></ResponseAssertion><hashTree/>"#;

fn run(users: u32, loops: u32, body: &str, properties: &[(&str, &str)]) -> Ran {
    run_group(&group(users, loops, true), body, properties)
}

#[test]
fn files_of_a_real_server() {
    let Some(server) = Vsftpd::start() else {
        return;
    };
    fs::write(server.file("hello.txt"), "hello\nworld\n").expect("the folder is writable");
    let large: String = (0..200_000).map(|line| format!("{line}\r\n")).collect();
    fs::write(server.file("large.txt"), &large).expect("the folder is writable");
    let user = [("username", "anonymous"), ("password", "me@example")];
    let with = |more: &[(&'static str, &'static str)]| [&user, more].concat();
    let port = server.port;
    let stored = [
        ("upload", "true"),
        ("inputdata", "one&#10;two&#13;&#10;"),
        ("filename", "upload/a"),
    ];
    let body = [
        request(
            port,
            "fetch",
            &with(&[("filename", "hello.txt"), ("saveresponse", "true")]),
            READS,
        ),
        request(
            port,
            "large",
            &with(&[("filename", "large.txt"), ("binarymode", "true")]),
            "",
        ),
        request(port, "store", &with(&stored), ""),
        request(port, "missing", &with(&[("filename", "none")]), ""),
        request(
            port,
            "forbidden",
            &[("username", "anonymous"), ("password", "wrong")],
            "",
        ),
    ];
    let ran = run(1, 1, &body.concat(), &[]);
    assert_eq!(
        ran.column("responseCode"),
        ["200", "200", "200", "550", "530"]
    );
    let sizes: Vec<_> = ran.column("bytes");
    assert_eq!(sizes, ["12", &large.len().to_string(), "0", "0", "0"]);
    // The server itself has no text mode, so the file holds what came over the network.
    let file = fs::read(server.file("upload/a")).expect("it was stored");
    assert_eq!(file, b"one\r\ntwo\r\n");
}

#[test]
fn many_users_have_connections_of_their_own() {
    let Some(server) = Vsftpd::start() else {
        return;
    };
    let own = ("filename", "upload/${__threadNum}");
    let user = [("username", "anonymous"), ("password", "me@example")];
    let store = [
        user[0],
        user[1],
        own,
        ("upload", "true"),
        ("inputdata", "of ${__threadNum}"),
    ];
    let fetch = [user[0], user[1], own, ("saveresponse", "true")];
    let says = READS
        .replace("none of this", "of ${__threadNum}")
        .replace(">6<", ">8<");
    let once = format!(
        r#"<OnceOnlyController guiclass="g" testclass="OnceOnlyController" testname="once"/><hashTree>{}</hashTree>"#,
        request(server.port, "store", &store, "")
    );
    let body = once + &request(server.port, "fetch", &fetch, &says);
    let ran = run(20, 10, &body, &[]);
    assert_eq!(ran.rows.len(), 20 + 200);
    assert!(
        ran.rows.iter().all(|row| row["success"] == "true"),
        "{:?}",
        ran.rows
    );
}

/// A server that answers each command with what `reply` gives; `None` keeps silent. The greeting is the answer to an empty line.
fn serve(reply: impl Fn(&str, &mut TcpStream) -> Option<String> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let reply = std::sync::Arc::new(reply);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let reply = reply.clone();
            std::thread::spawn(move || -> std::io::Result<()> {
                let lines = BufReader::new(stream.try_clone()?).lines();
                for line in std::iter::once(Ok(String::new())).chain(lines) {
                    if let Some(reply) = reply(&line?, &mut stream) {
                        stream.write_all(reply.as_bytes())?;
                    }
                }
                Ok(())
            });
        }
    });
    port
}

/// Answers like a server that has one file, of 100,000 bytes.
fn one_file(line: &str, stream: &mut TcpStream) -> Option<String> {
    let reply = match line.get(..4).unwrap_or_default() {
        "" => "220 ready",
        "USER" => "230 in",
        "TYPE" => "200 bytes",
        "PASV" => {
            let data = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
            let port = data.local_addr().ok()?.port();
            std::thread::spawn(move || data.accept()?.0.write_all(&[b'x'; 100_000]));
            let _ = write!(stream, "227 (127,0,0,1,{},{})\r\n", port >> 8, port & 0xff);
            return None;
        }
        "RETR" => "150 coming",
        _ => "221 bye",
    };
    Some(format!("{reply}\r\n"))
}

fn messages(ran: &Ran) -> Vec<&str> {
    ran.column("responseMessage")
}

#[test]
fn replies_and_stored_bodies_are_bounded() {
    let endless = serve(|line, stream| {
        while line.is_empty() && stream.write_all(b"220-and so on\r\n").is_ok() {}
        None
    });
    let no_line = serve(|line, stream| {
        while line.is_empty() && stream.write_all(b"220 and so on").is_ok() {}
        None
    });
    let limit = [("drumfire.http.max_head_bytes", "5000")];
    for port in [endless, no_line] {
        let ran = run(1, 1, &request(port, "endless", &[], ""), &limit);
        let told =
            "java.io.IOException: the reply exceeds 5000 bytes (drumfire.http.max_head_bytes)";
        assert_eq!(messages(&ran), [told]);
        assert_eq!(ran.column("responseCode"), ["000"]);
    }
    let port = serve(one_file);
    let saved = [("saveresponse", "true"), ("binarymode", "true")];
    let body = [
        request(port, "read", &saved, READS),
        request(port, "only counted", &saved, ""),
        request(port, "not saved", &[], READS),
    ];
    let limit = [("drumfire.http.max_body_bytes", "99999")];
    let ran = run(1, 1, &body.concat(), &limit);
    let told = "java.io.IOException: the file exceeds 99999 bytes (drumfire.http.max_body_bytes)";
    assert_eq!(messages(&ran), [told, "OK", "OK"]);
    assert_eq!(ran.column("bytes"), ["0", "100000", "100000"]);
}

#[test]
fn samples_with_a_silent_server_end_in_time() {
    let timeout = r#"<SampleTimeout guiclass="SampleTimeoutGui" testclass="SampleTimeout" testname="t"><stringProp name="InterruptTimer.timeout">200</stringProp></SampleTimeout><hashTree/>"#;
    let silent = serve(|_, _| None);
    let without_farewell = serve(|line, stream| match line {
        "QUIT" => None,
        line => one_file(line, stream),
    });
    let body = |below| {
        [silent, without_farewell]
            .map(|port| request(port, "s", &[], below))
            .concat()
    };
    let ran = run(1, 1, &body(timeout), &[]);
    // The file was there; only the farewell is missing.
    let closed = "java.net.SocketException: Socket closed";
    assert_eq!(messages(&ran), [closed, "OK"]);
    let ran = run(1, 1, &body(""), &[("drumfire.max_exchange_ms", "200")]);
    let late = "java.net.SocketTimeoutException: the exchange took longer than 200 ms (drumfire.max_exchange_ms)";
    assert_eq!(messages(&ran), [late, "OK"]);
}

#[test]
fn only_allowed_hosts_are_connected_to() {
    let port = serve(one_file);
    let hosts = [("drumfire.http.allowed_hosts", "shop.example")];
    let ran = run(1, 1, &request(port, "s", &[], ""), &hosts);
    let refusal = "java.lang.SecurityException: `127.0.0.1` is not among the hosts of drumfire.http.allowed_hosts";
    assert_eq!(messages(&ran), [refusal]);
}

/// The kernel begins to stamp a moment after it was asked to, so that some samples have no own part.
#[cfg(target_os = "linux")]
#[test]
fn the_generators_own_part_is_known() {
    let port = serve(one_file);
    let ran = run(1, 50, &request(port, "s", &[], ""), &[]);
    assert!(ran.owned > 25, "{}", ran.owned);
}
