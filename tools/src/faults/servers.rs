//! Servers, other programs and machines that misbehave.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use drumfire_testkit::program::LIMIT;
use drumfire_testkit::server::{ResponseStep, Server, ok};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::Fault;
use super::bench::{
    FaultBench, ensure, expect, pause, reads_body, request, sample, start, until_bytes,
};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "reset",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| fails(bench, vec![ResponseStep::Reset], ""),
    },
    Fault {
        name: "half-a-body",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            let half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec();
            fails(
                bench,
                vec![ResponseStep::Send(half), ResponseStep::Close],
                "",
            )
        },
    },
    Fault {
        name: "no-http-at-all",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            fails(
                bench,
                vec![
                    ResponseStep::Send(b"SSH-2.0-x\r\n\r\n".to_vec()),
                    ResponseStep::Close,
                ],
                "",
            )
        },
    },
    Fault {
        name: "bad-chunks",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            let bad = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n".to_vec();
            fails(
                bench,
                vec![ResponseStep::Send(bad), ResponseStep::Close],
                "",
            )
        },
    },
    Fault {
        name: "endless-header",
        is_quick: true,
        before: "a failed row",
        after: "a failed row, in bounded memory",
        stage: |bench| {
            let mut head = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
            head.extend(std::iter::repeat_n(b'x', 64 << 20));
            fails(
                bench,
                vec![ResponseStep::Send(head), ResponseStep::Close],
                "",
            )
        },
    },
    Fault {
        name: "endless-body",
        is_quick: false,
        before: "memory without bound",
        after: "a failed row that names the limit",
        stage: endless_body,
    },
    Fault {
        name: "gzip-bomb",
        is_quick: true,
        before: "9 KB became gigabytes of memory",
        after: "a failed row that names the limit",
        stage: gzip_bomb,
    },
    Fault {
        name: "brotli-bomb",
        is_quick: true,
        before: "100 bytes became gigabytes of memory",
        after: "a failed row that names the limit",
        stage: brotli_bomb,
    },
    Fault {
        name: "certificates-of-67-kb",
        is_quick: true,
        before: "the user panicked, and the run lost all its outputs",
        after: "a row, and all outputs",
        stage: long_chain,
    },
    Fault {
        name: "broken-tls",
        is_quick: true,
        before: "the user panicked, and the run lost all its outputs",
        after: "a failed row",
        stage: broken_tls,
    },
    Fault {
        name: "no-open-files-left",
        is_quick: false,
        before: "a million failures, and connected users starved",
        after: "the run ends, and the verdict or a hint names open files",
        stage: no_open_files,
    },
    Fault {
        name: "escapes-by-udp",
        is_quick: true,
        before: "any local program could write escape sequences to the terminal",
        after: "they are replaced",
        stage: udp,
    },
    Fault {
        name: "server-that-never-answers",
        is_quick: false,
        before: "ended by its timeout",
        after: "a failed row after the timeout",
        stage: |bench| fails(bench, vec![ResponseStep::Hang], ""),
    },
    Fault {
        name: "ctrl-c-while-it-hangs",
        is_quick: true,
        before: "ended at the second signal",
        after: "ended at the second signal, with the row",
        stage: hangs,
    },
];

/// Checks that one request fails and the run continues to its end.
fn fails(bench: &FaultBench, steps: Vec<ResponseStep>, below: &str) -> anyhow::Result<()> {
    let server = Server::start(move |_| steps.clone());
    let port = server.address().port();
    let finished = bench.run(&request(port, "http", below), &["-l", "r.csv"]);
    expect(&finished, 0, &["failures", "verdict  ", "... end of run"])
}

fn endless_body(bench: &FaultBench) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else {
            return;
        };
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let block = vec![b'x'; 1 << 20];
        // Four gigabytes are as good as endless for a limit of 256 MiB.
        for _ in 0..4096 {
            if stream.write_all(&block).is_err() {
                return;
            }
        }
    });
    exceeds(bench, port, &[])
}

/// Checks that a body above the limit gives a failed row that names the property.
fn exceeds(bench: &FaultBench, port: u16, words: &[&str]) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 1, &request(port, "http", reads_body()));
    let words = [&["run", "p.jmx", "-l", "r.csv"], words].concat();
    expect(&workshop.run(&words, LIMIT), 0, &["failures", "verdict  "])?;
    ensure(
        workshop
            .read("r.csv")
            .contains("drumfire.http.max_body_bytes"),
        "the row does not name the limit",
    )
}

/// 64 MiB compressed to 64 KB, for a limit of 1 MiB.
fn gzip_bomb(bench: &FaultBench) -> anyhow::Result<()> {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..64 {
        bomb.write_all(&[0; 1 << 20])?;
    }
    let bomb = bomb.finish()?;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        bomb.len()
    );
    let response = [head.as_bytes(), &bomb].concat();
    let server = Server::start(move |_| vec![ResponseStep::Send(response.clone())]);
    let limit = "-Jdrumfire.http.max_body_bytes=1048576";
    exceeds(bench, server.address().port(), &[limit])
}

/// The output of `brotli` for 64 MiB of zeros.
const BROTLI_BOMB: &[u8] = &[
    0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff,
    0x7f, 0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x1f, 0xff, 0xff, 0xff, 0xe0, 0x9f,
    0x00, 0x88, 0xc3, 0x02, 0x00, 0xdd, 0xfb, 0x3f, 0xfe, 0xff, 0xff, 0xc1, 0x3f, 0x01, 0x10, 0x87,
    0x05, 0x00, 0xba, 0xf7, 0x7f, 0xfc, 0xff, 0xff, 0x83, 0x7f, 0x02, 0x20, 0x0e, 0x0b, 0x00, 0x74,
    0xef, 0xff, 0xf8, 0xff, 0xff, 0x07, 0xff, 0x04, 0x40, 0x1c, 0x16, 0x00, 0xe8, 0xde, 0xff, 0xf1,
    0xff, 0xff, 0x0f, 0xfe, 0x09, 0x80, 0x38, 0x2c, 0x00, 0xd0, 0xbd, 0xff, 0xcb, 0xff, 0xff, 0x3f,
    0xfc, 0x13, 0x00, 0x71, 0x58, 0x00, 0xa0, 0x7b, 0xff, 0x07,
];

fn brotli_bomb(bench: &FaultBench) -> anyhow::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: {}\r\n\r\n",
        BROTLI_BOMB.len()
    );
    let response = [head.as_bytes(), BROTLI_BOMB].concat();
    let server = Server::start(move |_| vec![ResponseStep::Send(response.clone())]);
    let limit = "-Jdrumfire.http.max_body_bytes=1048576";
    exceeds(bench, server.address().port(), &[limit])
}

/// Valid certificates with so many names that the handshake message exceeds the buffers of TLS libraries.
fn long_chain(bench: &FaultBench) -> anyhow::Result<()> {
    let names: Vec<String> = (0..1800)
        .map(|number| format!("host-{number:04}.example"))
        .collect();
    let made = rcgen::generate_simple_self_signed(["host.example".to_owned()])?;
    let long = rcgen::generate_simple_self_signed(names)?;
    let long = long.cert.der().clone();
    let bytes = 2 * long.len();
    ensure(bytes > 64 << 10, &format!("it has only {bytes} bytes"))?;
    let chain = vec![made.cert.der().clone(), long.clone(), long];
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let Ok(mut tls) = ServerConnection::new(config.clone()) else {
                return;
            };
            let mut stream = rustls::Stream::new(&mut tls, &mut stream);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&ok("x"));
        }
    });
    survives_tls(bench, port)
}

/// Checks that the run writes one row with all outputs enabled.
fn survives_tls(bench: &FaultBench, port: u16) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 1, &request(port, "https", ""));
    let words = ["run", "p.jmx", "-l", "r.csv", "--report", "p.html"];
    let finished = workshop.run(&words, LIMIT);
    expect(&finished, 0, &["verdict  ", "report   p.html"])?;
    ensure(
        workshop.read("r.csv").lines().count() == 2,
        "there is no row",
    )
}

fn broken_tls(bench: &FaultBench) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            // A handshake message of 4 bytes in two records, which servers must not send.
            let _ = stream.write_all(&[22, 3, 3, 0, 2, 2, 0, 22, 3, 3, 0, 2, 0, 1]);
            let _ = stream.write_all(&[22, 3, 3, 0, 4, 255, 255, 255, 255]);
        }
    });
    survives_tls(bench, port)
}

fn no_open_files(bench: &FaultBench) -> anyhow::Result<()> {
    let server = Server::start(|_| {
        vec![
            ResponseStep::Pause(Duration::from_millis(200)),
            ResponseStep::Send(ok("x")),
        ]
    });
    let port = server.address().port();
    let workshop = bench.with_plan("200", 3, &request(port, "http", ""));
    let finished = bench.run_limited(&workshop, "ulimit -n 64", "run p.jmx -l r.csv")?;
    ensure(finished.code.is_some(), "it did not end")?;
    let told = [finished.out.as_str(), finished.err.as_str()].concat();
    ensure(
        told.contains("open files"),
        &format!("open files are not named: {told}"),
    )
}

fn udp(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", -1, &[pause(20), sample("s")].concat());
    let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port();
    let (first, last) = (
        format!("-Jjmeterengine.nongui.port={port}"),
        format!("-Jjmeterengine.nongui.maxport={port}"),
    );
    let child = start(&workshop, &["run", "p.jmx", "-l", "r.csv", &first, &last]);
    until_bytes(&workshop, "r.csv", 200)?;
    let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    client.send_to(b"\x1b]0;owned\x07\n::error::x", (Ipv4Addr::LOCALHOST, port))?;
    client.send_to(b"Shutdown", (Ipv4Addr::LOCALHOST, port))?;
    let finished = child.finish()?;
    expect(
        &finished,
        0,
        &["not recognised", "Command: Shutdown received"],
    )?;
    ensure(
        !finished.out.contains('\u{1b}'),
        "an escape sequence reached the terminal",
    )?;
    ensure(
        !finished.out.lines().any(is_command),
        "a line begins a workflow command",
    )
}

fn is_command(line: &str) -> bool {
    line.starts_with("::")
}

fn hangs(bench: &FaultBench) -> anyhow::Result<()> {
    let server = Server::start(|_| vec![ResponseStep::Hang]);
    let inside = [
        sample("first"),
        request(server.address().port(), "http", ""),
    ]
    .concat();
    let workshop = bench.with_plan("1", -1, &inside);
    let child = start(&workshop, &["run", "p.jmx", "-l", "r.csv"]);
    while server.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.signal("INT")?;
    std::thread::sleep(Duration::from_millis(100));
    child.signal("INT")?;
    expect(&child.finish()?, 130, &["... end of run"])?;
    ensure(workshop.read("r.csv").ends_with('\n'), "half a row is left")
}
