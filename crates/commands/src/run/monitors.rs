//! The target's metrics that elements of the plan ask for, in addition to those of `--watch`.

use std::time::Duration;

use drumfire_probes::{Source, SshCommand, SshWatch, Watching};

use crate::console::Console;
use crate::engine::{MonitorSpec, SshMonitorSpec};

/// Starts to poll these sources; `now_ms` is the clock. A source that cannot be used is only a
/// warning.
pub fn add(
    watching: &mut Watching,
    specs: Vec<MonitorSpec>,
    now_ms: fn() -> i64,
    console: &mut Console<'_>,
) {
    let mut sources = Vec::new();
    let mut machines: Vec<SshWatch> = Vec::new();
    for spec in specs {
        match spec {
            MonitorSpec::Agent { host, port } => {
                match Source::parse(&format!("agent={host}:{port}")) {
                    Ok(source) => sources.push(source),
                    Err(why) => console.warn(&format!("PerfMon Metrics Collector: {why}")),
                }
            }
            MonitorSpec::Ssh(row) => {
                let watch = ssh_watch(*row);
                let machine = machines.iter_mut();
                match machine
                    .into_iter()
                    .find(|known| known.is_same_place(&watch))
                {
                    Some(machine) => machine.commands.extend(watch.commands),
                    None => machines.push(watch),
                }
            }
        }
    }
    sources.extend(machines.into_iter().map(Source::ssh));
    if let Err(why) = watching.add(&sources, now_ms) {
        console.warn(&format!("the target's metrics are not read: {why}"));
    }
}

fn ssh_watch(row: SshMonitorSpec) -> SshWatch {
    let settings = row.settings;
    SshWatch {
        host: row.host,
        port: row.port,
        user: row.user,
        password: if row.password.is_empty() {
            settings.identity_password
        } else {
            row.password
        },
        private_key: row.private_key,
        known_hosts: settings.known_hosts,
        config: settings.config,
        interval: Duration::from_millis(settings.interval_ms),
        limit: Duration::from_millis(settings.command_timeout_ms),
        language: settings.language,
        commands: vec![SshCommand {
            label: row.label,
            text: row.command,
            is_delta: row.is_delta,
        }],
    }
}
