//! Where each sent value occurs, found in one pass over the recording: without it, every value would be searched for in every
//! response.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::form::FORMS;
use super::search::{self, is_same_name, plain_name};
use super::sent::{self, Sent};
use crate::draft::DraftStep;
use crate::exchange::{FormPart, Request, RequestBody, Response};
use crate::text::PlanText;
use crate::url;

/// The steps in which a value may be found or sent, in order.
#[derive(Debug, Default)]
pub(super) struct ValuePlaces {
    is_telling: bool,
    /// The names under which it is sent.
    names: HashSet<String>,
    /// The steps whose responses may hold it.
    responses: Vec<usize>,
    /// The steps whose requests may hold it.
    requests: Vec<usize>,
}

/// The places of all values of a recording.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<String, ValuePlaces>);

impl Places {
    pub fn of(steps: &[DraftStep]) -> Places {
        let mut places: HashMap<String, ValuePlaces> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            for Sent { value, field, .. } in sent::values(&step.request) {
                let telling = sent::is_telling(&value);
                let place = places.entry(value).or_default();
                place.is_telling = telling;
                place.names.insert(plain_name(&field));
                push(&mut place.requests, at);
            }
        }
        let values: Vec<String> = places.keys().cloned().collect();
        let mut places: Vec<ValuePlaces> = places.into_values().collect();
        let needles = Needles::of(&values, &places);
        for (at, step) in steps.iter().enumerate() {
            each_text(&step.request, |text| {
                needles.each_in(text, |value| push(&mut places[value].requests, at));
            });
            if let Some(response) = &step.response {
                needles.each_found(response, |value, name| {
                    let place = &mut places[value];
                    let is_named =
                        |name: &str| place.names.contains(name) && is_same_name(name, name);
                    if place.is_telling || name.is_some_and(|name| is_named(&name)) {
                        push(&mut place.responses, at);
                    }
                });
            }
        }
        Places(values.into_iter().zip(places).collect())
    }

    /// The steps before `place` whose responses may hold a value; `None` if all may.
    pub fn responses(&self, sent: &Sent, place: usize) -> Option<Vec<usize>> {
        let known = self.0.get(&sent.value)?;
        let is_known = known.is_telling || known.names.contains(&plain_name(&sent.field));
        let before = known.responses.iter().take_while(|at| **at < place);
        is_known.then(|| before.copied().collect())
    }

    /// The steps after `from` whose requests may hold a value; `None` if all may.
    pub fn requests(&self, sent: &Sent, from: usize) -> Option<Vec<usize>> {
        let known = self.0.get(&sent.value)?;
        let after = known.requests.iter().filter(|at| **at > from);
        Some(after.copied().collect())
    }
}

/// Adds a step to a list in order, once.
fn push(steps: &mut Vec<usize>, at: usize) {
    match steps.binary_search(&at) {
        Ok(_) => {}
        Err(place) => steps.insert(place, at),
    }
}

/// Calls `see` for each literal text of a request that may hold a value.
fn each_text(request: &Request, mut see: impl FnMut(&str)) {
    let mut all = |text: &PlanText| text.literals().for_each(&mut see);
    all(&request.address.path);
    request.headers.iter().for_each(|(_, value)| all(value));
    match &request.body {
        RequestBody::Raw(text) => all(text),
        RequestBody::Form(fields) => fields.iter().for_each(|(_, value)| all(value)),
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { value, .. } = part {
                    all(value);
                }
            }
        }
        RequestBody::None | RequestBody::File { .. } => {}
    }
}

/// The bytes with which a needle is recognised before it is compared.
const GRAM: usize = 4;
/// The size of the set of such beginnings; two may share a place.
const GRAMS: usize = 1 << 16;

/// The spellings of all values, to be found in texts in one pass.
struct Needles {
    /// Whether any distinctive spelling may begin with these bytes.
    grams: Vec<bool>,
    /// The lengths of the distinctive spellings.
    lengths: Vec<usize>,
    /// The values with a spelling.
    spellings: HashMap<Vec<u8>, Vec<usize>>,
    /// The values with a distinctive spelling.
    telling: HashMap<Vec<u8>, Vec<usize>>,
}

impl Needles {
    fn of(values: &[String], places: &[ValuePlaces]) -> Needles {
        let mut needles = Needles {
            grams: vec![false; GRAMS],
            lengths: Vec::new(),
            spellings: HashMap::new(),
            telling: HashMap::new(),
        };
        for (at, value) in values.iter().enumerate() {
            let forms = FORMS.iter().flat_map(|form| form.written(value));
            for spelling in forms.chain([url::encode(value)]) {
                let bytes = spelling.into_bytes();
                if places[at].is_telling && bytes.len() >= GRAM {
                    needles.grams[gram(&bytes)] = true;
                    needles.lengths.push(bytes.len());
                    push(needles.telling.entry(bytes.clone()).or_default(), at);
                }
                push(needles.spellings.entry(bytes).or_default(), at);
            }
        }
        needles.lengths.sort_unstable();
        needles.lengths.dedup();
        needles
    }

    /// Calls `see` for each distinctive value in a text.
    fn each_in(&self, text: &str, mut see: impl FnMut(usize)) {
        let bytes = text.as_bytes();
        for (at, start) in bytes.windows(GRAM).enumerate() {
            if !self.grams[gram(start)] {
                continue;
            }
            let rest = &bytes[at..];
            for length in self
                .lengths
                .iter()
                .take_while(|length| **length <= rest.len())
            {
                if let Some(values) = self.telling.get(&rest[..*length]) {
                    values.iter().for_each(|value| see(*value));
                }
            }
        }
    }

    /// Calls `see` for each value that a response may hold, with the name under which it holds it.
    fn each_found(&self, response: &Response, mut see: impl FnMut(usize, Option<String>)) {
        for (_, content) in &response.headers {
            self.each_in(content, |value| see(value, None));
        }
        let body = search::searched(response);
        self.each_in(body, |value| see(value, None));
        let mut exactly = |text: &str, name: &str| {
            for value in self.spellings.get(text.as_bytes()).into_iter().flatten() {
                see(*value, Some(plain_name(name)));
            }
        };
        if let Some(json) = search::json(body) {
            each_leaf(&json, "", &mut exactly);
        }
        if search::is_markup(body, response) {
            for tag in drumfire_query::page::tags(body) {
                let name = tag.attribute("name").unwrap_or("");
                tag.attributes
                    .iter()
                    .for_each(|(_, value)| exactly(value, name));
            }
        }
    }
}

fn each_leaf(json: &Value, key: &str, see: &mut impl FnMut(&str, &str)) {
    match json {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| each_leaf(value, name, see)),
        Value::Array(items) => items.iter().for_each(|item| each_leaf(item, key, see)),
        Value::String(text) => see(text, key),
        Value::Number(number) => see(&number.to_string(), key),
        Value::Bool(_) | Value::Null => {}
    }
}

/// The place of a beginning in the set.
fn gram(bytes: &[u8]) -> usize {
    let number = bytes[..GRAM]
        .iter()
        .fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    (number.wrapping_mul(0x9E37_79B1) >> 16) as usize
}
