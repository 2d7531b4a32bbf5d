//! Thresholds before and after a run: warns of those that are written the wrong way round, refuses those on labels that the plan
//! does not have, and prints how each ended.

use drumfire_engine::PlanLabels;
use drumfire_jmx::did_you_mean;
use drumfire_report::ThresholdResult;
use drumfire_results::{Recording, Threshold, ThresholdOutcome, Verdict};

use crate::console::Console;
use crate::refusal::Refusal;
use crate::run::arguments::Progress;
use crate::settings::properties::RunProperties;

/// The property that lets a run pass although a threshold could not be judged.
pub const ALLOW_UNJUDGED: &str = "drumfire.allow_unjudged";
/// The most labels that a message lists.
const MOST_LABELS: usize = 5;

/// Whether a threshold that could not be judged leaves the exit code as it is.
pub fn allows_unjudged(settings: &RunProperties) -> bool {
    settings.properties.get(ALLOW_UNJUDGED) == Some("true")
}

/// Warns of thresholds that fail good runs.
pub fn warn_of_inversions<'t>(
    thresholds: impl IntoIterator<Item = &'t Threshold>,
    console: &mut Console<'_>,
) {
    for inversion in thresholds.into_iter().filter_map(Threshold::inversion) {
        console.warn(&inversion);
    }
}

/// Prints how each threshold ended. A quiet run prints only those that did not pass, to standard error. Returns whether the run
/// fails.
pub fn print(
    results: &[ThresholdResult],
    allows_unjudged: bool,
    progress: Progress,
    console: &mut Console<'_>,
) -> bool {
    for result in results {
        let line = result.line();
        if result.outcome == ThresholdOutcome::Passed {
            tracing::info!("threshold {line}");
        } else {
            tracing::error!("threshold {line}");
        }
        match (progress == Progress::Quiet, result.outcome) {
            (true, ThresholdOutcome::Passed) => {}
            (true, _) => console.print_error(&format!("{line}\n")),
            (false, ThresholdOutcome::Passed) => console.line(&line),
            (false, ThresholdOutcome::NotJudged) => console.line(&console.style.yellow(&line)),
            (false, ThresholdOutcome::Failed) => console.line(&console.style.red(&line)),
        }
    }
    results.iter().any(|result| match result.outcome {
        ThresholdOutcome::Passed => false,
        ThresholdOutcome::NotJudged => !allows_unjudged,
        ThresholdOutcome::Failed => true,
    })
}

/// The results of thresholds. Those on labels without samples name the labels that are there.
pub fn results(mut verdicts: Vec<Verdict>, recording: &Recording) -> Vec<ThresholdResult> {
    let labels: Vec<&str> = recording
        .labels
        .iter()
        .filter(|label| label.count > 0)
        .map(|label| label.label.as_str())
        .collect();
    for verdict in &mut verdicts {
        if let Some(label) = verdict.label()
            && !labels.contains(&label.as_str())
            && let Some(hint) = nearest(&label, &labels)
        {
            verdict.explain(&hint);
        }
    }
    verdicts.iter().map(ThresholdResult::from).collect()
}

/// The labels that a user may have meant; `None` if there are none.
fn nearest(wanted: &str, labels: &[&str]) -> Option<String> {
    if let Some(near) = did_you_mean(wanted, labels.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let mut listed: Vec<&str> = labels.to_vec();
    listed.sort_unstable();
    listed.dedup();
    let quoted: Vec<String> = listed
        .iter()
        .take(MOST_LABELS)
        .map(|label| format!("`{label}`"))
        .collect();
    let more = listed.len().saturating_sub(MOST_LABELS);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match quoted.as_slice() {
        [] => None,
        [only] => Some(format!("the only label is {only}")),
        _ => Some(format!("the labels are {}{more}", quoted.join(", "))),
    }
}

/// A condition on a label: a threshold, or a criterion of a Taurus configuration.
pub struct LabelCondition<'c> {
    /// The condition as the user wrote it.
    pub text: String,
    /// The label, or a pattern between slashes.
    pub label: String,
    /// Whether it covers the samples of a label.
    pub covers: Box<dyn Fn(&str) -> bool + 'c>,
}

impl<'c> LabelCondition<'c> {
    /// The condition of a threshold that names a label.
    pub fn of(threshold: &'c Threshold) -> Option<LabelCondition<'c>> {
        Some(LabelCondition {
            text: threshold.text().to_owned(),
            label: threshold.label()?,
            covers: Box::new(|label| threshold.is_about(label)),
        })
    }

    /// The condition of a criterion that names a label.
    pub fn on(text: &str, label: String) -> LabelCondition<'static> {
        LabelCondition {
            text: text.to_owned(),
            label: label.clone(),
            covers: Box::new(move |other| other == label),
        }
    }
}

/// Refuses a condition on a label that no sample of the plan can have. Where scripts or variables may make the label, this is
/// only a warning.
///
/// # Errors
/// The first such condition.
pub fn check_labels(
    conditions: &[LabelCondition<'_>],
    labels: &PlanLabels,
    console: &mut Console<'_>,
) -> Result<(), Refusal> {
    for condition in conditions {
        let is_named = labels.names.iter().any(|name| (condition.covers)(name));
        if is_named || labels.fits_template(&condition.label) {
            continue;
        }
        let names: Vec<&str> = labels.names.iter().map(String::as_str).collect();
        let (text, label) = (&condition.text, &condition.label);
        let silent = labels
            .silent
            .iter()
            .clone()
            .find(|silent| (condition.covers)(&silent.name));
        let (fault, hint) = match silent {
            Some(silent) => (
                format!("`{label}` has no samples of its own: {}", silent.why),
                silent
                    .instead
                    .as_ref()
                    .map(|name| format!("write the threshold for `{name}`")),
            ),
            None => (
                format!("no sample of the plan has the label `{label}`"),
                nearest(label, &names),
            ),
        };
        if let Some(maker) = &labels.maker {
            console.warn(&format!(
                "`{text}`: {fault}, unless {maker} makes it while the run goes on"
            ));
            continue;
        }
        let mut refusal = Refusal::usage(format!("threshold `{text}`: {fault}"));
        if let Some(hint) = hint {
            refusal = refusal.hint(hint);
        }
        return Err(refusal);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use drumfire_engine::SilentElement;

    use super::*;
    use crate::exit_codes::Exit;
    use crate::terminal::style::Style;

    fn labels() -> PlanLabels {
        PlanLabels {
            names: vec!["Log in".to_owned(), "Search".to_owned()],
            templates: vec!["Item ${id}".to_owned()],
            silent: vec![SilentElement {
                name: "Pay".to_owned(),
                why: "the transaction `Buy` has one sample for all".to_owned(),
                instead: Some("Buy".to_owned()),
            }],
            maker: None,
        }
    }

    /// The exit code and standard error.
    fn checked(text: &str, labels: &PlanLabels) -> (Option<Exit>, String) {
        let threshold: Threshold = text.parse().expect("a threshold");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console {
            out: &mut out,
            err: &mut err,
            variable: &|_| None,
            style: Style::PLAIN,
            err_style: Style::PLAIN,
            is_terminal: false,
            err_columns: None,
            is_optimized: true,
        };
        let condition = LabelCondition::of(&threshold);
        let checked = check_labels(condition.as_slice(), labels, &mut console);
        let warned = String::from_utf8(err).expect("text");
        match checked {
            Ok(()) => (None, warned),
            Err(refusal) => (Some(refusal.exit), refusal.err),
        }
    }

    #[test]
    fn a_label_that_the_plan_does_not_have_is_refused_with_the_nearest() {
        for fine in [
            "p95 > 1s",
            "p95 of Log in > 1s",
            "p95 of /^Sea/ > 1s",
            "p95 of Item 7 > 1s",
        ] {
            assert_eq!(checked(fine, &labels()), (None, String::new()), "{fine}");
        }
        for (text, told) in [
            (
                "p95 of Login > 1s",
                "error: threshold `p95 of Login > 1s`: no sample of the plan has the label `Login`\nhint: did you mean `Log in`?\n",
            ),
            (
                "p95 of Checkout > 1s",
                "error: threshold `p95 of Checkout > 1s`: no sample of the plan has the label `Checkout`\nhint: the labels are `Log in`, `Search`\n",
            ),
            (
                "p95 of /^Check/ > 1s",
                "error: threshold `p95 of /^Check/ > 1s`: no sample of the plan has the label `/^Check/`\nhint: the labels are `Log in`, `Search`\n",
            ),
            (
                "p95 of Pay > 1s",
                "error: threshold `p95 of Pay > 1s`: `Pay` has no samples of its own: the transaction `Buy` has one sample for all\nhint: write the threshold for `Buy`\n",
            ),
        ] {
            assert_eq!(
                checked(text, &labels()),
                (Some(Exit::Usage), told.to_owned())
            );
        }
    }

    #[test]
    fn a_label_that_a_script_may_make_draws_a_warning() {
        let labels = PlanLabels {
            maker: Some("a script".to_owned()),
            ..labels()
        };
        let told = "warning: `p95 of Login > 1s`: no sample of the plan has the label `Login`, unless a script makes it while the run goes on\n";
        assert_eq!(
            checked("p95 of Login > 1s", &labels),
            (None, told.to_owned())
        );
    }

    #[test]
    fn a_label_without_samples_is_not_judged_and_names_the_nearest() {
        let mut recording = Recording::default();
        recording.add(&drumfire_results::Sample::new("Log in".into(), "t".into()));
        let threshold: Threshold = "p95 of Login > 1s".parse().expect("a threshold");
        let results = results(vec![threshold.judge(&recording)], &recording);
        assert_eq!(
            results[0].line(),
            "not judged  p95 of Login   fails if > 1 s   no sample has the label `Login`; did you mean `Log in`?"
        );
    }
}
