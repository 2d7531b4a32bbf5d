//! The run's verdict on its own numbers, as text.

use std::fmt::Write as _;

use drumfire_health::{Cause, Grade, Reason, Verdict};

use super::format::{counted, wrapped};
use super::style::Style;

/// How many spans of a reason are listed; the rest are only counted.
const MAX_SPANS: usize = 4;

/// The verdict with its reasons: what, when, how bad, and what helps. For a terminal, `columns` is
/// its width. `left_out` names the elements of the plan that were skipped on request, and `remarks`
/// say what else bears on the numbers.
pub fn render(
    verdict: &Verdict,
    left_out: &[String],
    remarks: &[String],
    style: Style,
    columns: Option<usize>,
) -> String {
    let grade = verdict.grade.to_string();
    let grade = match verdict.grade {
        Grade::Valid => style.green(&grade),
        Grade::TooShort => style.dim(&grade),
        Grade::Degraded => style.yellow(&grade),
        Grade::Invalid => style.red(&grade),
    };
    let mut text = format!("verdict  {grade}{}\n", without(left_out));
    if !left_out.is_empty() {
        let _ = writeln!(text, "  left out: {}", left_out.join(", "));
    }
    for remark in remarks {
        let _ = writeln!(text, "  {}", style.dim(remark));
    }
    for reason in &verdict.reasons {
        let _ = writeln!(
            text,
            "  {}{}: {}\n    {}",
            reason.cause.title(),
            spans(reason, verdict.length_ms),
            reason.measured,
            style.dim(&reason.remedy)
        );
    }
    match columns {
        Some(columns) => wrapped(&text, columns),
        None => text,
    }
}

fn without(left_out: &[String]) -> String {
    match left_out.len() {
        0 => String::new(),
        count => format!(", without {}", counted(count as u64, "element")),
    }
}

/// The verdict on a run that sent nothing; `judged` is the verdict on the generator, if it was
/// measured.
pub fn of_nothing(why: &str, judged: Option<Verdict>) -> Verdict {
    let mut verdict = judged.unwrap_or(Verdict {
        grade: Grade::Invalid,
        reasons: Vec::new(),
        length_ms: 0,
    });
    verdict.grade = Grade::Invalid;
    let reason = Reason {
        cause: Cause::NothingSent,
        spans_ms: vec![(0, verdict.length_ms)],
        measured: why.to_owned(),
        remedy: Cause::NothingSent.remedy().to_owned(),
    };
    verdict.reasons.insert(0, reason);
    verdict
}

/// The times at which it was seen, after a comma; empty for a reason that concerns the run as a
/// whole.
fn spans(reason: &Reason, length_ms: u64) -> String {
    if reason.spans_ms.is_empty() {
        return String::new();
    }
    if reason.length_ms() >= length_ms {
        return ", all the time".to_owned();
    }
    let mut listed: Vec<String> = reason
        .spans_ms
        .iter()
        .take(MAX_SPANS)
        .map(|(from, to)| format!("{}-{} s", seconds(*from), seconds(*to)))
        .collect();
    let more = reason.spans_ms.len().saturating_sub(MAX_SPANS);
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    format!(", {}", listed.join(", "))
}

fn seconds(ms: u64) -> f64 {
    (ms as f64 / 1000.0).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(cause: Cause, spans_ms: &[(u64, u64)]) -> Reason {
        Reason {
            cause,
            spans_ms: spans_ms.to_vec(),
            measured: "0.40 of 2 cores".to_owned(),
            remedy: "use another host".to_owned(),
        }
    }

    #[test]
    fn reasons_say_what_when_how_bad_and_what_helps() {
        let verdict = Verdict {
            grade: Grade::Degraded,
            reasons: vec![
                reason(Cause::CpuStolen, &[(0, 10_000)]),
                reason(
                    Cause::LoopStalled,
                    &[
                        (0, 1000),
                        (2000, 3004),
                        (4000, 5000),
                        (6000, 7000),
                        (8000, 9000),
                    ],
                ),
            ],
            length_ms: 10_000,
        };
        let expected = "\
verdict  DEGRADED
  CPU kept by the hypervisor, all the time: 0.40 of 2 cores
    use another host
  an event loop was held up, 0-1 s, 2-3 s, 4-5 s, 6-7 s, and 1 more: 0.40 of 2 cores
    use another host
";
        assert_eq!(render(&verdict, &[], &[], Style::PLAIN, None), expected);
    }

    #[test]
    fn elements_left_out_are_named() {
        let verdict = Verdict {
            grade: Grade::Valid,
            reasons: Vec::new(),
            length_ms: 1,
        };
        let left_out = ["Mail".to_owned(), "Queue".to_owned()];
        let told = render(&verdict, &left_out, &[], Style::PLAIN, None);
        assert_eq!(
            told,
            "verdict  VALID, without 2 elements\n  left out: Mail, Queue\n"
        );
    }

    #[test]
    fn a_run_that_sent_nothing_is_not_valid() {
        let verdict = of_nothing("every thread group has 0 users", None);
        let told = render(&verdict, &[], &[], Style::PLAIN, None);
        assert!(
            told.starts_with("verdict  INVALID\n  nothing was sent, all the time: every thread"),
            "{told}"
        );
    }
}
