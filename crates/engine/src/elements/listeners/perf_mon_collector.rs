//! PerfMon Metrics Collector (`kg.apc.jmeter.perfmon.PerfMonCollector`): asks ServerAgents for metrics of their machines while a run
//! goes on, and shows them beside the load in the report and on the live page.
//!
//! Properties, evaluated once before the run: host and port of the rows of `metricConnections`. The run asks agents for CPU, memory,
//! network, disks and connections, whatever the rows name. The element's file is not written.

use drumfire_elements::listeners::perf_mon_collector as facts;
use drumfire_jmx::{Prop, Value};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::program::MonitorSpec;

/// The code of the warning that the metrics are not in the element's file.
pub const NO_FILE: &str = "metrics-not-in-file";

pub fn decode(d: &mut Decoder) -> Roles {
    let element = d.element;
    for row in rows(element.props.list(facts::AGENTS.name)) {
        if let [host, port, ..] = row {
            let (host, port) = (cell(d, host), cell(d, port));
            d.new_monitor(MonitorSpec::Agent { host, port });
        }
    }
    warn_of_file(d);
    Roles::default()
}

/// The cells of each row of a table.
pub fn rows(table: &[Prop]) -> impl Iterator<Item = &[Prop]> {
    table.iter().filter_map(|row| match &row.value {
        Value::List(cells) => Some(cells.as_slice()),
        _ => None,
    })
}

/// The value of a cell, evaluated once.
pub fn cell(d: &mut Decoder, cell: &Prop) -> String {
    let template = d.compile(&cell.value.as_str());
    d.now(&template)
}

/// Warns that the element's file is not written.
pub fn warn_of_file(d: &mut Decoder) {
    if !d.element.props.str(facts::FILE.name).trim().is_empty() {
        let message = "its metrics are in the report and on the live page, not in its file";
        d.warn(NO_FILE, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn an_agent_is_asked_once_at_the_host_that_its_variables_give() {
        let row = r#"<collectionProp name="1"><stringProp name="1">${__P(host,db)}</stringProp><stringProp name="2">4444</stringProp><stringProp name="3">CPU</stringProp></collectionProp>"#;
        let xml = format!(
            r#"<kg.apc.jmeter.perfmon.PerfMonCollector guiclass="g" testclass="kg.apc.jmeter.perfmon.PerfMonCollector" testname="p"><stringProp name="filename">p.csv</stringProp><collectionProp name="metricConnections">{row}{row}</collectionProp></kg.apc.jmeter.perfmon.PerfMonCollector>"#
        );
        let (monitors, _, findings) = fixture::decode_with_findings(&[], &xml, |d| {
            decode(d);
            d.decoding.monitors.clone()
        });
        let agent = MonitorSpec::Agent {
            host: "db".to_owned(),
            port: "4444".to_owned(),
        };
        assert_eq!(monitors, [agent]);
        assert_eq!(findings[0].code, NO_FILE);
    }
}
