//! `cargo xtask bench --page`: generates docs/performance.md and its charts from `benches/performance.md` and the latest run of
//! each scenario in `benches/runs/`, and README's table.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::bars::{self, Bar};
use super::curve;
use super::kept::{self, Kept, KeptRow, KeptScenario};
use super::paper;
use super::peers::LoadTester;
use super::profiles;
use super::scenario::{self, Scenario};

/// Relative to docs/.
const PAGE: &str = "performance.md";
const PICTURES: &str = "performance";
/// The part of the description that all scenarios share.
const SERVER: &str = "nginx on loopback, 510-byte page, ";

/// Work whose cost was reduced in steps, and its cost at first.
struct Floor {
    work: &'static str,
    scenario: &'static str,
    /// The figure, as the report prints it before its bound.
    aim: &'static str,
    first: &'static str,
}

const FLOORS: [Floor; 24] = [
    Floor {
        work: "request with variables, assertion and extractor, to wrk",
        scenario: "extract",
        aim: "CPU to wrk's",
        first: "1.42 to 1.55",
    },
    Floor {
        work: "HTTP/2 request, to h2load",
        scenario: "http2",
        aim: "CPU to h2load's",
        first: "1.44 to 1.97",
    },
    Floor {
        work: "CPU of a request on all cores, to one core",
        scenario: "workers",
        aim: "all cores: CPU to that of 'one core'",
        first: "1.27",
    },
    Floor {
        work: "download of 1 GiB, wall clock to curl",
        scenario: "download",
        aim: "plain: time to curl's",
        first: "0.26 to 0.42",
    },
    Floor {
        work: "the same while other programs use all cores",
        scenario: "download",
        aim: "busy machine: time to curl's",
        first: "0.81",
    },
    Floor {
        work: "download of 1 GiB over TLS, wall clock to curl",
        scenario: "download",
        aim: "TLS: time to curl's",
        first: "1.09",
    },
    Floor {
        work: "download with its MD5, CPU to md5sum of a file",
        scenario: "download",
        aim: "MD5: CPU to md5sum's",
        first: "1.21",
    },
    Floor {
        work: "`prev` in Groovy, µs beyond an empty script",
        scenario: "scripts",
        aim: "prev: CPU us beyond 'empty script'",
        first: "",
    },
    Floor {
        work: "`vars.get` and `vars.put` in Groovy, µs beyond an empty script",
        scenario: "scripts",
        aim: "get and put: CPU us beyond 'empty script'",
        first: "",
    },
    Floor {
        work: "first Groovy script, ms from the start of the process",
        scenario: "first-script",
        aim: "first script: ms to the first sample",
        first: "410",
    },
    Floor {
        work: "plan of 50 MB, ms from the start to the first request",
        scenario: "start",
        aim: "plan of 50 MB: ms to the first sample",
        first: "1343",
    },
    Floor {
        work: "plan of 50 MB, MiB at the most",
        scenario: "start",
        aim: "plan of 50 MB: peak MiB",
        first: "512",
    },
    Floor {
        work: "connected user that thinks, KiB",
        scenario: "users",
        aim: "many with connections: KiB a user beyond '100 with connections'",
        first: "2.8 to 3.2",
    },
    Floor {
        work: "upload of 1 GiB, CPU to curl",
        scenario: "upload",
        aim: "CPU to curl-upload's",
        first: "1.17",
    },
    Floor {
        work: "request beside downloads with their MD5, µs late",
        scenario: "neighbours",
        aim: "md5: us late by itself, p99",
        first: "24300",
    },
    Floor {
        work: "request beside JSON of 50 MB, µs late",
        scenario: "neighbours",
        aim: "json: us late by itself, p99",
        first: "6770",
    },
    Floor {
        work: "request beside TLS handshakes, µs late",
        scenario: "neighbours",
        aim: "tls: us late by itself, p99",
        first: "12500",
    },
    Floor {
        work: "20,000 requests a second by a schedule, µs late",
        scenario: "open",
        aim: "20,000 a second: us late by itself, p99",
        first: "2930",
    },
    Floor {
        work: "comparison of result files of 10 million rows, to wc",
        scenario: "growth-compare",
        aim: "10000000: time to wc's",
        first: "31.5",
    },
    Floor {
        work: "merge of result files of 10 million rows, to wc",
        scenario: "growth-merge",
        aim: "10000000: time to wc's",
        first: "37.8",
    },
    Floor {
        work: "peak memory of 30 minutes at 5,000 requests a second, to that of one minute",
        scenario: "long",
        aim: "30 minutes: peak memory to that of '1 minute'",
        first: "1.26",
    },
    Floor {
        work: "peak memory of an hour at 1,000 requests a second, to that of one minute",
        scenario: "growth-minutes",
        aim: "60: peak memory to that of '1'",
        first: "1.22",
    },
    Floor {
        work: "plain plan, ms from the start to the first request",
        scenario: "start",
        aim: "plain plan: ms to the first sample",
        first: "22",
    },
    Floor {
        work: "user that thinks and has no connection, KiB",
        scenario: "users",
        aim: "100000 without: KiB a user beyond '100 without'",
        first: "2.11",
    },
];

/// Writes the page, its pictures and README's table below the root of a checkout.
///
/// # Errors
/// A file cannot be read or written, README has no table, or `benches/performance.md` names something that does not exist.
pub fn write(root: &Path) -> anyhow::Result<()> {
    let docs = &root.join("docs");
    let benches = xtask::root().join("benches");
    let kept = kept::read(&benches.join("runs"))?;
    let template = std::fs::read_to_string(benches.join(PAGE))?;
    std::fs::create_dir_all(docs.join(PICTURES))?;
    std::fs::write(docs.join(PAGE), page(&template, &kept, docs)?)?;
    let readme = root.join("README.md");
    let text = std::fs::read_to_string(&readme)?;
    let text =
        with_table(&text, &peers_table(&kept)?).context("README.md has no table of costs")?;
    std::fs::write(&readme, text)?;
    println!("README.md, docs/{PAGE}, docs/{PICTURES}/: from the runs in benches/runs");
    Ok(())
}

/// The head of README's table, by which it is found.
const HEAD: &str =
    "| | one request: CPU | peak memory | a request of a shop's script: CPU | peak memory |";

/// The costs of the programs that users compare with, in a page's request and in a script.
fn peers_table(kept: &Kept) -> anyhow::Result<String> {
    let programs = [
        ("JMeter 5.6.3", LoadTester::JMeter),
        ("Gatling", LoadTester::Gatling),
        ("Artillery", LoadTester::Artillery),
        ("Locust", LoadTester::Locust),
        ("k6", LoadTester::K6),
        ("Drumfire", LoadTester::Drumfire),
    ];
    let mut table = format!("{HEAD}\n|---|---:|---:|---:|---:|\n");
    for (name, program) in programs {
        let mut cells = String::new();
        for scenario in ["keepalive", "shop"] {
            let run = kept
                .get(scenario)
                .with_context(|| format!("no run of {scenario}"))?;
            let row = run.rows.iter().find(|row| row.program() == program.name());
            match row {
                Some(row) => write!(cells, " {:.0} µs | {:.0} MiB |", row.cpu_us, row.peak_mib)?,
                None => cells.push_str(" | |"),
            }
        }
        writeln!(table, "| {name} |{cells}")?;
    }
    Ok(table)
}

/// The text with another table in place of the one below `HEAD`; `None` if it has none.
fn with_table(text: &str, table: &str) -> Option<String> {
    let from = text.find(HEAD)?;
    let length = text[from..].find("\n\n")? + 1;
    Some([&text[..from], table, &text[from + length..]].concat())
}

/// Replaces each `{{…}}` line of the template; charts are written beside the page.
fn page(template: &str, kept: &Kept, docs: &Path) -> anyhow::Result<String> {
    let scenarios = scenario::all();
    let mut text = String::new();
    for line in template.lines() {
        let asked = line
            .strip_prefix("{{")
            .and_then(|line| line.strip_suffix("}}"));
        let Some(asked) = asked else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let words: Vec<&str> = asked.split_whitespace().collect();
        let part = match words[..] {
            ["picture", name, kind] => picture(&scenarios, kept, name, kind, docs)?,
            ["floors"] => floors(&scenarios, kept),
            ["targets"] => targets(&scenarios, kept),
            ["misses"] => misses(&scenarios, kept),
            ["inputs"] => paper::inputs(kept),
            ["requests"] => paper::requests(kept),
            ["users"] => paper::users(kept),
            _ => bail!("benches/{PAGE}: there is no {asked}"),
        };
        text.push_str(&part);
    }
    Ok(text)
}

/// A chart with the command that measures it, or a line that says that nothing was measured.
fn picture(
    scenarios: &[Scenario],
    kept: &Kept,
    name: &str,
    kind: &str,
    docs: &Path,
) -> anyhow::Result<String> {
    let scenario = scenarios.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.with_context(|| format!("there is no scenario {name}"))?;
    let Some(run) = kept.get(name) else {
        return Ok(format!(
            "`cargo xtask bench {name}`: {}. No run yet.\n",
            scenario.about
        ));
    };
    let (title, value): (&str, fn(&KeptRow) -> f64) = match kind {
        "cpu" => ("CPU a sample, µs", |row| row.cpu_us),
        "memory" => ("peak memory, MiB", |row| row.peak_mib),
        _ => bail!("a picture shows cpu or memory, not {kind}"),
    };
    let file = format!("{PICTURES}/{name}-{kind}.svg");
    draw(scenario, run, title, value, &docs.join(&file))?;
    let surroundings = run.surroundings.trim_start_matches(SERVER);
    Ok(format!(
        "![{title}]({file})\n\n`cargo xtask bench {name}`: {}. {}, {surroundings}.\n",
        scenario.about,
        run.day()
    ))
}

fn draw(
    scenario: &Scenario,
    run: &KeptScenario,
    title: &str,
    value: fn(&KeptRow) -> f64,
    file: &Path,
) -> anyhow::Result<()> {
    let drawn = if let Some(axis) = scenario.axis {
        let mut lines = Vec::new();
        for row in &run.rows {
            let program = LoadTester::ALL
                .into_iter()
                .find(|program| program.name() == row.program());
            if let Some(program) = program {
                curve::add(&mut lines, program.name(), row.case(), value(row));
            }
        }
        curve::picture(file, axis, title, &lines)
    } else {
        let bars = run.rows.iter().map(|row| Bar {
            label: row.label.clone(),
            value: value(row),
            is_ours: row.program() == LoadTester::Drumfire.name(),
        });
        bars::picture(file, title, &bars.collect::<Vec<_>>())
    };
    drawn.map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
}

/// The table of reduced costs.
fn floors(scenarios: &[Scenario], kept: &Kept) -> String {
    let mut table = "| work | at first | wanted | last run | | `cargo xtask bench` |\n\
                     |---|---|---|---:|---|---|\n"
        .to_owned();
    for floor in &FLOORS {
        let aim = scenarios
            .iter()
            .filter(|scenario| scenario.name == floor.scenario)
            .flat_map(|scenario| &scenario.aims)
            .find(|aim| aim.text() == floor.aim)
            .expect("a test holds every floor against the scenarios");
        let value = kept.get(floor.scenario).and_then(|run| run.aim(floor.aim));
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | `{}` |",
            floor.work,
            floor.first,
            aim.bound.text(),
            value.map(number).unwrap_or_default(),
            outcome(value.map(|value| aim.bound.holds(value))),
            floor.scenario
        );
    }
    table
}

/// Every bound of every scenario.
fn targets(scenarios: &[Scenario], kept: &Kept) -> String {
    let mut table = "| `cargo xtask bench` | figure | wanted | last run | | day |\n\
                     |---|---|---|---:|---|---|\n"
        .to_owned();
    for scenario in scenarios {
        let run = kept.get(scenario.name);
        for aim in &scenario.aims {
            let value = run.and_then(|run| run.aim(&aim.text()));
            let _ = writeln!(
                table,
                "| `{}` | {} | {} | {} | {} | {} |",
                scenario.name,
                aim.text(),
                aim.bound.text(),
                value.map(number).unwrap_or_default(),
                outcome(value.map(|value| aim.bound.holds(value))),
                run.filter(|_| value.is_some()).map_or("", |run| run.day())
            );
        }
    }
    table
}

/// For each figure that misses its bound: where its cost goes, according to a profile.
fn misses(scenarios: &[Scenario], kept: &Kept) -> String {
    let mut list = String::new();
    for (scenario, aim) in missed(scenarios, kept) {
        if let Some(profile) = profiles::of(scenario, &aim) {
            let _ = writeln!(list, "- **`{scenario}`, {aim}**: {profile}");
        }
    }
    list
}

/// The scenarios and figures whose last run missed its bound.
fn missed<'s>(scenarios: &'s [Scenario], kept: &Kept) -> Vec<(&'s str, String)> {
    let mut missed = Vec::new();
    for scenario in scenarios {
        let run = kept.get(scenario.name);
        for aim in &scenario.aims {
            let value = run.and_then(|run| run.aim(&aim.text()));
            if value.is_some_and(|value| !aim.bound.holds(value)) {
                missed.push((scenario.name, aim.text()));
            }
        }
    }
    missed
}

fn outcome(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "met",
        Some(false) => "missed",
        None => "no run yet",
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        below if below < 10.0 => format!("{value:.2}"),
        below if below < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_runs_say() {
        let made = tempfile::tempdir().expect("a folder");
        let readme = xtask::root().join("README.md");
        std::fs::copy(readme, made.path().join("README.md")).expect("it can be copied");
        write(made.path()).expect("it can be written");
        let (made, docs) = (made.path().join("docs"), xtask::root().join("docs"));
        let text = |folder: &Path, name: &str| {
            std::fs::read_to_string(folder.join(name)).unwrap_or_default()
        };
        let remedy = "run `cargo xtask bench --page`";
        for name in [PAGE, "../README.md"] {
            let is_same = text(&made, name) == text(&docs, name);
            assert!(is_same, "docs/{name} is stale: {remedy}");
        }
        let names = |folder: &Path| {
            let mut names: Vec<_> = std::fs::read_dir(folder.join(PICTURES))
                .expect("a folder of pictures")
                .map(|entry| entry.expect("a file").file_name().into_string())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&docs), names(&made), "{remedy}");
        for name in names(&made) {
            let name = format!("{PICTURES}/{}", name.expect("a name"));
            let is_same = text(&made, &name) == text(&docs, &name);
            assert!(is_same, "docs/{name} is stale: {remedy}");
        }
    }

    #[test]
    fn each_figure_that_misses_its_bound_has_a_profile() {
        let kept = kept::read(&xtask::root().join("benches/runs")).expect("the runs can be read");
        for (scenario, aim) in missed(&scenario::all(), &kept) {
            let profile = profiles::of(scenario, &aim);
            assert!(
                profile.is_some(),
                "{scenario}: {aim}: profile it, and say so in profiles.rs"
            );
        }
    }

    #[test]
    fn each_floor_is_an_aim_of_its_scenario() {
        let scenarios = scenario::all();
        for floor in &FLOORS {
            let known = scenarios
                .iter()
                .filter(|scenario| scenario.name == floor.scenario)
                .flat_map(|scenario| &scenario.aims)
                .any(|aim| aim.text() == floor.aim);
            assert!(known, "{}: {}", floor.scenario, floor.aim);
        }
    }

    #[test]
    fn a_template_that_asks_for_what_there_is_not_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = |text: &str| page(text, &Kept::new(), folder.path());
        assert!(asked("{{picture nowhere cpu}}\n").is_err());
        assert!(asked("{{bars}}\n").is_err());
        let page = asked("# A\n{{picture shop cpu}}\n").expect("it is known");
        assert!(page.contains("No run yet"), "{page}");
    }
}
