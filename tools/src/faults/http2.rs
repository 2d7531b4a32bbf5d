//! Servers that speak HTTP/2 and violate its rules.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::Fault;
use drumfire_testkit::program::LIMIT;

use super::bench::{FaultBench, ensure, expect, request, upload};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "http2-data-without-a-stream",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| misbehaves(bench, |stream| stream.write_all(&frame(DATA, 0, 0, b"x"))),
    },
    Fault {
        name: "http2-frame-too-large",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            misbehaves(bench, |stream| {
                stream.write_all(&frame(DATA, 0, 1, &vec![0; 1 << 20]))
            })
        },
    },
    Fault {
        name: "http2-headers-without-an-end",
        is_quick: true,
        before: "14 MiB of memory",
        after: "a failed row that names the property, in bounded memory",
        stage: |bench| {
            exceeds_head(bench, |stream| {
                // An HPACK field that is not in its table: `x: y`.
                let field = b"\x40\x01x\x01y".repeat(2_000);
                stream.write_all(&frame(HEADERS, 0, 1, &field))?;
                (0..10_000).try_for_each(|_| stream.write_all(&frame(CONTINUATION, 0, 1, &field)))
            })
        },
    },
    Fault {
        name: "http2-empty-continuations",
        is_quick: true,
        before: "a failed row that names no bound",
        after: "a failed row that names the property",
        stage: |bench| {
            exceeds_head(bench, |stream| {
                stream.write_all(&frame(HEADERS, 0, 1, b""))?;
                loop {
                    stream.write_all(&frame(CONTINUATION, 0, 1, b""))?;
                }
            })
        },
    },
    Fault {
        name: "http2-small-head-that-unpacks-to-a-large-one",
        is_quick: true,
        before: "a failed row that names no bound",
        after: "a failed row that names the property",
        stage: |bench| {
            exceeds_head(bench, |stream| {
                // `:status: 200`, `x` with a value of 4,000 bytes, and that field 12,000 times more by its index.
                let once = [&b"\x88\x40\x01x\x7f\xa1\x1e"[..], &[b'v'; 4000]].concat();
                let block = [&once[..], &[0xBE; 12_000]].concat();
                stream.write_all(&frame(HEADERS, END_HEADERS, 1, &block))
            })
        },
    },
    Fault {
        name: "http2-pings-without-an-end",
        is_quick: true,
        before: "14 MiB of memory",
        after: "a failed row after the timeout",
        stage: |bench| {
            misbehaves(bench, |stream| {
                loop {
                    stream.write_all(&frame(PING, 0, 0, &[7; 8]))?;
                }
            })
        },
    },
    Fault {
        name: "http2-settings-without-an-end",
        is_quick: true,
        before: "14 MiB of memory",
        after: "a failed row after the timeout",
        stage: |bench| {
            misbehaves(bench, |stream| {
                loop {
                    stream.write_all(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]))?;
                }
            })
        },
    },
    Fault {
        name: "http2-hints-during-an-upload",
        is_quick: true,
        before: "heads were kept during the upload; the row named no bound",
        after: "a failed row that names the property",
        stage: hints_during_upload,
    },
    Fault {
        name: "http2-goes-away",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            misbehaves(bench, |stream| {
                stream.write_all(&frame(GO_AWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]))
            })
        },
    },
    Fault {
        name: "http2-noise",
        is_quick: true,
        before: "a failed row",
        after: "a failed row",
        stage: |bench| {
            misbehaves(bench, |stream| {
                let noise: Vec<u8> = (0..64_000u32).map(|n| (n * n / 7) as u8).collect();
                stream.write_all(&noise)
            })
        },
    },
];

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
/// The flag of a head without continuations.
pub const END_HEADERS: u8 = 4;

/// A frame of RFC 9113, section 4.1.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// Sends 8 MiB to a server that takes no more than the first window of it, and sends `103 Early Hints` all the time.
fn hints_during_upload(bench: &FaultBench) -> anyhow::Result<()> {
    // `:status: 103`, a literal field whose name is the eighth of HPACK's table.
    let hint = frame(HEADERS, END_HEADERS, 1, b"\x08\x03103");
    let port = misbehaving(move |stream| {
        loop {
            stream.write_all(&hint)?;
        }
    })?;
    fails_by(
        bench,
        &upload(port, 8 << 20),
        "drumfire.http.max_interim_heads",
    )
}

/// Starts a server that calls `then` after a request, whose row must name the bound of heads.
fn exceeds_head(
    bench: &FaultBench,
    then: fn(&mut TcpStream) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let port = misbehaving(then)?;
    let inside = request(port, "http", "");
    fails_by(bench, &inside, "drumfire.http.max_head_bytes")
}

/// Runs a plan once, whose row must name a property.
fn fails_by(bench: &FaultBench, inside: &str, property: &str) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 1, inside);
    let words = ["run", "p.jmx", "-l", "r.csv", "-Jdrumfire.http.version=2"];
    expect(&workshop.run(&words, LIMIT), 0, &["failures", "verdict  "])?;
    let rows = workshop.read("r.csv");
    ensure(
        rows.contains(property),
        &format!("the row does not name the property: {rows}"),
    )
}

/// Starts a server that sends its settings, waits for the request, and then calls `then`. Checks that the request fails and the
/// run continues to its end.
fn misbehaves(
    bench: &FaultBench,
    then: fn(&mut TcpStream) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let port = misbehaving(then)?;
    let words = ["-l", "r.csv", "-Jdrumfire.http.version=2"];
    let finished = bench.run(&request(port, "http", ""), &words);
    expect(&finished, 0, &["failures", "verdict  ", "... end of run"])
}

/// A server that sends its settings, waits for the request, and then calls `then`.
fn misbehaving(
    then: impl Fn(&mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static,
) -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let then = then.clone();
            std::thread::spawn(move || {
                let _ = stream.write_all(&frame(SETTINGS, 0, 0, b""));
                let _ = stream.read(&mut [0; 4096]);
                // The client closes the connection, which ends this thread.
                let _ = then(&mut stream);
                let _ = stream.read(&mut [0; 4096]);
            });
        }
    });
    Ok(port)
}
