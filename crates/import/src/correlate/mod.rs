//! Finds values that the server sent and the client sent back. Each becomes a variable with the cheapest extractor that yields
//! exactly this value from the recorded response.
//!
//! Candidates come from everything that is sent: path segments, parameters, forms, JSON and header fields. The Cookie Manager
//! handles cookies. A value counts if it looks like an identifier; a short one counts only if the response holds it under the
//! same name under which the client sends it.
//!
//! A value that the client generated itself becomes a function (UUIDs, times). Text that a user typed into a log-in form becomes
//! a column of a CSV file.

mod columns;
mod form;
mod json;
mod pair;
mod places;
mod search;
mod sent;

use drumfire_platform::words::counted;

use crate::draft::{Data, Draft, DraftStep};
use crate::exchange::{FormPart, RequestBody};
use crate::names;
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::url;
use columns::Meaning;
use form::{Expressions, ValueEncoding};
use pair::Pair;
pub use pair::counterparts;
use places::Places;
pub use search::ExtractorSource;
use sent::{Sent, is_telling};

/// Copies a value from a response into a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extractor {
    /// The name of the variable.
    pub variable: String,
    /// Where the response holds the value.
    pub source: ExtractorSource,
}

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

/// Puts variables, extractors, functions and data columns into a draft. The values in `constants` stay as they were recorded.
///
/// `other` is the same visit by another user. A value that both recordings share stays as it is. A value that differs becomes a
/// variable if one extractor yields each user's value from an earlier response. Otherwise the users brought the value along, and
/// it becomes a column of the CSV file with a row for each user.
pub fn correlate(draft: &mut Draft, other: Option<&Draft>, constants: &[String]) -> Vec<Finding> {
    let mut names = VariableNames::default();
    for (name, _, _) in &draft.variables {
        names.take(name);
    }
    for name in &draft.data.names {
        names.take(name);
    }
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
    // With a second recording, short values are searched for, too.
    let places = match pair {
        Some(_) => Places::default(),
        None => Places::of(&steps),
    };
    let mut all = Correlation {
        steps,
        places,
        pair,
        names,
        findings: Vec::new(),
        meanings: vec![None; draft.data.names.len()],
        data: std::mem::take(&mut draft.data),
        known: Vec::new(),
    };
    for place in 0..all.steps.len() {
        for sent in all.sent(place) {
            if !constants.contains(&sent.value) {
                all.handle(&sent, place);
            }
        }
    }
    draft.data = all.data;
    for (own, step) in draft.steps_mut().zip(all.steps) {
        *own = step;
    }
    all.findings
}

/// A variable for a value that differs between two users.
struct KnownVariable {
    variable: String,
    form: ValueEncoding,
    value: String,
    other: String,
    /// Index of its finding; `None` for a column of the CSV file.
    finding: Option<usize>,
    /// The meaning of a column.
    meaning: Option<Meaning>,
}

/// Searches for the values of one recording, step by step.
struct Correlation<'o> {
    steps: Vec<DraftStep>,
    places: Places,
    pair: Option<Pair<'o>>,
    names: VariableNames,
    findings: Vec<Finding>,
    data: Data,
    /// The meanings of the columns.
    meanings: Vec<Option<Meaning>>,
    known: Vec<KnownVariable>,
}

impl Correlation<'_> {
    /// The values that a step sends. With a second recording these include the short path segments in which the users differ.
    fn sent(&self, place: usize) -> Vec<Sent> {
        let request = &self.steps[place].request;
        let mut all = sent::values(request);
        if let Some(pair) = &self.pair {
            all.extend(pair.short_segments(place));
        }
        all
    }

    fn handle(&mut self, sent: &Sent, place: usize) {
        let pair = self.pair.as_ref();
        let other = pair.and_then(|pair| pair.value(place, sent)).cloned();
        if other.as_ref() == Some(&sent.value) || self.is_known(sent, other.as_deref(), place) {
            return;
        }
        let places = self.places.responses(sent, place);
        let places = places.unwrap_or_else(|| (0..place).collect());
        let found = places.into_iter().find_map(|from| {
            let response = self.steps[from].response.as_ref()?;
            let is_wanted = other.is_some() || is_telling(&sent.value);
            let found = search::find(response, &self.steps[from].request, sent, is_wanted)?;
            let gives = |value: &String| {
                self.pair
                    .as_ref()
                    .is_none_or(|pair| pair.gives(from, &found, sent, value))
            };
            other.as_ref().is_none_or(gives).then_some((from, found))
        });
        match found {
            Some((from, (source, form))) => self.extract(sent, other, from, source, form),
            None => self.bring(sent, other, place),
        }
    }

    /// Replaces the values with an existing variable, if there is one for them.
    fn is_known(&mut self, sent: &Sent, other: Option<&str>, place: usize) -> bool {
        let known = self.known.iter().find(|known| {
            known.value == sent.value
                && Some(known.other.as_str()) == other
                && known.may_mean(sent)
                && (is_telling(&sent.value) || search::is_same_name(&known.variable, &sent.name))
        });
        let Some(known) = known else { return false };
        let (put, finding) = (known.form.expressions(&known.variable), known.finding);
        let step = &mut self.steps[place];
        let is_put = match known.meaning {
            Some(_) => put_expression(step, sent, &put.plain, &known.in_json()),
            None => put_variable(step, sent, &put),
        };
        if let (true, Some(finding)) = (is_put, finding) {
            let used_in = &mut self.findings[finding].used_in;
            if used_in.last() != Some(&place) {
                used_in.push(place);
            }
        }
        is_put
    }

    /// Takes a value from a response.
    fn extract(
        &mut self,
        sent: &Sent,
        other: Option<String>,
        from: usize,
        source: ExtractorSource,
        form: ValueEncoding,
    ) {
        let extractors = &self.steps[from].extractors;
        let known = extractors.iter().find(|known| known.source == source);
        let known = known.map(|known| known.variable.clone());
        let is_new = known.is_none();
        let variable = known.unwrap_or_else(|| self.names.take(&sent.name));
        let mut used_in = Vec::new();
        let put = form.expressions(&variable);
        let places = self.places.requests(sent, from);
        for at in places.unwrap_or_else(|| (from + 1..self.steps.len()).collect()) {
            if put_variable(&mut self.steps[at], sent, &put) {
                used_in.push(at);
            }
        }
        if used_in.is_empty() {
            return;
        }
        if !is_new {
            let mut findings = self.findings.iter_mut();
            if let Some(finding) = findings.find(|finding| finding.variable == variable) {
                finding.used_in.extend(used_in);
                finding.used_in.sort_unstable();
                finding.used_in.dedup();
            }
            return;
        }
        self.steps[from].extractors.push(Extractor {
            variable: variable.clone(),
            source,
        });
        let is_confirmed = other.is_some();
        if let Some(other) = other {
            self.known.push(KnownVariable {
                variable: variable.clone(),
                form,
                value: sent.value.clone(),
                other,
                finding: Some(self.findings.len()),
                meaning: None,
            });
        }
        self.findings.push(Finding {
            variable,
            value: sent.value.clone(),
            from,
            used_in,
            is_confirmed,
        });
    }

    /// Handles a value that no response contained: the client generated it, or the user brought it along.
    fn bring(&mut self, sent: &Sent, other: Option<String>, place: usize) {
        match self.client_made(sent, place) {
            Some(call) => {
                put_expression(&mut self.steps[place], sent, call, call);
            }
            None => self.bring_column(sent, other, place),
        }
    }

    /// The function for a value that no response contained: a UUID that is sent once, or the time of the request.
    fn client_made(&self, sent: &Sent, place: usize) -> Option<&'static str> {
        let value = sent.value.as_str();
        let is_uuid = value.len() == 36
            && value.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        let sends = |at: &usize| {
            let all = sent::values(&self.steps[*at].request);
            *at != place && all.iter().any(|one| one.value == value)
        };
        if is_uuid {
            let senders = self.places.requests(sent, 0).map(|mut after| {
                after.push(0);
                after
            });
            let senders = senders.unwrap_or_else(|| (0..self.steps.len()).collect());
            if !senders.iter().any(sends) {
                return Some("${__UUID}");
            }
        }
        // From 2015 to 2040.
        let number: i64 = value.parse().ok()?;
        match value.len() {
            13 if (1_420_000_000_000..2_209_000_000_000).contains(&number) => Some("${__time()}"),
            10 if (1_420_000_000..2_209_000_000).contains(&number) && sent.is_field => {
                Some("${__time(/1000)}")
            }
            _ => None,
        }
    }
}

/// Replaces a distinctive value everywhere, and a short one only where it is sent under its name.
fn put_variable(step: &mut DraftStep, sent: &Sent, expressions: &Expressions) -> bool {
    let Expressions {
        plain: expression,
        encoded: call,
    } = expressions;
    if let Some(number) = sent.segment {
        return put_into_segment(&mut step.request.address.path, number, sent, expression);
    }
    let value = sent.value.as_str();
    if !is_telling(value) {
        let in_json = json::escaping_call(expression, &[value]);
        let in_json = in_json.as_deref().unwrap_or(expression);
        return put_expression(step, sent, expression, in_json);
    }
    let encoded = url::encode(value);
    let request = &mut step.request;
    let mut put = false;
    if encoded != value {
        put |= request.address.path.replace(&encoded, call);
    }
    put |= request.address.path.replace(value, expression);
    for (_, field) in &mut request.headers {
        put |= field.replace(value, expression);
    }
    match &mut request.body {
        RequestBody::Raw(text) => {
            if encoded != value {
                put |= text.replace(&encoded, call);
            }
            put |= text.replace(value, expression);
        }
        RequestBody::Form(fields) => {
            for (_, field) in fields {
                put |= field.replace(value, expression);
            }
        }
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { value: field, .. } = part {
                    put |= field.replace(value, expression);
                }
            }
        }
        RequestBody::None | RequestBody::File { .. } => {}
    }
    put
}

/// Puts an expression into a field that has this name and exactly this value. `in_json` is the expression within JSON.
fn put_expression(step: &mut DraftStep, sent: &Sent, expression: &str, in_json: &str) -> bool {
    let request = &mut step.request;
    let mut put = false;
    put |= put_into_query(&mut request.address.path, sent, expression);
    match &mut request.body {
        RequestBody::Form(fields) => {
            for (name, field) in fields {
                if name.literal() == Some(&sent.field) && field.literal() == Some(&sent.value) {
                    *field = PlanText::expression(expression);
                    put = true;
                }
            }
        }
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { name, value, .. } = part
                    && name.literal() == Some(&sent.field)
                    && value.literal() == Some(&sent.value)
                {
                    *value = PlanText::expression(expression);
                    put = true;
                }
            }
        }
        RequestBody::Raw(text) => put |= json::put_into_json(text, sent, in_json),
        RequestBody::None | RequestBody::File { .. } => {}
    }
    put
}

/// Marks the position of a value that is being replaced. No recorded text contains this character.
const MARK: &str = "\u{1}";

/// Replaces the segment with this number in a path, if it equals the value.
fn put_into_segment(path: &mut PlanText, number: usize, sent: &Sent, expression: &str) -> bool {
    let template = path.template();
    let before = template.split('?').next().unwrap_or("");
    if before.split('/').nth(number) != Some(sent.value.as_str()) {
        return false;
    }
    // Earlier segments may already be variables, which contain no slash.
    let slashes = std::cell::Cell::new(0);
    let marked = path.map_literals(|literal| {
        let segments = literal.split('/').enumerate().map(|(at, segment)| {
            if at > 0 {
                slashes.set(slashes.get() + 1);
            }
            let (bare, rest) = segment.split_at(segment.find('?').unwrap_or(segment.len()));
            match slashes.get() == number && bare == sent.value {
                true => format!("{MARK}{rest}"),
                false => segment.to_owned(),
            }
        });
        segments.collect::<Vec<_>>().join("/")
    });
    *path = marked;
    path.replace(MARK, expression)
}

/// `name=value` in the query of a path.
fn put_into_query(path: &mut PlanText, sent: &Sent, expression: &str) -> bool {
    let is_meant = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
        !sent.field.is_empty()
            && url::decode(name) == sent.field
            && url::decode(value) == sent.value
    };
    let marked = |literal: &str| {
        let mut out = String::new();
        for (place, parameter) in literal.split_inclusive(['?', '&']).enumerate() {
            let bare = parameter.trim_end_matches(['?', '&']);
            // The text before the first separator is a path, or the rest of another parameter.
            if (place > 0 || literal.starts_with('&')) && is_meant(bare) {
                let name = bare.split('=').next().unwrap_or("");
                out.push_str(&format!("{name}={MARK}{}", &parameter[bare.len()..]));
            } else {
                out.push_str(parameter);
            }
        }
        out
    };
    *path = path.map_literals(marked);
    path.replace(MARK, &encoded_call(&sent.value, expression))
}

/// The expression for an address. Text that people type may need encoding there; tokens and numbers do not.
fn encoded_call(value: &str, expression: &str) -> String {
    match url::encode(value) == value && !expression.contains("__") && names::is_identifier(value) {
        true => expression.to_owned(),
        false if expression.starts_with("${__") => expression.to_owned(),
        false => format!("${{__urlencode({expression})}}"),
    }
}

#[cfg(test)]
mod tests;
