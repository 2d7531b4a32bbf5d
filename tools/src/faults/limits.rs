//! Responses and servers that would cost memory or time without bound, and the property that bounds each.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drumfire_platform::words::hex;
use drumfire_testkit::plans::{debug, pause};
use drumfire_testkit::program::LIMIT;
use drumfire_testkit::server::{ResponseStep, Server};

use super::Fault;
use super::bench::{FaultBench, ensure, expect, reads_body, request, upload};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "codings-without-end",
        is_quick: true,
        before: "a decoder for each name: 5.2 GB for one response",
        after: "a failed row that names the property",
        stage: |bench| {
            let names = "gzip,".repeat(150_000);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {names}\r\n\r\nx");
            names_limit(
                bench,
                head.into_bytes(),
                "drumfire.http.max_content_codings",
            )
        },
    },
    Fault {
        name: "interim-responses-without-end",
        is_quick: true,
        before: "the request never ended",
        after: "a failed row that names the property",
        stage: |bench| {
            let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
            let heads = hint.repeat(10_000).into_bytes();
            names_limit(bench, heads, "drumfire.http.max_interim_heads")
        },
    },
    Fault {
        name: "large-interim-responses",
        is_quick: true,
        before: "each head had the whole limit",
        after: "a failed row that names the property",
        stage: |bench| {
            let hint = format!("HTTP/1.1 103 Hints\r\nX: {}\r\n\r\n", "x".repeat(100_000));
            let heads = hint.repeat(20).into_bytes();
            names_limit(bench, heads, "drumfire.http.max_head_bytes")
        },
    },
    Fault {
        name: "cookies-without-end",
        is_quick: true,
        before: "20,000 cookies held up other users for seconds",
        after: "a failed row that names the property",
        stage: |bench| {
            let cookies: String = (0..20_000)
                .map(|number| format!("Set-Cookie: name{number}=value; Path=/\r\n"))
                .collect();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n{cookies}\r\nx");
            names_limit(bench, head.into_bytes(), "drumfire.http.max_cookies")
        },
    },
    Fault {
        name: "tcp-prefix-of-two-gigabytes",
        is_quick: true,
        before: "four bytes of a server took 2 GiB, and 4 GiB more as hexadecimal digits",
        after: "a failed row that names the property",
        stage: promised_gigabytes,
    },
    Fault {
        name: "memory-of-a-control-group",
        is_quick: false,
        before: "`doctor` showed the machine's memory, and the run was killed without a word",
        after: "`doctor` names the limit, and a run warns at 90 % of it",
        stage: scarce_group,
    },
    Fault {
        name: "an-upload-nobody-takes",
        is_quick: false,
        before: "the user waited for ever",
        after: "a failed row after the response timeout",
        stage: stalled_upload,
    },
];

/// Checks that a response beyond a limit gives a failed row that names this property.
fn names_limit(bench: &FaultBench, response: Vec<u8>, property: &str) -> anyhow::Result<()> {
    let server =
        Server::start(move |_| vec![ResponseStep::Send(response.clone()), ResponseStep::Hang]);
    let inside = [
        r#"<CookieManager guiclass="CookiePanel" testclass="CookieManager" testname="cookies"/><hashTree/>"#,
        &request(server.address().port(), "http", reads_body()),
    ]
    .concat();
    let finished = run_and_read(bench, &inside)?;
    ensure(
        finished.contains(property),
        &format!("the row does not name `{property}`: {finished}"),
    )
}

/// A control group with a limit, removed when dropped.
struct LimitedGroup(PathBuf);

impl LimitedGroup {
    const MIB: u64 = 600;

    /// Makes a group below the root of version 1, or of version 2 if that has the memory; `None` without the right to.
    fn make() -> Option<LimitedGroup> {
        let name = format!("drumfire-faults-{}", std::process::id());
        let versions = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        versions.iter().find_map(|(root, limit)| {
            let group = LimitedGroup(Path::new(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            let bytes = (LimitedGroup::MIB << 20).to_string();
            // Without the controller, the group has no such file, and none can be made.
            fs::write(group.0.join(limit), bytes).ok().map(|()| group)
        })
    }

    /// The words of a shell that enter the group.
    fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.0.display())
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Runs in a real control group whose memory another process takes almost whole.
fn scarce_group(bench: &FaultBench) -> anyhow::Result<()> {
    let Some(group) = LimitedGroup::make() else {
        println!("        skipped: it needs the right to make a control group with a memory limit");
        return Ok(());
    };
    let workshop = bench.with_plan("1", 30, &[pause(100), debug("d")].concat());
    let doctor = bench.run_limited(&workshop, &group.enter(), "doctor")?;
    let told = format!("{} MiB, the limit of the control group", LimitedGroup::MIB);
    expect(&doctor, 0, &[&told])?;
    let calm = bench.run_limited(&workshop, &group.enter(), "run p.jmx")?;
    expect(&calm, 0, &["verdict  "])?;
    ensure(
        !calm.err.contains("control group"),
        &format!("a warning without need: {}", calm.err),
    )?;
    // `tail` keeps what it has read until the end.
    let ballast = LimitedGroup::MIB * 93 / 100;
    let enter = format!(
        "{}; (head -c {ballast}M /dev/zero; sleep 8) | tail -c 1000M > /dev/null & sleep 2",
        group.enter()
    );
    let scarce = bench.run_limited(&workshop, &enter, "run p.jmx")?;
    let told = format!(
        "of {} MiB of the control group's memory are in use",
        LimitedGroup::MIB
    );
    let handled = expect(&scarce, 0, &[&told]);
    // The group can be removed once its processes have ended.
    std::thread::sleep(Duration::from_secs(7));
    handled
}

/// Sends 64 MiB to a server that reads no body.
fn stalled_upload(bench: &FaultBench) -> anyhow::Result<()> {
    let server = Server::start(|_| vec![ResponseStep::Hang]);
    let port = server.address().port();
    let inside = upload(port, 64 << 20).replace(">5000<", ">500<");
    let rows = run_and_read(bench, &inside)?;
    ensure(
        rows.contains("SocketTimeoutException"),
        &format!("the row does not tell the timeout: {rows}"),
    )
}

/// A server that promises the longest message to a TCP Sampler, sends a word of it, and ends.
fn promised_gigabytes(bench: &FaultBench) -> anyhow::Result<()> {
    let server = Server::start(|_| {
        let promise = [0x7f, 0xff, 0xff, 0xff, b'w', b'o', b'r', b'd'];
        vec![ResponseStep::Send(promise.to_vec()), ResponseStep::Close]
    });
    let port = server.address().port();
    // The server answers what looks like a request of HTTP, here in hexadecimal digits.
    let digits = hex(b"GET / HTTP/1.1\r\n\r\n");
    let inside = format!(
        r#"<TCPSampler guiclass="TCPSamplerGui" testclass="TCPSampler" testname="tcp"><stringProp name="TCPSampler.classname">LengthPrefixedBinaryTCPClientImpl</stringProp><stringProp name="TCPSampler.server">127.0.0.1</stringProp><stringProp name="TCPSampler.port">{port}</stringProp><stringProp name="TCPSampler.timeout">5000</stringProp><stringProp name="TCPSampler.request">{digits}</stringProp></TCPSampler><hashTree/>"#
    );
    let workshop = bench.with_plan("1", 1, &inside);
    let words = [
        "run",
        "p.jmx",
        "-l",
        "r.csv",
        "-Jtcp.binarylength.prefix.length=4",
    ];
    let finished = workshop.run(&words, LIMIT);
    expect(&finished, 0, &["failures", "verdict  "])?;
    let rows = workshop.read("r.csv");
    ensure(
        rows.contains("drumfire.tcp.max_response_bytes"),
        &format!("the row does not name the property: {rows}"),
    )
}

/// Runs a plan with these elements to its end, and gives its rows.
fn run_and_read(bench: &FaultBench, inside: &str) -> anyhow::Result<String> {
    let workshop = bench.with_plan("1", 1, inside);
    let finished = workshop.run(&["run", "p.jmx", "-l", "r.csv"], LIMIT);
    expect(&finished, 0, &["failures", "verdict  "])?;
    Ok(workshop.read("r.csv"))
}
