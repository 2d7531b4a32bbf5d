//! The responses that may hold each sent value, found in one pass over the recording: without it, every value would be searched for
//! in every response.

use std::collections::{HashMap, HashSet};

use super::form::FORMS;
use super::held;
use super::search::Wanted;
use super::sent::Sent;
use crate::draft::DraftStep;
use crate::exchange::Response;
use crate::url;

/// The steps whose responses may hold a value, in order.
#[derive(Debug, Default)]
struct ValuePlaces {
    is_telling: bool,
    /// The names under which it is sent.
    names: HashSet<String>,
    /// The steps that hold it somewhere, if it is distinctive.
    anywhere: Vec<usize>,
    /// The steps that hold it as a value of its own.
    exact: Vec<usize>,
    /// The steps that hold it under a name.
    named: HashMap<String, Vec<usize>>,
    /// Whether a file that all visitors load holds it.
    is_shared: bool,
}

/// The places of all values of a recording.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<String, ValuePlaces>);

impl Places {
    /// `shared` are the texts of files that are the same for all visitors.
    pub fn of(steps: &[DraftStep], sent: &[Vec<Sent>], shared: &[String]) -> Places {
        let mut places: HashMap<String, ValuePlaces> = HashMap::new();
        for sent in sent.iter().flatten() {
            let value_places = places.entry(sent.value.clone()).or_default();
            value_places.is_telling |= sent.is_telling();
            value_places.names.extend(sent.names.iter().cloned());
        }
        let values: Vec<String> = places.keys().cloned().collect();
        let mut places: Vec<ValuePlaces> = places.into_values().collect();
        let needles = Needles::of(&values, &places);
        for text in shared {
            needles.each_in(text, |value| places[value].is_shared = true);
        }
        for (at, step) in steps.iter().enumerate() {
            let Some(response) = &step.response else {
                continue;
            };
            needles.each_text(response, |value| push(&mut places[value].anywhere, at));
            held::each(response, &step.request, &mut |held| {
                let spelled = needles.spellings.get(held.text.as_bytes());
                for value in spelled.into_iter().flatten() {
                    let holders = &mut places[*value];
                    push(&mut holders.exact, at);
                    if holders.is_telling {
                        push(&mut holders.anywhere, at);
                    }
                    if holders.names.is_empty() {
                        continue;
                    }
                    for name in held.names() {
                        if holders.names.contains(&name) {
                            push(holders.named.entry(name).or_default(), at);
                        }
                    }
                }
                false
            });
        }
        Places(values.into_iter().zip(places).collect())
    }

    /// The steps before `place` whose responses may hold a value, in order.
    pub fn responses(&self, wanted: &Wanted<'_>, place: usize) -> Vec<usize> {
        let Some(holders) = self.0.get(&wanted.sent.value) else {
            return Vec::new();
        };
        let mut all: Vec<usize> = Vec::new();
        if wanted.is_telling || wanted.is_proved {
            all.extend(&holders.anywhere);
        }
        if wanted.is_proved {
            all.extend(&holders.exact);
        }
        for name in wanted.names {
            all.extend(holders.named.get(name).into_iter().flatten());
        }
        all.retain(|at| *at < place);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a response before `place` holds a value under one of its names.
    pub fn is_held(&self, sent: &Sent, place: usize) -> bool {
        let places_of_value = self.0.get(&sent.value);
        places_of_value.is_some_and(|known| {
            let named = sent.names.iter().filter_map(|name| known.named.get(name));
            named.flatten().any(|at| *at < place)
        })
    }

    /// Whether all visitors have a value.
    pub fn is_shared(&self, value: &str) -> bool {
        self.0.get(value).is_some_and(|known| known.is_shared)
    }
}

/// Adds a step to a list in order, once.
fn push(steps: &mut Vec<usize>, at: usize) {
    if steps.last() != Some(&at) {
        steps.push(at);
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

    /// Calls `see` for each distinctive value that stands anywhere in a response.
    fn each_text(&self, response: &Response, mut see: impl FnMut(usize)) {
        let hops = response.hops.iter().flat_map(|hop| &hop.headers);
        for (_, content) in response.headers.iter().chain(hops) {
            self.each_in(content, &mut see);
        }
        self.each_in(held::searched(response), &mut see);
    }
}

/// The place of a beginning in the set.
fn gram(bytes: &[u8]) -> usize {
    let number = bytes[..GRAM]
        .iter()
        .fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    (number.wrapping_mul(0x9E37_79B1) >> 16) as usize
}
