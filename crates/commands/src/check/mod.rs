//! `drumfire check`: reports whether a plan runs, how its elements and functions are run, and what is costly or misleading
//! in it.

pub mod arguments;
mod sarif;

use drumfire_jmx::{Diagnostic, Severity};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::check::arguments::{CheckArguments, CheckFormat};
use crate::console::Console;
use crate::engine::{Engine, Rung, Survey, SurveyRow};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::plan_file::existing_plan;
use crate::settings::settings;
use crate::terminal::advice;
use crate::terminal::findings;
use crate::terminal::format::fit;
use crate::terminal::style::Style;

/// Prints the conclusion, then its reasons; the exit code says whether the plan runs.
pub fn check(
    options: &CheckArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let plan = existing_plan(&options.plan)?;
    let settings = settings(&options.properties, &[], Some(&plan), console)?;
    // A file that is not a plan has findings but no rows.
    let survey = engine
        .survey(&plan, &settings)
        .unwrap_or_else(|findings| Survey {
            rows: Vec::new(),
            findings,
            runs: false,
            advice: Vec::new(),
        });
    match options.format() {
        CheckFormat::Json => console.print_as_it_is(&json(&survey)),
        CheckFormat::Sarif => console.print_as_it_is(&sarif::render(&survey, &plan)),
        CheckFormat::Text => {
            let columns = console.columns();
            let mut text = conclusion(&survey, console.style);
            text.push_str(&rows(&survey.rows, options.verbose, console.style));
            text.push_str(&counts(&survey, console.style));
            text.push_str(&advice::render(&survey.advice, console.style, columns));
            console.print(&text);
        }
    }
    if options.format() == CheckFormat::Text {
        let rendered = console.render_findings(&survey.findings, options.verbose);
        console.print_error(&rendered);
    }
    Ok(if survey.runs {
        Exit::Ok
    } else {
        Exit::PlanRefused
    })
}

/// The number of rows on each rung, in the order of the rungs.
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

/// `Runs. 3 warnings.` or `Does not run: 1 error, 2 warnings.`
fn conclusion(survey: &Survey, style: Style) -> String {
    let groups = findings::grouped(&survey.findings);
    let of = |severity| {
        let of_severity = groups.iter();
        of_severity
            .filter(|group| group.first.severity == severity)
            .count()
    };
    let errors = of(Severity::Error);
    let warnings = of(Severity::Warning) + survey.advice.len();
    let verdict = match (survey.runs, warnings) {
        (true, 0) => style.green("Runs."),
        (true, _) => format!("{} {}.", style.green("Runs."), several(warnings, "warning")),
        (false, 0) => format!(
            "{}: {}.",
            style.red("Does not run"),
            several(errors, "error")
        ),
        (false, _) => format!(
            "{}: {}, {}.",
            style.red("Does not run"),
            several(errors, "error"),
            several(warnings, "warning")
        ),
    };
    format!("{verdict}\n")
}

fn several(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn counts(survey: &Survey, style: Style) -> String {
    let counts = Counts::of(&survey.rows);
    let verdict = if survey.runs {
        style.green("the plan runs")
    } else {
        style.red("the plan does not run")
    };
    format!(
        "{verdict}: {} native, {} need a JVM, {} skipped, {} refused\n",
        counts.native, counts.jvm, counts.skipped, counts.refused
    )
}

/// Lists the elements that are not native, one line per class and reason; with `verbose`, lists every element.
fn rows(rows: &[SurveyRow], verbose: bool, style: Style) -> String {
    let mut shown: Vec<(&SurveyRow, usize)> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| verbose || row.rung != Rung::Native)
    {
        let same = |known: &&mut (&SurveyRow, usize)| {
            let known = known.0;
            (known.rung, &known.class, &known.why) == (row.rung, &row.class, &row.why)
        };
        match shown.iter_mut().find(same).filter(|_| !verbose) {
            Some((_, count)) => *count += 1,
            None => shown.push((row, 1)),
        }
    }
    let class_columns = shown
        .iter()
        .map(|(row, _)| row.class.width())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (row, count) in shown {
        let rung = match row.rung {
            Rung::Native => style.green("native "),
            Rung::Jvm => style.yellow("jvm    "),
            Rung::Skipped => style.dim("skipped"),
            Rung::Refused => style.red("refused"),
        };
        let path = row.path.join(" > ").replace(['\n', '\r'], " ");
        let more = match count {
            1 => String::new(),
            _ => format!(" and {} more", count - 1),
        };
        let why = if row.why.is_empty() {
            String::new()
        } else {
            format!("  ({})", row.why)
        };
        text.push_str(&format!(
            "{rung}  {}  {path}{more}{why}\n",
            fit(&row.class, class_columns)
        ));
    }
    text
}

/// A finding for other programs.
#[derive(Serialize)]
struct FindingView<'f> {
    code: &'f str,
    severity: &'f str,
    message: &'f str,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    path: &'f [String],
    remedy: String,
}

impl FindingView<'_> {
    fn of(finding: &Diagnostic) -> FindingView<'_> {
        let position = findings::line(finding);
        FindingView {
            code: finding.code,
            severity: finding.severity.as_str(),
            message: &finding.message,
            file: finding
                .source
                .as_ref()
                .map(|source| source.path.display().to_string()),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            path: &finding.path,
            remedy: findings::remedy(finding),
        }
    }
}

fn json(survey: &Survey) -> String {
    let findings: Vec<FindingView> = survey.findings.iter().map(FindingView::of).collect();
    let value = serde_json::json!({
        "runs": survey.runs,
        "conclusion": conclusion(survey, Style::PLAIN).trim_end(),
        "counts": Counts::of(&survey.rows),
        "findings": findings,
        "rows": survey.rows,
        "advice": survey.advice,
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &[&str], class: &str, rung: Rung, why: &str) -> SurveyRow {
        SurveyRow {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            class: class.to_owned(),
            rung,
            why: why.to_owned(),
        }
    }

    fn survey() -> Survey {
        let gui = "for the graphical interface";
        let rows = vec![
            row(&["Plan"], "TestPlan", Rung::Native, ""),
            row(&["Plan", "Users"], "ThreadGroup", Rung::Native, ""),
            row(&["Plan", "Tree"], "ViewResultsTree", Rung::Skipped, gui),
            row(&["Plan", "Table"], "ViewResultsTree", Rung::Skipped, gui),
            row(
                &["Plan", "Mail"],
                "MailReaderSampler",
                Rung::Refused,
                "not built yet",
            ),
        ];
        let refused = Diagnostic::error("element-not-built", "Mail is not built");
        Survey {
            rows,
            findings: vec![refused],
            runs: false,
            advice: Vec::new(),
        }
    }

    #[test]
    fn the_conclusion_comes_first() {
        let mut survey = survey();
        assert_eq!(
            conclusion(&survey, Style::PLAIN),
            "Does not run: 1 error.\n"
        );
        survey.runs = true;
        survey.findings.clear();
        assert_eq!(conclusion(&survey, Style::PLAIN), "Runs.\n");
        let warning = |message| Diagnostic::warning("w", message);
        survey.findings = vec![
            warning("'a' is odd"),
            warning("'b' is odd"),
            warning("else"),
        ];
        assert_eq!(conclusion(&survey, Style::PLAIN), "Runs. 2 warnings.\n");
    }

    #[test]
    fn elements_of_one_kind_share_a_line_unless_all_are_wanted() {
        let survey = survey();
        let expected = "\
skipped  ViewResultsTree    Plan > Tree and 1 more  (for the graphical interface)
refused  MailReaderSampler  Plan > Mail  (not built yet)
";
        assert_eq!(rows(&survey.rows, false, Style::PLAIN), expected);
        let all = rows(&survey.rows, true, Style::PLAIN);
        assert_eq!(all.lines().count(), 5);
        assert!(
            all.starts_with("native   TestPlan           Plan\n"),
            "{all}"
        );
        assert_eq!(
            counts(&survey, Style::PLAIN),
            "the plan does not run: 2 native, 0 need a JVM, 2 skipped, 1 refused\n"
        );
    }

    #[test]
    fn json_has_the_rows_and_the_findings_with_their_remedies() {
        let value: serde_json::Value = serde_json::from_str(&json(&survey())).expect("JSON");
        assert_eq!(value["runs"], false);
        assert_eq!(value["conclusion"], "Does not run: 1 error.");
        assert_eq!(value["counts"]["skipped"], 2);
        assert_eq!(value["rows"][4]["rung"], "refused");
        assert_eq!(value["rows"][2]["path"][1], "Tree");
        assert_eq!(value["advice"], serde_json::json!([]));
        assert_eq!(value["findings"][0]["code"], "element-not-built");
        assert!(
            !value["findings"][0]["remedy"]
                .as_str()
                .unwrap_or("")
                .is_empty()
        );
    }
}
