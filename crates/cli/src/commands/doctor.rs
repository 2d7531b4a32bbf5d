//! `drumfire doctor`: what limits this machine has, and where a plan would meet them. It changes nothing.

use std::fmt::Write as _;
use std::path::Path;

use drumfire_health::{Ceiling, Limits, Load, Machine, ceilings, dangerous_settings};

use super::{existing_plan, settings};
use crate::console::Console;
use crate::engine::{Demand, Engine, RunOrder};
use crate::exit_codes::Exit;
use crate::options::{DoctorOptions, Refusal};
use crate::terminal::format::count;
use crate::terminal::style::Style;

/// Memory of a user with a connection: what `cargo xtask bench users` measures, rounded up.
const BYTES_PER_USER: u64 = 12 << 10;
/// CPU time of a plain sample over a kept connection, of a new connection, and of one with a TLS handshake, in
/// microseconds: orders of magnitude from `cargo xtask bench`, client side, loopback.
const SAMPLE_US: f64 = 10.0;
const CONNECTION_US: f64 = 50.0;
const TLS_CONNECTION_US: f64 = 250.0;

/// Prints limits, ceilings and settings that do harm.
pub fn doctor<E: Engine>(
    options: &DoctorOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let demand = match &options.plan {
        Some(plan) => Some(demand(plan, options, engine, console)?),
        None => None,
    };
    let limits = Machine::default().limits();
    let found = ceilings(&limits, &load(demand));
    let dangers = dangerous_settings(&limits);
    let text = if options.json {
        let value = serde_json::json!({ "ceilings": found, "dangerous_settings": dangers });
        format!("{value:#}\n")
    } else {
        text(&limits, &found, &dangers, console.style)
    };
    console.print(&text);
    Ok(Exit::Ok)
}

fn demand<E: Engine>(
    plan: &Path,
    options: &DoctorOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Demand, Refusal> {
    let plan = existing_plan(plan)?;
    let settings = settings(&options.properties, &[], console)?;
    let (program, _) = engine
        .compile(&plan, &settings, &RunOrder::default())
        .map_err(|faults| console.refusal_of(&faults))?;
    Ok(engine.describe(&program).demand)
}

/// Without a plan: JMeter's defaults, which are new connections in each iteration, to somewhere else.
fn load(demand: Option<Demand>) -> Load {
    let known = demand.unwrap_or(Demand {
        new_connections: true,
        ..Demand::default()
    });
    Load {
        users: demand.map(|demand| demand.users),
        new_connections: known.new_connections,
        tls: known.tls,
        loopback: known.loopback,
        source_addresses: 1,
        bytes_per_user: BYTES_PER_USER,
        sample_us: SAMPLE_US,
        connection_us: if known.tls {
            TLS_CONNECTION_US
        } else {
            CONNECTION_US
        },
    }
}

fn text(limits: &Limits, found: &[Ceiling], dangers: &[String], style: Style) -> String {
    let mut text = format!("{}\n", style.bold("this machine"));
    let _ = writeln!(text, "  cores       {}", limits.cores);
    if let Some(bytes) = limits.memory_bytes {
        let _ = writeln!(text, "  memory      {} MiB", count(bytes >> 20));
    }
    if let Some(files) = limits.open_files {
        let _ = writeln!(text, "  open files  {}", count(files));
    }
    if let Some((first, last)) = limits.ports {
        let _ = writeln!(text, "  ports       {first}-{last}");
    }
    let _ = writeln!(text, "\n{}", style.bold("ceilings"));
    for ceiling in found {
        let most = count(ceiling.most);
        let most = match ceiling.asked {
            Some(asked) if ceiling.is_exceeded() => {
                style.red(&format!("{most}, and the plan asks for {}", count(asked)))
            }
            Some(asked) => format!("{most}, the plan asks for {}", count(asked)),
            None => most,
        };
        let _ = writeln!(
            text,
            "  {}: {most}\n    {}\n    {}",
            ceiling.of,
            ceiling.because,
            style.dim(&ceiling.remedy)
        );
    }
    if !dangers.is_empty() {
        let _ = writeln!(
            text,
            "\n{}",
            style.bold("settings that do harm, or nothing")
        );
        for danger in dangers {
            let _ = writeln!(text, "  {}", style.yellow(danger));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_exceeds_stands_beside_what_lifts_it() {
        let limits = Limits {
            cores: 2.0,
            open_files: Some(1024),
            open_files_hard: Some(4096),
            ..Limits::default()
        };
        let demand = Demand {
            users: 2000,
            ..Demand::default()
        };
        let found = ceilings(&limits, &load(Some(demand)));
        let text = text(&limits, &found, &["a setting".to_owned()], Style::PLAIN);
        let expected = "\
this machine
  cores       2
  open files  1,024

ceilings
  connections, by open files: 992, and the plan asks for 2,000
    ulimit -n is 1024
    ulimit -n 4096
  samples a second, by CPU: 200,000
    2 cores; a plain sample costs 10 us, a new connection 50 us
    more cores

settings that do harm, or nothing
  a setting
";
        assert_eq!(text, expected);
    }
}
