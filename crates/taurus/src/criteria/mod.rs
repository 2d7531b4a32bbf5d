//! Criteria of `passfail`: `avg-rt of Login>150ms for 10s, stop as failed`.

mod told;

use std::collections::VecDeque;

use serde_json::Value;

use crate::amount::seconds;
use crate::error::TaurusError;
use crate::value::{Table, flag, text, text_or};

/// The metric that a criterion judges.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Mean response time in seconds.
    ResponseTime,
    /// Mean time to the first byte in seconds.
    Latency,
    /// Mean time to the connection in seconds.
    ConnectTime,
    /// Standard deviation of the response time in seconds.
    Deviation,
    /// Percentile of the response time in seconds.
    Percentile(f64),
    /// Users.
    Users,
    /// Samples.
    Hits,
    /// Bytes received.
    Bytes,
    /// Successful samples.
    Successes,
    /// Failed samples.
    Failures,
    /// Samples whose response code matches a pattern of `?` and `*`.
    Code(String),
}

/// The metrics of one second, or of the whole run.
pub trait Numbers {
    /// The metric of a label, or of all samples if the label is empty; `None` if the label did not
    /// occur.
    fn of(&self, label: &str, subject: &Subject) -> Option<f64>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Logic {
    For,
    Within,
    Over,
}

/// A criterion and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    subject: Subject,
    label: String,
    condition: String,
    threshold: f64,
    is_share: bool,
    logic: Logic,
    /// In seconds; 0 for the whole run.
    window: f64,
    /// Whether meeting the criterion stops the run.
    pub stops: bool,
    /// Whether meeting the criterion fails the run.
    pub fails: bool,
    /// The criterion as written in the configuration, or its own message.
    pub shown: String,
    /// The metric as written.
    subject_text: String,
    /// The message that the configuration gives.
    message: Option<String>,
    start: Option<i64>,
    points: VecDeque<(i64, f64)>,
    /// The value that met the criterion, or else the worst so far.
    worst: Option<f64>,
    /// In how many seconds the metric had a value.
    judged_s: u32,
    /// Whether the criterion was met.
    pub is_met: bool,
}

/// All criteria of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Criteria {
    /// In the order of the configuration.
    pub all: Vec<Criterion>,
}

impl Criteria {
    /// Judges one second, counted from the epoch. Returns the criteria that are newly met.
    pub fn second(&mut self, second: i64, numbers: &dyn Numbers) -> Vec<&Criterion> {
        let mut met = Vec::new();
        for criterion in &mut self.all {
            if criterion.window > 0.0 && criterion.judge(second, numbers) {
                met.push(&*criterion);
            }
        }
        met
    }

    /// Judges the whole run. Returns the criteria that are newly met.
    pub fn end(&mut self, numbers: &dyn Numbers) -> Vec<&Criterion> {
        let mut met = Vec::new();
        for criterion in &mut self.all {
            if criterion.window == 0.0 && criterion.judge(0, numbers) {
                met.push(&*criterion);
            }
        }
        met
    }

    /// Reads criteria from a list, or from a table of messages.
    pub(crate) fn read(&mut self, written: &Value) -> Result<(), TaurusError> {
        match written {
            Value::Array(all) => {
                for one in all {
                    self.all.push(Criterion::of(one, None)?);
                }
            }
            Value::Object(all) => {
                for (message, one) in all {
                    self.all.push(Criterion::of(one, Some(message))?);
                }
            }
            Value::Null => {}
            one => self.all.push(Criterion::of(one, None)?),
        }
        Ok(())
    }
}

impl Criterion {
    fn of(written: &Value, message: Option<&str>) -> Result<Criterion, TaurusError> {
        let mut table = match written {
            Value::Object(table) => table.clone(),
            other => from_text(&text(other))?,
        };
        if let Some(message) = message {
            table.insert("message".to_owned(), message.into());
        }
        let needed = |key: &str| {
            table
                .get(key)
                .filter(|value| !value.is_null())
                .map(text)
                .ok_or_else(|| {
                    TaurusError::new(format!("a criterion lacks its {key}: `{}`", text(written)))
                        .hint(HINT)
                })
        };
        let subject = needed("subject")?;
        let threshold = needed("threshold")?;
        let condition = needed("condition")?;
        if !["=", "==", ">", ">=", "<", "<="].contains(&condition.as_str()) {
            return Err(TaurusError::new(format!("`{condition}` is not a condition")).hint(HINT));
        }
        let label = text_or(&table, "label", "").trim().to_owned();
        let read = read_subject(&subject)?;
        let is_share = threshold.ends_with('%');
        read.check(&subject, &threshold, &label)?;
        let number = match &read {
            Subject::Bytes => bytes(&threshold),
            _ => seconds(threshold.trim_end_matches('%')),
        };
        let time = |key: &str| seconds(&text_or(&table, key, "0")).map_err(TaurusError::new);
        Ok(Criterion {
            threshold: number.map_err(TaurusError::new)?,
            is_share,
            logic: logic(&text_or(&table, "logic", "for"))?,
            window: time("timeframe")?,
            stops: flag(&table, "stop", true),
            fails: flag(&table, "fail", true),
            shown: match table.get("message").filter(|message| !message.is_null()) {
                Some(message) => text(message),
                None => shown(&table),
            },
            message: table
                .get("message")
                .filter(|message| !message.is_null())
                .map(text),
            subject_text: subject,
            subject: read,
            label,
            condition,
            start: None,
            points: VecDeque::new(),
            worst: None,
            judged_s: 0,
            is_met: false,
        })
    }

    /// Whether the criterion is met now and was not before.
    fn judge(&mut self, second: i64, numbers: &dyn Numbers) -> bool {
        let Some(mut value) = numbers.of(&self.label, &self.subject) else {
            return false;
        };
        if self.is_share {
            let hits = numbers.of(&self.label, &Subject::Hits).unwrap_or(0.0);
            value = if hits > 0.0 {
                100.0 * value / hits
            } else {
                0.0
            };
        }
        if self.logic != Logic::For {
            value = self.over_window(second, value);
        }
        self.judged_s = self.judged_s.saturating_add(1);
        self.note_worst(value);
        let holds = match self.condition.as_str() {
            ">" => value > self.threshold,
            ">=" => value >= self.threshold,
            "<" => value < self.threshold,
            "<=" => value <= self.threshold,
            _ => value == self.threshold,
        };
        if !holds {
            self.start = None;
            return false;
        }
        let since = match self.logic {
            Logic::For => *self.start.get_or_insert(second),
            Logic::Within => second,
            Logic::Over => self
                .points
                .front()
                .map(|(first, _)| *first)
                .unwrap_or(second),
        };
        let lasted = (second - since + 1) as f64;
        let is_long_enough = self.logic == Logic::Within || lasted >= self.window;
        let is_new = is_long_enough && !self.is_met;
        self.is_met |= is_long_enough;
        is_new
    }

    /// Stores the value that is closest to meeting the criterion, until it is met.
    fn note_worst(&mut self, value: f64) {
        if self.is_met {
            return;
        }
        let is_worse = self
            .worst
            .is_none_or(|worst| match self.condition.as_str() {
                ">" | ">=" => value > worst,
                "<" | "<=" => value < worst,
                _ => true,
            });
        if is_worse {
            self.worst = Some(value);
        }
    }

    /// The sum of counts, or the mean of other metrics, over the window.
    fn over_window(&mut self, second: i64, value: f64) -> f64 {
        self.points.push_back((second, value));
        while let Some((first, _)) = self.points.front()
            && (*first as f64) <= second as f64 - self.window
        {
            self.points.pop_front();
        }
        let sum: f64 = self.points.iter().map(|(_, value)| value).sum();
        let adds_up = matches!(
            self.subject,
            Subject::Hits | Subject::Successes | Subject::Failures | Subject::Code(_)
        );
        if adds_up && !self.is_share {
            sum
        } else {
            sum / self.points.len().max(1) as f64
        }
    }
}

const HINT: &str = "Write it like `avg-rt of Login>150ms for 10s, stop as failed`";

fn shown(table: &Table) -> String {
    let field = |key: &str| text_or(table, key, "");
    let mut shown = field("subject");
    if !field("label").is_empty() {
        shown.push_str(&format!(" of {}", field("label").trim()));
    }
    shown.push_str(&format!("{}{}", field("condition"), field("threshold")));
    if crate::value::is_true(table.get("timeframe")) {
        shown.push_str(&format!(
            " {} {}",
            text_or(table, "logic", "for"),
            field("timeframe")
        ));
    }
    shown
}

/// Parses a criterion that is written as one line.
fn from_text(written: &str) -> Result<Table, TaurusError> {
    let wrong = || TaurusError::new(format!("the criterion `{written}` cannot be read")).hint(HINT);
    let mut table = Table::new();
    let mut rest = written;
    if let Some((message, after)) = rest.split_once(':') {
        table.insert("message".to_owned(), message.trim().into());
        rest = after.trim();
    }
    let (criterion, action) = rest.split_once(',').unwrap_or((rest, ""));
    let at = criterion.find(['<', '>', '=']).ok_or_else(wrong)?;
    let (left, right) = criterion.split_at(at);
    let end = right
        .find(|sign| !matches!(sign, '<' | '>' | '='))
        .ok_or_else(wrong)?;
    let (condition, right) = right.split_at(end);
    let mut words = right.split_whitespace();
    let threshold = words.next().ok_or_else(wrong)?;
    let (subject, label) = match left.trim().split_once(" of ") {
        Some((subject, label)) => (subject.trim(), label.trim()),
        None => (left.trim(), ""),
    };
    for (key, value) in [
        ("subject", subject),
        ("label", label),
        ("condition", condition),
        ("threshold", threshold),
    ] {
        table.insert(key.to_owned(), value.into());
    }
    if let Some(logic) = words.next() {
        let timeframe = words.next().ok_or_else(wrong)?;
        table.insert("logic".to_owned(), logic.into());
        table.insert("timeframe".to_owned(), timeframe.into());
    }
    let action: Vec<&str> = action.split_whitespace().collect();
    let (stops, fails) = match action.as_slice() {
        [] | ["stop"] | ["stop", "as", "failed"] => (true, true),
        ["stop", "as", "non-failed"] => (true, false),
        ["continue"] | ["continue", "as", "failed"] => (false, true),
        ["continue", "as", "non-failed"] => (false, false),
        _ => return Err(wrong()),
    };
    table.insert("stop".to_owned(), stops.into());
    table.insert("fail".to_owned(), fails.into());
    Ok(table)
}

fn logic(written: &str) -> Result<Logic, TaurusError> {
    Ok(match written {
        "for" => Logic::For,
        "within" => Logic::Within,
        "over" => Logic::Over,
        other => {
            return Err(
                TaurusError::new(format!("`{other}` is not one of for, within, over")).hint(HINT),
            );
        }
    })
}

impl Subject {
    /// Whether the metric can be compared with the threshold and restricted to a label.
    fn check(&self, written: &str, threshold: &str, label: &str) -> Result<(), TaurusError> {
        let is_counted = matches!(
            self,
            Subject::Successes | Subject::Failures | Subject::Code(_)
        );
        if threshold.ends_with('%') && !is_counted {
            let fault = TaurusError::new(format!(
                "`{written}` is not a share, so `{threshold}` does not apply to it"
            ));
            return Err(fault.hint(HINT));
        }
        if matches!(self, Subject::Code(_)) && !label.is_empty() {
            let fault = TaurusError::new(format!(
                "`{written} of {label}`: response codes are counted over all labels"
            ));
            return Err(fault.hint(format!("leave out `of {label}`")));
        }
        Ok(())
    }
}

fn read_subject(subject: &str) -> Result<Subject, TaurusError> {
    let percentile = subject
        .strip_prefix('p')
        .and_then(|level| level.parse::<f64>().ok());
    Ok(match subject {
        "avg-rt" => Subject::ResponseTime,
        "avg-lt" => Subject::Latency,
        "avg-ct" => Subject::ConnectTime,
        "stdev-rt" => Subject::Deviation,
        "hits" => Subject::Hits,
        "bytes" => Subject::Bytes,
        _ if subject.starts_with("concurr") => Subject::Users,
        _ if subject.starts_with("succ") => Subject::Successes,
        _ if subject.starts_with("fail") => Subject::Failures,
        _ if subject.starts_with("rc") => Subject::Code(subject[2..].to_owned()),
        _ => match percentile.filter(|level| (0.0..=100.0).contains(level)) {
            Some(level) => Subject::Percentile(level),
            None => {
                let fault =
                    TaurusError::new(format!("`{subject}` is not a subject of a criterion"));
                return Err(fault.hint("subjects are avg-rt, avg-lt, avg-ct, stdev-rt, p90, concurrency, hits, bytes, succ, fail, rc404"));
            }
        },
    })
}

fn bytes(text: &str) -> Result<f64, String> {
    let split = text
        .find(|sign: char| !sign.is_ascii_digit() && sign != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1_048_576.0,
        _ => {
            return Err(format!(
                "`{text}` is not a number of bytes; write 10kb or 5mb"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a number of bytes; write 10kb or 5mb"))?;
    Ok(number * factor)
}

/// Whether a response code matches the pattern of a criterion.
pub fn code_fits(pattern: &str, code: &str) -> bool {
    crate::modifications::fits(pattern, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same number for every metric except hits, which have their own.
    struct Fixed(f64, f64);

    impl Numbers for Fixed {
        fn of(&self, label: &str, subject: &Subject) -> Option<f64> {
            match subject {
                _ if label == "absent" => None,
                Subject::Hits => Some(self.1),
                _ => Some(self.0),
            }
        }
    }

    fn criteria(text: &str) -> Criteria {
        let mut criteria = Criteria::default();
        criteria.read(&Value::from(text)).expect("it is right");
        criteria
    }

    /// The second in which the criterion is met.
    fn met_in(text: &str, values: &[f64]) -> Option<usize> {
        let mut criteria = criteria(text);
        values.iter().enumerate().find_map(|(second, value)| {
            let met = criteria.second(second as i64, &Fixed(*value, 10.0));
            (!met.is_empty()).then_some(second)
        })
    }

    #[test]
    fn a_state_must_last() {
        assert_eq!(
            met_in("avg-rt>100ms for 3s", &[0.2, 0.2, 0.1, 0.2, 0.2, 0.2]),
            Some(5)
        );
        assert_eq!(met_in("avg-rt>100ms for 3s", &[0.2, 0.2, 0.1]), None);
    }

    #[test]
    fn counts_add_up_within_a_window_and_others_are_averaged() {
        assert_eq!(
            met_in("fail>=5 within 3s", &[2.0, 2.0, 0.0, 2.0, 3.0]),
            Some(4)
        );
        assert_eq!(met_in("avg-rt>1s within 2s", &[0.0, 1.5, 1.0]), Some(2));
        assert_eq!(met_in("fail>50% within 2s", &[4.0, 5.0, 6.0]), Some(2));
        assert_eq!(
            met_in("hits<5 over 3s", &[1.0; 5]),
            None,
            "ten hits a second"
        );
        assert_eq!(met_in("fail<=6 over 3s", &[1.0; 5]), Some(2));
    }

    #[test]
    fn the_whole_run_is_judged_at_the_end() {
        let mut one = criteria("p90>250ms, continue as failed");
        assert!(one.second(1, &Fixed(9.0, 1.0)).is_empty());
        assert_eq!(one.end(&Fixed(0.3, 1.0)).len(), 1);
        assert!(one.all[0].is_met && one.all[0].fails && !one.all[0].stops);
        let mut absent = criteria("avg-rt of absent>1ms");
        assert!(absent.end(&Fixed(9.0, 1.0)).is_empty());
        let mut harmless = criteria("note: succ<100%, stop as non-failed");
        assert_eq!(harmless.end(&Fixed(9.0, 10.0))[0].shown, "note");
        assert!(!harmless.all[0].fails);
    }

    #[test]
    fn a_line_and_a_table_say_the_same() {
        let table = serde_json::json!([{"subject": "avg-rt", "label": "Log in", "condition": ">", "threshold": "150ms",
            "timeframe": "10s", "stop": true, "fail": true}]);
        let mut two = Criteria::default();
        two.read(&table).expect("it is right");
        assert_eq!(
            two,
            criteria("avg-rt of Log in>150ms for 10s, stop as failed")
        );
    }

    #[test]
    fn wrong_criteria_are_refused_with_a_hint() {
        for wrong in [
            "avg-rt",
            "speed>1",
            "avg-rt>5%",
            "avg-rt>1 for",
            "avg-rt>1, halt",
            "rc200 of Login>1",
            "avg-rt>1 during 5s",
        ] {
            let mut criteria = Criteria::default();
            assert!(criteria.read(&Value::from(wrong)).is_err(), "{wrong}");
        }
        assert!(code_fits("5??", "503") && !code_fits("5??", "404") && code_fits("*", ""));
    }
}
