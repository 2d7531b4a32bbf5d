//! Servers that are never silent and never done: a few bytes now and then, or as many as they can send. The response timeout is
//! the longest silence, as in JMeter, so it ends none of these exchanges.

use std::io::{Read as _, Result, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::Context as _;
use drumfire_testkit::plans::users;
use drumfire_testkit::program::LIMIT;
use drumfire_testkit::server::ReceivedRequest;
use drumfire_testkit::websocket;

use super::Fault;
use super::bench::{FaultBench, ensure, expect, pause, request, start, upload};
use super::http2::{self, frame};

/// The outcome of each before there was a bound.
const HELD: &str = "the user waited for ever";
/// The outcome of each trickle and flood now.
const BOUNDED: &str = "a failed row that names the property";
/// The outcome of a user beside a flood.
const FAIR: &str = "99 % of another user's samples take less than 250 ms";

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "endless-head",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &HEAD),
    },
    Fault {
        name: "endless-handshake",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &HANDSHAKE),
    },
    Fault {
        name: "endless-body-in-drops",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &BODY),
    },
    Fault {
        name: "endless-chunks",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &CHUNKS),
    },
    Fault {
        name: "endless-events",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &EVENTS),
    },
    Fault {
        name: "endless-upload",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &UPLOAD),
    },
    Fault {
        name: "endless-http2-data",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &DATA_FRAMES),
    },
    Fault {
        name: "endless-websocket-frame",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &WEBSOCKET_FRAME),
    },
    Fault {
        name: "endless-websocket-pings",
        is_quick: true,
        before: "the worker did nothing else, and no signal ended it",
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &WEBSOCKET_PINGS),
    },
    Fault {
        name: "endless-tcp-response",
        is_quick: true,
        before: HELD,
        after: BOUNDED,
        stage: |bench| is_bounded(bench, &TCP),
    },
    Fault {
        name: "one-signal-ends-each",
        is_quick: false,
        before: "pings of a WebSocket held the worker, and no signal ended it",
        after: "each ends after the grace time, with its row",
        stage: |bench| ALL.iter().try_for_each(|one| ends_by_signal(bench, one)),
    },
    Fault {
        name: "flood-of-priority-frames",
        is_quick: false,
        before: "held others up for over a second",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &PRIORITY_FRAMES),
    },
    Fault {
        name: "flood-of-pings",
        is_quick: false,
        before: "turns of 256 KiB of frames, whatever they cost",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &PING_FRAMES),
    },
    Fault {
        name: "flood-of-settings",
        is_quick: false,
        before: "turns of 256 KiB of frames, whatever they cost",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &SETTINGS_FRAMES),
    },
    Fault {
        name: "flood-of-unknown-frames",
        is_quick: false,
        before: "turns of 256 KiB of frames, whatever they cost",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &UNKNOWN_FRAMES),
    },
    Fault {
        name: "flood-of-small-chunks",
        is_quick: false,
        before: "turns of 1 MiB of chunks, whatever they cost",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &CHUNKS_AT_ONCE),
    },
    Fault {
        name: "flood-of-websocket-pings",
        is_quick: false,
        before: "others never had a turn",
        after: FAIR,
        stage: |bench| lets_others_work(bench, &WEBSOCKET_PINGS),
    },
];

/// A server that never ends, and the elements that meet it.
struct Endless {
    elements: fn(port: u16) -> String,
    words: &'static [&'static str],
    serve: fn(&mut TcpStream) -> Result<()>,
}

const HTTP2: &[&str] = &["-Jdrumfire.http.version=2"];

const ALL: [&Endless; 10] = [
    &HEAD,
    &HANDSHAKE,
    &BODY,
    &CHUNKS,
    &EVENTS,
    &UPLOAD,
    &DATA_FRAMES,
    &WEBSOCKET_FRAME,
    &WEBSOCKET_PINGS,
    &TCP,
];

const HEAD: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: &[],
    serve: |stream| trickle(stream, b"HTTP/1.1 200 OK\r\nX: ", b"x"),
};
const HANDSHAKE: Endless = Endless {
    elements: |port| request(port, "https", ""),
    words: &[],
    // A server hello of 16 KB in one record.
    serve: |stream| trickle(stream, &[22, 3, 3, 64, 0, 2, 0, 63, 252, 3, 3], &[0]),
};
const BODY: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: &[],
    serve: |stream| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
        trickle(stream, head, b"x")
    },
};
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNKS: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: &[],
    serve: |stream| trickle(stream, CHUNKED, b"1\r\nx\r\n"),
};
const EVENTS: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: &[],
    serve: |stream| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        trickle(stream, head, b"data: x\n\n")
    },
};
const UPLOAD: Endless = Endless {
    elements: |port| upload(port, 16 << 20),
    words: &[],
    serve: |stream| {
        loop {
            stream.read_exact(&mut [0; 1024])?;
            std::thread::sleep(DROP_PAUSE);
        }
    },
};
const DATA_FRAMES: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: HTTP2,
    serve: |stream| {
        // `:status: 200` in HPACK.
        let head = frame(http2::HEADERS, http2::END_HEADERS, 1, &[0x88]);
        trickle(stream, &settled(&head), &frame(http2::DATA, 0, 1, b"x"))
    },
};
const WEBSOCKET_FRAME: Endless = Endless {
    elements: |port| websocket_sample(port, ""),
    words: &[],
    serve: |stream| {
        upgrade(stream)?;
        trickle(stream, &[0x81, 127, 0, 0, 0, 0, 0, 255, 255, 255], b"x")
    },
};
const WEBSOCKET_PINGS: Endless = Endless {
    elements: |port| {
        let class = "eu.luminis.jmeter.wssampler.PingFrameFilter";
        let filter = format!(
            r#"<{class} guiclass="PingFrameFilterGui" testclass="{class}" testname="no pings"><stringProp name="filterType">FilterAll</stringProp></{class}><hashTree/>"#
        );
        websocket_sample(port, &filter)
    },
    words: &[],
    serve: |stream| {
        upgrade(stream)?;
        flood(stream, b"", &[0x89, 0])
    },
};
const TCP: Endless = Endless {
    elements: |port| tcp_sample(port, "tcp", ""),
    words: &[],
    serve: |stream| trickle(stream, b"", b"x"),
};
const PRIORITY_FRAMES: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: HTTP2,
    serve: |stream| flood(stream, &settled(b""), &frame(2, 0, 3, &[0, 0, 0, 0, 16])),
};
const PING_FRAMES: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: HTTP2,
    serve: |stream| {
        drain(stream)?;
        flood(stream, &settled(b""), &frame(http2::PING, 0, 0, &[7; 8]))
    },
};
const SETTINGS_FRAMES: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: HTTP2,
    serve: |stream| {
        drain(stream)?;
        flood(stream, &settled(b""), &frame(http2::SETTINGS, 0, 0, b""))
    },
};
const UNKNOWN_FRAMES: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: HTTP2,
    serve: |stream| flood(stream, &settled(b""), &frame(0x2a, 0, 0, b"")),
};
const CHUNKS_AT_ONCE: Endless = Endless {
    elements: |port| request(port, "http", ""),
    words: &[],
    serve: |stream| flood(stream, CHUNKED, b"1\r\nx\r\n"),
};

/// The pause between two drops, so that no time limit on silence is near.
const DROP_PAUSE: Duration = Duration::from_millis(20);

fn trickle(stream: &mut TcpStream, begin: &[u8], drop: &[u8]) -> Result<()> {
    stream.write_all(begin)?;
    loop {
        stream.write_all(drop)?;
        std::thread::sleep(DROP_PAUSE);
    }
}

fn flood(stream: &mut TcpStream, begin: &[u8], drop: &[u8]) -> Result<()> {
    stream.write_all(begin)?;
    let drops = drop.repeat(10_000);
    loop {
        stream.write_all(&drops)?;
    }
}

/// Takes from now on what the client answers, so that it can go on.
fn drain(stream: &TcpStream) -> Result<()> {
    let mut answers = stream.try_clone()?;
    std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
    Ok(())
}

/// Settings, then these bytes.
fn settled(frames: &[u8]) -> Vec<u8> {
    [&frame(http2::SETTINGS, 0, 0, b""), frames].concat()
}

/// Reads the request for an upgrade, which has arrived in part, and answers it.
fn upgrade(stream: &mut TcpStream) -> Result<()> {
    let mut head = vec![b'G'];
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let request = ReceivedRequest {
        connection: 0,
        method: "GET".to_owned(),
        target: "/".to_owned(),
        head: String::from_utf8_lossy(&head).into_owned(),
        body: Vec::new(),
    };
    stream.write_all(&websocket::switch(&request))
}

/// A running server, and whether a client has sent something.
struct EndlessServer {
    port: u16,
    met: Receiver<()>,
}

/// Starts a server that waits for a client's first byte on each connection and then serves it.
fn serve(endless: &'static Endless) -> anyhow::Result<EndlessServer> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let (meets, met) = channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let meets = meets.clone();
            std::thread::spawn(move || {
                let _ = stream.read_exact(&mut [0]);
                let _ = meets.send(());
                // The client closes the connection, which ends this thread.
                let _ = (endless.serve)(&mut stream);
            });
        }
    });
    Ok(EndlessServer { port, met })
}

fn websocket_sample(port: u16, below: &str) -> String {
    let class = "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler";
    format!(
        r#"<{class} guiclass="RequestResponseWebSocketSamplerGui" testclass="{class}" testname="websocket"><boolProp name="createNewConnection">true</boolProp><stringProp name="server">127.0.0.1</stringProp><stringProp name="port">{port}</stringProp><stringProp name="path">/</stringProp><stringProp name="requestData">x</stringProp><stringProp name="readTimeout">60000</stringProp></{class}><hashTree>{below}</hashTree>"#
    )
}

/// A TCP Sampler whose response ends with a line.
fn tcp_sample(port: u16, name: &str, below: &str) -> String {
    format!(
        r#"<TCPSampler guiclass="TCPSamplerGui" testclass="TCPSampler" testname="{name}"><stringProp name="TCPSampler.server">127.0.0.1</stringProp><stringProp name="TCPSampler.port">{port}</stringProp><stringProp name="TCPSampler.timeout">5000</stringProp><stringProp name="TCPSampler.EolByte">10</stringProp><stringProp name="TCPSampler.request">x</stringProp></TCPSampler><hashTree>{below}</hashTree>"#
    )
}

/// Checks that the exchange ends with a failed row when it has taken as long as it may in all.
fn is_bounded(bench: &FaultBench, endless: &'static Endless) -> anyhow::Result<()> {
    let server = serve(endless)?;
    let workshop = bench.with_plan("1", 1, &(endless.elements)(server.port));
    let words = [
        "run",
        "p.jmx",
        "-l",
        "r.csv",
        "-Jdrumfire.max_exchange_ms=400",
    ];
    let child = start(&workshop, &[&words, endless.words].concat());
    let finished = child.finish_within(Duration::from_secs(30))?;
    expect(&finished, 0, &["failures", "verdict  "])?;
    let rows = workshop.read("r.csv");
    let row = rows.lines().nth(1).unwrap_or_default();
    ensure(
        row.contains("drumfire.max_exchange_ms"),
        &format!("the row does not name the property: {row}"),
    )
}

/// Checks that one signal ends an exchange without a bound when the grace time is over.
fn ends_by_signal(bench: &FaultBench, endless: &'static Endless) -> anyhow::Result<()> {
    let server = serve(endless)?;
    let workshop = bench.with_plan("1", 1, &(endless.elements)(server.port));
    let words = ["run", "p.jmx", "-l", "r.csv", "-Jdrumfire.grace_seconds=1"];
    let child = start(&workshop, &[&words, endless.words].concat());
    let met = server.met.recv_timeout(LIMIT);
    met.context("the client does not come")?;
    std::thread::sleep(Duration::from_millis(300));
    child.signal("INT")?;
    let finished = child.finish_within(Duration::from_secs(30))?;
    expect(&finished, 130, &["... end of run"])?;
    let rows = workshop.read("r.csv");
    ensure(rows.lines().count() >= 2, "there is no row")
}

/// Checks that a user beside a flood on the same worker is not held up. It sends to a server of its own.
fn lets_others_work(bench: &FaultBench, endless: &'static Endless) -> anyhow::Result<()> {
    const BOUND_MS: u64 = 250;
    let flood = (endless.elements)(serve(endless)?.port);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            while stream.read_exact(&mut [0]).is_ok() && stream.write_all(b"ok\n").is_ok() {}
        }
    });
    let groups = [
        users(1, 1, "", &flood),
        users(1, 200, "", &tcp_sample(port, "beside", &pause(10))),
    ];
    let workshop = bench.folder();
    workshop.write("p.jmx", super::bench::plan(&groups.concat()));
    // One core is one worker, on Linux.
    let pinned = "taskset -cp 0 $$ >/dev/null 2>&1";
    let words = [
        "run p.jmx -l r.csv -Jdrumfire.max_exchange_ms=6000",
        endless.words.first().unwrap_or(&""),
    ];
    let child = bench.start_limited(&workshop, pinned, &words.join(" "))?;
    let finished = child.finish_within(Duration::from_secs(60))?;
    expect(&finished, 0, &["verdict  "])?;
    let rows = workshop.read("r.csv");
    let mut elapsed_ms = Vec::new();
    for row in rows.lines().filter(|row| row.contains(",beside,")) {
        let elapsed = row.split(',').nth(1).context("a row without a time")?;
        elapsed_ms.push(elapsed.parse::<u64>()?);
    }
    elapsed_ms.sort_unstable();
    let p99 = elapsed_ms.len() * 99 / 100;
    let p99_ms = elapsed_ms.get(p99).copied().context("there is no row")?;
    ensure(
        elapsed_ms.len() == 200 && p99_ms < BOUND_MS,
        &format!(
            "{} samples, the 99th percentile is {p99_ms} ms",
            elapsed_ms.len()
        ),
    )
}
