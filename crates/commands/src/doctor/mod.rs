//! `drumfire doctor`: reports the limits of this machine and where a plan would exceed them. It changes
//! nothing.

pub mod arguments;

use std::fmt::Write as _;
use std::path::Path;

use drumfire_health::{Ceiling, Limits, Machine, PlanDemands, ceilings, dangerous_settings};
use drumfire_platform::secrets;
use jiff::Timestamp;

use crate::calibrate::kept::Calibration;
use crate::console::Console;
use crate::doctor::arguments::DoctorArguments;
use crate::engine::{Engine, MachineDemand};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::plan_file::existing_plan;
use crate::settings::settings;
use crate::terminal::format::{count, cut, wrap};
use crate::terminal::style::Style;

/// The memory of a user with a connection, as measured by `cargo xtask bench users`, rounded up.
pub(super) const BYTES_PER_USER: u64 = 12 << 10;
/// The CPU time of a plain sample over a kept-alive connection, of a new connection, and of a new connection
/// with a TLS handshake, in microseconds. These are orders of magnitude from `cargo xtask bench`: client side,
/// loopback.
const SAMPLE_US: f64 = 10.0;
const CONNECTION_US: f64 = 50.0;
const TLS_CONNECTION_US: f64 = 250.0;
/// The CPU time of a short piece of Java code, in microseconds, as orders of magnitude: a compiled script, an interpreted one, one
/// that is compiled again for each sample, and an element of a Java class.
const COMPILED_US: f64 = 20.0;
const INTERPRETED_US: f64 = 5_000.0;
const RECOMPILED_US: f64 = 20_000.0;
const ELEMENT_US: f64 = 50.0;

/// Prints limits, ceilings and harmful settings.
pub fn doctor(
    options: &DoctorArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let demand = match &options.plan {
        Some(plan) => Some(demand(plan, options, engine, console)?),
        None => None,
    };
    let demand = demand.as_ref();
    let limits = Machine::default().limits();
    let ceilings = ceilings(&limits, &load(demand));
    let dangers = dangerous_settings(&limits);
    let calibration = Calibration::last(console.variable);
    let text = if options.json {
        let value = serde_json::json!({
            "calibration": calibration,
            "demand": demand,
            "ceilings": ceilings,
            "dangerous_settings": dangers,
        });
        format!("{value:#}\n")
    } else {
        let columns = console.columns();
        let calibrated = calibration
            .map(|last| last.sentence(Timestamp::now().as_millisecond()))
            .unwrap_or_else(|| "never; `drumfire calibrate` measures this machine".to_owned());
        let machine = machine(&limits, &calibrated);
        text(
            &machine,
            &ceilings,
            &dangers,
            demand,
            console.style,
            columns,
        )
    };
    console.print(&text);
    Ok(Exit::Ok)
}

/// The ceilings of this machine for JMeter's defaults, without a plan.
pub(super) fn machine_ceilings() -> Vec<Ceiling> {
    ceilings(&Machine::default().limits(), &load(None))
}

fn demand(
    plan: &Path,
    options: &DoctorArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<MachineDemand, Refusal> {
    let plan = existing_plan(plan)?;
    let settings = settings(&options.properties, &[], Some(&plan), console)?;
    let (program, _) = engine
        .draft(&plan, &settings)
        .map_err(|faults| console.refusal_of(&faults))?;
    let mut demand = program.describe().demand;
    for target in &mut demand.targets {
        *target = secrets::shown("target", target).into_owned();
    }
    Ok(demand)
}

/// The load of a plan. Without a plan, it assumes JMeter's defaults: new connections in each iteration, to
/// another machine.
fn load(demand: Option<&MachineDemand>) -> PlanDemands {
    let unknown = MachineDemand {
        new_connections: true,
        ..MachineDemand::default()
    };
    let planned = demand.unwrap_or(&unknown);
    PlanDemands {
        users: demand.map(|demand| demand.users),
        new_connections: planned.new_connections,
        tls: planned.tls,
        loopback: planned.loopback,
        source_addresses: planned.source_addresses.max(1),
        bytes_per_user: BYTES_PER_USER,
        sample_us: SAMPLE_US,
        connection_us: if planned.tls {
            TLS_CONNECTION_US
        } else {
            CONNECTION_US
        },
        java_us: demand.map(java_us),
    }
}

/// The CPU time of Java code a sample in microseconds, if all samplers run equally often.
fn java_us(demand: &MachineDemand) -> f64 {
    let runs = demand.java_runs;
    let all = runs.compiled as f64 * COMPILED_US
        + runs.interpreted as f64 * INTERPRETED_US
        + runs.recompiled as f64 * RECOMPILED_US
        + runs.elements as f64 * ELEMENT_US;
    all / demand.samplers.max(1) as f64
}

/// The widths of a ceiling's name and of its numbers.
const NAME_COLUMNS: usize = 52;
const NUMBER_COLUMNS: usize = 13;

fn text(
    machine: &str,
    found: &[Ceiling],
    dangers: &[String],
    demand: Option<&MachineDemand>,
    style: Style,
    columns: Option<usize>,
) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    let mut text = format!("{}\n{machine}", style.bold("this machine"));
    if let Some(demand) = demand {
        let _ = writeln!(text, "\n{}", style.bold("the plan"));
        plan(&mut text, demand, columns);
    }
    let heads = format!(
        "\n{:<NAME_COLUMNS$}{:>NUMBER_COLUMNS$}{:>NUMBER_COLUMNS$}",
        "ceilings", "at most", "asked for"
    );
    let _ = writeln!(text, "{}", style.bold(heads.trim_end()));
    for ceiling in found {
        let asked = ceiling.asked.map(count).unwrap_or_default();
        let row = format!(
            "  {:<width$}{:>NUMBER_COLUMNS$}{asked:>NUMBER_COLUMNS$}",
            ceiling.of,
            count(ceiling.most),
            width = NAME_COLUMNS - 2
        );
        let row = row.trim_end();
        let _ = writeln!(
            text,
            "{}",
            if ceiling.is_exceeded() {
                style.red(row)
            } else {
                row.to_owned()
            }
        );
        paragraph(&mut text, &ceiling.because, columns, |line| line.to_owned());
        let lift = format!("hint: {}", ceiling.remedy);
        paragraph(&mut text, &lift, columns, |line| style.dim(line));
    }
    if !dangers.is_empty() {
        let head = "settings that do harm, or have no effect";
        let _ = writeln!(text, "\n{}", style.bold(head));
        for danger in dangers {
            paragraph(&mut text, danger, columns, |line| style.yellow(line));
        }
    }
    if demand.is_some() {
        let _ = writeln!(text, "\n{}", fits(found, style));
    }
    text
}

/// Where the limit of memory comes from, if it is not the machine's own.
fn memory_source(limits: &Limits) -> &'static str {
    let group = Machine::default().group_memory();
    let is_of_group = group.is_some_and(|group| Some(group.limit_bytes) == limits.memory_bytes);
    if is_of_group {
        ", the limit of the control group"
    } else {
        ""
    }
}

/// The lines about this machine. `calibrated` says when it was calibrated, and what its numbers are worth.
fn machine(limits: &Limits, calibrated: &str) -> String {
    let mut text = format!("  cores       {}\n", limits.cores);
    if let Some(bytes) = limits.memory_bytes {
        let _ = writeln!(
            text,
            "  memory      {} MiB{}",
            count(bytes >> 20),
            memory_source(limits)
        );
    }
    if let Some(files) = limits.open_files {
        let _ = writeln!(text, "  open files  {}", count(files));
    }
    if let Some((first, last)) = limits.ports {
        let _ = writeln!(text, "  ports       {first}-{last}");
    }
    let _ = writeln!(text, "  calibrated  {calibrated}");
    text
}

/// How many targets are listed; the rest are only counted.
const MAX_TARGETS: usize = 3;

fn plan(text: &mut String, demand: &MachineDemand, columns: usize) {
    let mut targets = demand.targets.clone();
    if targets.len() > MAX_TARGETS {
        let more = targets.len() - MAX_TARGETS;
        targets.truncate(MAX_TARGETS);
        targets.push(format!("{more} more"));
    }
    let _ = writeln!(text, "  users       {}", count(demand.users));
    if !targets.is_empty() {
        let line = format!("  targets     {}", targets.join(", "));
        let _ = writeln!(text, "{}", cut(&line, columns));
    }
    let connections = match (demand.new_connections, demand.tls) {
        (true, true) => "new ones all the time, with TLS handshakes",
        (true, false) => "new ones all the time",
        (false, true) => "kept, over TLS",
        (false, false) => "kept",
    };
    let _ = writeln!(text, "  connections {connections}");
}

fn paragraph(text: &mut String, body: &str, columns: usize, paint: impl Fn(&str) -> String) {
    for line in wrap(body, "      ", columns) {
        let _ = writeln!(text, "{}", paint(&line));
    }
}

/// Whether the plan stays below all ceilings.
fn fits(found: &[Ceiling], style: Style) -> String {
    let exceeded: Vec<&str> = found
        .iter()
        .filter(|ceiling| ceiling.is_exceeded())
        .map(|ceiling| ceiling.of)
        .collect();
    if exceeded.is_empty() {
        style.green("the plan's users fit on this machine")
    } else {
        style.red(&format!(
            "the plan asks for more than this machine has: {}",
            exceeded.join("; ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::JavaRuns;

    #[test]
    fn exceeded_limits_are_shown_with_their_remedy() {
        let limits = Limits {
            cores: 2.0,
            open_files: Some(1024),
            open_files_hard: Some(4096),
            ..Limits::default()
        };
        let demand = MachineDemand {
            users: 2000,
            targets: ["a", "b:81", "c", "d", "e"].map(str::to_owned).to_vec(),
            ..MachineDemand::default()
        };
        let found = ceilings(&limits, &load(Some(&demand)));
        let dangers = ["a setting".to_owned()];
        let text = text(
            &machine(&limits, "never"),
            &found,
            &dangers,
            Some(&demand),
            Style::PLAIN,
            None,
        );
        let expected = "\
this machine
  cores       2
  open files  1,024
  calibrated  never

the plan
  users       2,000
  targets     a, b:81, c, 2 more
  connections kept

ceilings                                                  at most    asked for
  connections, by open files                                  992        2,000
      ulimit -n is 1024
      hint: ulimit -n 4096 makes it 4064
  samples a second, by CPU                                200,000
      2 cores; a plain sample costs 10 µs, a new connection 50 µs
      hint: 4 cores make it 400,000
  new connections a second, by CPU                         33,333
      60 µs of CPU for a connection and a request
      hint: connections that are kept

settings that do harm, or have no effect
      a setting

the plan asks for more than this machine has: connections, by open files
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_plan_of_beanshell_is_not_promised_the_rate_of_plain_requests() {
        let limits = Limits {
            cores: 2.0,
            ..Limits::default()
        };
        let demand = MachineDemand {
            samplers: 2,
            java_runs: JavaRuns {
                interpreted: 1,
                compiled: 1,
                ..JavaRuns::default()
            },
            ..MachineDemand::default()
        };
        let of = |demand: Option<&MachineDemand>| {
            let all = ceilings(&limits, &load(demand));
            let cpu = all.into_iter().find(|one| one.of.starts_with("samples"));
            cpu.expect("there is CPU")
        };
        assert_eq!(of(Some(&demand)).most, 793);
        assert!(of(Some(&demand)).because.contains("about 2,510 µs"));
        assert!(of(None).because.contains("less with scripts"));
    }

    #[test]
    fn a_narrow_terminal_has_no_longer_lines() {
        let limits = Machine::default().limits();
        let demand = MachineDemand {
            users: 2000,
            targets: vec!["a-long-name.".repeat(9)],
            ..MachineDemand::default()
        };
        let found = ceilings(&limits, &load(Some(&demand)));
        let dangers = ["a long word ".repeat(20)];
        let text = text(
            &machine(&limits, "never"),
            &found,
            &dangers,
            Some(&demand),
            Style::PLAIN,
            Some(80),
        );
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= 80), "{text}");
        assert!(
            text.ends_with("the plan's users fit on this machine\n") || text.contains("more than")
        );
    }
}
