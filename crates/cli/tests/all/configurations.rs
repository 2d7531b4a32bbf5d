//! Taurus configurations and the project's file, as the program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::program::{Finished, Workshop, finish};

const LIMIT: Duration = Duration::from_secs(180);

fn shop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

fn succeeded(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

fn rows(shop: &Workshop, file: &str) -> Vec<String> {
    let text = shop.read(file);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let label = header
        .iter()
        .position(|name| name == "label")
        .expect("labels");
    reader
        .records()
        .map(|row| row.expect("a row")[label].to_owned())
        .collect()
}

/// A plan with one request to a site that properties name.
fn plan(shop: &Workshop, name: &str) {
    let text = drumfire_testkit::plans::plan(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${__P(loops,3)}</stringProp></elementProp>
</ThreadGroup><hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="search ${__P(size,small)}"><stringProp name="HTTPSampler.domain">${__P(host)}</stringProp>
<stringProp name="HTTPSampler.port">${__P(port)}</stringProp><stringProp name="HTTPSampler.path">/api/search?q=${__P(size)}</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/></hashTree>"#,
    );
    shop.write(name, text);
}

#[test]
fn a_configuration_runs_is_checked_and_is_shown() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    shop.write(
        "test.yml",
        format!(
            "settings: {{artifacts-dir: out}}\nexecution:\n- iterations: 2\n  concurrency: 2\n  scenario: s\nscenarios:\n  s:\n    default-address: http://{}\n    \
             retrieve-resources: false\n    requests:\n    - {{url: '/api/search?q=drum', label: search}}\n    - transaction: two\n      do: ['/']\n\
             reporting:\n- module: passfail\n  criteria: ['fail>0%, continue as failed', 'slow: avg-rt>30s']\n\
             services:\n- module: shellexec\n  prepare: echo prepared > prepared.txt\n  post-process: echo $TAURUS_EXIT_CODE > after.txt\n",
            site.http
        ),
    );
    let finished = shop.run(&["run", "test.yml"], LIMIT);
    succeeded(&finished);
    let labels = rows(&shop, "out/kpi.jtl");
    assert_eq!(
        labels.iter().filter(|label| *label == "search").count(),
        4,
        "{labels:?}"
    );
    assert_eq!(labels.len(), 12);
    assert_eq!(shop.read("prepared.txt").trim(), "prepared");
    assert_eq!(shop.read("after.txt").trim(), "0");
    assert!(shop.read("out/effective.json").contains("default-address"));
    let more = shop.run(
        &[
            "run",
            "test.yml",
            "-o",
            "execution.0.iterations=3",
            "-o",
            "execution.0.concurrency=1",
            "-l",
            "own.jtl",
        ],
        LIMIT,
    );
    succeeded(&more);
    assert_eq!(rows(&shop, "own.jtl").len(), 9);
    succeeded(&shop.run(&["check", "test.yml"], LIMIT));
    let shown = shop.run(&["plan", "test.yml"], LIMIT);
    assert!(
        shown.out.contains("search") && shown.out.contains("two"),
        "{}",
        shown.out
    );
}

#[test]
fn criteria_fail_a_run_and_stop_it() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let config = |criterion: &str| {
        format!(
            "execution:\n- concurrency: 1\n  hold-for: 60s\n  scenario:\n    retrieve-resources: false\n    think-time: 20ms\n    requests: ['http://{}/nowhere']\n\
             reporting:\n- module: passfail\n  criteria: ['{criterion}']\n",
            site.http
        )
    };
    shop.write("stop.yml", config("gone: rc404>0 for 2s, stop as failed"));
    let finished = shop.run(&["run", "stop.yml"], Duration::from_secs(40));
    assert_eq!(finished.code, Some(5), "{}{}", finished.out, finished.err);
    assert!(
        finished
            .out
            .lines()
            .any(|line| line.starts_with("FAILED  rc404 ")
                && line.ends_with("   fails if > 0 for 2 s   gone")),
        "{}",
        finished.out
    );
    shop.write("harmless.yml", config("rc404>0 for 1s, stop as non-failed"));
    let finished = shop.run(&["run", "harmless.yml"], Duration::from_secs(40));
    succeeded(&finished);
    assert!(
        finished
            .out
            .contains("stops without failing if > 0 for 1 s, which was so"),
        "{}",
        finished.out
    );
}

#[test]
fn executions_run_side_by_side_and_in_turn() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let config = |modules: &str| {
        format!(
            "execution:\n- iterations: 3\n  scenario: a\n- iterations: 2\n  concurrency: 2\n  scenario: b\nscenarios:\n  a:\n    default-address: http://{0}\n    retrieve-resources: false\n    \
             headers: {{X-A: b}}\n    requests: [{{url: /, label: one}}]\n  b:\n    default-address: http://{0}\n    retrieve-resources: false\n    requests: [{{url: /, label: two}}]\n{modules}",
            site.http
        )
    };
    shop.write("both.yml", config(""));
    succeeded(&shop.run(&["run", "both.yml", "-l", "both.jtl"], LIMIT));
    let labels = rows(&shop, "both.jtl");
    let count = |name: &str| labels.iter().filter(|label| *label == name).count();
    assert_eq!((count("one"), count("two")), (3, 4));
    shop.write("turn.yml", config("modules: {local: {sequential: true}}\n"));
    succeeded(&shop.run(&["run", "turn.yml", "-l", "turn.jtl"], LIMIT));
    let labels = rows(&shop, "turn.jtl");
    assert_eq!(labels[..3], ["one", "one", "one"]);
    shop.write(
        "clash.yml",
        config("")
            .replace("  a:\n", "  a:\n    variables: {x: 1}\n")
            .replace("  b:\n", "  b:\n    variables: {x: 2}\n"),
    );
    let finished = shop.run(&["run", "clash.yml"], LIMIT);
    assert_eq!(finished.code, Some(3), "{}", finished.err);
    assert!(
        finished.err.contains("variable `x` different values"),
        "{}",
        finished.err
    );
}

#[test]
fn a_configuration_that_cannot_be_run_is_refused_by_name() {
    let shop = shop();
    for (text, told) in [
        (
            "execution: [{executor: locust, scenario: {script: x.py}}]",
            "executor `locust`",
        ),
        (
            "execution: [{scenario: {script: gone.jmx}}]",
            "`gone.jmx` does not exist",
        ),
        (
            "execution: [{scenario: {requests: []}}]",
            "neither a script nor requests",
        ),
        (
            "execution: [{scenario: nowhere}]",
            "there is no scenario `nowhere`",
        ),
        (
            "execution: [{concurrency: many, scenario: {requests: [/]}}]",
            "`many` is not a number",
        ),
        (
            "execution: [{hold-for: 3 weeks, scenario: {requests: [/]}}]",
            "`weeks` in",
        ),
        ("scenarios: {}", "no `execution`"),
        (
            "execution: [{scenario: a}]\nscenarios: {a: {requests: [{include-scenario: a}]}}",
            "includes itself",
        ),
        (
            "execution: [{scenario: {requests: [/], data-sources: [gone.csv]}}]",
            "`gone.csv`",
        ),
        (
            "execution: [{scenario: {requests: [/]}}]\nreporting: [{module: passfail, criteria: [nonsense]}]",
            "the criterion `nonsense`",
        ),
        (
            "provisioning: cloud\nexecution: [{scenario: {requests: [/]}}]",
            "`provisioning: cloud`",
        ),
        (
            "execution: [",
            "the YAML is broken at line 1, column 12: unclosed bracket",
        ),
        ("- a", "a configuration must be a table"),
    ] {
        shop.write("bad.yml", text);
        for command in ["run", "check", "plan"] {
            let finished = shop.run(&[command, "bad.yml"], LIMIT);
            assert_eq!(finished.code, Some(3), "{command} {text}: {}", finished.err);
            assert!(finished.err.contains(told), "{text}: {}", finished.err);
        }
    }
}

#[test]
fn profiles_set_load_limits_and_outputs() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop().variable("SIZE", "large");
    plan(&shop, "plan.jmx");
    shop.write(
        "drumfire.toml",
        format!(
            "[targets.local]\nhost = \"{}\"\nport = {}\n[profiles.quick]\ntarget = \"local\"\nonce = true\nresults = \"quick.jtl\"\nfail-on = [\"samples > 0\"]\n\
             properties = {{ size = {{ env = \"SIZE\" }} }}\n[profiles.plain]\ntarget = \"local\"\nresults = \"plain.jtl\"\n",
            site.http.ip(),
            site.http.port()
        ),
    );
    let finished = shop.run(&["run", "plan.jmx", "--profile", "quick"], LIMIT);
    assert_eq!(finished.code, Some(5), "{}{}", finished.out, finished.err);
    assert_eq!(rows(&shop, "quick.jtl"), ["search large"]);
    succeeded(&shop.run(
        &["run", "plan.jmx", "--profile", "plain", "-Jsize=own"],
        LIMIT,
    ));
    assert_eq!(rows(&shop, "plain.jtl"), ["search own"; 3]);
    let finished = shop.run(&["run", "plan.jmx", "--profile", "quik"], LIMIT);
    assert_eq!(finished.code, Some(2));
    let told = format!("{}{}", finished.out, finished.err);
    assert!(told.contains("hint: write `quick`"), "{told}");
}

#[test]
fn a_matrix_runs_all_combinations_and_goes_on_where_it_was() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    plan(&shop, "plan.jmx");
    shop.write(
        "drumfire.toml",
        format!(
            "[properties]\nhost = \"{}\"\nport = {}\n[matrix]\nplan = \"plan.jmx\"\nbase = {{ size = \"large\" }}\nexclude = [{{ size = \"none\", loops = 5 }}]\n\
             [matrix.axes]\nloops = [2, 5]\nsize = [\"small\", \"large\", \"none\"]\n",
            site.http.ip(),
            site.http.port()
        ),
    );
    let listed = shop.run(&["matrix", "--list"], LIMIT);
    assert_eq!(
        listed.out,
        "loops=2 size=large\nloops=2 size=small\nloops=2 size=none\nloops=5 size=small\nloops=5 size=large\n"
    );
    let finished = shop.run(&["matrix", "--html", "m.html", "--markdown", "m.md"], LIMIT);
    succeeded(&finished);
    let row = |text: &str, name: &str| -> Vec<String> {
        let line = text
            .lines()
            .rfind(|line| line.starts_with(name))
            .expect("a row");
        line[name.len()..]
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        row(&finished.out, "loops=5 size=small ")[0],
        "5",
        "{}",
        finished.out
    );
    assert!(finished.out.contains("base"));
    let page = shop.read("m.html");
    let links: Vec<&str> = page
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(links.len(), 6, "{links:?}");
    for link in links {
        assert!(shop.read(link).len() > 10_000, "{link}");
    }
    assert_eq!(shop.read("m.md").lines().count(), 7);
    // one that was interrupted has no run that ended
    let folder = std::fs::read_dir(shop.path(".drumfire/matrix"))
        .expect("the folder")
        .next()
        .expect("one")
        .expect("a folder")
        .path();
    let files = || {
        std::fs::read_dir(&folder)
            .expect("the runs")
            .map(|file| file.expect("a file").path())
    };
    let exit = files()
        .find(|file| file.extension().is_some_and(|ending| ending == "exit"))
        .expect("an end");
    std::fs::remove_file(&exit).expect("it is there");
    let again = shop.run(&["matrix"], LIMIT);
    succeeded(&again);
    assert_eq!(again.out.matches("  is there").count(), 4, "{}", again.out);
}

/// A program in a process group of its own, as a shell starts it.
fn started(shop: &Workshop, words: &[&str]) -> Child {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=INT")
        .arg(env!("CARGO_BIN_EXE_drumfire"))
        .args(words)
        .current_dir(shop.path(""))
        .env("HOME", shop.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command.spawn().expect("it starts")
}

#[test]
fn a_matrix_that_ctrl_c_ends_goes_on_with_what_is_missing() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    plan(&shop, "plan.jmx");
    let (host, port) = (site.http.ip(), site.http.port());
    shop.write(
        "drumfire.toml",
        format!(
            "[properties]\nhost = \"{host}\"\nport = {port}\n[matrix]\nplan = \"plan.jmx\"\n\
             [matrix.axes]\nusers = [1, 2, 3]\nsize = [\"small\", \"large\"]\nloops = [40, 80]\n"
        ),
    );
    let running = started(&shop, &["matrix"]);
    let group = format!("-{}", running.id());
    let ended = || {
        let folders = std::fs::read_dir(shop.path(".drumfire/matrix"));
        let runs = folders.into_iter().flatten().flatten();
        let files = runs.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten());
        let is_end = |name: &OsString| name.to_string_lossy().ends_with(".exit");
        files
            .flatten()
            .filter(|file| is_end(&file.file_name()))
            .count()
    };
    let deadline = Instant::now() + LIMIT;
    while ended() < 3 {
        assert!(Instant::now() < deadline, "three runs take long");
        std::thread::sleep(Duration::from_millis(20));
    }
    // a terminal sends it to the whole group
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let interrupted = finish(running, LIMIT);
    assert_eq!(
        interrupted.code,
        Some(130),
        "{}{}",
        interrupted.out,
        interrupted.err
    );
    let before = ended();
    assert!((3..12).contains(&before), "{before}");
    let resumed = shop.run(&["matrix", "--html", "matrix.html"], LIMIT);
    succeeded(&resumed);
    assert_eq!(
        resumed.out.matches("  is there").count(),
        before,
        "{}",
        resumed.out
    );
    assert_eq!(ended(), 12);
    let whole = shop.run(&["matrix"], LIMIT);
    assert_eq!(whole.out.matches("  is there").count(), 12, "{}", whole.out);
}

/// Taurus itself, where it is on the path, with this program in the place of JMeter.
#[test]
fn taurus_drives_the_program() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os("BZT").map(PathBuf::from);
    let found = std::env::split_paths(&path).map(|folder| folder.join("bzt"));
    let Some(bzt) = named.into_iter().chain(found).find(|file| file.is_file()) else {
        eprintln!("left out: there is no bzt on the path, and BZT names none");
        return;
    };
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    // Taurus knows JMeter by nothing but its path
    let program = shop.path("bin/drumfire");
    std::fs::create_dir_all(shop.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drumfire"), &program).expect("a link");
    let configuration = format!(
        "settings: {{check-updates: false, artifacts-dir: art}}\n\
         modules:\n  jmeter: {{path: {}, detect-plugins: false, version: 5.6.3}}\n  console: {{disable: true}}\n\
         execution:\n- {{iterations: 3, concurrency: 2, scenario: s}}\n\
         scenarios:\n  s:\n    default-address: http://{}\n    retrieve-resources: false\n    \
         requests: [{{url: '/api/search?q=drum', label: search}}, {{url: /missing, label: missing}}]\n\
         reporting:\n- {{module: final-stats, dump-csv: stats.csv}}\n\
         - {{module: passfail, criteria: ['fail of missing>50%, continue as failed']}}\n",
        program.display(),
        site.http
    );
    shop.write("test.yml", configuration);
    let mut command = Command::new(bzt);
    command
        .args(["test.yml", "-o", "settings.check-updates=false"])
        .current_dir(shop.path(""))
        .env("HOME", shop.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let driven = finish(command.spawn().expect("it starts"), LIMIT);
    // its code for criteria that were met
    assert_eq!(driven.code, Some(3), "{}{}", driven.out, driven.err);
    let stats = shop.read("stats.csv");
    let mut reader = csv::Reader::from_reader(stats.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|own| own == name).expect("a column");
    let (label, succeeded, failed) = (column("label"), column("succ"), column("fail"));
    let rows: Vec<_> = reader.records().map(|row| row.expect("a row")).collect();
    let of = |name: &str| {
        let row = rows.iter().find(|row| &row[label] == name).expect("a row");
        (row[succeeded].to_owned(), row[failed].to_owned())
    };
    assert_eq!(of("search"), ("6".to_owned(), "0".to_owned()), "{stats}");
    assert_eq!(of("missing"), ("0".to_owned(), "6".to_owned()), "{stats}");
}

#[test]
fn a_project_file_that_is_wrong_is_told_on_standard_error() {
    let shop = shop();
    plan(&shop, "plan.jmx");
    shop.write("drumfire.toml", "[profiles.x]\nuserz = 1\n");
    for command in ["run", "check", "plan"] {
        let finished = shop.run(&[command, "plan.jmx"], LIMIT);
        assert_eq!(
            (finished.code, finished.out.as_str()),
            (Some(2), ""),
            "{command}"
        );
        assert!(
            finished.err.contains("drumfire.toml:2:1: `userz`")
                && finished.err.contains("hint: write `users`"),
            "{}",
            finished.err
        );
    }
}

#[test]
fn runs_are_listed_compared_and_pruned() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    plan(&shop, "plan.jmx");
    let (host, port) = (
        format!("-Jhost={}", site.http.ip()),
        format!("-Jport={}", site.http.port()),
    );
    for loops in ["-Jloops=20", "-Jloops=30", "-Jloops=40"] {
        succeeded(&shop.run(&["run", "plan.jmx", &host, &port, loops], LIMIT));
    }
    let listed = shop.run(&["runs"], LIMIT);
    succeeded(&listed);
    assert_eq!(listed.out.lines().count(), 4, "{}", listed.out);
    assert!(
        listed
            .out
            .lines()
            .nth(1)
            .expect("the latest")
            .contains("  40 "),
        "{}",
        listed.out
    );
    let json = shop.run(&["runs", "list", "--json"], LIMIT);
    assert_eq!(shop.run(&["runs", "--json"], LIMIT).out, json.out);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json[2]["samples"], 20);
    let shown = shop.run(&["runs", "show", "2"], LIMIT);
    assert!(
        shown.out.contains("30") && shown.out.contains("verdict"),
        "{}",
        shown.out
    );
    let compared = shop.run(&["runs", "compare", "3", "last", "--anyway"], LIMIT);
    assert!(
        matches!(compared.code, Some(0 | 7)),
        "{}{}",
        compared.out,
        compared.err
    );
    succeeded(&shop.run(&["runs", "trend", "--html", "trend.html"], LIMIT));
    let trend = shop.read("trend.html");
    assert_eq!(trend.matches("<tr id=\"run-").count(), 3);
    // Three percentiles, the rate, the failures and at least one label.
    for run in 1..=3 {
        let points = trend.matches(&format!("<a href=\"#run-{run}\"")).count();
        assert!(points >= 6, "{points} points of run {run}");
    }
    succeeded(&shop.run(&["runs", "prune", "--keep", "1"], LIMIT));
    assert_eq!(shop.run(&["runs"], LIMIT).out.lines().count(), 2);
    let missing = shop.run(&["runs", "show", "9"], LIMIT);
    assert_eq!(missing.code, Some(2));
}

#[test]
fn a_run_is_compared_with_its_baseline() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    plan(&shop, "plan.jmx");
    let (host, port) = (
        format!("-Jhost={}", site.http.ip()),
        format!("-Jport={}", site.http.port()),
    );
    let common = [
        "run",
        "plan.jmx",
        host.as_str(),
        port.as_str(),
        // Fewer than ten samples are never judged, however busy the machine is.
        "-Jloops=9",
    ];
    succeeded(&shop.run(
        &[&common[..], &["--run-file", "main.drumfire"]].concat(),
        LIMIT,
    ));
    let same = shop.run(
        &[&common[..], &["--baseline", "main.drumfire"]].concat(),
        LIMIT,
    );
    assert!(matches!(same.code, Some(0 | 7)), "{}{}", same.out, same.err);
    assert!(same.out.contains("baseline main.drumfire"), "{}", same.out);
    let missing = shop.run(
        &[&common[..], &["--baseline", "gone.drumfire"]].concat(),
        LIMIT,
    );
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("--run-file gone.drumfire"),
        "{}",
        missing.err
    );
    shop.write(
        "other.jmx",
        shop.read("plan.jmx").replace("search ", "find "),
    );
    let other = shop.run(
        &[
            "run",
            "other.jmx",
            &host,
            &port,
            "--baseline",
            "main.drumfire",
        ],
        LIMIT,
    );
    assert_eq!(other.code, Some(1), "{}{}", other.out, other.err);
}
