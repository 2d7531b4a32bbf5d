//! Secrets that outputs could reveal, and ports that are reachable from other machines.

use drumfire_testkit::program::LIMIT;
use drumfire_testkit::server::{ResponseStep, Server, ok};

use super::Fault;
use super::bench::{FaultBench, ensure, expect, pause, request, sample, start, until_bytes};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "secrets-in-outputs",
        is_quick: true,
        before: "in none of the outputs",
        after: "a password and a token are in none of the outputs",
        stage: secrets,
    },
    Fault {
        name: "ports-listened-on",
        is_quick: true,
        before: "one UDP port",
        after: "one UDP port on loopback, and no TCP port",
        stage: ports,
    },
];

const PASSWORD: &str = "correct-horse-4711";
const TOKEN: &str = "battery-staple-0815";
const HEADERS: &str = r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="headers"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">Authorization</stringProp><stringProp name="Header.value">Bearer ${__P(token)}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;

/// Includes a failed request, because reports contain details of those.
fn secrets(bench: &FaultBench) -> anyhow::Result<()> {
    let server = Server::start(|request| match request.connection {
        0 => vec![ResponseStep::Send(ok("x")), ResponseStep::Close],
        _ => vec![ResponseStep::Reset],
    });
    let inside = [HEADERS, &request(server.address().port(), "http", "")].concat();
    let workshop = bench.with_plan("1", 2, &inside);
    let words = [
        "run",
        "p.jmx",
        &format!("-Jpassword={PASSWORD}"),
        &format!("-Jtoken={TOKEN}"),
        "-l",
        "r.csv",
        "--report",
        "p.html",
        "--run-file",
        "run.drumfire",
        "--junit",
        "j.xml",
        "--summary-json",
        "s.json",
    ];
    let finished = workshop.run(&words, LIMIT);
    expect(&finished, 0, &["verdict  "])?;
    let sent = server.requests();
    ensure(
        sent.iter().any(|request| request.head.contains(TOKEN)),
        "the token was not sent",
    )?;
    let mut files = workshop.files();
    files.retain(|file| file != "p.jmx" && file != "file");
    ensure(files.len() >= 6, &format!("outputs are missing: {files:?}"))?;
    for secret in [PASSWORD, TOKEN] {
        let is_told = finished.out.contains(secret) || finished.err.contains(secret);
        ensure(!is_told, &format!("`{secret}` is on the terminal"))?;
        for file in &files {
            let bytes = std::fs::read(workshop.path(file))?;
            let has = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            ensure(!has, &format!("`{secret}` is in {file}"))?;
        }
    }
    Ok(())
}

/// Reads the program's sockets from `/proc`, which only Linux has.
fn ports(bench: &FaultBench) -> anyhow::Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let workshop = bench.with_plan("1", -1, &[pause(20), sample("s")].concat());
    let child = start(&workshop, &["run", "p.jmx", "-l", "r.csv"]);
    until_bytes(&workshop, "r.csv", 200)?;
    let process = format!("/proc/{}", child.id()?);
    let mut own = Vec::new();
    for file in std::fs::read_dir(format!("{process}/fd"))? {
        let Ok(target) = std::fs::read_link(file?.path()) else {
            continue;
        };
        let target = target.to_string_lossy().into_owned();
        let inode = target.strip_prefix("socket:[");
        own.extend(inode.and_then(|text| text.strip_suffix(']').map(str::to_owned)));
    }
    let mut bound = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("{process}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, _, _, _, _, _, _, _, inode, ..] = fields[..]
                && own.iter().any(|mine| mine == inode)
            {
                bound.push(format!("{table} {local}"));
            }
        }
    }
    child.signal("INT")?;
    expect(&child.finish()?, 130, &["... end of run"])?;
    ensure(
        bound.len() == 1 && is_loopback(&bound[0]),
        &format!("sockets that are bound: {bound:?}"),
    )
}

/// 127.0.0.1 as the kernel prints it on machines of either endianness, or ::ffff:127.0.0.1.
fn is_loopback(socket: &str) -> bool {
    socket.starts_with("udp")
        && ["0100007F:", "7F000001:"]
            .iter()
            .any(|address| socket.contains(address))
}
