//! Mail samplers beyond what `compat/` records: servers that answer wrongly, say nothing or too much, and findings before the run.

#![cfg(feature = "mail")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use drumfire_testkit::ports::free_port;
use drumfire_testkit::smtp::SmtpServer;

use crate::support::{Ran, group, refusals, run_group};

/// An SMTP Sampler with these properties, without `SMTPSampler.` in front.
fn smtp(port: u16, properties: &[(&str, &str)]) -> String {
    let port = port.to_string();
    let mut all = vec![
        ("server", "127.0.0.1"),
        ("serverPort", port.as_str()),
        ("mailFrom", "me@x.test"),
        ("receiverTo", "a@x.test"),
        ("subject", "s"),
        ("message", "Hello"),
        ("plainBody", "true"),
    ];
    all.retain(|(name, _)| !properties.iter().any(|(own, _)| own == name));
    all.extend(properties);
    let all: String = all
        .iter()
        .map(|(name, value)| {
            format!(r#"<stringProp name="SMTPSampler.{name}">{value}</stringProp>"#)
        })
        .collect();
    format!(
        r#"<SmtpSampler guiclass="SmtpSamplerGui" testclass="SmtpSampler" testname="send">{all}<collectionProp name="SMTPSampler.headerFields"/></SmtpSampler><hashTree/>"#
    )
}

/// A Mail Reader Sampler for all mails.
fn reader(protocol: &str, port: u16) -> String {
    format!(
        r#"<MailReaderSampler guiclass="MailReaderSamplerGui" testclass="MailReaderSampler" testname="read"><stringProp name="host_type">{protocol}</stringProp><stringProp name="host">127.0.0.1</stringProp><stringProp name="port">{port}</stringProp><stringProp name="username">user</stringProp><stringProp name="password">secret</stringProp><stringProp name="folder">INBOX</stringProp><stringProp name="num_messages">-1</stringProp></MailReaderSampler><hashTree/>"#
    )
}

fn run(body: &str, properties: &[(&str, &str)]) -> Ran {
    run_group(&group(1, 1, true), body, properties)
}

fn message(ran: &Ran) -> &str {
    ran.rows[0]["responseMessage"].as_str()
}

/// A server that answers one line after another, the first one without being asked, and then leaves. An empty answer is none.
fn scripted(answers: &'static [&'static str]) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut out = stream.try_clone().expect("a socket can be shared");
            let mut lines = BufReader::new(stream).lines();
            for (index, answer) in answers.iter().enumerate() {
                if index > 0 && lines.next().is_none() {
                    break;
                }
                // A client that leaves ends the script.
                if out.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
            if answers.last().is_some_and(|last| last.is_empty()) {
                // Silence, until the client leaves.
                lines.by_ref().count();
            }
        }
    });
    port
}

#[test]
fn mails_are_taken() {
    let server = SmtpServer::start(None).expect("loopback has free ports");
    let properties = [
        ("useAuth", "true"),
        ("username", "user"),
        ("password", "secret"),
        ("enableDebug", "true"),
    ];
    let ran = run(&smtp(server.port, &properties), &[]);
    assert_eq!(message(&ran), "Message successfully sent!\n");
    let mails = server.mails();
    assert_eq!(mails.len(), 1);
    let expected = "MAIL FROM:<me@x.test>\nRCPT TO:<a@x.test>\n\nFrom: me@x.test\nTo: a@x.test\nSubject: s\nMIME-Version: 1.0\n\
                    Content-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 7bit\n\nHello\n";
    assert_eq!(mails[0], expected);
}

/// aiosmtpd, if it is installed (`pip install aiosmtpd`). Dropping it ends it.
struct Aiosmtpd {
    port: u16,
    server: Child,
}

impl Aiosmtpd {
    fn start() -> Option<Aiosmtpd> {
        let port = free_port();
        let address = format!("127.0.0.1:{port}");
        let started = Command::new("aiosmtpd")
            .args(["-n", "-l", &address, "-c", "aiosmtpd.handlers.Sink"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(server) = started else {
            println!("skipped: this machine has no aiosmtpd (pip install aiosmtpd)");
            return None;
        };
        let server = Aiosmtpd { port, server };
        for _ in 0..500 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("aiosmtpd did not start");
    }
}

impl Drop for Aiosmtpd {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_server_of_others_takes_mails() {
    let Some(server) = Aiosmtpd::start() else {
        return;
    };
    let ran = run(&smtp(server.port, &[("plainBody", "false")]), &[]);
    assert_eq!(message(&ran), "Message successfully sent!\n");
    let ran = run(&smtp(server.port, &[("receiverTo", "x@y;nobody")]), &[]);
    assert_eq!(message(&ran), "Message successfully sent!\n");
}

#[test]
fn replies_that_are_none_fail_in_the_words_of_javamail() {
    for (answers, told) in [
        (
            &["554 go away\r\n"][..],
            "Could not connect to SMTP host: 127.0.0.1, port: PORT, response: 554",
        ),
        (
            &["nonsense\r\n"],
            "Could not connect to SMTP host: 127.0.0.1, port: PORT, response: -1",
        ),
        (&["220 x\r\n", "500 what\r\n", "500 what\r\n"], "500 what\n"),
        (
            &[
                "220-a\r\n220 b\r\n",
                "500 what\r\n",
                "250 x\r\n",
                "250 ok\r\n",
                "421 later\r\n",
                "250 x\r\n",
            ],
            "Invalid Addresses",
        ),
        (
            &["220 x\r\n", "250-x\r\n250 AUTH CRAM-MD5\r\n"],
            "AuthenticationFailedException: authentication failed - wrong username / password!\n\
             javax.mail.AuthenticationFailedException: No authentication mechansims supported by both server and client",
        ),
    ] {
        let port = scripted(answers);
        let account = [("useAuth", "true"), ("username", "u"), ("password", "p")];
        let ran = run(&smtp(port, &account), &[]);
        let told = told.replace("PORT", &port.to_string());
        assert_eq!(message(&ran), told, "{answers:?}");
        assert_eq!(ran.rows[0]["responseCode"], "500");
    }
}

#[test]
fn silence_and_floods_end() {
    let silent = scripted(&["220 x\r\n", ""]);
    let ran = run(&smtp(silent, &[("serverTimeout", "100")]), &[]);
    assert_eq!(message(&ran), "Exception reading response");
    let ran = run(&smtp(silent, &[]), &[("drumfire.max_exchange_ms", "100")]);
    assert!(
        message(&ran).contains("drumfire.max_exchange_ms"),
        "{}",
        message(&ran)
    );

    let long: &'static str = Box::leak(format!("220 {}", "x".repeat(100_000)).into_boxed_str());
    let flood = scripted(Box::leak(Box::new([long])));
    let ran = run(&smtp(flood, &[]), &[]);
    assert_eq!(message(&ran), "Exception reading response");
}

/// A mailbox with one mail.
const POP3: &[&str] = &[
    "+OK hello\r\n",
    "-ERR what\r\n",
    "+OK\r\n",
    "+OK\r\n",
    "+OK 1 10\r\n",
    "+OK\r\nSubject: s\r\n\r\n.\r\n",
    "+OK\r\nSubject: s\r\n\r\ntext\r\n..\r\n.\r\n",
    "+OK bye\r\n",
];

/// The kernel begins to stamp a moment after it was asked to, so that some samples have no own part.
#[cfg(target_os = "linux")]
#[test]
fn the_generators_own_part_is_known() {
    let server = SmtpServer::start(None).expect("loopback has free ports");
    for body in [smtp(server.port, &[]), reader("pop3", scripted(POP3))] {
        let ran = run_group(&group(1, 20, true), &body, &[]);
        assert!(ran.owned > 10, "{}", ran.owned);
    }
}

#[test]
fn mailboxes_are_read_within_their_bound() {
    let ran = run(&reader("pop3", scripted(POP3)), &[]);
    assert_eq!(message(&ran), "OK");
    let ran = run(
        &reader("pop3", scripted(POP3)),
        &[("drumfire.mail.max_message_bytes", "20")],
    );
    let told = message(&ran);
    let expected = "javax.mail.MessagingException: error fetching POP3 content;\n  nested exception is:\n\t\
                    java.io.IOException: the mails of the sample exceed drumfire.mail.max_message_bytes";
    assert!(told.starts_with(expected), "{told}");

    const IMAP: &[&str] = &[
        "* OK hello\r\n",
        "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n",
        "A2 OK\r\n",
        "* 1 EXISTS\r\nA3 OK\r\n",
        "* 1 FETCH (BODY[HEADER] {14}\r\nSubject: s\r\n\r\n)\r\nA4 OK\r\n",
        "* 1 FETCH (BODY[] {999999999}\r\n",
    ];
    let ran = run(&reader("imap", scripted(IMAP)), &[]);
    let told = message(&ran);
    assert!(
        told.contains("exceed drumfire.mail.max_message_bytes"),
        "{told}"
    );
}

#[test]
fn what_cannot_succeed_is_told_before_the_run() {
    let told = |properties: &[(&str, &str)]| {
        let all = refusals(&group(1, 1, true), &smtp(25, properties), &[]);
        all.join("; ")
    };
    for (properties, code) in [
        (&[("receiverTo", "a b@x.test")][..], "mail-address"),
        (&[("receiverTo", "")], "mail-receiver"),
        (
            &[("useSSL", "true"), ("tlsProtocols", "TLSv9")],
            "mail-tls-version",
        ),
        (
            &[("useStartTLS", "true"), ("tlsProtocols", "TLSv1.1")],
            "mail-tls-version",
        ),
    ] {
        let told = told(properties);
        assert!(told.contains(code), "{properties:?}: {told}");
    }
}
