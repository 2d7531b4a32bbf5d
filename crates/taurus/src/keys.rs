//! The keys of a configuration. Taurus ignores a key that it does not know, so a misspelt one would silently change the test;
//! here it is refused.
//!
//! The lists hold all keys of Taurus for JMeter, also those without an effect here. Parts that belong to other modules and
//! executors are not checked.

use drumfire_platform::spelling::did_you_mean;
use serde_json::Value;

use crate::error::TaurusError;
use crate::scenario::Execution;
use crate::value::{Table, as_table, list, table, text_or};

/// Where a key stands: the words for messages, and the keys that Taurus has there.
struct Level {
    place: &'static str,
    keys: &'static [&'static str],
    /// Configurations may have keys of their own here, such as anchors, so only a key that is close to a known one is refused.
    is_open: bool,
}

const fn level(place: &'static str, keys: &'static [&'static str]) -> Level {
    Level {
        place,
        keys,
        is_open: false,
    }
}

const fn open(place: &'static str, keys: &'static [&'static str]) -> Level {
    Level {
        place,
        keys,
        is_open: true,
    }
}

#[rustfmt::skip]
const TOP: Level = open("a configuration", &[
    "cli", "cli-aliases", "execution", "included-configs", "install-id", "modules", "provisioning", "reporting",
    "scenarios", "services", "settings", "version",
]);
#[rustfmt::skip]
const SETTINGS: Level = open("`settings`", &[
    "aggregator", "artifacts-dir", "check-interval", "check-updates", "default-executor", "env", "proxy",
    "python-packages", "tab-replacement-spaces", "verbose",
]);
#[rustfmt::skip]
const JMETER: Level = open("`modules.jmeter`", &[
    "class", "cmdline", "command-runner", "csv-jtl-flags", "detect-plugins", "download-link", "error-message-separator",
    "files", "fix-jars", "force-ctg", "force-delete", "gui", "memory-xmx", "path", "plugins", "plugins-manager",
    "properties", "protocol-handlers", "rename-distributed-threads", "shutdown-port", "shutdown-wait", "system-properties", "version", "version-type",
    "write-xml-jtl", "xml-jtl-flags",
]);
const LOCAL: Level = open("`modules.local`", &["capacity", "class", "sequential"]);
#[rustfmt::skip]
const EXECUTION: Level = level("an execution", &[
    "capacity", "class", "concurrency", "criteria", "csv-jtl-flags", "dedicated-ips", "delay", "distributed", "env",
    "executor", "files", "gui", "hold-for", "iterations", "label", "locations", "locations-weighted", "modifications",
    "name", "priority", "properties", "ramp-up", "scenario", "start-at", "steps", "system-properties", "throughput",
    "variables", "write-xml-jtl", "xml-jtl-flags",
]);
/// The load, which may be given for each place where the test is provisioned.
const PLACES: Level = open("a load by place", &["cloud", "local"]);
#[rustfmt::skip]
const SCENARIO: Level = level("a scenario", &[
    "authorization", "concurrent-pool-size", "content-encoding", "cookies", "criteria", "data-sources",
    "default-address", "default-protocol", "description", "disable-listeners", "extract-boundary", "extract-css-jquery",
    "extract-jsonpath", "extract-regexp", "extract-xpath", "assert", "assert-jsonpath", "assert-xpath", "files",
    "follow-redirects", "force-parent-sample", "grpc-lib-folder", "grpc-max-inbound-message-size",
    "grpc-max-inbound-metadata-size", "grpc-proto-folder", "headers", "jsr223", "keepalive", "keystore-config", "label",
    "method", "modifications", "name", "properties", "protocol", "protocol-handlers", "random-source-ip", "requests",
    "retrieve-resources", "retrieve-resources-regex", "script", "store-cache", "store-cookie", "system-properties",
    "test-case", "test-suite", "think-time", "timeout", "tls-disable-verification", "use-dns-cache-mgr",
    "use-random-host-ip", "variables",
]);
#[rustfmt::skip]
const REQUEST: Level = level("a request", &[
    "action", "actions", "addr", "assert", "assert-jsonpath", "assert-xpath", "body", "body-file", "cmd", "content-encoding",
    "description", "do", "else", "extract-boundary", "extract-css-jquery", "extract-jsonpath", "extract-regexp",
    "extract-xpath", "follow-redirects", "force-parent-sample", "foreach", "grpc", "headers", "if", "include-scenario",
    "include-timers", "jsr223", "keepalive", "label", "loop", "message", "metadata", "method", "min-count", "mqtt", "name",
    "once", "param", "pause-duration", "protocol", "random-source-ip", "retrieve-resources", "set-variables", "setup",
    "target", "teardown", "then", "think-time", "time", "timeout", "topic", "transaction", "upload-files", "url", "while",
]);
#[rustfmt::skip]
const EXTRACTOR: Level = level("an extractor", &[
    "attribute", "concat", "default", "expression", "from-variable", "ignore-whitespace", "jsonpath", "left", "match-no",
    "regexp", "right", "scope", "subject", "template", "use-namespaces", "use-tolerant-parser", "validate-xml", "xpath",
]);
#[rustfmt::skip]
const ASSERTION: Level = level("an assertion", &[
    "assume-success", "contains", "expect-null", "expected-value", "ignore-whitespace", "invert", "jsonpath", "not",
    "regexp", "subject", "use-tolerant-parser", "validate", "validate-xml", "xpath",
]);
#[rustfmt::skip]
const SCRIPT: Level = level("a `jsr223`", &[
    "compile-cache", "execute", "language", "parameters", "script-file", "script-text",
]);
const UPLOAD: Level = level(
    "an entry of `upload-files`",
    &["mime-type", "param", "path"],
);
#[rustfmt::skip]
const SOURCE: Level = level("an entry of `data-sources`", &[
    "delimiter", "encoding", "loop", "path", "quoted", "random-order", "variable-names",
]);
const COOKIE: Level = level("a cookie", &["domain", "name", "path", "secure", "value"]);
#[rustfmt::skip]
const AUTHORIZATION: Level = level("an `authorization`", &[
    "clear", "domain", "list", "mechanism", "name", "password", "realm", "url",
]);
#[rustfmt::skip]
const KEYSTORE: Level = level("`keystore-config`", &["end-index", "preload", "start-index", "variable-name"]);
const MODIFICATIONS: Level = level("`modifications`", &["disable", "enable", "set-prop"]);
#[rustfmt::skip]
const CRITERION: Level = level("a criterion", &[
    "class", "condition", "fail", "label", "logic", "message", "stop", "subject", "threshold", "timeframe",
]);
#[rustfmt::skip]
const PASSFAIL: Level = level("`passfail`", &["class", "criteria", "enabled", "module", "run-at"]);
#[rustfmt::skip]
const SHELLEXEC: Level = level("`shellexec`", &[
    "check", "class", "default-cwd", "enabled", "env", "module", "parameters", "post-process", "prepare", "run-at",
    "should-run", "shutdown", "startup",
]);
#[rustfmt::skip]
const TASK: Level = level("a task of `shellexec`", &[
    "background", "command", "cwd", "env", "err", "force", "ignore-failure", "out", "run-at",
]);

impl Level {
    /// Refuses a key that is not one of this level.
    fn check(&self, table: &Table) -> Result<(), TaurusError> {
        let unknown = |key: &&String| !self.keys.contains(&key.as_str()) && !is_own(key);
        for key in table.keys().filter(unknown) {
            let near = did_you_mean(key, self.keys.iter().copied());
            let fault = TaurusError::new(format!("`{key}` is not a key of {}", self.place));
            match near {
                Some(near) => return Err(fault.hint(format!("write `{near}`"))),
                None if self.is_open => {}
                None => return Err(fault.hint(format!("write one of {}", self.keys.join(", ")))),
            }
        }
        Ok(())
    }

    /// Checks a value that may be a table.
    fn check_value(&self, value: Option<&Value>) -> Result<(), TaurusError> {
        value
            .and_then(Value::as_object)
            .map(|table| self.check(table))
            .unwrap_or(Ok(()))
    }

    /// Checks the tables of a list; a single one counts as a list of one.
    fn check_list(&self, around: &Table, key: &str) -> Result<(), TaurusError> {
        list(around, key)
            .into_iter()
            .try_for_each(|item| self.check_value(Some(item)))
    }
}

/// `x-…`, `.…` and `_…` are the usual names of parts that only anchors refer to; the other signs are those of merging.
fn is_own(key: &str) -> bool {
    key.starts_with(['.', '_', '~', '^', '$']) || key.starts_with("x-")
}

/// Refuses a configuration with a key that Taurus does not have. Only the scenarios that are executed are checked.
pub(crate) fn check(config: &Table, executions: &[Execution]) -> Result<(), TaurusError> {
    TOP.check(config)?;
    SETTINGS.check_value(config.get("settings"))?;
    let modules = table(config, "modules");
    JMETER.check_value(modules.and_then(|modules| modules.get("jmeter")))?;
    LOCAL.check_value(modules.and_then(|modules| modules.get("local")))?;
    for reporter in list(config, "reporting") {
        let reporter = as_table(reporter, "module");
        if text_or(&reporter, "module", "") == "passfail" {
            PASSFAIL.check(&reporter)?;
            criteria(&reporter)?;
        }
    }
    for service in list(config, "services") {
        let service = as_table(service, "module");
        if text_or(&service, "module", "") == "shellexec" {
            SHELLEXEC.check(&service)?;
            for stage in ["prepare", "startup", "shutdown", "post-process"] {
                TASK.check_list(&service, stage)?;
            }
        }
    }
    let empty = Table::new();
    let scenarios = table(config, "scenarios").unwrap_or(&empty);
    let mut checked = Vec::new();
    for execution in executions {
        EXECUTION.check(&execution.config)?;
        PLACES.check_value(execution.config.get("concurrency"))?;
        PLACES.check_value(execution.config.get("throughput"))?;
        criteria(&execution.config)?;
        scenario(&execution.scenario, scenarios, &mut checked)?;
    }
    Ok(())
}

/// Criteria are a list, or a table of messages.
fn criteria(around: &Table) -> Result<(), TaurusError> {
    match around.get("criteria") {
        Some(Value::Object(by_message)) => by_message
            .values()
            .try_for_each(|one| CRITERION.check_value(Some(one))),
        _ => CRITERION.check_list(around, "criteria"),
    }
}

fn scenario<'c>(
    scenario: &'c Table,
    all: &'c Table,
    checked: &mut Vec<&'c str>,
) -> Result<(), TaurusError> {
    SCENARIO.check(scenario)?;
    for (level, key) in [
        (&SOURCE, "data-sources"),
        (&COOKIE, "cookies"),
        (&SCRIPT, "jsr223"),
    ] {
        level.check_list(scenario, key)?;
    }
    AUTHORIZATION.check_list(scenario, "authorization")?;
    if let Some(full) = table(scenario, "authorization") {
        AUTHORIZATION.check_list(full, "list")?;
    }
    KEYSTORE.check_value(scenario.get("keystore-config"))?;
    MODIFICATIONS.check_value(scenario.get("modifications"))?;
    criteria(scenario)?;
    requests(scenario, "requests", all, checked)
}

fn requests<'c>(
    around: &'c Table,
    key: &str,
    all: &'c Table,
    checked: &mut Vec<&'c str>,
) -> Result<(), TaurusError> {
    for request in list(around, key).into_iter().filter_map(Value::as_object) {
        REQUEST.check(request)?;
        for key in [
            "extract-boundary",
            "extract-regexp",
            "extract-jsonpath",
            "extract-css-jquery",
            "extract-xpath",
        ] {
            for extractor in table(request, key).into_iter().flat_map(Table::values) {
                EXTRACTOR.check_value(Some(extractor))?;
            }
        }
        for key in ["assert", "assert-jsonpath", "assert-xpath"] {
            ASSERTION.check_list(request, key)?;
        }
        SCRIPT.check_list(request, "jsr223")?;
        UPLOAD.check_list(request, "upload-files")?;
        for block in ["do", "then", "else", "once"] {
            requests(request, block, all, checked)?;
        }
        let included = request.get("include-scenario").and_then(Value::as_str);
        if let Some(name) = included.filter(|name| !checked.contains(name)) {
            checked.push(name);
            if let Some(included) = table(all, name) {
                scenario(included, all, checked)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::documents;
    use crate::files::Files;
    use crate::scenario::executions;

    use super::*;

    fn checked(text: &str) -> Result<(), TaurusError> {
        let mut config = documents(text).expect("YAML").remove(0);
        let executions = executions(&mut config, &Files::default())?;
        check(&config, &executions)
    }

    #[test]
    fn a_misspelt_key_is_refused_at_every_level_with_the_nearest_one() {
        const ONE: &str = "execution: [{scenario: {requests: [";
        let requests = |request: &str| format!("{ONE}{request}]}}}}]");
        for (text, near) in [
            ("exection: []\nexecution: [{scenario: {requests: [/]}}]".to_owned(), "execution"),
            ("settings: {artefacts-dir: x}\nexecution: [{scenario: {requests: [/]}}]".to_owned(), "artifacts-dir"),
            ("modules: {jmeter: {propertes: {}}}\nexecution: [{scenario: {requests: [/]}}]".to_owned(), "properties"),
            ("modules: {local: {sequental: true}}\nexecution: [{scenario: {requests: [/]}}]".to_owned(), "sequential"),
            ("execution: [{concurency: 3, scenario: {requests: [/]}}]".to_owned(), "concurrency"),
            ("execution: [{concurrency: {locl: 3}, scenario: {requests: [/]}}]".to_owned(), "local"),
            ("execution: [{holdfor: 3s, scenario: {requests: [/]}}]".to_owned(), "hold-for"),
            ("execution: [{scenario: {request: [/], requests: [/]}}]".to_owned(), "requests"),
            ("execution: [{scenario: a}]\nscenarios: {a: {thinktime: 1s, requests: [/]}}".to_owned(), "think-time"),
            (requests("{url: /, lable: x}"), "label"),
            (requests("{loop: 2, do: [{url: /, methd: POST}]}"), "method"),
            (requests("{url: /, extract-regexp: {a: {regex: x}}}"), "regexp"),
            (requests("{url: /, assert: [{contain: [x]}]}"), "contains"),
            (requests("{url: /, jsr223: [{script-fil: y}]}"), "script-file"),
            ("execution: [{scenario: {requests: [{include-scenario: b}]}}]\nscenarios: {b: {requests: [{ulr: /}]}}".to_owned(), "url"),
            ("execution: [{scenario: {requests: [/], data-sources: [{paht: x}]}}]".to_owned(), "path"),
            ("execution: [{scenario: {requests: [/]}}]\nreporting: [{module: passfail, criterias: []}]".to_owned(), "criteria"),
            ("execution: [{scenario: {requests: [/]}}]\nreporting: [{module: passfail, criteria: [{subjct: x}]}]".to_owned(), "subject"),
            ("execution: [{scenario: {requests: [/]}}]\nservices: [{module: shellexec, prepar: [x]}]".to_owned(), "prepare"),
        ] {
            let fault = checked(&text).expect_err(&text);
            assert_eq!(fault.hint, Some(format!("write `{near}`")), "{text}: {fault}");
        }
    }

    #[test]
    fn parts_of_other_tools_and_anchors_are_left_alone() {
        for more in [
            "",
            "modules: {gatling: {foo: 1}, blazemeter: {tokn: x}}",
            "reporting: [{module: blazemeter, tset: x}, {module: final-stats, sumary: true}]",
            "services: [{module: monitoring, local: [{metrcs: [cpu]}]}]",
            "settings: {own: 1}",
            "x-common: &c {a: 1}",
            "templates: {a: 1}",
            "scenarios: {unused: {selenium-thing: 1}}",
        ] {
            let text = format!("execution: [{{scenario: {{requests: [/]}}}}]\n{more}");
            assert_eq!(checked(&text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_close_to_none_is_refused_with_the_known_ones() {
        let fault =
            checked("execution: [{colour: red, scenario: {requests: [/]}}]").expect_err("unknown");
        assert!(fault.hint.is_some_and(|hint| hint.contains("concurrency")));
    }
}
