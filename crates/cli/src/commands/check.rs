//! `drumfire check`: how every element and function of a plan is run, and what costs or misleads.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{existing_plan, settings};
use crate::console::Console;
use crate::engine::{Engine, Rung, Survey, SurveyRow};
use crate::exit_codes::Exit;
use crate::options::{Refusal, ViewOptions};
use crate::terminal::advice;
use crate::terminal::format::fit;
use crate::terminal::live::terminal_size;
use crate::terminal::style::Style;

/// Prints one row per element; the exit code says whether the plan runs.
pub fn check<E: Engine>(
    options: &ViewOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let plan = existing_plan(&options.plan)?;
    let settings = settings(&options.properties, &[], Some(&plan), console)?;
    let survey = engine
        .survey(&plan, &settings)
        .map_err(|faults| console.refusal_of(&faults))?;
    let text = if options.json {
        json(&survey)
    } else {
        let columns = console.is_terminal.then(|| terminal_size().0);
        let mut text = text(&survey.rows, survey.runs, console.style);
        text.push_str(&advice::render(&survey.advice, console.style, columns));
        text
    };
    console.print(&text);
    let rendered = console.render(&survey.findings);
    console.print_error(&rendered);
    Ok(if survey.runs {
        Exit::Ok
    } else {
        Exit::PlanRefused
    })
}

/// How many rows each rung has, in the order of the rungs.
#[derive(Debug, Default, Serialize)]
struct Counts {
    native: usize,
    jvm: usize,
    skipped: usize,
    refused: usize,
}

impl Counts {
    fn of(rows: &[SurveyRow]) -> Self {
        let mut counts = Counts::default();
        for row in rows {
            match row.rung {
                Rung::Native => counts.native += 1,
                Rung::Jvm => counts.jvm += 1,
                Rung::Skipped => counts.skipped += 1,
                Rung::Refused => counts.refused += 1,
            }
        }
        counts
    }
}

fn text(rows: &[SurveyRow], runs: bool, style: Style) -> String {
    let class_columns = rows.iter().map(|row| row.class.width()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let rung = match row.rung {
            Rung::Native => style.green("native "),
            Rung::Jvm => style.yellow("jvm    "),
            Rung::Skipped => style.dim("skipped"),
            Rung::Refused => style.red("refused"),
        };
        let path = row.path.join(" > ");
        let why = if row.why.is_empty() {
            String::new()
        } else {
            format!("  ({})", row.why)
        };
        text.push_str(&format!(
            "{rung}  {}  {path}{why}\n",
            fit(&row.class, class_columns)
        ));
    }
    let counts = Counts::of(rows);
    let verdict = if runs {
        style.green("the plan runs")
    } else {
        style.red("the plan does not run")
    };
    text.push_str(&format!(
        "{verdict}: {} native, {} need a JVM, {} skipped, {} refused\n",
        counts.native, counts.jvm, counts.skipped, counts.refused
    ));
    text
}

fn json(survey: &Survey) -> String {
    let value = serde_json::json!({
        "runs": survey.runs,
        "counts": Counts::of(&survey.rows),
        "rows": survey.rows,
        "advice": survey.advice,
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<SurveyRow> {
        let row = |path: &[&str], class: &str, rung, why: &str| SurveyRow {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            class: class.to_owned(),
            rung,
            why: why.to_owned(),
        };
        vec![
            row(&["Plan"], "TestPlan", Rung::Native, ""),
            row(&["Plan", "Users"], "ThreadGroup", Rung::Native, ""),
            row(
                &["Plan", "Users", "Tree"],
                "ViewResultsTree",
                Rung::Skipped,
                "for the graphical interface",
            ),
            row(
                &["Plan", "Users", "Mail"],
                "MailReaderSampler",
                Rung::Refused,
                "not built yet",
            ),
        ]
    }

    #[test]
    fn one_row_per_element_and_a_verdict() {
        let expected = "\
native   TestPlan           Plan
native   ThreadGroup        Plan > Users
skipped  ViewResultsTree    Plan > Users > Tree  (for the graphical interface)
refused  MailReaderSampler  Plan > Users > Mail  (not built yet)
the plan does not run: 2 native, 0 need a JVM, 1 skipped, 1 refused
";
        assert_eq!(text(&rows(), false, Style::PLAIN), expected);
    }

    #[test]
    fn json_has_the_same_rows() {
        let survey = Survey {
            rows: rows(),
            findings: Vec::new(),
            runs: false,
            advice: Vec::new(),
        };
        let value: serde_json::Value = serde_json::from_str(&json(&survey)).expect("JSON");
        assert_eq!(value["runs"], false);
        assert_eq!(value["counts"]["skipped"], 1);
        assert_eq!(value["rows"][3]["rung"], "refused");
        assert_eq!(value["rows"][2]["path"][2], "Tree");
        assert_eq!(value["advice"], serde_json::json!([]));
    }
}
