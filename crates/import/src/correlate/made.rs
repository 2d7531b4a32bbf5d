//! Values that the client makes itself: UUIDs, times, and random ids of requests. They become functions.

use std::collections::HashMap;

use jiff::Timestamp;

use super::relation;
use super::sent::Sent;
use super::worth::is_random;
use crate::draft::DraftStep;

/// How often each random value is sent, and whether responses could be searched for it.
#[derive(Debug, Default)]
pub struct MadeValues {
    counts: HashMap<String, usize>,
    has_bodies: bool,
}

/// The longest time between a moment that a client puts into a request and the request itself.
const LONGEST_DELAY_MS: i64 = 10 * 60 * 1000;

/// Names of things that exist before the visit: a UUID of one is not made by the client.
const EXISTING: [&str; 26] = [
    "client",
    "app",
    "application",
    "tenant",
    "org",
    "organization",
    "organisation",
    "account",
    "product",
    "category",
    "store",
    "shop",
    "site",
    "user",
    "customer",
    "project",
    "workspace",
    "team",
    "channel",
    "item",
    "plan",
    "price",
    "api",
    "merchant",
    "publishable",
    "environment",
];

/// Words of names of ids that clients make for their requests.
const OF_REQUESTS: [&str; 12] = [
    "request",
    "idempotency",
    "correlation",
    "trace",
    "message",
    "event",
    "transaction",
    "clientref",
    "reference",
    "nonce",
    "dedupe",
    "operation",
];

impl MadeValues {
    pub fn of(steps: &[DraftStep], sent: &[Vec<Sent>]) -> MadeValues {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for sent in sent.iter().flatten().filter(|sent| is_random(&sent.value)) {
            *counts.entry(sent.value.clone()).or_default() += 1;
        }
        let has_bodies = steps.len() < 2
            || steps.iter().any(|step| {
                let response = step.response.as_ref();
                response.is_some_and(|response| response.body.is_some())
            });
        MadeValues { counts, has_bodies }
    }

    /// Whether a value is sent in one place only.
    pub fn is_once(&self, value: &str) -> bool {
        self.counts.get(value).is_none_or(|count| *count < 2)
    }

    /// The function that makes a value that no response held before; `None` if the client did not make it.
    pub fn function(&self, sent: &Sent, step: &DraftStep) -> Option<String> {
        let is_own = sent.is_field || sent.is_header || sent.label.is_some();
        if !is_own {
            return None;
        }
        time(&sent.value, step.sent_at_ms)
            .or_else(|| uuid(sent).filter(|_| self.has_bodies))
            .or_else(|| id_of_request(sent))
    }
}

fn uuid(sent: &Sent) -> Option<String> {
    let value = sent.value.as_str();
    let is_uuid = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let name = if sent.field.is_empty() {
        &sent.name
    } else {
        &sent.field
    };
    let words = relation::words(name);
    let exists = match words.as_slice() {
        [before, last] => {
            EXISTING.contains(&before.as_str())
                && ["id", "uuid", "guid", "key"].contains(&last.as_str())
        }
        [word] => EXISTING.contains(&word.as_str()),
        _ => false,
    };
    if !is_uuid || exists {
        return None;
    }
    let is_upper = value.bytes().any(|byte| byte.is_ascii_uppercase());
    Some(if is_upper {
        "${__changeCase(${__UUID},UPPER,)}".to_owned()
    } else {
        "${__UUID}".to_owned()
    })
}

/// Random letters and digits under the name of an id of a request.
fn id_of_request(sent: &Sent) -> Option<String> {
    let value = sent.value.as_str();
    let words = relation::words(if sent.field.is_empty() {
        &sent.name
    } else {
        &sent.field
    });
    let plain = words.concat();
    let is_named = OF_REQUESTS.iter().any(|word| plain.contains(word));
    if !is_named || !is_random(value) || value.len() < 12 {
        return None;
    }
    let all = |test: fn(u8) -> bool| value.bytes().all(test);
    let letters = if all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        "0123456789abcdef"
    } else if all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
        "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    } else if all(|byte| byte.is_ascii_alphanumeric()) {
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    } else {
        return None;
    };
    Some(format!("${{__RandomString({},{letters})}}", value.len()))
}

/// The function for the time of the request, in the form that the client sent.
fn time(value: &str, sent_at_ms: Option<i64>) -> Option<String> {
    let is_now = |time_ms: i64| match sent_at_ms {
        Some(sent_at_ms) => (sent_at_ms - time_ms).abs() <= LONGEST_DELAY_MS,
        // From 2015 to 2040.
        None => (1_420_000_000_000..2_209_000_000_000).contains(&time_ms),
    };
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = value.parse().ok()?;
        return match value.len() {
            13 => is_now(number).then(|| "${__time()}".to_owned()),
            10 => is_now(number * 1000).then(|| "${__time(/1000)}".to_owned()),
            _ => None,
        };
    }
    let moment: Timestamp = value.parse().ok()?;
    if sent_at_ms.is_none() || !is_now(moment.as_millisecond()) {
        return None;
    }
    let fraction = match value.get(19..20) {
        Some(".") => {
            let digits = value[20..].bytes().take_while(u8::is_ascii_digit).count();
            format!(".{}", "S".repeat(digits.min(3)))
        }
        _ => String::new(),
    };
    // `XXX` is `Z` where the zone is UTC, and its offset elsewhere: the same moment either way.
    Some(format!("${{__time(yyyy-MM-dd'T'HH:mm:ss{fraction}XXX)}}"))
}
