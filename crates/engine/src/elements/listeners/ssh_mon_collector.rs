//! SSHMon Samples Collector of jmeter-sshmon (`nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector`): runs commands that
//! print a number on other machines, over SSH during a run, and shows the numbers beside the load in the report and on the live
//! page.
//!
//! Properties, evaluated once before the run: the rows of `samplers`, each with label, host, port, user, private key (PEM),
//! password, command, and whether the differences count; and the properties `jmeter.sshmon.*` except `forceOutputFile`. The
//! program `ssh` makes the connections. The element's file is not written.

use std::path::PathBuf;

use drumfire_elements::listeners::ssh_mon_collector as facts;
use drumfire_jmx::Prop;

use super::perf_mon_collector::{cell, rows, warn_of_file};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::program::{MonitorSpec, SshMonitorSpec, SshSettings};

/// The code of the warning about a row that cannot be used.
const BAD_ROW: &str = "sshmon-row";
const PORT: u16 = 22;

pub fn decode(d: &mut Decoder) -> Roles {
    let element = d.element;
    let settings = settings(d);
    for row in rows(element.props.list(facts::COMMANDS.name)) {
        match monitor(d, row, &settings) {
            Ok(monitor) => d.new_monitor(MonitorSpec::Ssh(Box::new(monitor))),
            Err(why) => d.warn(
                BAD_ROW,
                format!("one of its metrics is not collected: {why}"),
            ),
        }
    }
    warn_of_file(d);
    Roles::default()
}

/// A row, as `SSHMonCollector#initiateConnectors` reads it.
fn monitor(
    d: &mut Decoder,
    row: &[Prop],
    settings: &SshSettings,
) -> Result<SshMonitorSpec, String> {
    let cells: Vec<String> = row.iter().map(|one| cell(d, one)).collect();
    let Ok(
        [
            label,
            host,
            port,
            user,
            private_key,
            password,
            command,
            delta,
        ],
    ) = <[String; 8]>::try_from(cells)
    else {
        return Err(format!("it has {} columns, expected 8", row.len()));
    };
    let port = match port.trim() {
        "" => PORT,
        text => text
            .parse()
            .map_err(|_| format!("`{label}` has the invalid port `{text}`"))?,
    };
    if host.trim().is_empty() || command.trim().is_empty() {
        return Err(format!("`{label}` needs a host and a command"));
    }
    Ok(SshMonitorSpec {
        label,
        host: host.trim().to_owned(),
        port,
        user: user.trim().to_owned(),
        private_key,
        password,
        command,
        is_delta: delta.trim().eq_ignore_ascii_case("true"),
        settings: settings.clone(),
    })
}

fn settings(d: &Decoder) -> SshSettings {
    let text = |name: &str| {
        let value = d.settings().properties.get(name).unwrap_or_default();
        value.trim().to_owned()
    };
    let file = |name: &str| Some(text(name)).filter(|name| !name.is_empty());
    let millis = |name: &str, default| text(name).parse().unwrap_or(default);
    SshSettings {
        interval_ms: millis("jmeter.sshmon.interval", 1_000).max(1),
        command_timeout_ms: millis("jmeter.sshmon.commandTimeout", 10_000),
        known_hosts: file("jmeter.sshmon.knownHosts").map(PathBuf::from),
        config: file("jmeter.sshmon.sshConfig").map(PathBuf::from),
        identity_password: text("jmeter.sshmon.identityPassword"),
        language: text("jmeter.sshmon.locale"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn decoded(rows: &[[&str; 8]]) -> (Vec<MonitorSpec>, Vec<String>) {
        let class = "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector";
        let cells = |row: &[&str; 8]| -> String {
            let cells = row.iter();
            cells
                .map(|text| format!(r#"<stringProp name="x">{text}</stringProp>"#))
                .collect()
        };
        let rows = rows.iter();
        let rows: String = rows
            .map(|row| {
                format!(
                    r#"<collectionProp name="r">{}</collectionProp>"#,
                    cells(row)
                )
            })
            .collect();
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="s"><collectionProp name="samplers">{rows}</collectionProp></{class}>"#
        );
        let properties = [("jmeter.sshmon.interval", "250"), ("pw", "secret")];
        let (monitors, _, findings) = fixture::decode_with_findings(&properties, &xml, |d| {
            decode(d);
            d.decoding.monitors.clone()
        });
        let messages = findings.into_iter().map(|finding| finding.message);
        (monitors, messages.collect())
    }

    #[test]
    fn rows_are_computed_once_and_their_secrets_are_not_shown() {
        let row = ["CPU", " db ", "", "me", "", "${__P(pw)}", "echo 1", "TRUE"];
        let (monitors, messages) = decoded(&[row]);
        assert!(messages.is_empty(), "{messages:?}");
        let [MonitorSpec::Ssh(monitor)] = monitors.as_slice() else {
            panic!("{monitors:?}");
        };
        assert_eq!((monitor.host.as_str(), monitor.port), ("db", 22));
        assert_eq!(monitor.password, "secret");
        assert!(monitor.is_delta && monitor.settings.interval_ms == 250);
        assert_eq!(monitor.settings.command_timeout_ms, 10_000);
        assert!(!format!("{monitors:?}").contains("secret"));
    }

    #[test]
    fn rows_that_cannot_be_asked_are_named() {
        let bad_port = ["CPU", "db", "ssh", "", "", "", "echo 1", "false"];
        let no_host = ["Memory", "", "22", "", "", "", "echo 1", "false"];
        let (monitors, messages) = decoded(&[bad_port, no_host]);
        assert!(monitors.is_empty());
        assert!(messages[0].ends_with("`CPU` has the invalid port `ssh`"));
        assert!(messages[1].ends_with("`Memory` needs a host and a command"));
    }
}
