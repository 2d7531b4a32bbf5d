//! Errors by kind: when they begin, where, and how far they spread.

use std::collections::{BTreeMap, BTreeSet};

use super::{Draft, Kind, Run};

/// Errors of one kind matter from this many, and from this share of the samples of their stretch.
const FEWEST: u64 = 5;
const SHARE: f64 = 0.01;
/// A stretch has this share of the errors of a kind, at least, and at most the next share of the samples.
const MOST_ERRORS: f64 = 0.8;
const MOST_SAMPLES: f64 = 0.75;
/// The logarithm of the chance with which evenly spread errors would all lie in such a stretch.
const CHANCE: f64 = -9.2;

/// The failures with one response code.
struct Code<'r> {
    code: &'r str,
    message: &'r str,
    count: u64,
    labels: BTreeSet<&'r str>,
    first_ms: Option<i64>,
}

/// A step of the run: samples and errors of the kind.
struct Step {
    at_ms: i64,
    samples: u64,
    errors: u64,
    users: u32,
}

pub(super) fn find(run: &Run<'_>) -> Vec<Draft> {
    let kinds = run.file.recording.errors.by_label();
    let mut codes: BTreeMap<(&str, &str), Code<'_>> = BTreeMap::new();
    for kind in &kinds {
        // Messages of one code often contain names and numbers. An assertion's message says all that there is.
        let message = if kind.code.starts_with('2') || kind.code.is_empty() {
            kind.message.as_str()
        } else {
            ""
        };
        let entry = codes.entry((&kind.code, message)).or_insert_with(|| Code {
            code: &kind.code,
            message: &kind.message,
            count: 0,
            labels: BTreeSet::new(),
            first_ms: None,
        });
        entry.count += kind.count;
        entry.labels.insert(&kind.label);
        let first_ms = kind.first.as_ref().map(|first| first.start_ms);
        entry.first_ms = [entry.first_ms, first_ms].into_iter().flatten().min();
    }
    let alone = codes.len() == 1;
    codes
        .values()
        .filter(|code| code.count >= FEWEST)
        .filter_map(|code| draft_of_code(run, code, alone))
        .collect()
}

fn draft_of_code(run: &Run<'_>, code: &Code<'_>, alone: bool) -> Option<Draft> {
    let name = name(code);
    let places = run.places(&code.labels);
    let spread = spread(run, &places);
    let all: u64 = run.total.count;
    let steps = steps(run, code, alone);
    let stretch = steps.as_deref().and_then(stretch);
    let (text, evidence, span_ms, share) = match (&steps, stretch) {
        (Some(steps), Some((from, to))) => {
            let (first, last) = (&steps[from], &steps[to]);
            let within = steps[from..=to].iter();
            let (samples, errors) = within.fold((0, 0), |sum, step| {
                (sum.0 + step.samples, sum.1 + step.errors)
            });
            let share = errors as f64 / samples.max(1) as f64;
            let to_ms = last.at_ms + run.step_ms();
            let users = if first.users > 0 {
                format!(" at {} users", first.users)
            } else {
                String::new()
            };
            let begins = first.at_ms.max(code.first_ms.unwrap_or(first.at_ms));
            let text = format!("{name} {}{users}, {spread}", run.span(begins, to_ms));
            let evidence = format!(
                "{:.1} % of the samples then: {errors} of {samples}",
                share * 100.0
            );
            (text, evidence, Some((first.at_ms, to_ms)), share)
        }
        _ => {
            let share = code.count as f64 / all.max(1) as f64;
            let text = format!("{name} throughout, {spread}");
            let evidence = format!(
                "{:.1} % of the samples: {} of {all}",
                share * 100.0,
                code.count
            );
            (text, evidence, None, share)
        }
    };
    (share >= SHARE).then_some(Draft {
        kind: Kind::Errors,
        text,
        evidence,
        place: (places.len() == 1).then(|| places[0]),
        span_ms,
        weight: 3.0 + share.ln() / 2.0 + (code.count as f64).ln() / 4.0,
    })
}

fn name(code: &Code<'_>) -> String {
    let what = match (code.code, code.message) {
        ("", message) => message,
        (code, message) if code.starts_with('2') && !message.is_empty() => message,
        (code, _) => code,
    };
    let mut short: String = what.chars().take(60).collect();
    if short.len() < what.len() {
        short.push('…');
    }
    if short.is_empty() {
        "Failures".to_owned()
    } else {
        short
    }
}

/// How many of the labels have the errors.
fn spread(run: &Run<'_>, places: &[usize]) -> String {
    let labels = run.samplers().count();
    match places {
        [place] if labels > 1 => format!("only in {}", run.name(*place)),
        places if places.len() == labels => "in all labels".to_owned(),
        places => format!("in {} of {labels} labels", places.len()),
    }
}

/// The steps of the run with the errors of a code, if the timeline can tell them: all samples with the code failed, or there are
/// no other errors.
fn steps(run: &Run<'_>, code: &Code<'_>, alone: bool) -> Option<Vec<Step>> {
    let timeline = &run.file.recording.timeline;
    let code_index = timeline.codes().iter().position(|known| known == code.code);
    let with_code = |cell: &drumfire_results::TotalCell| {
        let failures = cell
            .codes
            .iter()
            .find(|(known, _)| Some(usize::from(*known)) == code_index);
        failures.map(|(_, count)| *count).unwrap_or(0)
    };
    let steps = |errors: &dyn Fn(&drumfire_results::TotalCell) -> u64| {
        let cells = timeline.total().iter();
        cells
            .map(|cell| Step {
                at_ms: cell.ended.at * run.step_ms(),
                samples: cell.ended.count,
                errors: errors(cell),
                users: cell.users,
            })
            .collect::<Vec<_>>()
    };
    let of_code: u64 = timeline.total().iter().map(with_code).sum();
    if of_code == code.count {
        return Some(steps(&with_code));
    }
    alone.then(|| steps(&|cell| cell.ended.errors))
}

/// The steps from and to which the errors are dense, unless they are spread over the whole run.
fn stretch(steps: &[Step]) -> Option<(usize, usize)> {
    let (samples, errors) = sum(steps);
    let usual = errors as f64 / samples.max(1) as f64;
    // The part with the most errors beyond the run's own share (Kadane's algorithm).
    let (mut best, mut now) = ((0.0, 0, 0), (0.0, 0));
    for (at, step) in steps.iter().enumerate() {
        let beyond = step.errors as f64 - usual * step.samples as f64;
        now = if now.0 + beyond > beyond {
            (now.0 + beyond, now.1)
        } else {
            (beyond, at)
        };
        if now.0 > best.0 {
            best = (now.0, now.1, at);
        }
    }
    let (mut from, to) = (best.1, best.2);
    // Steps without errors say nothing on when they began.
    while from < to && steps[from].errors == 0 {
        from += 1;
    }
    let within = sum(&steps[from..=to]);
    let share = within.0 as f64 / samples.max(1) as f64;
    let is_stretch = within.1 as f64 >= errors as f64 * MOST_ERRORS
        && share <= MOST_SAMPLES
        && share.max(1e-9).ln() * errors as f64 <= CHANCE;
    is_stretch.then_some((from, to))
}

fn sum(steps: &[Step]) -> (u64, u64) {
    steps.iter().fold((0, 0), |sum, step| {
        (sum.0 + step.samples, sum.1 + step.errors)
    })
}
