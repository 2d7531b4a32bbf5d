//! Finds values that the server sent and the client sent back. Each becomes a variable with the cheapest extractor that yields
//! exactly this value from the recorded response.
//!
//! - [`sent`] lists what a request sends, in whatever encoding.
//! - [`held`] lists what a response holds, with the names under which it counts, which [`relation`] compares.
//! - [`worth`] judges whether a value looks as if a server had made it. Such a value counts wherever it stands; a short one counts
//!   only if the response holds it under a name of the same thing.
//! - [`search`] makes the extractor, and [`put`] replaces the value in the request.
//! - A value that the client generated itself becomes a function ([`made`]). Text that a user typed into a log-in form becomes a
//!   column of a CSV file, credentials of HTTP Basic, too ([`basic`]).
//!
//! The Cookie Manager handles cookies. A value that the client sent before any response held it stays.

mod basic;
mod columns;
mod form;
mod held;
mod json;
mod made;
mod pair;
mod places;
mod proposals;
mod put;
mod relation;
mod search;
mod sent;
mod wishes;
mod worth;

use std::collections::{HashMap, HashSet};

use drumfire_platform::words::counted;

use crate::draft::{Data, Draft, DraftStep};
use crate::extractor::{Extractor, ExtractorSource};
use crate::plan::VariableNames;
use crate::text::PlanText;
use columns::Meaning;
use form::{Expressions, ValueEncoding};
use made::MadeValues;
use pair::Pair;
pub use pair::counterparts;
use places::Places;
pub use proposals::{Proposal, proposals, used};
use search::Wanted;
use sent::Sent;
pub use wishes::Wishes;
use worth::is_telling;

/// The findings of the search about one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of its variable.
    pub variable: String,
    /// The value.
    pub value: String,
    /// Index of the step whose response holds the value.
    pub from: usize,
    /// The steps that send it.
    pub used_in: Vec<usize>,
    /// Whether the extractor also yields the other user's value from that user's recording.
    pub is_confirmed: bool,
}

/// A value that a step's response holds, and that stays as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The value.
    pub value: String,
    /// Index of the step.
    pub from: usize,
}

/// Puts variables, extractors, functions and data columns into a draft. The values in `constants` stay as they were recorded.
///
/// `other` is the same visit by another user. A value that both recordings share stays as it is. A value that differs becomes a
/// variable if one extractor yields each user's value from an earlier response. Otherwise the users brought the value along, and
/// it becomes a column of the CSV file with a row for each user.
pub fn correlate(draft: &mut Draft, other: Option<&Draft>, constants: &[Constant]) -> Vec<Finding> {
    let wishes = Wishes {
        constants,
        ..Wishes::default()
    };
    correlate_as(draft, other, wishes)
}

/// [`correlate`] with wishes.
pub fn correlate_as(draft: &mut Draft, other: Option<&Draft>, wishes: Wishes<'_>) -> Vec<Finding> {
    let names = wishes.taken_names(draft);
    if let Some(other) = other {
        columns::add_second_row(&mut draft.data, &other.data);
    }
    let steps: Vec<DraftStep> = draft.steps_mut().map(std::mem::take).collect();
    let pair = other.map(|other| Pair::of(&steps, other));
    if let Some(lone) = pair.as_ref().map(Pair::lone).filter(|lone| *lone > 0) {
        draft.warn(format!(
            "the other user's recording lacks {lone} of {}: one recording alone shows which of their values change",
            counted(steps.len() as u64, "request")
        ));
    }
    let sent = sent_values(&steps, pair.as_ref());
    let places = {
        let hidden: Vec<Vec<Sent>> = sent.iter().flatten().filter_map(hidden).collect();
        let all: Vec<Vec<Sent>> = sent.iter().cloned().chain(hidden).collect();
        Places::of(&steps, &all, &draft.shared)
    };
    let mut all = Correlation {
        made: MadeValues::of(&steps, &sent),
        steps,
        places,
        pair,
        names,
        wishes,
        findings: Vec::new(),
        meanings: vec![None; draft.data.names.len()],
        data: std::mem::take(&mut draft.data),
        known: HashMap::new(),
        brought: HashSet::new(),
        lone_tokens: Vec::new(),
    };
    if !wishes.of_responses_only {
        all.basic();
    }
    for (place, sent) in sent.iter().enumerate() {
        all.step(place, sent);
    }
    draft.data = all.data;
    for (place, name) in all.lone_tokens {
        draft.warn(format!(
            "`{}` sends `{name}`, a token of this user that no response holds; it stays as it was recorded: find out what makes it",
            all.steps[place].request.label()
        ));
    }
    for (own, step) in draft.steps_mut().zip(all.steps) {
        *own = step;
        // A value that turned out to be sent in no known form needs no extractor.
        own.extractors.retain(|extractor| {
            let mut findings = all.findings.iter();
            !findings.any(|own| own.variable == extractor.variable && own.used_in.is_empty())
        });
    }
    all.findings.retain(|finding| !finding.used_in.is_empty());
    all.findings
}

/// The values that each step sends.
fn sent_values(steps: &[DraftStep], pair: Option<&Pair<'_>>) -> Vec<Vec<Sent>> {
    let mut sent: Vec<Vec<Sent>> = Vec::with_capacity(steps.len());
    for (place, step) in steps.iter().enumerate() {
        let mut all = sent::values(&step.request);
        for sent in pair.iter().flat_map(|pair| pair.short_segments(place)) {
            if !all.iter().any(|known| known.segment == sent.segment) {
                all.push(sent);
            }
        }
        sent.push(all);
    }
    sent
}

fn hidden(sent: &Sent) -> Option<Vec<Sent>> {
    sent.decoded.as_deref().map(sent::within)
}

/// A variable for a value.
struct KnownVariable {
    expressions: Expressions,
    other: Option<String>,
    names: Vec<String>,
    is_telling: bool,
    /// The step from whose response on it has its value.
    from: usize,
    /// Index of its finding; `None` for a column of the CSV file.
    finding: Option<usize>,
    /// The meaning of a column.
    meaning: Option<Meaning>,
}

/// The text that replaces a value.
struct Resolved {
    expressions: Expressions,
    /// The expression within JSON of a text that people typed, which counts in its field only.
    typed: Option<String>,
    /// Index of the finding that counts the step; `None` for other variables.
    finding: Option<usize>,
}

/// Searches for the values of one recording, step by step.
struct Correlation<'o> {
    steps: Vec<DraftStep>,
    places: Places,
    pair: Option<Pair<'o>>,
    names: VariableNames,
    wishes: Wishes<'o>,
    made: MadeValues,
    findings: Vec<Finding>,
    data: Data,
    /// The meanings of the columns.
    meanings: Vec<Option<Meaning>>,
    /// The variables by the value that they have in this recording.
    known: HashMap<String, Vec<KnownVariable>>,
    /// Values, and the names under which the client sent them before any response held them. A response that holds one later
    /// repeats it.
    brought: HashSet<(String, String)>,
    /// Tokens that only one user has and no response holds: step and name.
    lone_tokens: Vec<(usize, String)>,
}

impl Correlation<'_> {
    fn step(&mut self, place: usize, all: &[Sent]) {
        let mut is_put = vec![false; all.len()];
        let wholes =
            |at: usize| std::iter::successors(all[at].part_of, |whole| all[*whole].part_of);
        for (at, sent) in all.iter().enumerate() {
            // A part of a value that was put as a whole is gone.
            if wholes(at).any(|whole| is_put[whole]) {
                continue;
            }
            is_put[at] = self.take(sent, place);
            if let (false, Some(text)) = (is_put[at], &sent.decoded) {
                is_put[at] = self.encoded(sent, text, place);
            }
        }
        // A value of which a part was put is no longer what was sent.
        let mut is_changed = is_put.clone();
        for at in (0..all.len()).filter(|at| is_put[*at]) {
            wholes(at).for_each(|whole| is_changed[whole] = true);
        }
        for (at, sent) in all.iter().enumerate() {
            if !is_changed[at] && !wholes(at).any(|whole| is_put[whole]) {
                is_put[at] = self.bring(sent, place);
            }
        }
    }

    /// The other user's value; `None` without one.
    fn other(&self, sent: &Sent, place: usize) -> Option<String> {
        let pair = self.pair.as_ref()?;
        pair.value(place, sent).cloned()
    }

    /// Puts the variable of an earlier response, if there is one.
    fn take(&mut self, sent: &Sent, place: usize) -> bool {
        let other = self.other(sent, place);
        if other.as_ref() == Some(&sent.value) {
            return false;
        }
        let Some(resolved) = self.resolve(sent, other.as_ref(), place) else {
            return false;
        };
        let (request, plain) = (&mut self.steps[place].request, &resolved.expressions.plain);
        let is_put = match &resolved.typed {
            Some(in_json) => put::expression(request, sent, plain, in_json),
            None => put::value(request, sent, &resolved.expressions),
        };
        if is_put {
            self.count(&resolved, place);
        }
        is_put
    }

    /// Puts variables into a text that the request holds in base64.
    fn encoded(&mut self, sent: &Sent, text: &str, place: usize) -> bool {
        let mut plain = PlanText::from(text);
        let mut is_put = false;
        for part in sent::within(text) {
            if let Some(resolved) = self.resolve(&part, None, place)
                && put::into_text(&mut plain, &part, &resolved.expressions)
            {
                self.count(&resolved, place);
                is_put = true;
            }
        }
        if !is_put {
            return false;
        }
        let text = format!("${{__base64Encode({})}}", plain.argument());
        let expressions = Expressions::of(text);
        put::value(&mut self.steps[place].request, sent, &expressions)
    }

    fn count(&mut self, resolved: &Resolved, place: usize) {
        if let Some(finding) = resolved.finding {
            let used_in = &mut self.findings[finding].used_in;
            if used_in.last() != Some(&place) {
                used_in.push(place);
            }
        }
    }

    /// The variable for a value: an existing one, or a new one from an earlier response.
    fn resolve(&mut self, sent: &Sent, other: Option<&String>, place: usize) -> Option<Resolved> {
        let names: Vec<String> = sent
            .names
            .iter()
            .filter(|name| {
                !self
                    .brought
                    .contains(&(sent.value.clone(), (*name).clone()))
            })
            .filter(|_| sent.counts_by_name())
            .cloned()
            .collect();
        if self.places.is_shared(&sent.value) {
            return None;
        }
        let is_telling =
            sent.is_telling() && !self.brought.contains(&(sent.value.clone(), String::new()));
        let mut variables = self
            .known
            .get(&sent.value)
            .into_iter()
            .flatten()
            .filter(|variable| {
                variable.other.as_ref() == other
                    && variable.from <= place
                    && variable.may_mean(sent)
                    && (variable.is_telling
                        || names.iter().any(|name| variable.names.contains(name)))
            });
        if let Some(variable) = variables.next() {
            return Some(Resolved {
                expressions: variable.expressions.clone(),
                typed: variable.meaning.map(|_| variable.in_json(&sent.value)),
                finding: variable.finding,
            });
        }
        let query = Wanted {
            sent,
            names: &names,
            is_telling,
            is_proved: other.is_some(),
        };
        let origin = self
            .places
            .responses(&query, place)
            .into_iter()
            .find_map(|from| {
                let stays = |constant: &Constant| {
                    constant.value == sent.value && (is_telling || constant.from == from)
                };
                let is_named = self.wishes.name(&sent.value, from).is_some();
                let stays = !is_named && self.wishes.constants.iter().any(stays);
                let response = self.steps[from].response.as_ref().filter(|_| !stays)?;
                let place_in_response = search::find(response, &self.steps[from].request, &query)?;
                let gives = |value: &String| {
                    let pair = self.pair.as_ref();
                    pair.is_none_or(|pair| pair.gives(from, &place_in_response, value))
                };
                other.is_none_or(gives).then_some((from, place_in_response))
            });
        let (from, (source, form)) = origin?;
        Some(self.extract(sent, other, &names, from, source, &form))
    }

    /// Takes a value from a response.
    fn extract(
        &mut self,
        sent: &Sent,
        other: Option<&String>,
        names: &[String],
        from: usize,
        source: ExtractorSource,
        form: &ValueEncoding,
    ) -> Resolved {
        let extractors = &self.steps[from].extractors;
        let extractor = extractors
            .iter()
            .find(|extractor| extractor.source == source)
            .map(|extractor| extractor.variable.clone());
        let variable = extractor.unwrap_or_else(|| {
            let named = self.wishes.name(&sent.value, from).map(str::to_owned);
            let variable = named.unwrap_or_else(|| self.names.take(&sent.name));
            self.steps[from].extractors.push(Extractor {
                variable: variable.clone(),
                source,
            });
            self.findings.push(Finding {
                variable: variable.clone(),
                value: sent.value.clone(),
                from,
                used_in: Vec::new(),
                is_confirmed: other.is_some(),
            });
            variable
        });
        let mut findings = self.findings.iter();
        let finding = findings.position(|finding| finding.variable == variable);
        let expressions = form.expressions(&variable);
        self.known
            .entry(sent.value.clone())
            .or_default()
            .push(KnownVariable {
                expressions: expressions.clone(),
                other: other.cloned(),
                names: names.to_vec(),
                is_telling: is_telling(&sent.value),
                from,
                finding,
                meaning: None,
            });
        Resolved {
            expressions,
            typed: None,
            finding,
        }
    }

    /// Handles a value that no response contained: the client generated it, or the user brought it along.
    fn bring(&mut self, sent: &Sent, place: usize) -> bool {
        let other = self.other(sent, place);
        if other.as_ref() == Some(&sent.value) {
            return false;
        }
        for name in sent.names.iter().cloned().chain([String::new()]) {
            self.brought.insert((sent.value.clone(), name));
        }
        if self.wishes.of_responses_only || self.places.is_shared(&sent.value) {
            return false;
        }
        if let Some(made) = self.made.function(sent, &self.steps[place]) {
            return self.make(sent, made, place);
        }
        if sent.part_of.is_some() && !sent.is_header {
            return false;
        }
        if other.is_some() && is_token(sent) {
            self.lone_tokens.push((place, sent.name.clone()));
            return false;
        }
        let is_link = sent.in_address && self.places.is_held(sent, place);
        if other.is_none() && is_link {
            return false;
        }
        self.bring_column(sent, other, place)
    }

    /// Puts a function for a value that the client made. A value that is sent again becomes a variable.
    fn make(&mut self, sent: &Sent, function: String, place: usize) -> bool {
        let is_once = !worth::is_random(&sent.value) || self.made.is_once(&sent.value);
        let expression = if is_once {
            function
        } else {
            let variable = self.names.take(&sent.name);
            let reference = format!("${{{variable}}}");
            self.known
                .entry(sent.value.clone())
                .or_default()
                .push(KnownVariable {
                    expressions: Expressions::of(reference.clone()),
                    other: None,
                    names: Vec::new(),
                    is_telling: true,
                    from: place,
                    finding: None,
                    meaning: None,
                });
            self.steps[place]
                .assigned
                .push((variable, PlanText::expression(function)));
            reference
        };
        put::value(
            &mut self.steps[place].request,
            sent,
            &Expressions::of(expression),
        )
    }
}

/// Whether a value is a token that is used once, which no column can hold: random, and named so or not typed.
fn is_token(sent: &Sent) -> bool {
    worth::is_random(&sent.value)
        && columns::meaning(sent).is_none()
        && (!sent.is_header || relation::is_secret(&sent.name))
}

#[cfg(test)]
mod tests;
