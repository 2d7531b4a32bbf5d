//! Failed samples grouped by kind, with the full first sample of each kind.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use drumfire_platform::secrets;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error_curve::ErrorCurve;
use crate::sample::Sample;

/// Limit of distinct kinds of failures; further kinds are counted together.
const MAX_KINDS: usize = 2_000;
/// Number of kinds for which the first sample is stored.
const MAX_KEPT: usize = 200;
/// Maximum length of each stored text of a failed sample, in bytes.
const KEPT_BYTES: usize = 64 << 10;
/// The same limit after the first [`MAX_LONG`] kinds, so that a recording does not grow with the size of responses.
const SHORT_BYTES: usize = 2_000;
/// Number of kinds for which long texts are stored.
const MAX_LONG: usize = 16;
/// The code that JMeter's backend listeners report for a sample that failed by an assertion (`MetricUtils.ASSERTION_FAILED`).
const ASSERTION_FAILED: &str = "Assertion failed";
/// The key that all kinds beyond [`MAX_KINDS`] share.
const OTHER_ERRORS: &str = "\0\0(other errors)";

/// Failed samples of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorKind {
    /// The samples' label; empty where kinds of all labels are counted together, and in run files of earlier versions.
    #[serde(default)]
    pub label: String,
    /// The response code.
    pub code: String,
    /// The response message, or the assertion's message if the response code is a success.
    pub message: String,
    /// How many samples.
    pub count: u64,
    /// The first of them, unless there are too many kinds.
    #[serde(default)]
    pub first: Option<Box<FailedSample>>,
    /// When they ended. An increment does not hold it, since all of its failures ended within its span.
    #[serde(skip)]
    pub curve: ErrorCurve,
}

/// A kind in a run file.
#[derive(Serialize, Deserialize)]
struct StoredKind {
    #[serde(flatten)]
    kind: ErrorKind,
    /// Run files of earlier versions have none.
    #[serde(default)]
    curve: ErrorCurve,
}

impl ErrorKind {
    /// The fields that identify a kind.
    pub(crate) fn key(&self) -> (&str, &str, &str) {
        (&self.label, &self.code, &self.message)
    }

    /// Adds failures of the same kind from another source and keeps the earlier first sample.
    pub(crate) fn absorb(&mut self, other: ErrorKind) {
        self.count = self.count.saturating_add(other.count);
        self.first = earlier(self.first.take(), other.first);
        self.curve.merge(&other.curve);
    }
}

/// Returns the earlier of two samples. If both began in the same millisecond, the result does not depend on argument order.
fn earlier(
    one: Option<Box<FailedSample>>,
    other: Option<Box<FailedSample>>,
) -> Option<Box<FailedSample>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if (one.start_ms, &one) <= (other.start_ms, &other) {
            one
        } else {
            other
        }),
        (one, other) => one.or(other),
    }
}

/// A failed sample, reduced to what reports show. Long texts are truncated, and secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedSample {
    /// Its label.
    pub label: String,
    /// Name of the virtual user's thread.
    pub thread_name: String,
    /// When it started, in milliseconds since the Unix epoch.
    pub start_ms: i64,
    /// Elapsed time, in milliseconds.
    pub elapsed_ms: i64,
    /// Its response code.
    pub code: String,
    /// Its response message.
    pub message: String,
    /// The assertions that failed, each with its message.
    pub assertions: Vec<String>,
    /// The request URL.
    pub url: String,
    /// HTTP method.
    pub method: String,
    /// Request headers.
    pub request_headers: String,
    /// Request body, or the data that a non-HTTP sampler sent.
    pub request_body: String,
    /// Response headers.
    pub response_headers: String,
    /// Response body, as far as it was read.
    pub response_body: String,
}

impl FailedSample {
    fn of(sample: &Sample, most: usize) -> FailedSample {
        let cut = |text: &str| cut(text, most);
        let masked = |text: &str| cut(&secrets::text(text));
        let text = |text: Option<&str>| masked(text.unwrap_or_default());
        let headers = |text: Option<&str>| cut(&secrets::headers(text.unwrap_or_default()));
        let body = sample.response_data.as_deref().unwrap_or_default();
        let body = String::from_utf8_lossy(&body[..body.len().min(most + 4)]);
        let failed = sample.assertions.iter().filter(|a| a.failure || a.error);
        FailedSample {
            label: cut(&secrets::addresses(&sample.label)),
            thread_name: cut(&sample.thread_name),
            start_ms: sample.start_ms,
            elapsed_ms: sample.elapsed_ms,
            code: cut(&sample.code),
            message: masked(&sample.message),
            assertions: failed
                .map(|assertion| {
                    let message = assertion.message.as_deref().unwrap_or_default();
                    match assertion.name.as_deref() {
                        Some(name) if !name.is_empty() => masked(&format!("{name}: {message}")),
                        _ => masked(message),
                    }
                })
                .collect(),
            url: text(sample.url.as_deref()),
            method: text(sample.method.as_deref()),
            request_headers: headers(sample.request_headers.as_deref()),
            request_body: text(
                sample
                    .query_string
                    .as_deref()
                    .or(sample.sampler_data.as_deref()),
            ),
            response_headers: headers(sample.response_headers.as_deref()),
            response_body: masked(&body),
        }
    }
}

/// Truncates a text to `most` bytes and appends an ellipsis if anything was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Count {
    count: u64,
    first: Option<Box<FailedSample>>,
    curve: ErrorCurve,
}

/// Failures by label and kind; kinds are distinguished as in JMeter's dashboard (`ErrorsSummaryConsumer.getErrorKey`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<StoredKind>", into = "Vec<StoredKind>")]
pub struct ErrorKinds {
    /// Keys are label, code and message, separated by NULs.
    kinds: FxHashMap<String, Count>,
    /// Reused lookup key.
    key: String,
}

impl PartialEq for ErrorKinds {
    fn eq(&self, other: &ErrorKinds) -> bool {
        self.by_label() == other.by_label()
    }
}

impl From<Vec<StoredKind>> for ErrorKinds {
    fn from(list: Vec<StoredKind>) -> ErrorKinds {
        let mut kinds = ErrorKinds::default();
        for StoredKind { kind, curve } in list {
            kinds.add_kind(ErrorKind { curve, ..kind });
        }
        kinds
    }
}

impl From<ErrorKinds> for Vec<StoredKind> {
    fn from(kinds: ErrorKinds) -> Vec<StoredKind> {
        let stored = kinds.by_label().into_iter().map(|mut kind| StoredKind {
            curve: std::mem::take(&mut kind.curve),
            kind,
        });
        stored.collect()
    }
}

impl ErrorKinds {
    /// Counts a failed sample, also in the curve of its kind.
    pub fn add(&mut self, sample: &Sample) {
        self.name(sample);
        self.count(sample, Some(sample.end_ms));
    }

    /// Counts a failed sample of the span that is under way, without a curve. Allocates only for a new kind.
    pub(crate) fn add_within_span(&mut self, sample: &Sample) {
        self.name(sample);
        self.count(sample, None);
    }

    /// Sets the key to the kind of a sample.
    fn name(&mut self, sample: &Sample) {
        self.key.clear();
        for part in [&sample.label, "\0", &sample.code, "\0"] {
            self.key.push_str(part);
        }
        self.key.push_str(error_message(sample));
    }

    /// Counts a failed sample as JMeter's backend listeners do (`ErrorMetric`): an assertion's message takes precedence over
    /// the code.
    pub(crate) fn add_heard(&mut self, sample: &Sample) {
        let assertion = sample.first_assertion_message();
        let (code, message) = match assertion.filter(|message| !message.is_empty()) {
            Some(message) => (ASSERTION_FAILED, message),
            None => (sample.code.as_str(), sample.message.as_ref()),
        };
        self.key.clear();
        for part in [&sample.label, "\0", code, "\0", message] {
            self.key.push_str(part);
        }
        self.count(sample, None);
    }

    /// Counts a failed sample under the current key, and in its curve if a time is given.
    fn count(&mut self, sample: &Sample, end_ms: Option<i64>) {
        if let Some(kind) = self.kinds.get_mut(self.key.as_str()) {
            kind.add_one(end_ms);
            return;
        }
        if let Cow::Owned(masked) = masked_key(&self.key) {
            self.key = masked;
            if let Some(kind) = self.kinds.get_mut(self.key.as_str()) {
                kind.add_one(end_ms);
                return;
            }
        }
        let most = match self.kinds.len() {
            0..MAX_LONG => KEPT_BYTES,
            _ => SHORT_BYTES,
        };
        let is_kept = self.kinds.len() < MAX_KEPT;
        let first = is_kept.then(|| Box::new(FailedSample::of(sample, most)));
        let mut count = Count {
            first,
            ..Count::default()
        };
        count.add_one(end_ms);
        self.merge(self.key.clone(), count);
    }

    /// Counts the failures of a kind.
    pub fn add_kind(&mut self, kind: ErrorKind) {
        let key = format!("{}\0{}\0{}", kind.label, kind.code, kind.message);
        let count = Count {
            count: kind.count,
            first: kind.first,
            curve: kind.curve,
        };
        self.merge(key, count);
    }

    /// Counts the failures of a kind that ended in the second at this time.
    pub(crate) fn add_kind_at(&mut self, mut kind: ErrorKind, at_ms: i64) {
        kind.curve.add(at_ms, kind.count);
        if let Some(first) = &kind.first {
            kind.curve.first_ms = first.start_ms.saturating_add(first.elapsed_ms);
            kind.curve.last_ms = kind.curve.last_ms.max(kind.curve.first_ms);
        }
        self.add_kind(kind);
    }

    /// Drops the stored samples and keeps the counts.
    pub fn forget_samples(&mut self) {
        for kind in self.kinds.values_mut() {
            kind.first = None;
        }
    }

    /// The kinds summed over all labels, most frequent first.
    pub fn list(&self) -> Vec<ErrorKind> {
        let mut together: Vec<ErrorKind> = Vec::new();
        let mut places: FxHashMap<(String, String), usize> = FxHashMap::default();
        for mut kind in self.by_label() {
            kind.label = String::new();
            let key = (kind.code.clone(), kind.message.clone());
            match places.entry(key) {
                Entry::Occupied(place) => together[*place.get()].absorb(kind),
                Entry::Vacant(place) => {
                    place.insert(together.len());
                    together.push(kind);
                }
            }
        }
        sort(&mut together);
        together
    }

    /// The kinds of each label, most frequent first.
    pub fn by_label(&self) -> Vec<ErrorKind> {
        let occurred = self.kinds.iter().filter(|(_, kind)| kind.count > 0);
        let mut list: Vec<ErrorKind> = occurred
            .map(|(key, kind)| error_kind(key, kind.clone()))
            .collect();
        sort(&mut list);
        list
    }

    /// Takes all counts, ordered by label, code and message. The kinds remain known, so that the next sample of a kind is not
    /// stored as its first.
    pub(crate) fn drain(&mut self) -> Vec<ErrorKind> {
        let counted = self.kinds.iter_mut().filter(|(_, kind)| kind.count > 0);
        let mut list: Vec<ErrorKind> = counted
            .map(|(key, kind)| error_kind(key, std::mem::take(kind)))
            .collect();
        list.sort_by(|a, b| a.key().cmp(&b.key()));
        list
    }

    /// Adds all counts of `other`.
    pub fn merge_all(&mut self, other: &ErrorKinds) {
        for kind in other.by_label() {
            self.add_kind(kind);
        }
    }

    fn merge(&mut self, key: String, count: Count) {
        let key = if self.kinds.len() < MAX_KINDS || self.kinds.contains_key(&key) {
            key
        } else {
            OTHER_ERRORS.to_owned()
        };
        self.kinds.entry(key).or_default().add(count);
    }
}

/// A key whose label and message tell no secrets.
fn masked_key(key: &str) -> Cow<'_, str> {
    match key.split_once('\0') {
        Some((label, rest)) => match (secrets::addresses(label), secrets::text(rest)) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(key),
            (label, rest) => Cow::Owned(format!("{label}\0{rest}")),
        },
        None => Cow::Borrowed(key),
    }
}

fn error_kind(key: &str, count: Count) -> ErrorKind {
    let mut parts = key.splitn(3, '\0').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    ErrorKind {
        label: next(),
        code: next(),
        message: next(),
        count: count.count,
        first: count.first,
        curve: count.curve,
    }
}

fn sort(list: &mut [ErrorKind]) {
    list.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key().cmp(&b.key())));
}

impl Count {
    /// Adds another count and keeps the earlier first sample.
    fn add(&mut self, other: Count) {
        self.count = self.count.saturating_add(other.count);
        self.first = earlier(self.first.take(), other.first);
        self.curve.merge(&other.curve);
    }

    fn add_one(&mut self, end_ms: Option<i64>) {
        self.count += 1;
        if let Some(end_ms) = end_ms {
            self.curve.add(end_ms, 1);
        }
    }
}

/// The message that identifies and describes a failed sample, in addition to its code.
pub(crate) fn error_message(sample: &Sample) -> &str {
    let assertion = sample
        .first_assertion_message()
        .filter(|message| !message.trim().is_empty());
    let code = sample.code.as_str();
    if is_success_code(code) || (code.is_empty() && assertion.is_some()) {
        assertion.unwrap_or("Assertion failed")
    } else {
        &sample.message
    }
}

/// Codes from 200 to 399 (`MetricUtils.isSuccessCode`).
fn is_success_code(code: &str) -> bool {
    code.bytes().all(|byte| byte.is_ascii_digit()) && matches!(code.parse::<u32>(), Ok(200..=399))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::AssertionResult;

    fn sample(start_ms: i64) -> Sample {
        let mut sample = Sample::new("a".into(), "t".into());
        sample.start_ms = start_ms;
        sample
    }

    #[test]
    fn failures_are_told_apart_as_in_the_dashboard() {
        let mut kinds = ErrorKinds::default();
        let mut add =
            |code: &'static str, message: &'static str, assertion: Option<&'static str>| {
                let mut one = sample(1_000);
                (one.code, one.message) = (code.into(), message.into());
                one.apply_assertion(AssertionResult {
                    failure: true,
                    message: assertion.map(Into::into),
                    ..AssertionResult::default()
                });
                kinds.add(&one);
            };
        add("500", "Oops", Some("not shown"));
        add("500", "Oops", None);
        add("200", "OK", Some("expected x"));
        add("200", "OK", Some(" "));
        add("", "", Some("told"));
        let list: Vec<String> = kinds
            .list()
            .iter()
            .map(|k| format!("{} {}/{}", k.count, k.code, k.message))
            .collect();
        assert_eq!(
            list,
            [
                "2 500/Oops",
                "1 /told",
                "1 200/Assertion failed",
                "1 200/expected x"
            ]
        );
    }

    #[test]
    fn kinds_are_told_by_label_and_together() {
        let mut kinds = ErrorKinds::default();
        for (label, times) in [("a", 1), ("b", 2)] {
            let mut one = sample(1_000);
            (one.label, one.code) = (label.into(), "500".into());
            (0..times).for_each(|_| kinds.add(&one));
        }
        let told = |list: Vec<ErrorKind>| -> Vec<(String, u64)> {
            list.into_iter()
                .map(|kind| (kind.label, kind.count))
                .collect()
        };
        assert_eq!(told(kinds.list()), [(String::new(), 3)]);
        assert_eq!(
            told(kinds.by_label()),
            [("b".to_owned(), 2), ("a".to_owned(), 1)]
        );
    }

    #[test]
    fn kinds_are_bounded() {
        let mut kinds = ErrorKinds::default();
        for i in 0..MAX_KINDS + 50 {
            let mut one = sample(1_000);
            one.code = format!("{i}").into();
            kinds.add(&one);
        }
        let list = kinds.list();
        assert_eq!(list.len(), MAX_KINDS + 1);
        assert_eq!(
            (list[0].message.as_str(), list[0].count),
            ("(other errors)", 50)
        );
        assert_eq!(
            list.iter().filter(|kind| kind.first.is_some()).count(),
            MAX_KEPT
        );
    }

    #[test]
    fn the_first_sample_of_a_kind_is_kept_in_full() {
        let (mut all, mut worker) = (ErrorKinds::default(), ErrorKinds::default());
        let mut first = sample(5_000);
        first.code = "500".into();
        first.url = Some("http://127.0.0.1/x".into());
        first.response_data = Some(vec![b'x'; 70_000].into());
        worker.add(&first);
        worker
            .drain()
            .into_iter()
            .for_each(|kind| all.add_kind(kind));
        let mut later = first.clone();
        later.start_ms = 9_000;
        worker.add(&later);
        worker
            .drain()
            .into_iter()
            .for_each(|kind| all.add_kind(kind));
        let list = all.list();
        assert_eq!((list.len(), list[0].count), (1, 2));
        let kept = list[0].first.as_ref().expect("the first sample");
        assert_eq!(
            (kept.start_ms, kept.url.as_str()),
            (5_000, "http://127.0.0.1/x")
        );
        assert_eq!(kept.response_body.len(), KEPT_BYTES + "…".len());
        assert!(worker.list().is_empty());
    }

    #[test]
    fn error_kinds_read_back_as_they_were_written() {
        let mut kinds = ErrorKinds::default();
        kinds.add(&sample(1));
        let text = serde_json::to_string(&kinds).expect("texts can be written");
        let read: ErrorKinds = serde_json::from_str(&text).expect("what was written can be read");
        assert_eq!(read.list(), kinds.list());
        assert!(!read.list()[0].curve.is_empty());
        let earlier = r#"[{"code": "500", "message": "Oops", "count": 3}]"#;
        let read: ErrorKinds = serde_json::from_str(earlier).expect("earlier files can be read");
        assert_eq!(
            (read.list()[0].count, read.list()[0].curve.is_empty()),
            (3, true)
        );
    }
}
