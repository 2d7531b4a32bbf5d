//! Scripts and queries that never end, and scripts that terminate Java.

use std::time::{Duration, Instant};

use drumfire_testkit::program::{Finished, LIMIT, Workshop, jmeter_home};
use drumfire_testkit::server::{ResponseStep, Server, ok};

use super::Fault;
use super::bench::{
    FaultBench, ensure, expect, group, pause, plan, request, sample, start, until_bytes,
};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "system-exit",
        is_quick: false,
        before: "VALID, exit code 0",
        after: "the run ends in good order with exit code 1, and names the element",
        stage: |bench| {
            exits(
                bench,
                &groovy("ends", "System.exit(3)"),
                "JSR223Sampler 'ends'",
            )
        },
    },
    Fault {
        name: "system-exit-in-beanshell",
        is_quick: false,
        before: "VALID, exit code 0",
        after: "the run ends in good order with exit code 1, and names the element",
        stage: |bench| exits(bench, BEANSHELL, "BeanShellSampler 'ends'"),
    },
    Fault {
        name: "system-exit-in-a-function",
        is_quick: false,
        before: "the worker hung",
        after: "the run ends in good order with exit code 1, and names the call",
        stage: |bench| exits(bench, &sample("${__groovy(System.exit(3))}"), "a function"),
    },
    Fault {
        name: "endless-groovy",
        is_quick: false,
        before: "three signals",
        after: "one SIGTERM ends the run within its grace time, with its rows",
        stage: |bench| endless(bench, &groovy("endless", "while (true) {}"), true),
    },
    Fault {
        name: "endless-regex",
        is_quick: false,
        before: "three signals, and the other users of the worker waited",
        after: "one SIGTERM ends the run within its grace time, with its rows",
        stage: |bench| {
            let body = "a".repeat(1 << 20) + "b";
            let below = extractor(
                "RegexExtractor",
                &[("regex", "(a+)+b(.)"), ("match_number", "-1")],
            );
            searched(bench, &body, &below)
        },
    },
    Fault {
        name: "endless-xpath",
        is_quick: false,
        before: "40 s for 2 MB, and the other users of the worker waited",
        after: "one SIGTERM ends the run within its grace time, with its rows",
        stage: |bench| {
            let body = format!("<a>{}</a>", "<b><c/></b>".repeat(60_000));
            let query = "//b[count(preceding::c) = count(following::c)]";
            let below = extractor(
                "XPathExtractor2",
                &[("xpathQuery", query), ("matchNumber", "-1")],
            );
            searched(bench, &body, &below)
        },
    },
];

const BEANSHELL: &str = r#"<BeanShellSampler guiclass="BeanShellSamplerGui" testclass="BeanShellSampler" testname="ends"><stringProp name="BeanShellSampler.query">System.exit(3);</stringProp></BeanShellSampler><hashTree/>"#;
/// How long a run may take to end after its grace period of a second, in which the program interrupts the samples and
/// finally aborts them.
const TO_END: Duration = Duration::from_secs(20);

pub fn groovy(name: &str, script: &str) -> String {
    format!(
        r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="{name}"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">{script}</stringProp></JSR223Sampler><hashTree/>"#
    )
}

/// An extractor. The properties of JMeter's XPath2 Extractor have a prefix that differs from its class.
fn extractor(prefix: &str, properties: &[(&str, &str)]) -> String {
    let class = match prefix {
        "XPathExtractor2" => "XPath2Extractor",
        other => other,
    };
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!(r#"<stringProp name="{prefix}.{name}">{value}</stringProp>"#))
        .collect();
    format!(
        r#"<{class} guiclass="x" testclass="{class}" testname="search">{properties}<stringProp name="{prefix}.refname">v</stringProp></{class}><hashTree/>"#
    )
}

/// A folder whose runs find this machine's JMeter, so that they fetch no jars; `None` if scripts cannot run here.
pub fn scripts_folder(bench: &FaultBench) -> Option<Workshop> {
    let home = jmeter_home()?;
    let workshop = bench.with_plan("1", 1, "");
    Some(workshop.variable("JMETER_HOME", &home.to_string_lossy()))
}

fn exits(bench: &FaultBench, inside: &str, by: &str) -> anyhow::Result<()> {
    let Some(workshop) = scripts_folder(bench) else {
        return Ok(());
    };
    let after = group("1", 1, &sample("after"))
        .replace("ThreadGroupGui", "PostThreadGroupGui")
        .replace("\"ThreadGroup\"", "\"PostThreadGroup\"")
        .replace("<ThreadGroup ", "<PostThreadGroup ")
        .replace("</ThreadGroup>", "</PostThreadGroup>");
    let users = group("2", 50, &[sample("before"), inside.to_owned()].concat());
    workshop.write("p.jmx", plan(&[users, after].concat()));
    let finished = workshop.run(&["run", "p.jmx", "-l", "r.csv"], LIMIT);
    let words = [by, "ended the run", "... end of run", "verdict  "];
    expect(&finished, 1, &words)?;
    ensure(
        workshop.read("r.csv").contains(",after,"),
        "the tearDown group has not run",
    )
}

/// Runs a user that never ends beside one that takes samples. One signal ends both.
fn endless(bench: &FaultBench, inside: &str, needs_java: bool) -> anyhow::Result<()> {
    let workshop = match needs_java {
        true => scripts_folder(bench),
        false => Some(bench.with_plan("1", 1, "")),
    };
    let Some(workshop) = workshop else {
        return Ok(());
    };
    let busy = group("1", -1, &[pause(20), sample("busy")].concat());
    let stuck = group("1", 1, inside);
    workshop.write("p.jmx", plan(&[busy, stuck].concat()));
    let words = ["run", "p.jmx", "-l", "r.csv", "-Jdrumfire.grace_seconds=1"];
    let child = start(&workshop, &words);
    until_bytes(&workshop, "r.csv", 20_000)?;
    child.signal("TERM")?;
    let since = Instant::now();
    let finished: Finished = child.finish()?;
    let took = since.elapsed();
    ensure(took < TO_END, &format!("it took {took:?} to end"))?;
    ensure(
        matches!(finished.code, Some(1 | 143)),
        &format!("{finished:?}"),
    )?;
    ensure(
        finished.out.contains("... end of run") && finished.out.contains("verdict  "),
        &format!("neither end nor verdict: {finished:?}"),
    )?;
    ensure(
        workshop.read("r.csv").ends_with('\n'),
        "the last row is not whole",
    )
}

/// Runs an endless search in a server's response.
fn searched(bench: &FaultBench, body: &str, below: &str) -> anyhow::Result<()> {
    let body = body.to_owned();
    let server = Server::start(move |_| vec![ResponseStep::Send(ok(&body))]);
    let port = server.address().port();
    endless(bench, &request(port, "http", below), false)
}
