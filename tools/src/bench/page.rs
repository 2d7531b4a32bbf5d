//! `cargo xtask bench --page`: docs/performance.md and its pictures from `benches/performance.md` and the latest run of each scenario in
//! `benches/runs/`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::bars::{self, Bar};
use super::curve;
use super::kept::{self, Kept, KeptRow, KeptScenario};
use super::paper;
use super::peers::Program;
use super::scenario::{self, Scenario};

/// Below docs/.
const PAGE: &str = "performance.md";
const PICTURES: &str = "performance";
/// The surroundings that all scenarios have.
const SERVER: &str = "nginx on loopback, 510-byte page, ";

/// Work whose cost has been brought down in steps, and how far it was at first.
struct Floor {
    work: &'static str,
    scenario: &'static str,
    /// The figure, as the report has it in front of its bound.
    aim: &'static str,
    first: &'static str,
    /// Where the rest goes, by a profile; shown while the figure misses its bound.
    rest: &'static str,
}

const FLOORS: [Floor; 24] = [
    Floor {
        work: "request with variables, assertion and extractor, to wrk",
        scenario: "extract",
        aim: "CPU to wrk's",
        first: "1.42 to 1.55",
        rest: "63 % of the samples of `perf` are in the kernel, which wrk asks for the same: send, receive, wait. 30 % are ours, \
               spread thin: no function of ours has more than 2 %, and the largest are the sampler, the user and the walk to the next element.",
    },
    Floor {
        work: "HTTP/2 request, to h2load",
        scenario: "http2",
        aim: "CPU to h2load's",
        first: "1.44 to 1.97",
        rest: "45 % of the samples of `perf` are in the kernel. The `h2` crate has 14 %, 2.5 % of it to decode Huffman codes; \
               allocation and copies in the C library have 12 %. h2load builds its request once and looks at no header field.",
    },
    Floor {
        work: "CPU of a request on all cores, to one core",
        scenario: "workers",
        aim: "all cores: CPU to that of 'one core'",
        first: "1.27",
        rest: "Not profiled. The server runs on the same cores, so each process wakes the other on another core.",
    },
    Floor {
        work: "download of 1 GiB, wall clock to curl",
        scenario: "download",
        aim: "plain: time to curl's",
        first: "0.26 to 0.42",
        rest: "82 % of the samples of `perf` are in the kernel, which drops the body without copying it; the rest of the time \
               passes in the server.",
    },
    Floor {
        work: "the same while other programs use all cores",
        scenario: "download",
        aim: "busy machine: time to curl's",
        first: "0.81",
        rest: "95 % of the samples of `perf` are in the kernel, most of them where it hands the server's data over. \
               Both programs wait for the server's turn on a core.",
    },
    Floor {
        work: "download of 1 GiB over TLS, wall clock to curl",
        scenario: "download",
        aim: "TLS: time to curl's",
        first: "1.09",
        rest: "AES-GCM has 28 % of the samples of `perf`, the copy out of the kernel 17 %, and copies within the process \
               9 %. All three are once a byte.",
    },
    Floor {
        work: "download with its MD5, CPU to md5sum of a file",
        scenario: "download",
        aim: "MD5: CPU to md5sum's",
        first: "1.21",
        rest: "The body comes through a socket, where md5sum reads a file from the page cache.",
    },
    Floor {
        work: "`prev` in Groovy, µs beyond an empty script",
        scenario: "scripts",
        aim: "prev: CPU us beyond 'empty script'",
        first: "",
        rest: "Not profiled.",
    },
    Floor {
        work: "`vars.get` and `vars.put` in Groovy, µs beyond an empty script",
        scenario: "scripts",
        aim: "get and put: CPU us beyond 'empty script'",
        first: "",
        rest: "Not profiled.",
    },
    Floor {
        work: "first Groovy script, ms from the start of the process",
        scenario: "first-script",
        aim: "first script: ms to the first sample",
        first: "410",
        rest: "Java takes 90 ms until it runs anything, half of them for its modules. 2,971 of its 3,113 classes come from the \
               archive. The rest is the start of Groovy and of its compiler, and not profiled further.",
    },
    Floor {
        work: "plan of 50 MB, ms from the start to the first request",
        scenario: "start",
        aim: "plan of 50 MB: ms to the first sample",
        first: "1343",
        rest: "",
    },
    Floor {
        work: "plan of 50 MB, MiB at the most",
        scenario: "start",
        aim: "plan of 50 MB: peak MiB",
        first: "512",
        rest: "",
    },
    Floor {
        work: "connected user that thinks, KiB",
        scenario: "users",
        aim: "many with connections: KiB a user beyond '100 with connections'",
        first: "2.8 to 3.2",
        rest: "",
    },
    Floor {
        work: "upload of 1 GiB, CPU to curl",
        scenario: "upload",
        aim: "CPU to curl-upload's",
        first: "1.17",
        rest: "53 % of the samples of `perf` were at the kernel's timers by which BBR paces what is sent. Connections on the loopback \
               interface do without them since: 1 GiB by sendfile(2) took 436 ms of CPU with them and 89 ms without.",
    },
    Floor {
        work: "request beside downloads with their MD5, µs late",
        scenario: "neighbours",
        aim: "md5: us late by itself, p99",
        first: "24300",
        rest: "The digest is taken in turns of about 0.5 ms, between which timers are looked at. It keeps the worker busy all the \
               time, so the kernel gives the core to the server now and then, for up to 8 ms by `perf sched`.",
    },
    Floor {
        work: "request beside JSON of 50 MB, µs late",
        scenario: "neighbours",
        aim: "json: us late by itself, p99",
        first: "6770",
        rest: "By `perf`, the body moved as it grew (8 to 12 ms), and was checked to be UTF-8 for its length (3 ms). It moves once \
               now, and nothing is decoded for its length. The rest is for the core: in one of a thousand turns the worker waits 5 ms \
               for it.",
    },
    Floor {
        work: "request beside TLS handshakes, µs late",
        scenario: "neighbours",
        aim: "tls: us late by itself, p99",
        first: "12500",
        rest: "A hundred users shake hands all the time, so the worker wants all of a core that it shares with the server: in one of a \
               hundred turns it waits 3.5 ms for it, by `perf sched`.",
    },
    Floor {
        work: "20,000 requests a second by a schedule, µs late",
        scenario: "open",
        aim: "20,000 a second: us late by itself, p99",
        first: "2930",
        rest: "The workers' turns are short: 999 of 1,000 end within 0.35 ms, by `perf sched`. In one of 1,000 the worker waits 4 ms \
               for a core that the server has.",
    },
    Floor {
        work: "comparison of result files of 10 million rows, to wc",
        scenario: "growth-compare",
        aim: "10000000: time to wc's",
        first: "31.5",
        rest: "Two files are read where wc reads one, since lately at the same time. At 100,000 rows the `csv` crate has 25 % of the \
               instructions, our reading of its fields 15 %, and the comparison 29 %.",
    },
    Floor {
        work: "merge of result files of 10 million rows, to wc",
        scenario: "growth-merge",
        aim: "10000000: time to wc's",
        first: "37.8",
        rest: "As for the comparison; the `csv` crate has 36 % of the instructions, our reading of its fields 22 %.",
    },
    Floor {
        work: "peak memory of 30 minutes at 5,000 requests a second, to that of one minute",
        scenario: "long",
        aim: "30 minutes: peak memory to that of '1 minute'",
        first: "1.26",
        rest: "By `/proc`, memory grows by 2.2 KiB a second in the first five minutes and by 1.3 in the next. The verdict keeps 4,096 \
               seconds of the machine's counters and the report 600 steps; where there are more, neighbours are added up.",
    },
    Floor {
        work: "peak memory of an hour at 1,000 requests a second, to that of one minute",
        scenario: "growth-minutes",
        aim: "60: peak memory to that of '1'",
        first: "1.22",
        rest: "The same seconds and steps, near their bounds after an hour.",
    },
    Floor {
        work: "plain plan, ms from the start to the first request",
        scenario: "start",
        aim: "plain plan: ms to the first sample",
        first: "22",
        rest: "The whole process takes 13 ms of CPU. A look at every process of the machine, a quarter of the system calls before the \
               first request, comes later since.",
    },
    Floor {
        work: "user that thinks and has no connection, KiB",
        scenario: "users",
        aim: "100000 without: KiB a user beyond '100 without'",
        first: "2.11",
        rest: "A task of 1,280 bytes, aligned to 128, and twelve small allocations that together take 0.9 KiB.",
    },
];

/// Writes the page and its pictures into the folder of the documentation.
///
/// # Errors
/// A file cannot be read or written, or `benches/performance.md` asks for what there is not.
pub fn write(docs: &Path) -> anyhow::Result<()> {
    let benches = xtask::root().join("benches");
    let kept = kept::read(&benches.join("runs"))?;
    let template = std::fs::read_to_string(benches.join(PAGE))?;
    std::fs::create_dir_all(docs.join(PICTURES))?;
    std::fs::write(docs.join(PAGE), page(&template, &kept, docs)?)?;
    println!("docs/{PAGE}, docs/{PICTURES}/: from the runs in benches/runs");
    Ok(())
}

/// The template with each line of `{{…}}` replaced; pictures are written beside the page.
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
            ["inputs"] => paper::inputs(kept),
            ["requests"] => paper::requests(kept),
            ["users"] => paper::users(kept),
            _ => bail!("benches/{PAGE}: there is no {asked}"),
        };
        text.push_str(&part);
    }
    Ok(text)
}

/// A picture with its command; a line that says so if nothing was measured.
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

/// With a capital letter in front, but for names that have none.
fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
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
            let program = Program::ALL
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
            is_ours: row.program() == Program::Drumfire.name(),
        });
        bars::picture(file, title, &bars.collect::<Vec<_>>())
    };
    drawn.map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
}

/// The table of floors, and below it the reason for each that is not reached.
fn floors(scenarios: &[Scenario], kept: &Kept) -> String {
    let mut table = "| work | at first | wanted | last run | | `cargo xtask bench` |\n\
                     |---|---|---|---:|---|---|\n"
        .to_owned();
    let mut misses = String::new();
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
            value.map_or(String::new(), number),
            outcome(value.map(|value| aim.bound.holds(value))),
            floor.scenario
        );
        if value.is_some_and(|value| !aim.bound.holds(value)) && !floor.rest.is_empty() {
            let _ = writeln!(misses, "- **{}**: {}", sentence(floor.work), floor.rest);
        }
    }
    if misses.is_empty() {
        table
    } else {
        format!("{table}\nWhere the time of those that miss goes:\n\n{misses}")
    }
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
                value.map_or(String::new(), number),
                outcome(value.map(|value| aim.bound.holds(value))),
                run.filter(|_| value.is_some()).map_or("", |run| run.day())
            );
        }
    }
    table
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
        write(made.path()).expect("it can be written");
        let docs = xtask::root().join("docs");
        let text = |folder: &Path, name: &str| {
            std::fs::read_to_string(folder.join(name)).unwrap_or_default()
        };
        let remedy = "run `cargo xtask bench --page`";
        assert!(
            text(made.path(), PAGE) == text(&docs, PAGE),
            "docs/{PAGE} is stale: {remedy}"
        );
        let names = |folder: &Path| {
            let mut names: Vec<_> = std::fs::read_dir(folder.join(PICTURES))
                .expect("a folder of pictures")
                .map(|entry| entry.expect("a file").file_name().into_string())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&docs), names(made.path()), "{remedy}");
        for name in names(made.path()) {
            let name = format!("{PICTURES}/{}", name.expect("a name"));
            let is_same = text(made.path(), &name) == text(&docs, &name);
            assert!(is_same, "docs/{name} is stale: {remedy}");
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
