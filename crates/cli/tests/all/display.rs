//! Tests what the program shows, through the program: the end of a run, its counts, its options and their help.

use std::path::Path;

use drumfire_testkit::plans::{debug, group, pause, plan, users};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok};

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(name)).expect("an example")
}

/// The numbers of samples that the lines with this start tell.
fn number_behind(text: &str, start: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("{start}: {text}"));
    let digits = line[start.len()..]
        .trim_start()
        .split([' ', '|'])
        .find(|word| !word.is_empty());
    let digits = digits.unwrap_or_default().replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{line}"))
}

/// Two rows of samplers below each kind of transaction, and a sampler with sub-results that only its own code knows.
fn transactions() -> String {
    let transaction = |name: &str, is_parent: bool| {
        format!(
            r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="{name}"><boolProp name="TransactionController.parent">{is_parent}</boolProp></TransactionController><hashTree>{}{}</hashTree>"#,
            debug("one"),
            debug("two")
        )
    };
    let content = format!(
        "{}{}{}",
        transaction("rows of its own", false),
        transaction("one row", true),
        debug("alone")
    );
    plan(&group(3, &content))
}

#[test]
fn all_outputs_of_a_run_count_the_same_samples() {
    let shop = workshop();
    shop.write("t.jmx", transactions());
    let files = [
        "--summary-json",
        "s.json",
        "--markdown",
        "m.md",
        "--report",
        "p.html",
    ];
    let words = [&["run", "t.jmx"][..], &files].concat();
    let run = shop.run(&words, LIMIT);
    assert_eq!(run.code, Some(0), "{run:?}");
    // Three loops of five samplers; the transactions are not counted again.
    assert_eq!(number_behind(&run.out, "TOTAL"), 15, "{}", run.out);
    let short = run.out.split(" s and ").nth(1).expect("too short to judge");
    assert!(short.starts_with("15 samples;"), "{short}");
    assert_eq!(number_behind(&shop.read("m.md"), "| TOTAL |"), 15);
    let summary: serde_json::Value = serde_json::from_str(&shop.read("s.json")).expect("JSON");
    assert_eq!(summary["total"]["count"], 15);
    let measured = summary["verdict"]["reasons"][0]["measured"].as_str();
    assert!(
        measured.is_some_and(|text| text.contains("15 samples")),
        "{summary}"
    );
    for name in ["rows of its own (T)", "one row (T)"] {
        assert_eq!(number_behind(&run.out, name), 3, "{}", run.out);
    }
    assert!(run.out.contains("(T) is a transaction, not in TOTAL"));
    let rows = run.out.lines().filter(|line| line.starts_with("summary ="));
    for row in rows {
        // JMeter's line knows of a parent's sub-results only as of one sample, and leaves out transactions.
        assert!(row.contains("      9 in "), "{row}");
    }
}

#[test]
fn internals_are_printed_with_verbose_and_always_logged() {
    let shop = workshop();
    shop.write(
        "p.jmx",
        plan(&group(20, &format!("{}{}", pause(1), debug("a")))),
    );
    let lines = [
        "service time: ",
        "late by the generator itself: ",
        "response from the intended start: none",
    ];
    let usual = shop.run(&["run", "p.jmx"], LIMIT);
    let log = shop.read("jmeter.log");
    let verbose = shop.run(&["run", "p.jmx", "--verbose"], LIMIT);
    let jmeter = shop.run(&["-n", "-tp.jmx", "-Jdrumfire.verbose=true"], LIMIT);
    for line in lines {
        assert!(jmeter.out.contains(line), "{line}: {}", jmeter.out);
        assert!(!usual.out.contains(line), "{line}: {}", usual.out);
        assert!(verbose.out.contains(line), "{line}: {}", verbose.out);
        assert!(log.contains(line), "{line}: {log}");
    }
    for out in [&usual.out, &verbose.out] {
        assert!(
            !out.contains("us\n") && !out.contains(" us;") && !out.contains(" us "),
            "{out}"
        );
    }
}

#[test]
fn a_quiet_run_prints_nothing_but_what_fails_it() {
    let shop = workshop();
    shop.write("p.jmx", plan(&group(20, &debug("a"))));
    let words = |last: &'static [&'static str]| -> Vec<&'static str> {
        let start = [
            "run",
            "p.jmx",
            "--progress",
            "quiet",
            "--demo",
            "--report",
            "r.html",
        ];
        [&start[..], last].concat()
    };
    let good = shop.run(&words(&["--run-file", "a.drumfire"]), LIMIT);
    assert_eq!((good.code, &*good.out, &*good.err), (Some(0), "", ""));
    let compared = shop.run(&words(&["--baseline", "a.drumfire"]), LIMIT);
    assert_eq!((&*compared.out, &*compared.err), ("", ""));
    let failed = shop.run(&words(&["--fail-on", "samples > 1"]), LIMIT);
    assert_eq!((failed.code, &*failed.out), (Some(5), ""), "{failed:?}");
    assert!(
        failed.err.contains("samples > 1") || failed.err.contains("samples"),
        "{failed:?}"
    );
}

#[test]
fn iterations_are_those_of_each_user() {
    let shop = workshop();
    let content = format!("{}{}", debug("a"), debug("b"));
    shop.write("p.jmx", plan(&users(3, 1, "", &content)));
    shop.write("drumfire.toml", "[profiles.five]\niterations = 5\n");
    let samples = |words: &[&str]| {
        let run = shop.run(&[&["run", "p.jmx"][..], words].concat(), LIMIT);
        assert_eq!(run.code, Some(0), "{run:?}");
        number_behind(&run.out, "TOTAL")
    };
    assert_eq!(samples(&[]), 6);
    assert_eq!(samples(&["--iterations", "4"]), 24);
    assert_eq!(samples(&["--iterations", "4", "--users", "2"]), 16);
    assert_eq!(samples(&["--iterations", "4", "--duration", "1m"]), 24);
    assert_eq!(samples(&["-Jdrumfire.load.iterations=2"]), 12);
    assert_eq!(samples(&["--profile", "five"]), 30);
    let view = shop.run(
        &["plan", "p.jmx", "--json", "-Jdrumfire.load.iterations=7"],
        LIMIT,
    );
    let view: serde_json::Value = serde_json::from_str(&view.out).expect("JSON");
    assert_eq!(view["groups"][0]["iterations"], 7, "{view}");
    let debugged = shop.run(
        &["debug", "p.jmx", "--text", "--", "--iterations", "2"],
        LIMIT,
    );
    assert_eq!(debugged.code, Some(0), "{debugged:?}");
    assert_eq!(debugged.out.matches("  ✓ ").count(), 4, "{}", debugged.out);
    for wrong in [&["--iterations", "0"][..], &["--iterations", "2", "--once"]] {
        let refused = shop.run(&[&["run", "p.jmx"][..], wrong].concat(), LIMIT);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
}

#[test]
fn iterations_of_a_schedule_are_refused_with_a_remedy_that_works() {
    let shop = workshop();
    let group = r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="visits"><elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/><stringProp name="OpenModelThreadGroup.schedule">rate(5/sec) even_arrivals(1 sec)</stringProp></OpenModelThreadGroup><hashTree>"#;
    shop.write("p.jmx", plan(&format!("{group}{}</hashTree>", debug("a"))));
    let refused = shop.run(&["run", "p.jmx", "--iterations", "4"], LIMIT);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(
        refused.err.contains("`visits`") && refused.err.contains("add `--users`"),
        "{refused:?}"
    );
    let run = shop.run(
        &["run", "p.jmx", "--iterations", "4", "--users", "2"],
        LIMIT,
    );
    assert_eq!(number_behind(&run.out, "TOTAL"), 8, "{run:?}");
}

#[test]
fn requests_at_a_rate_share_idle_connections() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok("hello"))]);
    let shop = workshop();
    let words = ["run", &server.url("/"), "--rate", "40", "-d", "2s"];
    let run = shop.run(&words, LIMIT);
    assert_eq!(run.code, Some(0), "{run:?}");
    let requests = server.requests().len();
    assert_eq!(requests, 80, "{run:?}");
    // Answers take less than the 25 ms between two requests, unless the machine is busy.
    assert!(
        server.connections() < requests / 2,
        "{}",
        server.connections()
    );
}

#[test]
fn help_for_an_address_works_as_the_help_says() {
    let shop = workshop();
    for words in [&["run", "URL", "--help"][..], &["run", "URL", "-h"]] {
        let help = shop.run(words, LIMIT);
        assert_eq!(help.code, Some(0), "{help:?}");
        assert!(help.out.contains("--connections <USERS>"), "{}", help.out);
        assert!(
            help.out.contains("takes an idle connection"),
            "{}",
            help.out.replace('\n', " ")
        );
    }
    let help = shop.run(&["help", "run"], LIMIT);
    assert!(
        help.out.starts_with("Examples:\n  drumfire run --demo   "),
        "{}",
        help.out
    );
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    let shop = workshop();
    let long = format!("/{}", "x".repeat(150));
    let failing = |end: &str| {
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{long}{end}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{end}</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    shop.write(
        "p.jmx",
        plan(&group(1, &format!("{}{}", failing("1"), failing("2")))),
    );
    let run = shop.run(&["run", "p.jmx"], LIMIT);
    for end in ["1", "2"] {
        assert!(run.out.contains(&format!("{long}{end}")), "{}", run.out);
    }
    let kinds: Vec<&str> = run
        .out
        .lines()
        .skip_while(|line| *line != "failures")
        .collect();
    assert!(
        kinds[1].contains("127.0.0.1:1 ") && kinds[2].contains("127.0.0.1:2 ")
            || kinds[1].contains("127.0.0.1:2 ") && kinds[2].contains("127.0.0.1:1 "),
        "{kinds:?}"
    );
    assert!(!run.out.contains('…'), "{}", run.out);
}

#[test]
fn the_examples_are_in_the_form_that_fmt_writes() {
    let shop = workshop();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut checked = 0;
    for entry in std::fs::read_dir(examples).expect("a folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name");
        if name.ends_with(".jmx") {
            shop.write(&name, example(&name));
            let Finished { code, out, err } = shop.run(&["fmt", "--check", &name], LIMIT);
            assert_eq!((code, &*out, &*err), (Some(0), "", ""), "{name}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
