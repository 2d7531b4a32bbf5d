//! The summary after a run: a table per label, the failures by kind, the paths of the results.

use std::fmt::Write as _;
use std::path::PathBuf;

use drumfire_health::{Second, Stage, StageTimes};
use drumfire_report::{SettledPart, Traces, WarmUp, run_length, stream_lines};
use drumfire_results::{Connections, Histogram, Recording, SampleBalance, suffices_for};
use unicode_width::UnicodeWidthStr;

use super::format::{count, counted, failure, fit, ms, ms_with_unit, rate, wrapped};
use super::precision::{self, PreciseRow};
use super::snapshot::{ErrorKind, LabelSnapshot, TRANSACTION, error_kinds, rows};
use super::style::Style;
use crate::engine::Outcome;

/// The widest label column of a terminal. Labels that are wider are cut.
const MAX_LABEL_COLUMNS: usize = 48;
/// The widest label column of a file or pipe. Labels that are wider are not cut, but make their rows longer than the others.
const MAX_ALIGNED_COLUMNS: usize = 120;
/// The most kinds of failures to list.
const MAX_KINDS: usize = 10;
/// The width of a failure's number and the blanks behind it.
const FAILURE_INDENT: usize = 14;

/// The numbers that the summary shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// All labels together.
    pub total: LabelSnapshot,
    /// One row per label.
    pub labels: Vec<LabelSnapshot>,
    /// The numbers of the labels and the total with their intervals, unless the run was too short for them.
    pub precise: Option<Vec<PreciseRow>>,
    /// Sentences about the numbers: a warm-up, and how exactly they are known.
    pub notes: Vec<String>,
    /// The failures by kind.
    pub errors: Vec<ErrorKind>,
    /// Service times, measured as JMeter does.
    pub service: Spread,
    /// Response times from the start that a timer's schedule intended.
    pub response: Spread,
    /// How late users started or resumed: the generator's own delay.
    pub lateness: Spread,
    /// Where the time of samples went.
    pub stages: StageTimes,
    /// CPU time of this process per sample, in microseconds; `None` without samples.
    pub cpu_us: Option<f64>,
    /// How many connections were opened, and how many TLS handshakes there were.
    pub connections: Connections,
    /// The fate of the samples that users began, if every machine told.
    pub balance: Option<SampleBalance>,
    /// The result files.
    pub files: Vec<PathBuf>,
    /// The program's log.
    pub log: Option<PathBuf>,
}

impl Summary {
    /// The numbers of a run; the statistics are those of the settled part, if there is one. The log is set later.
    pub fn of(outcome: &Outcome, settled: Option<&SettledPart>) -> Summary {
        Summary {
            stages: outcome.stages,
            cpu_us: cpu_us(&outcome.seconds),
            connections: outcome.connections,
            balance: outcome.balance,
            files: outcome.files.iter().map(|file| file.path.clone()).collect(),
            ..Summary::of_part(&outcome.recording, settled)
        }
    }

    /// The numbers of a recording alone, or of its settled part.
    pub fn of_part(recording: &Recording, settled: Option<&SettledPart>) -> Summary {
        let Some(part) = settled else {
            return Summary::of_recording(recording);
        };
        let mut summary = Summary::of_recording(&part.recording);
        summary.notes.insert(0, part.told.clone());
        summary
    }

    /// The numbers of a recording alone.
    pub fn of_recording(recording: &Recording) -> Summary {
        let mut labels = rows(recording);
        let total = recording.total();
        Summary {
            total: labels.pop().unwrap_or_default(),
            labels,
            precise: precision::rows(recording, &total),
            notes: notes(recording),
            errors: error_kinds(recording),
            service: Spread::of(&total.service),
            response: Spread::of(&total.response),
            lateness: Spread::of(&recording.lateness),
            ..Summary::default()
        }
    }
}

/// CPU time of this process per sample, in microseconds.
pub fn cpu_us(seconds: &[Second]) -> Option<f64> {
    let samples: u64 = seconds.iter().map(|second| second.samples).sum();
    let used_us: f64 = seconds
        .iter()
        .map(|second| second.cores_used * second.length_ms() as f64 * 1000.0)
        .sum();
    (samples > 0 && used_us > 0.0).then(|| used_us / samples as f64)
}

/// The distribution of times, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spread {
    pub count: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

impl Spread {
    /// Converts from microseconds.
    fn of(times: &Histogram) -> Spread {
        Spread {
            count: times.count(),
            p50_ms: times.percentile_ms(50.0),
            p99_ms: times.percentile_ms(99.0),
            p999_ms: times.percentile_ms(99.9),
            max_ms: times.max() as f64 / 1000.0,
        }
    }
}

/// A column of the table: its head, its width, and how to format a row.
type Column = (&'static str, usize, fn(&LabelSnapshot) -> String);

/// The columns for wide terminals and for files.
const WIDE: [Column; 12] = [
    ("samples", 11, |row| count(row.samples)),
    ("failed", 9, |row| count(row.errors)),
    ("failed%", 9, |row| format!("{:.2}", row.error_percent())),
    ("rate/s", 9, |row| rate(row.rate)),
    ("mean", 8, |row| ms(row.mean_ms)),
    ("min", 8, |row| ms(row.min_ms)),
    ("p50", 8, |row| percentile(row, 50.0, row.p50_ms)),
    ("p90", 8, |row| percentile(row, 90.0, row.p90_ms)),
    ("p95", 8, |row| percentile(row, 95.0, row.p95_ms)),
    ("p99", 8, |row| percentile(row, 99.0, row.p99_ms)),
    ("max", 8, |row| ms(row.max_ms)),
    ("KiB/s", 10, |row| rate(row.received_kib_s)),
];

/// A percentile, unless it is only the maximum because too few samples were taken.
fn percentile(row: &LabelSnapshot, percent: f64, value_ms: f64) -> String {
    if suffices_for(row.samples, percent) {
        ms(value_ms)
    } else {
        "–".to_owned()
    }
}

/// The heads of the columns that narrow terminals have.
const NARROW: [&str; 7] = ["samples", "failed", "rate/s", "p50", "p95", "p99", "max"];

/// The summary as text. For a terminal, `columns` is its width; elsewhere nothing is cut.
pub fn render(summary: &Summary, style: Style, columns: Option<usize>, is_verbose: bool) -> String {
    let mut text = String::new();
    table(&mut text, summary, style, columns);
    intervals(&mut text, summary, style, columns);
    for note in &summary.notes {
        let note = format!("{note}\n");
        text.push_str(&columns.map_or(note.clone(), |columns| wrapped(&note, columns)));
    }
    failures(&mut text, &summary.errors, style, columns);
    let details = details(summary, is_verbose);
    text.push_str(&match columns {
        Some(columns) => wrapped(&details, columns),
        None => details,
    });
    for file in &summary.files {
        let _ = writeln!(text, "results  {}", file.display());
    }
    if let Some(log) = &summary.log {
        let _ = writeln!(text, "log      {}", log.display());
    }
    text
}

/// The response times from the start that a schedule intended, if there is one. `is_verbose` adds the generator's own times and
/// its connections, which the log always has.
pub fn details(summary: &Summary, is_verbose: bool) -> String {
    let mut text = String::new();
    if is_verbose {
        times(&mut text, summary);
    }
    spread(&mut text, INTENDED, &summary.response);
    if is_verbose {
        spread(&mut text, "late by the generator itself", &summary.lateness);
        stages(&mut text, &summary.stages, summary.cpu_us);
        connections(&mut text, &summary.connections);
        balance(&mut text, summary.balance);
    }
    text
}

fn table(text: &mut String, summary: &Summary, style: Style, columns: Option<usize>) {
    if summary.labels.is_empty() {
        // A row of zeros would look like measurements.
        text.push_str("no sample was taken\n");
        return;
    }
    let most = match columns {
        Some(_) => MAX_LABEL_COLUMNS,
        None => MAX_ALIGNED_COLUMNS,
    };
    let widths = summary.labels.iter().map(|row| row.marked(most).width());
    let wanted = widths.max().unwrap_or(0).clamp("label".len(), most);
    let room = columns.unwrap_or(usize::MAX);
    let mut shown = WIDE.to_vec();
    if width(&shown) + wanted > room {
        shown.retain(|(head, _, _)| NARROW.contains(head));
    }
    let label_columns = wanted
        .min(room.saturating_sub(width(&shown)))
        .max("label".len());

    let mut units = "times in ms; rate in samples a second".to_owned();
    if shown.len() == WIDE.len() {
        units.push_str("; KiB/s received");
    }
    if summary.labels.iter().any(|row| row.transaction) {
        let _ = write!(units, "; {TRANSACTION} is a transaction, not in TOTAL");
    }
    let units = match columns {
        Some(columns) => wrapped(&units, columns),
        None => format!("{units}\n"),
    };
    for line in units.lines() {
        let _ = writeln!(text, "{}", style.dim(line));
    }
    let mut heads = fit("label", label_columns);
    for (head, width, _) in &shown {
        let _ = write!(heads, "{head:>width$}");
    }
    let _ = writeln!(text, "{}", style.dim(&heads));
    for row in summary.labels.iter().chain(std::iter::once(&summary.total)) {
        let label = match columns {
            Some(_) => row.marked(label_columns),
            None => row.marked(usize::MAX),
        };
        let mut line = fit(&label, label_columns.max(label.width()));
        for (_, width, cell) in &shown {
            let _ = write!(line, "{:>width$}", cell(row));
        }
        let line = if row.errors > 0 {
            style.red(&line)
        } else {
            line
        };
        let _ = writeln!(text, "{line}");
    }
}

/// Sentences about the numbers of all samples.
fn notes(recording: &Recording) -> Vec<String> {
    let warm_up = WarmUp::of(recording).map(|warm_up| warm_up.text());
    let notes = warm_up
        .into_iter()
        .chain(run_length(recording))
        .chain(stream_lines(recording));
    notes.chain(Traces::sentence(recording)).collect()
}

/// The table of intervals, with the same labels.
fn intervals(text: &mut String, summary: &Summary, style: Style, columns: Option<usize>) {
    let Some(rows) = &summary.precise else {
        return;
    };
    let most = columns.map(|_| MAX_LABEL_COLUMNS).unwrap_or(usize::MAX);
    let labels: Vec<String> = summary
        .labels
        .iter()
        .chain([&summary.total])
        .map(|row| row.marked(most))
        .collect();
    precision::table(text, &labels, rows, style, columns.unwrap_or(usize::MAX));
}

fn width(shown: &[Column]) -> usize {
    shown.iter().map(|(_, width, _)| width).sum::<usize>()
}

/// A line on connections and TLS handshakes, if there were any.
fn connections(text: &mut String, seen: &Connections) {
    if seen.opened == 0 {
        return;
    }
    let _ = write!(
        text,
        "connections: {} opened, {} reused; {} closed here, {} by servers",
        count(seen.opened),
        count(seen.reused),
        count(seen.closed_by_us),
        count(seen.closed_by_peer)
    );
    if seen.handshakes_full + seen.handshakes_resumed > 0 {
        let _ = write!(
            text,
            "; TLS handshakes: {} full, {} resumed",
            count(seen.handshakes_full),
            count(seen.handshakes_resumed)
        );
    }
    text.push('\n');
}

/// The fate of the samples that users began.
fn balance(text: &mut String, balance: Option<SampleBalance>) {
    let Some(balance) = balance else {
        return;
    };
    let _ = writeln!(
        text,
        "samples begun: {}; {} recorded, {} skipped, {} lost",
        count(balance.begun),
        count(balance.recorded),
        count(balance.skipped),
        count(balance.lost())
    );
}

/// The name of the times that count from the start that a schedule intended.
const INTENDED: &str = "response from the intended start";

/// The service times. Says so if nothing in the plan intended a start time.
fn times(text: &mut String, summary: &Summary) {
    spread(text, "service time", &summary.service);
    if summary.service.count > 0 && summary.response.count == 0 {
        let _ = writeln!(
            text,
            "{INTENDED}: none, as nothing in the plan keeps a schedule (a closed loop)"
        );
    }
}

/// Stages shorter than this are not listed, in microseconds.
const LEAST_US: f64 = 0.05;

/// Where the time of a sample went: the exchange, and the generator's own work.
fn stages(text: &mut String, stages: &StageTimes, cpu_us: Option<f64>) {
    let listed = |is_own_work: bool| {
        let shown: Vec<String> = Stage::ALL
            .into_iter()
            .filter(|stage| stage.is_own_work() == is_own_work)
            .map(|stage| (stage.title(), stages.mean_us(stage)))
            .filter(|(_, us)| *us >= LEAST_US)
            .map(|(title, us)| format!("{title} {}", micros(us)))
            .collect();
        shown.join(", ")
    };
    let (exchange, own_work) = (listed(false), listed(true));
    if !exchange.is_empty() {
        let _ = writeln!(
            text,
            "a sample's time, mean of {} timed: {exchange} µs",
            count(stages.samples)
        );
    }
    if !own_work.is_empty() {
        let _ = write!(text, "the generator's own work: {own_work} µs");
        if let Some(us) = cpu_us {
            let _ = write!(text, "; {} µs of CPU a sample in all", micros(us));
        }
        text.push('\n');
    }
}

/// Microseconds with the digits that matter.
fn micros(us: f64) -> String {
    match us {
        us if us < 10.0 => format!("{us:.1}"),
        us => count(us.round() as u64),
    }
}

/// A line of percentiles, if there is anything to show.
fn spread(text: &mut String, name: &str, times: &Spread) {
    if times.count == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "{name}: p50 {}, p99 {}, p99.9 {}, max {} ({})",
        ms(times.p50_ms),
        ms(times.p99_ms),
        ms(times.p999_ms),
        ms_with_unit(times.max_ms),
        counted(times.count, "time")
    );
}

/// The failures by kind, the most frequent first.
fn failures(text: &mut String, errors: &[ErrorKind], style: Style, columns: Option<usize>) {
    if errors.is_empty() {
        return;
    }
    text.push_str(&style.bold("failures"));
    text.push('\n');
    let mut sorted: Vec<&ErrorKind> = errors.iter().collect();
    sorted.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    let room = columns
        .map(|columns| columns.saturating_sub(FAILURE_INDENT))
        .unwrap_or(usize::MAX);
    for kind in sorted.iter().take(MAX_KINDS) {
        let reason = failure(&kind.code, &kind.message, room);
        let _ = writeln!(text, "{:>12}  {reason}", count(kind.count));
    }
    if let Some(others) = sorted.get(MAX_KINDS..).filter(|others| !others.is_empty()) {
        let rest: u64 = others.iter().map(|kind| kind.count).sum();
        let kinds = counted(others.len() as u64, "other kind");
        let _ = writeln!(text, "{:>12}  of {kinds}", count(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_by_the_schedule_are_told_where_there_is_one() {
        let summary = Summary {
            lateness: Spread {
                count: 5_000,
                p50_ms: 0.02,
                p99_ms: 0.19,
                p999_ms: 0.3,
                max_ms: 12.0,
            },
            ..Summary::default()
        };
        let text = render(&summary, Style::PLAIN, None, true);
        assert!(
            text.contains(
                "late by the generator itself: p50 0.020, p99 0.190, p99.9 0.300, max 12.0 ms (5,000 times)\n"
            ),
            "{text}"
        );
        assert!(!text.contains("intended"), "{text}");
    }

    #[test]
    fn summaries_say_that_no_start_was_planned() {
        let spread = Spread {
            count: 10,
            p50_ms: 1.0,
            p99_ms: 2.0,
            p999_ms: 2.0,
            max_ms: 2.0,
        };
        let closed = Summary {
            service: spread.clone(),
            ..Summary::default()
        };
        let text = render(&closed, Style::PLAIN, None, true);
        assert!(
            text.contains("service time: p50 1.00, p99 2.00, p99.9 2.00, max 2.00 ms (10 times)\nresponse from the intended start: none, "),
            "{text}"
        );
        let open = Summary {
            response: spread,
            ..closed
        };
        let text = render(&open, Style::PLAIN, None, false);
        assert!(
            text.contains("response from the intended start: p50 1.00, "),
            "{text}"
        );
        assert!(!text.contains("none, as"), "{text}");
    }

    #[test]
    fn the_generators_own_work_stands_apart_from_the_exchange() {
        let mut times = StageTimes::default();
        times.samples = 1000;
        times.add(Stage::Sampler, 900_000_000);
        times.add(Stage::Write, 9_140_000);
        times.add(Stage::Wait, 812_000_000);
        times.add(Stage::Record, 900_000);
        times.add(Stage::Assert, 1_000);
        let line = |times: &StageTimes, cpu_us| {
            let mut text = String::new();
            stages(&mut text, times, cpu_us);
            text
        };
        let expected = "\
a sample's time, mean of 1,000 timed: write 9.1, wait 812 µs
the generator's own work: sampler 79, record 0.9 µs; 14 µs of CPU a sample in all
";
        assert_eq!(line(&times, Some(14.2)), expected);
        assert_eq!(line(&StageTimes::default(), Some(1.0)), "");
    }

    fn row(label: &str, samples: u64, errors: u64) -> LabelSnapshot {
        LabelSnapshot {
            label: label.to_owned(),
            samples,
            errors,
            rate: 12.5,
            mean_ms: 8.0,
            max_ms: 200.0,
            ..LabelSnapshot::default()
        }
    }

    fn kind(code: &str, message: &str, count: u64) -> ErrorKind {
        ErrorKind {
            code: code.to_owned(),
            message: message.to_owned(),
            count,
        }
    }

    #[test]
    fn the_whole_summary() {
        let summary = Summary {
            total: row("TOTAL", 1500, 3),
            labels: vec![row("Home", 1000, 0), row("Log in", 500, 3)],
            errors: vec![
                kind("500", "Internal Server Error", 1),
                kind("403", "Forbidden", 2),
            ],
            files: vec![PathBuf::from("out.jtl")],
            log: Some(PathBuf::from("jmeter.log")),
            ..Summary::default()
        };
        let expected = "\
times in ms; rate in samples a second; KiB/s received
label     samples   failed  failed%   rate/s    mean     min     p50     p90     p95     p99     max     KiB/s
Home        1,000        0     0.00     12.5    8.00       0       0       0       0       0     200       0.0
Log in        500        3     0.60     12.5    8.00       0       0       0       0       0     200       0.0
TOTAL       1,500        3     0.20     12.5    8.00       0       0       0       0       0     200       0.0
failures
           2  403 Forbidden
           1  500 Internal Server Error
results  out.jtl
log      jmeter.log
";
        assert_eq!(render(&summary, Style::PLAIN, None, false), expected);
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let summary = Summary {
            total: row("TOTAL", 1500, 3),
            labels: vec![row(&"long ".repeat(20), 1000, 0)],
            ..Summary::default()
        };
        let text = render(&summary, Style::PLAIN, Some(80), false);
        let heads =
            "label                  samples   failed   rate/s     p50     p95     p99     max";
        assert_eq!(text.lines().nth(1), Some(heads));
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    }

    #[test]
    fn connections_have_a_line_if_there_were_any() {
        let line = |seen: Connections| {
            let mut text = String::new();
            connections(&mut text, &seen);
            text
        };
        assert_eq!(line(Connections::default()), "");
        let plain = Connections {
            opened: 1200,
            reused: 7,
            closed_by_us: 1199,
            closed_by_peer: 1,
            ..Connections::default()
        };
        let expected = "connections: 1,200 opened, 7 reused; 1,199 closed here, 1 by servers";
        assert_eq!(line(plain), format!("{expected}\n"));
        let secure = Connections {
            handshakes_full: 3,
            handshakes_resumed: 1197,
            ..plain
        };
        let handshakes = "TLS handshakes: 3 full, 1,197 resumed";
        assert_eq!(line(secure), format!("{expected}; {handshakes}\n"));
    }

    #[test]
    fn many_kinds_of_failures_are_counted_together() {
        let errors = (0..15)
            .map(|code| kind(&code.to_string(), "odd", 1))
            .collect();
        let text = render(
            &Summary {
                errors,
                ..Summary::default()
            },
            Style::PLAIN,
            None,
            false,
        );
        assert!(text.contains("           5  of 5 other kinds\n"), "{text}");
    }

    /// A summary with everything that a run may have.
    fn full() -> Summary {
        let spread = Spread {
            count: 1,
            p50_ms: 0.5,
            ..Spread::default()
        };
        let mut stages = StageTimes::default();
        stages.samples = 1;
        stages.add(Stage::Sampler, 1_900_000);
        stages.add(Stage::Wait, 900_000);
        Summary {
            total: row("TOTAL", 1, 0),
            labels: vec![row("Home", 1, 0)],
            service: spread.clone(),
            lateness: spread,
            stages,
            cpu_us: Some(12.0),
            connections: Connections {
                opened: 1,
                ..Connections::default()
            },
            ..Summary::default()
        }
    }

    #[test]
    fn internals_are_shown_only_on_request() {
        let lines = details(&full(), true);
        assert_eq!(lines.lines().count(), 6, "{lines}");
        let usual = render(&full(), Style::PLAIN, None, false);
        let verbose = render(&full(), Style::PLAIN, None, true);
        for line in lines.lines() {
            assert!(!usual.contains(line) && verbose.contains(line), "{line}");
        }
        assert!(lines.contains("max 0 ms (1 time)"), "{lines}");
    }

    #[test]
    fn a_transaction_is_marked_and_the_head_explains_the_mark() {
        let transaction = LabelSnapshot {
            transaction: true,
            ..row(&"Log in ".repeat(9), 5, 0)
        };
        let summary = Summary {
            total: row("TOTAL", 10, 0),
            labels: vec![transaction, row("Form", 10, 0)],
            ..Summary::default()
        };
        for columns in [None, Some(200), Some(80)] {
            let text = render(&summary, Style::PLAIN, columns, false);
            let legend = "(T) is a transaction, not in TOTAL";
            assert!(text.contains(legend), "{columns:?}: {text}");
            let marked = text.lines().filter(|line| line.contains("(T)  "));
            assert_eq!(marked.count(), 1, "{columns:?}: {text}");
        }
        let plain = Summary {
            labels: vec![row("Form", 10, 0)],
            ..summary
        };
        let text = render(&plain, Style::PLAIN, None, false);
        assert!(!text.contains("(T)"), "{text}");
    }

    #[test]
    fn outside_a_terminal_nothing_is_cut() {
        let label = format!("/{}/end", "x".repeat(300));
        let message = format!("Non HTTP response message: {}the cause", "y".repeat(300));
        let summary = Summary {
            total: row("TOTAL", 1, 1),
            labels: vec![row(&label, 1, 1), row("Home", 1, 1)],
            errors: vec![kind("Non HTTP response code: E", &message, 1)],
            ..Summary::default()
        };
        let text = render(&summary, Style::PLAIN, None, false);
        assert!(text.contains(&label) && text.contains(&message), "{text}");
        let terminal = render(&summary, Style::PLAIN, Some(80), false);
        assert!(
            terminal.lines().all(|line| line.width() <= 80),
            "{terminal}"
        );
        assert!(
            terminal.contains("  E yyy") && terminal.contains("yythe cause\n"),
            "{terminal}"
        );
    }

    #[test]
    fn all_times_of_a_column_have_one_unit() {
        let summary = Summary {
            total: row("TOTAL", 2, 0),
            labels: [0.0004, 0.05, 0.7, 1.5, 20.0, 3000.0]
                .map(|mean_ms| LabelSnapshot {
                    mean_ms,
                    ..row("a", 1, 0)
                })
                .to_vec(),
            ..full()
        };
        let text = render(&summary, Style::PLAIN, None, false);
        let means = text.lines().skip(2).take(6).map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells[5].to_owned()
        });
        let means: Vec<String> = means.collect();
        assert_eq!(means, ["0", "0.050", "0.700", "1.50", "20.0", "3000"]);
    }

    #[test]
    fn colours_only_where_something_failed() {
        let summary = Summary {
            total: row("TOTAL", 1, 0),
            labels: vec![row("Home", 1, 0)],
            ..Summary::default()
        };
        let red = |summary: &Summary| {
            let text = render(summary, Style::COLOURED, None, false);
            crate::terminal::escape::text(&text).contains("\x1b[38;5;160mHome")
        };
        assert!(!red(&summary));
        let failed = Summary {
            labels: vec![row("Home", 1, 1)],
            ..summary
        };
        assert!(red(&failed));
    }
}
