//! No option of `run` is lost on the way to agents: each has its effect, or is refused by name.

use std::collections::BTreeSet;

use drumfire_testkit::nats::has_server;
use drumfire_testkit::program::{Finished, LIMIT, Workshop};

use super::stage::{group, plan, sample, text, workshop};

/// How it is known that an option has its effect in a run on agents.
enum Proof {
    /// The run with many options has written this text to this file.
    Written(&'static str, &'static str),
    /// It has printed this text.
    Told(&'static str),
    /// The run with another load, or the last one, shows it.
    Shown(fn(&Ran) -> bool),
    /// Beside these words it is refused with its name.
    Refused(&'static [&'static str]),
    /// A test of its own, by its name.
    Test(&'static str),
}
use Proof::{Refused, Shown, Test, Told, Written};

const OPTIONS: &[(&str, Proof)] = &[
    ("--users", Shown(|ran| ran.load_rows().contains("G 1-4"))),
    (
        "--ramp-up",
        Shown(|ran| ran.apart_ms("G 1-1", "G 1-4") > 500),
    ),
    (
        "--duration",
        Shown(|ran| ran.load_rows().matches("G 1-1,").count() > 1),
    ),
    (
        "--iterations",
        Shown(|ran| ran.each.0.read("each.json").contains(r#""count": 12"#)),
    ),
    (
        "--verbose",
        Shown(|ran| ran.load.1.out.contains("late by the generator itself")),
    ),
    ("--rate", Shown(|ran| ran.load_rows().lines().count() < 200)),
    (
        "--group",
        Shown(|ran| ran.load_rows().matches(",H 2-").count() == 1),
    ),
    (
        "--once",
        Shown(|ran| ran.file("rows.jtl").matches(",G 1-").count() == 3),
    ),
    ("--watch", Told("node 127.0.0.1:1 does not answer")),
    ("--out", Written("out.json", "J=J")),
    ("--tag", Written("out.json", r#""team":"shop""#)),
    (
        "--out-required",
        Shown(|ran| ran.required.err.contains("error: output json")),
    ),
    ("--trace", Test("agents_of_a_fleet_send_ids_of_their_own")),
    (
        "--trace-link",
        Test("agents_of_a_fleet_send_ids_of_their_own"),
    ),
    ("--tls-verify", Written("rows.jtl", "SSLHandshakeException")),
    ("--logfile", Written("rows.jtl", "timeStamp,elapsed")),
    (
        "--forceDeleteResultFile",
        Shown(|ran| !ran.file("rows.jtl").contains("stale")),
    ),
    ("--report", Written("report.html", "<html")),
    (
        "--run-file",
        Shown(|ran| ran.many.0.path("kept.run").is_file()),
    ),
    (
        "--no-run-file",
        Shown(|ran| !ran.load.0.path(".local/state/drumfire/history").exists()),
    ),
    ("--summary-json", Written("run.json", r#""exit_code": 5"#)),
    ("--jmeterlogfile", Written("own.log", "drumfire")),
    (
        "--loglevel",
        Shown(|ran| ran.has_logged("[local-001]", "deep")),
    ),
    (
        "--progress",
        Shown(|ran| ran.load.1.out.contains("summary =")),
    ),
    ("--ui", Told("live page")),
    ("--ui-readonly", Refused(&["--agents", "local:2"])),
    ("--ui-stay", Refused(&["--agents", "local:2"])),
    ("--demo", Written("rows.jtl", "https://127.0.0.1")),
    (
        "--offline",
        Test("a_run_says_what_it_fetches_and_gives_up_at_the_first_refusal"),
    ),
    ("--skip-unsupported", Told("left out: com.example.Unknown")),
    ("--jmeterproperty", Written("rows.jtl", "J=J gone=none")),
    ("--systemproperty", Written("rows.jtl", "D=D undone=none")),
    ("--addprop", Written("rows.jtl", "q=Q")),
    ("--systemPropertyFile", Written("rows.jtl", "S=S")),
    ("--propfile", Written("rows.jtl", "p=P default=none")),
    ("--homedir", Written("rows.jtl", "d=HOME")),
    ("--profile", Written("rows.jtl", "profile=PR")),
    ("--target", Written("rows.jtl", "target=T")),
    ("--fail-on", Told("fails if < 100")),
    ("--abort-on", Written("junit.xml", "errors &gt; 1000")),
    ("--until", Told("`p99 within 1%`: not enough samples")),
    ("--repeat", Refused(&["--agents", "local:2"])),
    (
        "--without-warm-up",
        Shown(|ran| ran.load.1.out.contains("no warm-up was found")),
    ),
    // A threshold of that run needs an hour.
    ("--allow-unjudged", Shown(|ran| ran.each.1.code == Some(6))),
    ("--strict", Shown(|ran| ran.each.1.code == Some(6))),
    (
        "--baseline",
        Shown(|ran| ran.required.err.contains("baseline kept.run")),
    ),
    ("--junit", Written("junit.xml", "samples &lt; 100")),
    ("--annotations", Told("::error title=plan.jmx::")),
    ("--markdown", Written("run.md", "J=J")),
    ("--metrics", Written("run.txt", "J=J")),
    (
        "--agents",
        Test("local_agents_run_a_plan_as_one_machine_does"),
    ),
    ("--nats", Refused(&["--agents", "local:2"])),
    ("--nats-creds", Refused(&["--agents", "local:2"])),
    ("--nats-ca", Refused(&["--agents", "local:2"])),
    ("--sign", Refused(&["--agents", "local:2"])),
    (
        "--agents-wait",
        Test("agents_are_listed_and_chosen_by_label"),
    ),
    (
        "--each",
        Shown(|ran| ran.each.0.read("each.json").contains(r#""count": 12"#)),
    ),
    (
        "--wait",
        Test("runs_wait_for_their_turn_and_agents_tells_who_waits"),
    ),
    (
        "--on-lost",
        Test("users_of_a_killed_agent_go_to_the_others"),
    ),
    (
        "--rows",
        Shown(|ran| ran.each.1.err.contains("`--rows none`")),
    ),
    ("--send", Written("rows.jtl", "sent=hello")),
    ("--allow-skew", Refused(&[])),
    (
        "--tls-ca",
        Test("the_authority_of_a_company_is_trusted_where_it_is_named"),
    ),
    (
        "--help",
        Test("no_option_of_run_is_lost_on_the_way_to_agents"),
    ),
];

/// Runs on two agents, and what they left behind.
struct Ran {
    many: (Workshop, Finished),
    load: (Workshop, Finished),
    each: (Workshop, Finished),
    required: Finished,
}

impl Ran {
    fn file(&self, name: &str) -> String {
        self.many.0.read(name)
    }

    /// A line of the log, at the level that was asked for.
    fn has_logged(&self, agent: &str, text: &str) -> bool {
        let log = self.file("own.log");
        let mut lines = log.lines().filter(|line| line.contains(" DEBUG "));
        lines.any(|line| line.contains(agent) && line.contains(text))
    }

    fn load_rows(&self) -> String {
        self.load.0.read("load.jtl")
    }

    /// The time between the first samples of two users.
    fn apart_ms(&self, one: &str, other: &str) -> i64 {
        let rows = self.load_rows();
        let first_ms = |user: &str| {
            let own = rows
                .lines()
                .filter(|row| row.contains(&format!(",{user},")));
            let times = own.filter_map(|row| row.split(',').next()?.parse::<i64>().ok());
            times.min().unwrap_or_else(|| panic!("{user}: {rows}"))
        };
        first_ms(other) - first_ms(one)
    }
}

#[test]
fn no_option_of_run_is_lost_on_the_way_to_agents() {
    if !has_server() {
        return;
    }
    let help = workshop().run(&["help", "run"], LIMIT).out;
    // Descriptions are indented further than the names.
    let is_description = |line: &&str| line.starts_with("          ");
    let named = help
        .lines()
        .filter(|line| !is_description(line))
        .filter_map(|line| {
            let line = line.trim_start();
            let long = line.split_once(", ").map_or(line, |(_, long)| long);
            let is_option = line.starts_with('-') && long.starts_with("--");
            is_option.then(|| {
                long.split([' ', '=', '['])
                    .next()
                    .unwrap_or(long)
                    .to_owned()
            })
        });
    let named: BTreeSet<String> = named.collect();
    let listed: BTreeSet<String> = OPTIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(
        named, listed,
        "the options of `run`, and those of the table"
    );
    let load = std::thread::spawn(with_another_load);
    let each = std::thread::spawn(with_each);
    let many = with_many_options();
    let ran = Ran {
        required: with_required_output(&many.0),
        load: load.join().expect("it has its rows"),
        each: each.join().expect("it has ended"),
        many,
    };
    let tests = [
        include_str!("mod.rs"),
        include_str!("joining.rs"),
        include_str!("options.rs"),
        include_str!("../authorities.rs"),
        include_str!("../traces.rs"),
        include_str!("../unasked.rs"),
    ]
    .concat();
    let is_proved = |(option, proof): &&(&str, Proof)| match proof {
        Written(file, text) => ran.file(file).contains(text),
        Told(text) => {
            let told = [&ran.many.1.out, &ran.many.1.err];
            told.iter().any(|told| told.contains(text))
        }
        Shown(is_shown) => is_shown(&ran),
        Refused(words) => is_refused(option, words),
        Test(name) => tests.contains(&format!("fn {name}()")),
    };
    let lost = OPTIONS.iter().filter(|row| !is_proved(row));
    let lost: Vec<&str> = lost.map(|(option, _)| *option).collect();
    assert!(
        lost.is_empty(),
        "{lost:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        ran.many.1,
        ran.load.1,
        ran.each.1,
        ran.required
    );
}

fn is_refused(option: &str, words: &[&str]) -> bool {
    let takes_none = ["--ui-readonly", "--ui-stay", "--allow-skew"].contains(&option);
    let own = [option, "x"];
    let own = if takes_none { &own[..1] } else { &own[..] };
    let home = workshop();
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("a"))),
    );
    let finished = home.run(&[&["run", "plan.jmx"], words, own].concat(), LIMIT);
    finished.code == Some(2) && finished.err.contains(option)
}

/// Two groups of one user; the samples of the first show what agents know.
fn write_plan(home: &Workshop) {
    let shown = [
        ("J", "j"),
        ("gone", "drumfire.test.gone"),
        ("q", "q"),
        ("p", "p"),
        ("default", "summariser.name"),
        ("d", "home"),
        ("D", "own"),
        ("undone", "sun.net.http.allowRestrictedHeaders"),
        ("S", "more"),
        ("profile", "profile"),
        ("target", "host"),
    ];
    let shown: Vec<String> = shown
        .map(|(shown, name)| format!("{shown}=${{__P({name},none)}}"))
        .into();
    let label = format!(
        "{} sent=${{__FileToString(${{__P(folder,.)}}/sent.txt)}}",
        shown.join(" ")
    );
    let place = [
        ("HTTPSampler.domain", "${__P(demo.host)}"),
        ("HTTPSampler.port", "${__P(demo.https.port)}"),
        ("HTTPSampler.protocol", "https"),
        ("HTTPSampler.path", "/"),
    ];
    let place: String = place
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    let https = format!(
        r#"<HTTPSamplerProxy guiclass="g" testclass="HTTPSamplerProxy" testname="https">{place}</HTTPSamplerProxy><hashTree/>"#
    );
    let class = "com.example.Unknown";
    let unknown = format!(r#"<{class} guiclass="g" testclass="{class}" testname="u"/><hashTree/>"#);
    let first = sample(&label) + &https + &unknown;
    let second = group("ThreadGroup", 1, 1, None, &sample("other"));
    home.write(
        "plan.jmx",
        plan(
            &(group(
                "ThreadGroup",
                1,
                2,
                None,
                &(first + &sample("${__log(deep,DEBUG)}")),
            ) + &second.replace(r#"testname="G""#, r#"testname="H""#)),
        ),
    );
}

fn with_many_options() -> (Workshop, Finished) {
    let home = workshop();
    write_plan(&home);
    home.write("sent.txt", "hello");
    home.write("q.properties", "q=Q\n");
    home.write("s.properties", "more=S\n");
    home.write(
        "p.properties",
        "p=P\nuser.properties=user.properties\ndrumfire.test.gone=here\n",
    );
    home.write("home/bin/user.properties", "home=HOME\n");
    home.write("rows.jtl", "stale\n");
    home.write(
        "drumfire.toml",
        "[targets.stage]\nhost = \"T\"\n[profiles.soak]\nproperties = { profile = \"PR\" }\n",
    );
    let words = "run plan.jmx --agents local:2 --once --skip-unsupported --tls-verify --demo -J j=J -J drumfire.test.gone= \
                 -D own=D -D sun.net.http.allowRestrictedHeaders= -q q.properties -S s.properties -p p.properties -d home \
                 --profile soak --target stage -L DEBUG -j own.log --send sent.txt -l rows.jtl -f --report report.html \
                 --run-file kept.run --summary-json run.json --progress quiet --ui --out json=out.json --tag team=shop \
                 --watch node=http://127.0.0.1:1/metrics --junit junit.xml --annotations --markdown run.md --metrics run.txt";
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.extend(["--fail-on", "samples < 100", "--abort-on", "errors > 1000"]);
    words.extend(["--until", "p99 within 1%"]);
    let finished = home.run(&words, LIMIT);
    assert_eq!(finished.code, Some(5), "{finished:?}");
    (home, finished)
}

fn with_another_load() -> (Workshop, Finished) {
    let home = workshop();
    let second = group("ThreadGroup", 1, 1, None, &sample("other"));
    home.write(
        "plan.jmx",
        plan(
            &(group("ThreadGroup", 1, 1, None, &sample("a"))
                + &second.replace(r#"testname="G""#, r#"testname="H""#)),
        ),
    );
    let words = "run plan.jmx --agents local:2 --users 4 --ramp-up 2s --duration 3s --rate 20/s --group G -l load.jtl \
                 --progress lines --verbose --no-run-file --without-warm-up";
    let finished = home.run(&words.split_whitespace().collect::<Vec<_>>(), LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    (home, finished)
}

/// Each of two agents runs the whole plan.
fn with_each() -> (Workshop, Finished) {
    let home = workshop();
    let body = sample("a") + &sample("b") + &sample("c");
    home.write("plan.jmx", plan(&group("ThreadGroup", 1, 1, None, &body)));
    let words = "run plan.jmx --agents local:2 --each --iterations 2 --rows none -l none.jtl --strict --progress quiet \
                 --summary-json each.json --allow-unjudged --fail-on";
    let words: Vec<&str> = words
        .split_whitespace()
        .chain(["errors > 1 over 1h"])
        .collect();
    let finished = home.run(&words, LIMIT);
    (home, finished)
}

fn with_required_output(earlier: &Workshop) -> Finished {
    let home = workshop();
    home.write(
        "kept.run",
        std::fs::read(earlier.path("kept.run")).expect("it is there"),
    );
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("a"))),
    );
    let words = "run plan.jmx --agents local:2 --out json=/dev/full --out-required --baseline kept.run \
                 --progress quiet";
    home.run(&words.split_whitespace().collect::<Vec<_>>(), LIMIT)
}
