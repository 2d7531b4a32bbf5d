//! Which agents a run takes: `--agents local:4`, `4`, `a,b`, `region=eu` or `region=eu:3`.

use std::fmt;
use std::str::FromStr;

use crate::wire::{Hello, is_token};

/// No run has more agents.
const MOST_AGENTS: usize = 10_000;

/// Which agents a run takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// So many processes on this machine.
    Local(usize),
    /// So many of those that are there.
    Any(usize),
    /// Those with these names.
    Named(Vec<String>),
    /// Those with a label: so many, or all that are there.
    Labelled {
        label: String,
        value: String,
        count: Option<usize>,
    },
}

/// Why a text names no agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSelection(String);

impl fmt::Display for BadSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`--agents {}` names no agents; give a number, names with commas between, `label=value`, or `local:4`",
            self.0
        )
    }
}

impl std::error::Error for BadSelection {}

impl FromStr for Selection {
    type Err = BadSelection;

    fn from_str(text: &str) -> Result<Selection, BadSelection> {
        let bad = || BadSelection(text.to_owned());
        let count = |number: &str| {
            let count: usize = number.trim().parse().map_err(|_| bad())?;
            (1..=MOST_AGENTS)
                .contains(&count)
                .then_some(count)
                .ok_or_else(bad)
        };
        if let Some(number) = text.strip_prefix("local:") {
            return Ok(Selection::Local(count(number)?));
        }
        if text.chars().all(|c| c.is_ascii_digit()) {
            return Ok(Selection::Any(count(text)?));
        }
        if let Some((label, value)) = text.split_once('=') {
            let (value, number) = match value.rsplit_once(':') {
                Some((value, number)) => (value, Some(count(number)?)),
                None => (value, None),
            };
            return Ok(Selection::Labelled {
                label: label.to_owned(),
                value: value.to_owned(),
                count: number,
            });
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let is_good = names.iter().all(|name| is_token(name));
        is_good.then_some(Selection::Named(names)).ok_or_else(bad)
    }
}

impl Selection {
    /// How many agents it takes; none if all that are there.
    pub fn count(&self) -> Option<usize> {
        match self {
            Selection::Local(count) | Selection::Any(count) => Some(*count),
            Selection::Named(names) => Some(names.len()),
            Selection::Labelled { count, .. } => *count,
        }
    }

    /// The agents to take of those that are idle, in the order of their numbers in the run; none while some are missing.
    pub fn choose(&self, idle: &[Hello]) -> Option<Vec<Hello>> {
        let mut idle: Vec<&Hello> = idle.iter().filter(|hello| hello.run.is_none()).collect();
        // The same agents get the same numbers in each run.
        idle.sort_by(|a, b| a.name.cmp(&b.name));
        let chosen: Vec<Hello> = match self {
            Selection::Local(_) | Selection::Any(_) => idle.into_iter().cloned().collect(),
            Selection::Named(names) => {
                let named = |name: &String| idle.iter().find(|hello| hello.name == *name);
                names
                    .iter()
                    .filter_map(named)
                    .map(|hello| (*hello).clone())
                    .collect()
            }
            Selection::Labelled { label, value, .. } => {
                let has = |hello: &&Hello| hello.labels.get(label) == Some(value);
                idle.into_iter().filter(has).cloned().collect()
            }
        };
        let wanted = self.count().unwrap_or(chosen.len());
        let is_enough = !chosen.is_empty() && chosen.len() >= wanted;
        is_enough.then(|| chosen.into_iter().take(wanted).collect())
    }

    /// Whom it waits for, given who is there.
    pub fn missing(&self, idle: &[Hello]) -> String {
        let free: Vec<&str> = idle
            .iter()
            .filter(|hello| hello.run.is_none())
            .map(|hello| hello.name.as_str())
            .collect();
        match self {
            Selection::Named(names) => {
                let missing = names.iter().filter(|name| !free.contains(&name.as_str()));
                let missing: Vec<&str> = missing.map(String::as_str).collect();
                format!("`{}`", missing.join("`, `"))
            }
            _ => {
                let wanted = self.count().unwrap_or(1);
                format!("{wanted} agents; {} idle", free.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(name: &str, region: &str, run: Option<&str>) -> Hello {
        Hello {
            name: name.to_owned(),
            labels: [("region".to_owned(), region.to_owned())].into(),
            run: run.map(str::to_owned),
            ..Hello::default()
        }
    }

    fn chosen(selection: &str, idle: &[Hello]) -> Option<Vec<String>> {
        let selection: Selection = selection.parse().expect("a selection");
        let chosen = selection.choose(idle)?;
        Some(chosen.into_iter().map(|hello| hello.name).collect())
    }

    #[test]
    fn agents_are_chosen_by_number_name_and_label() {
        let idle = [
            hello("c", "eu", None),
            hello("a", "us", None),
            hello("b", "eu", None),
            hello("d", "eu", Some("other")),
        ];
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(chosen("2", &idle), names(&["a", "b"]));
        assert_eq!(chosen("4", &idle), None);
        assert_eq!(chosen("c,a", &idle), names(&["c", "a"]));
        assert_eq!(chosen("d", &idle), None);
        assert_eq!(chosen("region=eu", &idle), names(&["b", "c"]));
        assert_eq!(chosen("region=eu:1", &idle), names(&["b"]));
        assert_eq!(chosen("region=mars", &idle), None);
        let named: Selection = "a,x".parse().expect("a selection");
        assert_eq!(named.missing(&idle), "`x`");
    }

    #[test]
    fn texts_that_name_no_agents_are_refused() {
        for text in ["", "0", "local:0", "local:x", "a b", "x=y:0", "99999999"] {
            let refused = text.parse::<Selection>();
            assert!(refused.is_err(), "{text}");
        }
        assert_eq!("local:3".parse(), Ok(Selection::Local(3)));
    }
}
