//! Memory that would grow with the length of a run.

use std::time::Duration;

use anyhow::Context as _;
use drumfire_testkit::plans::users;
use drumfire_testkit::server::{ResponseStep, Server, ok};

use super::Fault;
use super::bench::{FaultBench, ensure, expect, plan, request, start};

pub const FAULTS: &[Fault] = &[Fault {
    name: "labels-for-a-minute",
    is_quick: false,
    before: "500 labels took 80 MiB after 30 s, and half a MiB more each second",
    after: "500 labels grow by less than 16 MiB from 20 s to 60 s, and stay below 150 MiB",
    stage: labels,
}];

/// Requests with 500 labels to a local server, and the memory of the program meanwhile. Only Linux tells it.
fn labels(bench: &FaultBench) -> anyhow::Result<()> {
    const MOST_MIB: u64 = 150;
    const MOST_GROWTH_MIB: u64 = 16;
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let server = Server::start(|_| vec![ResponseStep::Send(ok("x"))]);
    let named = request(server.address().port(), "http", "").replace(
        r#"testname="request""#,
        r#"testname="label ${__Random(1,500)}""#,
    );
    let timed = r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">62</stringProp>"#;
    let workshop = bench.folder();
    workshop.write("p.jmx", plan(&users(8, -1, timed, &named)));
    let words = ["run", "p.jmx", "-l", "r.csv", "--report", "p.html"];
    let child = start(&workshop, &words);
    std::thread::sleep(Duration::from_secs(20));
    let early_mib = resident_mib(child.id()?)?;
    std::thread::sleep(Duration::from_secs(40));
    let late_mib = resident_mib(child.id()?)?;
    expect(&child.finish()?, 0, &["verdict  ", "report   p.html"])?;
    let rows = workshop.read("r.csv").lines().count();
    ensure(
        late_mib < MOST_MIB && late_mib <= early_mib + MOST_GROWTH_MIB && rows > 10_000,
        &format!("{early_mib} MiB after 20 s, {late_mib} MiB after 60 s with {rows} rows"),
    )
}

/// The resident memory of a process, in MiB.
fn resident_mib(id: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    Ok(kib.context("the kernel does not tell it")?.parse::<u64>()? >> 10)
}
