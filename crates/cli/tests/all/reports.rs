//! Reports, comparisons and merged runs, by the real program: the files, the outputs for CI systems, the exit codes.

use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use drumfire_testkit::plans::{debug, group, http, pause, plan};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok};

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// A minute of two labels at ten samples a second each. `Pay | go` takes `factor` times as long as it should, and one in
/// `fails` of its samples fails.
fn rows(factor: f64, fails: i64) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,allThreads,Latency,Connect\n".to_owned();
    let mut state = 7u64;
    for i in 0..600i64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let elapsed = 100 + (state >> 33) % 40;
        let stamp = 1_700_000_000_000 + i * 100;
        let _ = writeln!(
            text,
            "{stamp},{elapsed},Look,200,OK,t 1-1,true,500,100,2,{elapsed},0"
        );
        let slow = (elapsed as f64 * factor) as u64;
        let (code, success) = match i % fails {
            0 => ("500", false),
            _ => ("200", true),
        };
        let _ = writeln!(
            text,
            "{stamp},{slow},Pay | go,{code},OK,t 1-1,{success},500,100,2,{slow},0"
        );
    }
    text
}

fn code(finished: &Finished, expected: i32) {
    assert_eq!(finished.code, Some(expected), "{finished:?}");
}

/// A run against one that was better, told in every form: as `c.html`, `c.md`, `c.xml`, and on the terminal.
fn worse() -> (Workshop, Finished) {
    let workshop = workshop();
    workshop.write("before.jtl", rows(1.0, 1_000));
    workshop.write("after.jtl", rows(1.3, 1_000));
    let files = [
        "--html",
        "c.html",
        "--markdown",
        "c.md",
        "--junit",
        "c.xml",
        "--annotations",
    ];
    let words: Vec<&str> = ["compare", "before.jtl", "after.jtl"]
        .into_iter()
        .chain(files)
        .collect();
    let worse = workshop.run(&words, LIMIT);
    code(&worse, 7);
    (workshop, worse)
}

#[test]
fn a_run_that_is_worse_is_told_on_the_terminal() {
    let (_workshop, worse) = worse();
    assert!(
        worse
            .out
            .starts_with("after.jtl against before.jtl: worse\n"),
        "{}",
        worse.out
    );
    assert!(
        worse.out.contains("  Look: same, 600 and 600 samples\n"),
        "{}",
        worse.out
    );
    assert!(
        worse
            .out
            .contains("  Pay | go: worse, 600 and 600 samples\n      median  "),
        "{}",
        worse.out
    );
    let notice = "::notice title=compared with before.jtl::1 of 3 passed";
    let error = "::error title=compared with before.jtl::Pay | go is worse: median ";
    assert!(
        worse.out.contains(error) && worse.out.contains(notice),
        "{}",
        worse.out
    );
}

#[test]
fn a_run_that_is_worse_is_told_in_every_file() {
    let (workshop, _) = worse();
    let markdown = workshop.read("c.md");
    assert!(
        markdown.starts_with("### after.jtl against before.jtl: worse\n"),
        "{markdown}"
    );
    assert!(markdown.contains("\n| label | finding | samples | median | p95 | p99 | failed | rate |\n|---|---|---:|---:|---:|---:|---:|---:|\n"));
    assert!(
        markdown.contains("\n| Pay \\| go | **worse** | 600 → 600 | **"),
        "{markdown}"
    );
    assert!(
        markdown.contains("\n| Look | same | 600 → 600 | "),
        "{markdown}"
    );

    let junit = workshop.read("c.xml");
    assert!(
        junit.contains("<testsuite name=\"compared with before.jtl\" tests=\"3\" failures=\"2\""),
        "{junit}"
    );
    assert!(
        junit.contains("name=\"after.jtl: Pay | go\"><failure message=\"Pay | go is worse: "),
        "{junit}"
    );
    assert!(
        junit.contains("name=\"after.jtl: Look\"><system-out>Look is same: "),
        "{junit}"
    );

    let page = workshop.read("c.html");
    assert!(page.contains("<title>Compared with before.jtl – Drumfire</title>"));
    assert!(page.contains("<script id=\"payload\" type=\"text/plain\">"));
}

#[test]
fn a_run_that_is_better_or_the_same_is_no_failure() {
    let workshop = workshop();
    workshop.write("before.jtl", rows(1.3, 1_000));
    workshop.write("after.jtl", rows(1.0, 1_000));
    let better = workshop.run(&["compare", "before.jtl", "after.jtl"], LIMIT);
    code(&better, 0);
    assert!(
        better
            .out
            .starts_with("after.jtl against before.jtl: better\n"),
        "{}",
        better.out
    );
    let same = workshop.run(&["compare", "after.jtl", "after.jtl", "after.jtl"], LIMIT);
    code(&same, 0);
    assert_eq!(
        same.out.matches(" against after.jtl: same\n").count(),
        2,
        "{}",
        same.out
    );
    // The user says which of them matter.
    let lenient = ["compare", "--min-change", "40", "after.jtl", "before.jtl"];
    code(&workshop.run(&lenient, LIMIT), 0);
}

#[test]
fn failures_alone_make_a_run_worse() {
    let workshop = workshop();
    workshop.write("before.jtl", rows(1.0, 1_000));
    workshop.write("after.jtl", rows(1.0, 4));
    let worse = workshop.run(&["compare", "before.jtl", "after.jtl"], LIMIT);
    code(&worse, 7);
    assert!(
        worse.out.contains("failed  0.17% (")
            && worse.out.contains(") -> 25% (")
            && worse.out.contains(")  +24.8 points"),
        "{}",
        worse.out
    );
}

#[test]
fn thresholds_of_a_result_file_reach_the_page_and_the_ci_system() {
    let workshop = workshop();
    workshop.write("r.jtl", rows(1.0, 10));
    let words = [
        "report",
        "r.jtl",
        "-o",
        "out",
        "--junit",
        "r.xml",
        "--markdown",
        "r.md",
        "--metrics",
        "r.txt",
        "--annotations",
        "--fail-on",
        "errors > 1%",
        "--fail-on",
        "p95 > 1s",
    ];
    let finished = workshop.run(&words, LIMIT);
    code(&finished, 5);
    assert_eq!(
        workshop.files(),
        [
            "out/index.html",
            "out/run.drumfire",
            "out/statistics.json",
            "r.jtl",
            "r.md",
            "r.txt",
            "r.xml"
        ]
    );
    let markdown = workshop.read("r.md");
    assert!(
        markdown.contains("| **FAILED** | errors 5 %   fails if &gt; 1 % |"),
        "{markdown}"
    );
    let page = workshop.read("out/index.html");
    assert!(page.contains("<title>FAILED – r.jtl"), "the title");
    let metrics = workshop.read("r.txt");
    assert!(
        metrics.contains("\ndrumfire_failed_percent{label=\"TOTAL\"} 5\n"),
        "{metrics}"
    );
    let error = "::error title=r.jtl::FAILED  errors 5 %25   fails if > 1 %25\n";
    assert!(finished.out.contains(error), "{}", finished.out);
    assert!(
        finished
            .out
            .contains("::notice title=r.jtl::1 of 2 passed\n")
    );
    let junit = workshop.read("r.xml");
    assert!(
        junit.contains("<testsuite name=\"r.jtl\" tests=\"2\" failures=\"1\""),
        "{junit}"
    );
    assert!(
        junit.contains("name=\"p95 &gt; 1s\"><system-out>ok      p95 "),
        "{junit}"
    );
    // The folder is not overwritten unasked.
    code(&workshop.run(&["report", "r.jtl", "-o", "out"], LIMIT), 1);
    code(
        &workshop.run(&["report", "r.jtl", "-o", "out", "-f"], LIMIT),
        0,
    );
}

#[test]
fn merged_runs_have_the_percentiles_of_all_samples() {
    let workshop = workshop();
    let whole = rows(1.7, 9);
    let (head, body) = whole.split_once('\n').expect("a header");
    let (first, second) = body.split_at(body.len() / 3);
    let (cut, second) = second.split_once('\n').expect("a line");
    workshop.write("a.jtl", format!("{head}\n{first}{cut}\n"));
    workshop.write("b.jtl", format!("{head}\n{second}"));
    workshop.write("whole.jtl", &whole);
    let merged = workshop.run(&["merge", "a.jtl", "b.jtl", "-o", "m.drumfire"], LIMIT);
    code(&merged, 0);
    assert_eq!(merged.out, "1,200 samples of 2 runs in m.drumfire\n");
    for (input, folder) in [("m.drumfire", "merged"), ("whole.jtl", "whole")] {
        code(&workshop.run(&["report", input, "-o", folder], LIMIT), 0);
    }
    assert_eq!(
        workshop.read("merged/statistics.json"),
        workshop.read("whole/statistics.json")
    );
}

#[test]
fn a_run_leaves_its_verdict_and_the_generators_health_in_the_run_file() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(1, &(pause(1_200) + &debug("d")))));
    let words = [
        "run",
        "p.jmx",
        "--run-file",
        "r.drumfire",
        "--report",
        "r.html",
    ];
    code(&workshop.run(&words, LIMIT), 0);
    let mut text = String::new();
    let packed = std::fs::File::open(workshop.path("r.drumfire")).expect("it is there");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text)
        .expect("it is packed");
    let run: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let state = run["verdict"]["state"].as_str().expect("a verdict");
    // One sample in little more than a second.
    assert_eq!(state, "too short to judge");
    let groups = run["health"].as_array().expect("a list");
    let names: Vec<_> = groups
        .iter()
        .filter_map(|group| group["name"].as_str())
        .collect();
    assert!(
        names.contains(&"CPU") && names.contains(&"Memory"),
        "{names:?}"
    );
    for group in groups {
        let moments = group["at_ms"].as_array().map_or(0, Vec::len);
        assert!(moments >= 1);
        for line in group["lines"].as_array().expect("a list") {
            assert_eq!(line["values"].as_array().map(Vec::len), Some(moments));
        }
    }
    assert!(
        run["plan"]["sha256"]
            .as_str()
            .is_some_and(|hash| hash.len() == 64)
    );
}

/// A sample of a Debug Sampler takes microseconds, of which a result file knows nothing.
#[test]
fn the_statistics_of_jmeters_report_are_the_numbers_of_the_run() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(50, &debug("quick"))));
    let words = "-n -t p.jmx -l r.jtl -e -o out";
    let words: Vec<&str> = words.split(' ').collect();
    code(&workshop.run(&words, LIMIT), 0);
    let again = ["-g", "out/run.drumfire", "-o", "again"];
    code(&workshop.run(&again, LIMIT), 0);
    let text = workshop.read("out/statistics.json");
    assert_eq!(text, workshop.read("again/statistics.json"));
    let all: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(all["quick"]["sampleCount"], 50);
    assert!(all["quick"]["maxResTime"].as_f64() > Some(0.0), "{text}");
}

#[test]
fn a_filter_of_labels_is_jmeters_property() {
    let workshop = workshop();
    workshop.write("r.jtl", rows(1.0, 10));
    let property = "-Jjmeter.reportgenerator.sample_filter=Pay.*";
    code(
        &workshop.run(&["-g", "r.jtl", "-o", "out", property], LIMIT),
        0,
    );
    let all: serde_json::Value =
        serde_json::from_str(&workshop.read("out/statistics.json")).expect("it is JSON");
    let mut names: Vec<&String> = all.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(names, ["Pay | go", "Total"]);
    let wrong = "-Jjmeter.reportgenerator.sample_filter=Pay(";
    code(
        &workshop.run(&["-g", "r.jtl", "-o", "out2", wrong], LIMIT),
        1,
    );
}

/// The numbers of a page, which has them as deflated JSON in base64.
fn numbers_of(page: &str) -> serde_json::Value {
    let start = r#"<script id="payload" type="text/plain">"#;
    let (_, rest) = page.split_once(start).expect("a payload");
    let (packed, _) = rest.split_once("</script>").expect("its end");
    let packed = base64::engine::general_purpose::STANDARD
        .decode(packed.trim())
        .expect("base64");
    let reader = flate2::read::DeflateDecoder::new(packed.as_slice());
    serde_json::from_reader(reader).expect("JSON")
}

fn label<'p>(page: &'p serde_json::Value, name: &str) -> Option<&'p serde_json::Value> {
    let labels = page["labels"].as_array().expect("labels");
    labels.iter().find(|label| label["label"] == name)
}

/// A plan with a transaction and two samples.
fn transactions() -> String {
    let inner = [debug("Pay"), pause(2)].concat();
    let transaction = format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Buy"/><hashTree>{inner}</hashTree>"#
    );
    plan(&group(20, &[transaction, debug("Look")].concat()))
}

#[test]
fn properties_of_jmeters_report_take_effect() {
    let workshop = workshop();
    workshop.write("p.jmx", transactions());
    let page = |folder: &str, property: &str| {
        let property = format!("-Jjmeter.reportgenerator.{property}");
        let words = ["-n", "-t", "p.jmx", "-l", folder, "-f", "-e", "-o"];
        let out = format!("{folder}.report");
        let words = [&words[..], &[&out, &property]].concat();
        let finished = workshop.run(&words, LIMIT);
        code(&finished, 0);
        assert!(!finished.err.contains("no effect"), "{finished:?}");
        workshop.read(&format!("{out}/index.html"))
    };
    let titled = page("a", "report_title=Our shop");
    assert!(titled.contains("<title>Our shop – Drumfire</title>"));
    let filtered = numbers_of(&page(
        "b",
        "exporter.html.series_filter=^(Pay|Look)(-success)?$",
    ));
    assert!(label(&filtered, "Buy").is_none() && label(&filtered, "Pay").is_some());
    let controllers = numbers_of(&page("c", "exporter.html.show_controllers_only=true"));
    assert!(label(&controllers, "Buy").is_some() && label(&controllers, "Pay").is_none());
    let satisfied = numbers_of(&page("e", "apdex_satisfied_threshold=7"));
    assert_eq!(satisfied["satisfiedMs"], 7);
    let tolerated = numbers_of(&page("f", "apdex_tolerated_threshold=9000"));
    assert_eq!(tolerated["toleratedMs"], 9_000);
    // Its times are 100 to 139 ms.
    workshop.write("r.jtl", rows(1.0, 1_000));
    let limits = "-Jjmeter.reportgenerator.apdex_per_transaction=Look:50|99";
    code(&workshop.run(&["-g", "r.jtl", "-o", "g", limits], LIMIT), 0);
    let limits = numbers_of(&workshop.read("g/index.html"));
    let apdex = |name| label(&limits, name).and_then(|of| of["apdex"].as_f64());
    assert_eq!(apdex("Look"), Some(0.0));
    assert!(apdex("Pay | go") > Some(0.9), "it has JMeter's limits");
}

#[test]
fn properties_of_jmeters_report_without_effect_are_named() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(1, &debug("Look"))));
    let names = [
        "overall_granularity",
        "statistic_window",
        "exporter.html.filters_only_sample_series",
        "exporter.html.property.output_dir",
        "graph.custom_mine.classname",
        "graph.responseTimeDistribution.property.set_granularity",
        "exclude_tc_from_top5_errors_by_sampler",
    ];
    for name in names {
        let given = format!("-Jjmeter.reportgenerator.{name}=1");
        let words = ["-n", "-t", "p.jmx", "-l", "r.jtl", "-f", "-e", "-o", "out"];
        let finished = workshop.run(&[&words[..], &[&given]].concat(), LIMIT);
        code(&finished, 0);
        let said = format!("the property `jmeter.reportgenerator.{name}` has no effect");
        assert!(finished.err.contains(&said), "{name}: {finished:?}");
    }
}

/// All are of one histogram: page, statistics.json, summary.
#[test]
fn a_percentile_is_the_same_everywhere() {
    let workshop = workshop();
    workshop.write("p.jmx", transactions());
    let words = [
        "run",
        "p.jmx",
        "--report",
        "page.html",
        "--run-file",
        "r.drumfire",
        "--summary-json",
        "s.json",
    ];
    code(&workshop.run(&words, LIMIT), 0);
    let words = ["report", "r.drumfire", "-o", "out"];
    code(&workshop.run(&words, LIMIT), 0);
    let read = |file: &str| -> serde_json::Value {
        serde_json::from_str(&workshop.read(file)).expect("JSON")
    };
    let (statistics, summary) = (read("out/statistics.json"), read("s.json"));
    let page = numbers_of(&workshop.read("page.html"));
    let page = label(&page, "Buy").expect("it is there");
    let of_summary = summary["labels"].as_array().expect("labels").iter();
    let mut of_summary = of_summary.filter(|label| label["label"] == "Buy");
    let of_summary = of_summary.next().expect("it is there");
    assert_eq!(statistics["Buy"]["sampleCount"], 20);
    for (shown, written) in [("p90", "pct1"), ("p95", "pct2"), ("p99", "pct3")] {
        let shown_ms = page[shown].as_f64().expect("a number");
        for other in [
            &statistics["Buy"][format!("{written}ResTime")],
            &of_summary[format!("{shown}_ms")],
        ] {
            let other_ms = other.as_f64().unwrap_or(f64::NAN);
            assert!((shown_ms - other_ms).abs() < 1e-9, "{shown} {other}");
        }
    }
}

/// The kernel's stamps exist on Linux only, for HTTP Requests.
#[cfg(target_os = "linux")]
#[test]
fn a_run_says_how_much_of_its_times_passed_in_the_generator() {
    let server = Server::start(|_| {
        vec![
            ResponseStep::Pause(Duration::from_millis(5)),
            ResponseStep::Send(ok("goods")),
        ]
    });
    let port = server.address().port().to_string();
    let at = [("domain", "127.0.0.1"), ("port", &port)];
    let workshop = workshop();
    workshop.write(
        "p.jmx",
        plan(&group(300, &(http("Goods", &at) + &debug("Debug")))),
    );
    let words = [
        "run",
        "p.jmx",
        "--report",
        "page.html",
        "--summary-json",
        "s.json",
    ];
    let finished = workshop.run(&words, LIMIT);
    code(&finished, 0);
    let line = finished.out.lines();
    let line = line.filter(|line| {
        line.starts_with("  of p99 (") && line.ends_with(" passed in the generator")
    });
    assert_eq!(line.count(), 1, "{finished:?}");

    let summary: serde_json::Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let page = numbers_of(&workshop.read("page.html"));
    assert!(
        page["ownPart"]
            .as_str()
            .is_some_and(|text| text.starts_with("of p99 (")),
        "{page}"
    );
    let of_label = |name: &str| {
        let labels = summary["labels"].as_array().expect("labels");
        let label = labels.iter().find(|label| label["label"] == name);
        label.expect("it is there").clone()
    };
    let goods = of_label("Goods");
    let shown = &label(&page, "Goods").expect("it is there")["own"];
    for (at, name) in ["p50", "p95", "p99"].iter().enumerate() {
        let ms = |name: String| goods[&name].as_f64().unwrap_or(f64::NAN);
        let (whole_ms, own_ms) = (ms(format!("{name}_ms")), ms(format!("own_{name}_ms")));
        // The server's pause is never the generator's.
        assert!(own_ms >= 0.0 && whole_ms - own_ms >= 5.0, "{name}: {goods}");
        assert_eq!(shown[at], own_ms, "{name}: {goods}");
    }
    assert!(of_label("Debug")["own_p99_ms"].is_null(), "{summary}");
}

#[test]
fn the_tables_of_a_report_are_written_as_csv() {
    let workshop = workshop();
    workshop.write("r.jtl", rows(1.0, 20));
    let made = workshop.run(&["report", "r.jtl", "--csv", "tables"], LIMIT);
    code(&made, 0);
    let labels = workshop.read("tables/labels.csv");
    let rows: Vec<&str> = labels.lines().collect();
    assert!(
        rows[0].starts_with("label,transaction,samples,failed,rate_per_s,"),
        "{labels}"
    );
    assert!(
        rows[2].starts_with("Pay | go,false,600,30,9.99"),
        "{labels}"
    );
    let found = workshop.read("tables/findings.csv");
    assert!(
        found.contains("\n\"500 throughout, only in Pay | go\","),
        "{found}"
    );
    for (name, least) in [("steps", 60), ("label_steps", 120), ("errors", 2)] {
        let table = workshop.read(&format!("tables/{name}.csv"));
        assert!(table.lines().count() >= least, "{table}");
    }
}

#[test]
fn statistics_without_the_warm_up_say_what_they_leave_out() {
    let workshop = workshop();
    // The first ten seconds of the minute are three times as slow.
    let rows = rows(1.0, 1_000);
    let warm: String = rows
        .lines()
        .map(|line| {
            let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
            let is_early = fields[0]
                .parse::<i64>()
                .is_ok_and(|ms| ms < 1_700_000_010_000);
            if is_early && let Ok(elapsed) = fields[1].parse::<i64>() {
                fields[1] = (elapsed * 3).to_string();
            }
            fields.join(",") + "\n"
        })
        .collect();
    workshop.write("warm.jtl", warm);
    let judged = ["report", "warm.jtl", "--fail-on", "p95 > 200ms"];
    let whole = workshop.run(&judged, LIMIT);
    code(&whole, 5);
    assert!(
        whole.out.contains("The first 10 s were slower"),
        "{}",
        whole.out
    );
    let words = [&judged[..], &["--without-warm-up", "--report", "r.html"]].concat();
    let settled = workshop.run(&words, LIMIT);
    code(&settled, 0);
    let told = "the warm-up is left out of these numbers. The first 10 s were slower";
    assert!(settled.out.contains(told), "{}", settled.out);
    // Samples that end later count, although a few began before.
    assert!(
        settled.out.contains("TOTAL         1,008"),
        "{}",
        settled.out
    );
    workshop.write("steady.jtl", self::rows(1.0, 1_000));
    let none = workshop.run(&["report", "steady.jtl", "--without-warm-up"], LIMIT);
    assert!(none.out.contains("no warm-up was found"), "{}", none.out);
}
