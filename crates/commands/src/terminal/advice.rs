//! Advice on costly or misleading elements, as text.

use std::fmt::Write as _;

use super::format::{count, wrap};
use super::style::Style;
use crate::engine::{Advice, AdvicePlace, Effect};

/// How many places of one piece of advice are listed; `--json` has all.
const MAX_PLACES: usize = 5;

/// All advice: what was found, where, why it matters and what helps. Wrapped to `columns` for a terminal.
pub fn render(all: &[Advice], style: Style, columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    let mut text = String::new();
    for advice in all {
        let effect = match advice.effect {
            Effect::Misleads => style.yellow("misleads"),
            Effect::Costs => style.bold("costs"),
        };
        text.push('\n');
        let head = format!("{} [{}]", advice.finding, advice.rule);
        // The first line begins with the word and two blanks; the other lines are indented to match.
        let width = match advice.effect {
            Effect::Misleads => "misleads  ",
            Effect::Costs => "costs  ",
        };
        let mut head = wrap(&head, &" ".repeat(width.len()), columns).into_iter();
        let first = head.next().unwrap_or_default();
        let _ = writeln!(text, "{effect}  {}", first.trim_start());
        head.for_each(|line| text.push_str(&format!("{line}\n")));
        for place in advice.places.iter().take(MAX_PLACES) {
            lines(&mut text, &shown(place), "  at ", columns, str::to_owned);
        }
        let more = advice.places.len().saturating_sub(MAX_PLACES);
        if more > 0 {
            let _ = writeln!(text, "     and {} more", count(more as u64));
        }
        lines(&mut text, advice.reason, "  why: ", columns, |line| {
            style.dim(line)
        });
        lines(&mut text, advice.remedy, "  hint: ", columns, |line| {
            line.to_owned()
        });
    }
    text
}

fn shown(place: &AdvicePlace) -> String {
    let mut shown = format!("line {}: {}", place.line, place.path.join(" > "));
    if !place.detail.is_empty() {
        let _ = write!(shown, ", {}", place.detail);
    }
    shown
}

/// Adds a text after its head; further lines are indented to the start of the text.
fn lines(
    text: &mut String,
    body: &str,
    head: &str,
    columns: usize,
    paint: impl Fn(&str) -> String,
) {
    let indent = " ".repeat(head.len());
    for (number, line) in wrap(body, &indent, columns).iter().enumerate() {
        let line = match number {
            0 => format!("{head}{}", &line[indent.len()..]),
            _ => line.clone(),
        };
        let _ = writeln!(text, "{}", paint(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(places: usize) -> Advice {
        let place = |line| AdvicePlace {
            path: vec!["Plan".to_owned(), "Old script".to_owned()],
            line,
            property: None,
            detail: String::new(),
        };
        Advice {
            rule: "beanshell",
            effect: Effect::Costs,
            finding: "BeanShell scripts",
            reason: "they are interpreted",
            remedy: "take JSR223 with Groovy",
            places: (1..=places).map(place).collect(),
        }
    }

    #[test]
    fn advice_says_what_where_why_and_the_remedy() {
        let expected = "
costs  BeanShell scripts [beanshell]
  at line 1: Plan > Old script
  why: they are interpreted
  hint: take JSR223 with Groovy
";
        assert_eq!(render(&[advice(1)], Style::PLAIN, None), expected);
        assert_eq!(render(&[], Style::PLAIN, None), "");
    }

    #[test]
    fn a_narrow_terminal_has_more_lines_and_many_places_are_counted() {
        let expected = "
costs  BeanShell
       scripts
       [beanshell]
  at line 1: Plan >
     Old script
  at line 2: Plan >
     Old script
  at line 3: Plan >
     Old script
  at line 4: Plan >
     Old script
  at line 5: Plan >
     Old script
     and 2 more
  why: they are
       interpreted
  hint: take JSR223
        with Groovy
";
        assert_eq!(render(&[advice(7)], Style::PLAIN, Some(20)), expected);
    }
}
