//! The findings of `check` as SARIF 2.1.0, which code hosts show beside the plan.

use std::collections::BTreeMap;
use std::path::Path;

use drumfire_jmx::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::engine::{Advice, Effect, Survey};
use crate::terminal::findings;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The whole document.
pub fn render(survey: &Survey, plan: &Path) -> String {
    let mut rules = BTreeMap::new();
    let mut results = Vec::new();
    for finding in &survey.findings {
        rules
            .entry(finding.code)
            .or_insert_with(|| findings::remedy(finding));
        results.push(of_finding(finding, plan));
    }
    for advice in &survey.advice {
        rules
            .entry(advice.rule)
            .or_insert_with(|| advice.remedy.to_owned());
        results.extend(of_advice(advice, plan));
    }
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|(id, help)| json!({ "id": id, "help": { "text": help } }))
        .collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "drumfire check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn of_finding(finding: &Diagnostic, plan: &Path) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let file = finding
        .source
        .as_ref()
        .map(|source| source.path.as_path())
        .unwrap_or(plan);
    let text = format!("{}; {}", finding.message, findings::remedy(finding));
    let position = findings::line(finding);
    result(finding.code, level, &text, file, position, &finding.path)
}

fn of_advice<'a>(advice: &'a Advice, plan: &'a Path) -> impl Iterator<Item = Value> + 'a {
    let level = match advice.effect {
        Effect::Misleads => "warning",
        Effect::Costs => "note",
    };
    advice.places.iter().map(move |place| {
        let text = format!("{}: {}; {}", advice.finding, advice.reason, advice.remedy);
        let line = Some((place.line, 1));
        result(advice.rule, level, &text, plan, line, &place.path)
    })
}

fn result(
    rule: &str,
    level: &str,
    text: &str,
    file: &Path,
    place: Option<(usize, usize)>,
    path: &[String],
) -> Value {
    let (line, column) = place.unwrap_or((1, 1));
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": file.display().to_string() },
                "region": { "startLine": line, "startColumn": column },
            },
            "logicalLocations": [{ "fullyQualifiedName": path.join(" > ") }],
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_a_result_with_its_rule() {
        let finding = Diagnostic::error("file-missing", "`a.csv` is missing");
        let survey = Survey {
            rows: Vec::new(),
            findings: vec![finding.clone(), finding],
            runs: false,
            advice: Vec::new(),
        };
        let text = render(&survey, Path::new("p.jmx"));
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["version"], "2.1.0");
        let run = &document["runs"][0];
        assert_eq!(
            run["tool"]["driver"]["rules"].as_array().map(Vec::len),
            Some(1)
        );
        assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "p.jmx");
        assert_eq!(place["region"]["startLine"], 1);
    }
}
