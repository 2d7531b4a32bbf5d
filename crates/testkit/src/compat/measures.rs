//! The measures of a timed case: values computed from the rows of a run and from the requests that the site received.

use std::collections::BTreeMap;

use regex_automata::meta::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::Arrival;

/// Rows with this label, and requests whose target begins with [`WARM_UP`], warm up a Java virtual machine and are not measured.
const WARM: &str = "warm";
/// See [`WARM`].
pub const WARM_UP: &str = "/warm";

/// One row of a results file. All times are milliseconds; `start_ms` counts from the epoch.
#[derive(Clone, Debug, Deserialize)]
pub struct TimedRow {
    /// When the sample started.
    #[serde(rename = "timeStamp")]
    pub start_ms: i64,
    /// How long it took.
    #[serde(rename = "elapsed")]
    pub elapsed_ms: i64,
    /// Its label.
    pub label: String,
    #[serde(rename = "responseCode")]
    code: String,
    #[serde(rename = "responseMessage")]
    message: String,
    #[serde(rename = "threadName")]
    thread: String,
    #[serde(rename = "grpThreads")]
    group_threads: i64,
    #[serde(rename = "allThreads")]
    all_threads: i64,
    #[serde(rename = "Latency")]
    latency_ms: i64,
    #[serde(rename = "Connect")]
    connect_ms: i64,
    #[serde(rename = "IdleTime")]
    idle_ms: i64,
}

impl TimedRow {
    fn end_ms(&self) -> i64 {
        self.start_ms + self.elapsed_ms
    }
}

/// The data of a run.
#[derive(Clone, Debug, Default)]
pub struct TimedRun {
    /// Its rows, in the order in which they were written.
    pub rows: Vec<TimedRow>,
    /// The requests that the site received.
    pub arrivals: Vec<Arrival>,
    /// Its exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
}

/// A value of a run, and how far it may deviate from JMeter's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The value to compute.
    pub value: MeasureKind,
    /// A pattern that must match the whole label of a row; `None` for all rows.
    label: Option<String>,
    /// Times are relative to the first row whose label matches; `None` for the first row of all.
    since: Option<String>,
    /// A pattern to find in the targets of requests. If it has a group, the group's text is used.
    target: Option<String>,
    /// The column of [`MeasureKind::Column`].
    column: Option<ResultColumn>,
    /// The times for [`MeasureKind::Running`], since the first row.
    #[serde(default)]
    at_ms: Vec<i64>,
    /// The length of a period of [`MeasureKind::PerPeriod`].
    period_ms: Option<i64>,
    /// Only compare this many values, from the first on.
    first: Option<usize>,
    /// The allowed difference (in milliseconds, or a count); 0 means equal.
    #[serde(default)]
    pub tolerance: f64,
    /// The allowed difference as a share of JMeter's value; the larger of both applies.
    #[serde(default)]
    pub share: f64,
}

/// The values that can be computed. Lists are ordered by the rows' starts unless stated otherwise.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// How many rows each label has.
    Rows,
    /// How many rows have each combination of label, code and message.
    Outcomes,
    /// How many rows each user wrote.
    RowsPerUser,
    /// The labels of each user's rows, in the order in which they were written.
    Sequences,
    /// All labels.
    Order,
    /// When each row started.
    Starts,
    /// When each user's first row started, by the users' names.
    FirstStarts,
    /// When each user's last row ended, in ascending order.
    LastEnds,
    /// When the last row ended.
    End,
    /// The duration of each row.
    Lengths,
    /// From the end of each row of a user to the start of the user's next one.
    Pauses,
    /// The mean of these pauses.
    MeanPause,
    /// From the start of each row to the start of the next row of any user.
    Between,
    /// One column of each row.
    Column,
    /// How many rows started in each period.
    PerPeriod,
    /// How many users are active at these times, that is, between the start of their first row and the end of their last.
    Running,
    /// The largest number of rows in progress at once.
    MostAtOnce,
    /// The largest number of requests in progress at once, as the site saw it.
    MostAtServer,
    /// The requests that the site received, sorted.
    Received,
    /// The requests that the site received, in order of arrival.
    ReceivedInOrder,
    /// How many requests each connection carried, sorted.
    PerConnection,
    /// How many rows of a label have each message.
    Messages,
    /// The exit code.
    Exit,
}

/// A column of a results file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ResultColumn {
    /// `grpThreads`.
    GroupThreads,
    /// `allThreads`.
    AllThreads,
    /// `Latency`.
    Latency,
    /// `Connect`.
    Connect,
    /// `IdleTime`.
    IdleTime,
}

impl ResultColumn {
    fn of(self, row: &TimedRow) -> i64 {
        match self {
            ResultColumn::GroupThreads => row.group_threads,
            ResultColumn::AllThreads => row.all_threads,
            ResultColumn::Latency => row.latency_ms,
            ResultColumn::Connect => row.connect_ms,
            ResultColumn::IdleTime => row.idle_ms,
        }
    }
}

/// The rows of a results file, without warm-up rows.
///
/// # Errors
/// The text is not CSV, or a column is missing.
pub fn rows_of(results: &str, port: u16) -> Result<Vec<TimedRow>, csv::Error> {
    let text = results.replace(&format!(":{port}"), ":PORT");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Result<Vec<TimedRow>, _> = reader.deserialize().collect();
    Ok(rows?.into_iter().filter(|row| row.label != WARM).collect())
}

/// The pattern for matching a whole text.
fn whole(pattern: &str) -> Regex {
    part(&format!("^(?:{pattern})$"))
}

fn part(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

/// How often each text occurs.
fn counted(texts: impl Iterator<Item = String>) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    json!(counts)
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

impl Measure {
    /// The value of a run.
    ///
    /// # Panics
    /// The case contains an invalid pattern.
    pub fn of(&self, run: &TimedRun) -> Value {
        let rows = self.rows(run);
        match self.value {
            MeasureKind::Rows => counted(rows.iter().map(|row| row.label.clone())),
            MeasureKind::Outcomes => counted(
                rows.iter()
                    .map(|row| format!("{} {} {}", row.label, row.code, row.message)),
            ),
            MeasureKind::Messages => counted(
                rows.iter()
                    .map(|row| format!("{}: {}", row.label, row.message)),
            ),
            MeasureKind::RowsPerUser => counted(rows.iter().map(|row| row.thread.clone())),
            MeasureKind::Order => json!(rows.iter().map(|row| &*row.label).collect::<Vec<_>>()),
            MeasureKind::Exit => json!(run.exit),
            MeasureKind::Sequences => self.sequences(run),
            MeasureKind::Received
            | MeasureKind::ReceivedInOrder
            | MeasureKind::MostAtServer
            | MeasureKind::PerConnection => self.of_arrivals(&run.arrivals),
            _ => self.of_times(&rows, self.zero(run)),
        }
    }

    /// The rows that the measure covers, by their start.
    fn rows<'a>(&self, run: &'a TimedRun) -> Vec<&'a TimedRow> {
        let pattern = self.label.as_deref().map(whole);
        let is_meant = |row: &&TimedRow| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&row.label))
        };
        let mut rows: Vec<_> = run.rows.iter().filter(is_meant).collect();
        rows.sort_by_key(|row| row.start_ms);
        rows
    }

    /// The time to which times are relative.
    fn zero(&self, run: &TimedRun) -> i64 {
        let pattern = self.since.as_deref().map(whole);
        let rows = run.rows.iter().filter(|row| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&row.label))
        });
        rows.map(|row| row.start_ms).min().unwrap_or_default()
    }

    fn sequences(&self, run: &TimedRun) -> Value {
        let pattern = self.label.as_deref().map(whole);
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in &run.rows {
            if pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&row.label))
            {
                found.entry(&row.thread).or_default().push(&row.label);
            }
        }
        let joined = found
            .into_iter()
            .map(|(thread, labels)| (thread, labels.join(" ")));
        json!(joined.collect::<BTreeMap<_, _>>())
    }

    fn of_times(&self, rows: &[&TimedRow], zero: i64) -> Value {
        let mut users: BTreeMap<&str, Vec<&TimedRow>> = BTreeMap::new();
        rows.iter()
            .for_each(|row| users.entry(&row.thread).or_default().push(row));
        let last_end = |rows: &Vec<&TimedRow>| rows.iter().map(|row| row.end_ms()).max();
        let list: Vec<i64> = match self.value {
            MeasureKind::Starts => rows.iter().map(|row| row.start_ms - zero).collect(),
            MeasureKind::FirstStarts => {
                users.values().map(|rows| rows[0].start_ms - zero).collect()
            }
            MeasureKind::LastEnds => {
                let mut ends: Vec<_> = users.values().filter_map(last_end).collect();
                ends.sort_unstable();
                ends.iter().map(|end| end - zero).collect()
            }
            MeasureKind::End => {
                let end = rows.iter().map(|row| row.end_ms()).max();
                return json!(end.unwrap_or(zero) - zero);
            }
            MeasureKind::Lengths => rows.iter().map(|row| row.elapsed_ms).collect(),
            MeasureKind::Pauses => pauses(&users),
            MeasureKind::MeanPause => {
                let pauses = pauses(&users);
                let sum: i64 = pauses.iter().sum();
                return json!(rounded(sum as f64 / pauses.len().max(1) as f64));
            }
            MeasureKind::Between => {
                let pairs = rows.windows(2);
                pairs.map(|two| two[1].start_ms - two[0].start_ms).collect()
            }
            MeasureKind::Column => {
                let column = self.column.expect("the measure names a column");
                rows.iter().map(|row| column.of(row)).collect()
            }
            MeasureKind::PerPeriod => per_period(rows, zero, self.period_ms.unwrap_or(1000)),
            MeasureKind::Running => {
                let running = |at: &i64| {
                    let at = zero + at;
                    let spans = users.values();
                    spans
                        .filter(|rows| {
                            rows[0].start_ms <= at && last_end(rows).is_some_and(|end| at <= end)
                        })
                        .count() as i64
                };
                self.at_ms.iter().map(running).collect()
            }
            _ => return json!(most_at_once(rows)),
        };
        json!(list[..self.first.unwrap_or(list.len()).min(list.len())])
    }

    fn of_arrivals(&self, arrivals: &[Arrival]) -> Value {
        let pattern = part(self.target.as_deref().unwrap_or(""));
        let meant = arrivals
            .iter()
            .filter(|arrival| !arrival.target.starts_with(WARM_UP))
            .filter(|arrival| pattern.is_match(&arrival.target));
        match self.value {
            MeasureKind::MostAtServer => {
                json!(meant.map(|arrival| arrival.under_way).max().unwrap_or(0))
            }
            MeasureKind::PerConnection => {
                let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
                meant.for_each(|arrival| *counts.entry(arrival.connection).or_default() += 1);
                let mut counts: Vec<_> = counts.into_values().collect();
                counts.sort_unstable();
                json!(counts)
            }
            _ => {
                let mut texts: Vec<_> = meant
                    .map(|arrival| taken(&pattern, &arrival.target))
                    .collect();
                if self.value == MeasureKind::Received {
                    texts.sort();
                }
                json!(texts)
            }
        }
    }
}

/// The first group of a pattern in a text, or the text itself if the pattern has no group.
fn taken(pattern: &Regex, text: &str) -> String {
    let mut captures = pattern.create_captures();
    pattern.captures(text, &mut captures);
    captures
        .get_group(1)
        .map_or(text, |span| &text[span.range()])
        .to_owned()
}

fn pauses(users: &BTreeMap<&str, Vec<&TimedRow>>) -> Vec<i64> {
    let pairs = users.values().flat_map(|rows| rows.windows(2));
    pairs.map(|two| two[1].start_ms - two[0].end_ms()).collect()
}

fn per_period(rows: &[&TimedRow], zero: i64, period_ms: i64) -> Vec<i64> {
    let mut counts = Vec::new();
    for row in rows {
        let period = ((row.start_ms - zero).max(0) / period_ms) as usize;
        if counts.len() <= period {
            counts.resize(period + 1, 0);
        }
        counts[period] += 1;
    }
    counts
}

fn most_at_once(rows: &[&TimedRow]) -> i64 {
    let mut events: Vec<(i64, i64)> = rows
        .iter()
        .flat_map(|row| [(row.start_ms, 1), (row.end_ms(), -1)])
        .collect();
    events.sort_unstable();
    let sums = events.iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    sums.max().unwrap_or(0)
}

impl Measure {
    /// Whether a value is within the tolerance of one of JMeter's, or between two of them.
    pub fn accepts(&self, recorded: &[&Value], found: &Value) -> bool {
        match found {
            Value::Number(_) => self.accepts_number(recorded, found),
            Value::Array(items) => {
                let lists: Option<Vec<&Vec<Value>>> =
                    recorded.iter().map(|value| value.as_array()).collect();
                let Some(lists) = lists else { return false };
                let same: Vec<_> = lists
                    .into_iter()
                    .filter(|list| list.len() == items.len())
                    .collect();
                !same.is_empty()
                    && items.iter().enumerate().all(|(place, item)| {
                        let wanted: Vec<&Value> = same.iter().map(|list| &list[place]).collect();
                        self.accepts(&wanted, item)
                    })
            }
            Value::Object(items) => {
                let none = json!(0);
                let keys = recorded
                    .iter()
                    .filter_map(|value| value.as_object())
                    .chain([items])
                    .flat_map(|map| map.keys());
                keys.collect::<std::collections::BTreeSet<_>>()
                    .into_iter()
                    .all(|key| {
                        let wanted: Vec<&Value> = recorded
                            .iter()
                            .map(|value| value.get(key).unwrap_or(&none))
                            .collect();
                        self.accepts(&wanted, items.get(key).unwrap_or(&none))
                    })
            }
            _ => recorded.contains(&found),
        }
    }

    fn accepts_number(&self, recorded: &[&Value], found: &Value) -> bool {
        let numbers: Vec<f64> = recorded.iter().filter_map(|value| value.as_f64()).collect();
        let Some(found) = found.as_f64() else {
            return false;
        };
        numbers
            .iter()
            .any(|wanted| (wanted - found).abs() <= self.tolerance.max(self.share * wanted.abs()))
            || (numbers.iter().any(|wanted| *wanted <= found)
                && numbers.iter().any(|wanted| *wanted >= found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Measure {
        toml::from_str(text).expect("a measure")
    }

    fn row(thread: &str, label: &str, start_ms: i64, elapsed_ms: i64) -> TimedRow {
        TimedRow {
            start_ms,
            elapsed_ms,
            label: label.to_owned(),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            thread: thread.to_owned(),
            group_threads: 2,
            all_threads: 2,
            latency_ms: 1,
            connect_ms: 0,
            idle_ms: 0,
        }
    }

    fn arrival(connection: usize, target: &str, under_way: usize) -> Arrival {
        Arrival {
            connection,
            target: target.to_owned(),
            under_way,
        }
    }

    fn run() -> TimedRun {
        TimedRun {
            rows: vec![
                row("g 1-1", "a", 1000, 100),
                row("g 1-2", "a", 1500, 200),
                row("g 1-1", "b", 1150, 500),
            ],
            arrivals: vec![
                arrival(0, "/warm", 9),
                arrival(1, "/x?v=2", 1),
                arrival(1, "/x?v=1", 2),
                arrival(2, "/y", 3),
            ],
            exit: Some(0),
        }
    }

    #[track_caller]
    fn is(text: &str, value: Value) {
        assert_eq!(measure(text).of(&run()), value, "{text}");
    }

    #[test]
    fn values_are_computed_from_rows() {
        is("value = 'rows'", json!({"a": 2, "b": 1}));
        is("value = 'outcomes'", json!({"a 200 OK": 2, "b 200 OK": 1}));
        is("value = 'rows-per-user'", json!({"g 1-1": 2, "g 1-2": 1}));
        is("value = 'sequences'", json!({"g 1-1": "a b", "g 1-2": "a"}));
        is("value = 'order'", json!(["a", "b", "a"]));
        is("value = 'starts'", json!([0, 150, 500]));
        is("value = 'starts'\nfirst = 1", json!([0]));
        is(
            "value = 'starts'\nlabel = 'a'\nsince = 'b'",
            json!([-150, 350]),
        );
        is("value = 'first-starts'", json!([0, 500]));
        is("value = 'last-ends'", json!([650, 700]));
        is("value = 'end'\nlabel = 'b'", json!(650));
        is("value = 'lengths'\nlabel = 'a'", json!([100, 200]));
        is("value = 'pauses'", json!([50]));
        is("value = 'mean-pause'", json!(50.0));
        is("value = 'between'", json!([150, 350]));
        is("value = 'column'\ncolumn = 'latency'", json!([1, 1, 1]));
        is("value = 'per-period'\nperiod_ms = 400", json!([2, 1]));
        is("value = 'running'\nat_ms = [0, 600, 680]", json!([1, 2, 1]));
        is("value = 'most-at-once'", json!(2));
        is("value = 'messages'\nlabel = 'b'", json!({"b: OK": 1}));
        is("value = 'exit'", json!(0));
    }

    #[test]
    fn values_are_computed_from_requests() {
        is("value = 'most-at-server'", json!(3));
        is("value = 'most-at-server'\ntarget = '/x'", json!(2));
        is("value = 'received'\ntarget = 'v=(.)'", json!(["1", "2"]));
        is(
            "value = 'received-in-order'\ntarget = 'v='",
            json!(["/x?v=2", "/x?v=1"]),
        );
        is("value = 'per-connection'", json!([1, 2]));
    }

    #[test]
    fn numbers_may_differ_by_the_tolerance_and_may_lie_between_recorded_ones() {
        let exact = measure("value = 'rows'");
        let (three, seven) = (json!(3), json!(7));
        assert!(exact.accepts(&[&three], &json!(3)));
        assert!(!exact.accepts(&[&three], &json!(4)));
        assert!(exact.accepts(&[&three, &seven], &json!(4)));
        let near = measure("value = 'rows'\ntolerance = 2\nshare = 0.5");
        assert!(near.accepts(&[&three], &json!(5)) && near.accepts(&[&seven], &json!(10)));
        assert!(!near.accepts(&[&three], &json!(6)) && !near.accepts(&[&seven], &json!(11)));
    }

    #[test]
    fn lists_and_maps_are_compared_by_their_items() {
        let near = measure("value = 'rows'\ntolerance = 1");
        assert!(near.accepts(&[&json!([1, 5])], &json!([2, 4])));
        assert!(!near.accepts(&[&json!([1, 5])], &json!([1])));
        assert!(!near.accepts(&[&json!([1, 5])], &json!([1, 7])));
        assert!(near.accepts(&[&json!({"a": 3})], &json!({"a": 3, "b": 1})));
        assert!(!near.accepts(&[&json!({"a": 3})], &json!({"b": 1})));
        assert!(!near.accepts(&[&json!({"a": "x y"})], &json!({"a": "x z"})));
        assert!(near.accepts(&[&json!(null)], &json!(null)));
    }
}
