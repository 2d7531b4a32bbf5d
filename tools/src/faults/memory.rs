//! Memory that would grow with the length of a run.

use std::time::{Duration, Instant};

use drumfire_testkit::plans::users;

use super::Fault;
use super::bench::{FaultBench, Running, ensure, expect, plan};

pub const FAULTS: &[Fault] = &[Fault {
    name: "memory-of-500-labels",
    is_quick: false,
    before: "500 labels with times from 1 ms to 20 s took 65 MiB more than 5, and more with every sample",
    after: "500 labels take at most 48 MiB more than 5",
    stage: labels,
}];

/// How long a run may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// As many samples of 500 labels as of 5, without a server: the times are made up, so each label soon has seen all of them, as it
/// would in hours of a real run. Only Linux tells the memory.
fn labels(bench: &FaultBench) -> anyhow::Result<()> {
    const MOST_MIB: u64 = 48;
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let [few_mib, many_mib] = [peak_mib(bench, 5)?, peak_mib(bench, 500)?];
    ensure(
        many_mib <= few_mib + MOST_MIB,
        &format!("{few_mib} MiB with 5 labels, {many_mib} MiB with 500"),
    )
}

/// The most memory that a run of 64,000 samples takes.
fn peak_mib(bench: &FaultBench, labels: u32) -> anyhow::Result<u64> {
    let time = "${__Random(1,20000)}";
    let sampler = format!(
        r#"<kg.apc.jmeter.samplers.DummySampler guiclass="kg.apc.jmeter.samplers.DummySamplerGui" testclass="kg.apc.jmeter.samplers.DummySampler" testname="label ${{__Random(1,{labels})}}"><boolProp name="WAITING">false</boolProp><boolProp name="SUCCESFULL">true</boolProp><stringProp name="RESPONSE_CODE">200</stringProp><stringProp name="RESPONSE_TIME">{time}</stringProp><stringProp name="LATENCY">{time}</stringProp><stringProp name="CONNECT">{time}</stringProp></kg.apc.jmeter.samplers.DummySampler><hashTree/>"#
    );
    let workshop = bench.folder();
    workshop.write("p.jmx", plan(&users(8, 8_000, "", &sampler)));
    // The table of 500 labels is longer than a pipe that nobody reads yet.
    let words = "run p.jmx -l r.csv --report p.html > out";
    let child = bench.start_limited(&workshop, "true", words)?;
    let peak_mib = watched_peak_mib(&child)?;
    expect(&child.finish()?, 0, &[])?;
    let out = workshop.read("out");
    ensure(
        out.contains("verdict  ") && out.contains("report   p.html"),
        &out,
    )?;
    let rows = workshop.read("r.csv").lines().count();
    ensure(rows > 64_000, &format!("{rows} rows"))?;
    Ok(peak_mib)
}

/// Looks at the peak of a process's resident memory until it has ended, in MiB.
fn watched_peak_mib(child: &Running) -> anyhow::Result<u64> {
    let status = format!("/proc/{}/status", child.id()?);
    let (mut peak_kib, deadline) = (0, Instant::now() + PATIENCE);
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        // A process that has ended has no memory.
        let Some(kib) = kib else {
            return Ok(peak_kib >> 10);
        };
        peak_kib = kib;
        ensure(Instant::now() < deadline, "the run does not end")?;
        std::thread::sleep(Duration::from_millis(20));
    }
}
