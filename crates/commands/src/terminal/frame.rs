//! The live view as lines of text.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use super::format::{
    bytes, clock, count, counted, cut, cut_middle, failure, fit, ms, ms_with_unit, rate,
};
use super::snapshot::{AgentRow, LabelSnapshot, RecentError, Snapshot, TRANSACTION};
use super::style::Style;
use crate::engine::{AgentPhase, Stopping};

/// The width of the numbers after a label: samples, errors, rate, p50, p95, p99, max.
const NUMBER_COLUMNS: usize = 12 + 8 + 10 + 8 + 8 + 8 + 8;
/// The width of the numbers after an agent's name.
const AGENT_COLUMNS: usize = 8 + 8 + 12 + 10 + 7 + 9 + 20;
/// The widest name of an agent.
const MAX_AGENT_COLUMNS: usize = 32;
/// The narrowest label column.
const MIN_LABEL_COLUMNS: usize = 12;
/// Wider columns only move the numbers away from short labels.
const WIDE_LABEL_COLUMNS: usize = 44;
/// The most failed samples to show.
const MAX_ERRORS: usize = 5;
/// The widest label of a failed sample.
const MAX_ERROR_LABEL_COLUMNS: usize = 48;
/// Lines that are always there: head, users, totals, blank, column heads, hint.
const FIXED_LINES: usize = 6;

/// The surface to draw on, with the plan and the style.
#[derive(Debug, Clone)]
pub struct Canvas<'a> {
    /// The plan's name in the head line.
    pub plan: &'a str,
    /// Columns of the terminal.
    pub columns: usize,
    /// Rows of the terminal.
    pub rows: usize,
    /// Colours.
    pub style: Style,
    /// The zone of the times.
    pub zone: &'a TimeZone,
}

/// The lines of the view. None is wider than the canvas, and they leave at least one of its rows free.
pub fn draw(snapshot: &Snapshot, canvas: &Canvas<'_>) -> Vec<String> {
    let style = canvas.style;
    let mut lines = vec![
        head(snapshot, canvas),
        users(snapshot, canvas),
        totals(snapshot, canvas),
    ];
    let room = canvas.rows.saturating_sub(FIXED_LINES + 1);
    let errors = error_lines(snapshot, canvas, room / 2);
    let agents = agent_lines(snapshot, canvas, room.saturating_sub(errors.len()) / 2);
    let taken = errors.len() + agents.len();
    let labels = label_lines(snapshot, canvas, room.saturating_sub(taken));
    if !agents.is_empty() {
        lines.push(String::new());
        lines.extend(agents);
    }
    if !labels.is_empty() {
        lines.push(String::new());
        lines.extend(labels);
    }
    lines.extend(errors);
    lines.push(match snapshot.stopping {
        Stopping::No => style.dim(&cut(
            "Ctrl-C: users finish their sample and stop",
            canvas.columns,
        )),
        Stopping::Shutdown => {
            let most = snapshot
                .grace_left_ms
                .map(|left_ms| format!(", {} s at most", left_ms.div_ceil(1000)))
                .unwrap_or_default();
            let line = format!("stopping after the current samples{most}; Ctrl-C: stop now");
            style.yellow(&cut(&line, canvas.columns))
        }
        Stopping::Now => style.yellow(&cut("stopping now", canvas.columns)),
    });
    lines.truncate(canvas.rows.saturating_sub(1).max(1));
    lines
}

fn head(snapshot: &Snapshot, canvas: &Canvas<'_>) -> String {
    let elapsed = clock(snapshot.elapsed_ms);
    let Some(planned_ms) = snapshot.planned_ms.filter(|planned| *planned > 0) else {
        return canvas
            .style
            .bold(&cut(&format!("{}  {elapsed}", canvas.plan), canvas.columns));
    };
    let share = (snapshot.elapsed_ms as f64 / planned_ms as f64).min(1.0);
    let left_ms = planned_ms.saturating_sub(snapshot.elapsed_ms);
    let times = format!(
        " {:>3.0}%  {elapsed} / {}, {} left",
        share * 100.0,
        clock(planned_ms),
        clock(left_ms)
    );
    let name = cut(
        canvas.plan,
        canvas.columns.saturating_sub(times.len() + 14).max(8),
    );
    let taken = times.len() + name.width() + 4;
    let bar_columns = canvas.columns.saturating_sub(taken).min(40);
    if bar_columns < 5 {
        return cut(&format!("{name} {times}"), canvas.columns);
    }
    let done = (share * bar_columns as f64).round() as usize;
    let bar = format!(
        "{}{}",
        canvas.style.green(&"#".repeat(done)),
        ".".repeat(bar_columns - done)
    );
    format!("{}  [{bar}]{times}", canvas.style.bold(&name))
}

fn users(snapshot: &Snapshot, canvas: &Canvas<'_>) -> String {
    let users = snapshot.users;
    let mut line = if is_ending(snapshot) {
        format!(
            "users    {}; {} of {} finished",
            phase(snapshot),
            count(users.finished),
            count(users.started)
        )
    } else {
        format!(
            "users    {}; {} active, {} of {} started, {} finished",
            phase(snapshot),
            count(users.active),
            count(users.started),
            count(users.planned.max(users.started)),
            count(users.finished)
        )
    };
    if snapshot.backlog_bytes > 0 {
        line.push_str(&format!(
            "; {} of results wait for the disk",
            bytes(snapshot.backlog_bytes)
        ));
    }
    cut(&line, canvas.columns)
}

fn is_ending(snapshot: &Snapshot) -> bool {
    snapshot.stopping != Stopping::No || snapshot.ending_ms.is_some()
}

/// The phase of the run: ramp-up, steady, or ending, with the number of users that it waits for.
fn phase(snapshot: &Snapshot) -> String {
    let users = snapshot.users;
    if is_ending(snapshot) {
        let who = counted(users.active, "user");
        let seconds = snapshot.ending_ms.unwrap_or(0) / 1000;
        return format!("ending, waiting for {who}, {seconds} s");
    }
    if users.started < users.planned {
        "ramp-up".to_owned()
    } else {
        "steady".to_owned()
    }
}

fn totals(snapshot: &Snapshot, canvas: &Canvas<'_>) -> String {
    let total = &snapshot.total;
    let start = format!(
        "samples  {} at {}/s now",
        count(total.samples),
        rate(total.rate_now)
    );
    let failed = format!("{} failed", count(total.errors));
    let times = format!(
        "p50 {} p95 {} p99 {}",
        ms(total.p50_ms),
        ms(total.p95_ms),
        ms_with_unit(total.p99_ms)
    );
    let overall = format!(", {}/s overall", rate(total.rate));
    let percent = format!(" ({:.2}%)", total.error_percent());
    // A shorter form with whole numbers is better than a longer one that is cut: half a number
    // misleads.
    let forms = [
        format!("{start}{overall}; {failed}{percent}; {times}"),
        format!("{start}; {failed}{percent}; {times}"),
        format!("{start}; {failed}; {times}"),
    ];
    let line = forms
        .iter()
        .find(|form| form.chars().count() <= canvas.columns)
        .unwrap_or(&forms[2]);
    let line = cut(line, canvas.columns);
    if total.errors > 0 {
        canvas.style.red(&line)
    } else {
        line
    }
}

/// The agents, as many as fit. Those with trouble come first.
fn agent_lines(snapshot: &Snapshot, canvas: &Canvas<'_>, room: usize) -> Vec<String> {
    let name_columns = canvas
        .columns
        .saturating_sub(AGENT_COLUMNS)
        .min(MAX_AGENT_COLUMNS);
    if name_columns < MIN_LABEL_COLUMNS || room < 3 || snapshot.agents.is_empty() {
        return Vec::new();
    }
    let mut agents: Vec<&AgentRow> = snapshot.agents.iter().collect();
    agents.sort_by_key(|agent| std::cmp::Reverse(agent.trouble()));
    // A blank line, the column heads, and a line that counts the agents not shown.
    let shown = if agents.len() + 2 <= room {
        agents.len()
    } else {
        room - 3
    };
    let heads = format!(
        "{}{:>8}{:>8}{:>12}{:>10}{:>7}{:>9}  verdict",
        fit("agent", name_columns),
        "",
        "users",
        "samples",
        "rate/s",
        "cores",
        "late ms",
    );
    let mut lines = vec![canvas.style.dim(&heads)];
    lines.extend(
        agents
            .iter()
            .take(shown)
            .map(|agent| agent_line(agent, name_columns, canvas.style)),
    );
    let hidden = agents.len() - shown;
    if hidden > 0 {
        let running = agents
            .iter()
            .skip(shown)
            .filter(|agent| agent.phase == AgentPhase::Running)
            .count();
        let line = format!("and {hidden} more, {running} running");
        lines.push(canvas.style.dim(&cut(&line, canvas.columns)));
    }
    lines
}

fn agent_line(agent: &AgentRow, name_columns: usize, style: Style) -> String {
    let grade = agent
        .grade
        .map(|grade| grade.to_string())
        .unwrap_or_default();
    let line = format!(
        "{}{:>8}{:>8}{:>12}{:>10}{:>7.2}{:>9}  {grade}",
        fit(&cut_middle(&agent.name, name_columns), name_columns),
        agent.phase,
        count(agent.users),
        count(agent.samples),
        rate(agent.rate_now),
        agent.cores,
        ms(agent.late_ms),
    );
    match agent.trouble() {
        0 => line,
        1 => style.yellow(&line),
        _ => style.red(&line),
    }
}

/// The busiest labels, as many as fit, in the order of the plan.
fn label_lines(snapshot: &Snapshot, canvas: &Canvas<'_>, room: usize) -> Vec<String> {
    let widest = snapshot.labels.iter().map(|row| row.label.width()).max();
    let enough = WIDE_LABEL_COLUMNS.max(widest.unwrap_or(0) + TRANSACTION.width() + 1);
    let label_columns = canvas.columns.saturating_sub(NUMBER_COLUMNS).min(enough);
    if label_columns < MIN_LABEL_COLUMNS || room == 0 || snapshot.labels.is_empty() {
        return Vec::new();
    }
    let hidden = snapshot.labels.len().saturating_sub(room);
    let shown = if hidden > 0 {
        room - 1
    } else {
        snapshot.labels.len()
    };
    let mut busiest: Vec<usize> = (0..snapshot.labels.len()).collect();
    busiest.sort_by_key(|index| std::cmp::Reverse(snapshot.labels[*index].samples));
    busiest.truncate(shown);
    busiest.sort_unstable();

    let legend = "label, times in ms";
    let explained = format!("{legend}; {TRANSACTION} is a transaction");
    let has_transactions = snapshot.labels.iter().any(|row| row.transaction);
    let legend = if has_transactions && explained.width() <= label_columns {
        &explained
    } else {
        legend
    };
    let heads = format!(
        "{}{:>12}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}",
        fit(legend, label_columns),
        "samples",
        "failed",
        "rate/s",
        "p50",
        "p95",
        "p99",
        "max"
    );
    let mut lines = vec![canvas.style.dim(&heads)];
    lines.extend(
        busiest
            .into_iter()
            .map(|index| label_line(&snapshot.labels[index], label_columns, canvas.style)),
    );
    let left_out = snapshot.labels.len() - shown;
    if left_out > 0 {
        lines.push(
            canvas
                .style
                .dim(&cut(&format!("and {left_out} more"), canvas.columns)),
        );
    }
    lines
}

fn label_line(row: &LabelSnapshot, label_columns: usize, style: Style) -> String {
    let line = format!(
        "{}{:>12}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}",
        fit(&row.marked(label_columns), label_columns),
        count(row.samples),
        count(row.errors),
        rate(row.rate_now),
        ms(row.p50_ms),
        ms(row.p95_ms),
        ms(row.p99_ms),
        ms(row.max_ms)
    );
    if row.errors > 0 {
        style.red(&line)
    } else {
        line
    }
}

fn error_lines(snapshot: &Snapshot, canvas: &Canvas<'_>, room: usize) -> Vec<String> {
    let shown = snapshot
        .recent_errors
        .len()
        .min(MAX_ERRORS)
        .min(room.saturating_sub(1));
    if shown == 0 {
        return Vec::new();
    }
    let mut lines = vec![canvas.style.dim(&cut("last failures", canvas.columns))];
    let latest = &snapshot.recent_errors[snapshot.recent_errors.len() - shown..];
    lines.extend(latest.iter().map(|error| error_line(error, canvas)));
    lines
}

fn error_line(error: &RecentError, canvas: &Canvas<'_>) -> String {
    let at = Timestamp::from_millisecond(error.at_ms)
        .unwrap_or_default()
        .to_zoned(canvas.zone.clone());
    let head = format!(
        "{}  {}  ",
        at.strftime("%H:%M:%S"),
        cut_middle(&error.label, MAX_ERROR_LABEL_COLUMNS)
    );
    let room = canvas.columns.saturating_sub(head.width());
    let reason = failure(&error.code, &error.message, room);
    cut(&format!("{head}{reason}"), canvas.columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::snapshot::Users;

    static UTC: TimeZone = TimeZone::UTC;

    fn canvas(columns: usize, rows: usize) -> Canvas<'static> {
        Canvas {
            plan: "shop.jmx",
            columns,
            rows,
            style: Style::PLAIN,
            zone: &UTC,
        }
    }

    fn row(label: &str, samples: u64, errors: u64) -> LabelSnapshot {
        LabelSnapshot {
            label: label.to_owned(),
            samples,
            errors,
            rate_now: 41.5,
            rate: 40.0,
            p50_ms: 10.0,
            p95_ms: 20.25,
            p99_ms: 120.0,
            max_ms: 1500.0,
            ..LabelSnapshot::default()
        }
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            elapsed_ms: 5_400,
            planned_ms: Some(10_800),
            users: Users {
                planned: 20,
                started: 12,
                active: 10,
                finished: 2,
            },
            total: row("TOTAL", 1234, 3),
            labels: vec![row("Home", 1000, 0), row("Log in", 234, 3)],
            recent_errors: vec![RecentError {
                at_ms: 3_723_000,
                label: "Log in".to_owned(),
                code: "403".to_owned(),
                message: "Forbidden".to_owned(),
            }],
            ..Snapshot::default()
        }
    }

    #[test]
    fn the_line_of_totals_leaves_out_what_does_not_fit() {
        let line = |columns| draw(&snapshot(), &canvas(columns, 30))[2].clone();
        let whole = "samples  1,234 at 41.5/s now, 40.0/s overall; 3 failed (0.24%); p50 10.0 p95 20.2 p99 120 ms";
        assert_eq!(line(100), whole);
        let rate_now =
            "samples  1,234 at 41.5/s now; 3 failed (0.24%); p50 10.0 p95 20.2 p99 120 ms";
        assert_eq!(line(80), rate_now);
        let failed = "samples  1,234 at 41.5/s now; 3 failed; p50 10.0 p95 20.2 p99 120 ms";
        assert_eq!(line(70), failed);
    }

    #[test]
    fn the_whole_view() {
        let text = draw(&snapshot(), &canvas(100, 30)).join("\n");
        let expected = "\
shop.jmx  [####################....................]  50%  00:00:05 / 00:00:10, 00:00:05 left
users    ramp-up; 10 active, 12 of 20 started, 2 finished
samples  1,234 at 41.5/s now, 40.0/s overall; 3 failed (0.24%); p50 10.0 p95 20.2 p99 120 ms

label, times in ms                         samples  failed    rate/s     p50     p95     p99     max
Home                                         1,000       0      41.5    10.0    20.2     120    1500
Log in                                         234       3      41.5    10.0    20.2     120    1500
last failures
01:02:03  Log in  403 Forbidden
Ctrl-C: users finish their sample and stop";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_transaction_is_marked_at_every_width_and_explained_where_there_is_room() {
        let mut snapshot = snapshot();
        snapshot.labels[1].transaction = true;
        for (columns, is_explained) in [(80, false), (120, true)] {
            let lines = draw(&snapshot, &canvas(columns, 30));
            assert!(
                lines.iter().any(|line| line.starts_with("Log in (T)  ")),
                "{lines:#?}"
            );
            let heads = lines
                .iter()
                .find(|line| line.starts_with("label, times in ms"));
            let heads = heads.unwrap_or_else(|| panic!("{lines:#?}"));
            assert_eq!(
                heads.contains("(T) is a transaction"),
                is_explained,
                "{heads}"
            );
        }
    }

    #[test]
    fn a_wide_terminal_keeps_the_numbers_beside_the_labels() {
        let head = |columns| draw(&snapshot(), &canvas(columns, 30))[4].width();
        assert_eq!(
            (head(100), head(200)),
            (100, WIDE_LABEL_COLUMNS + NUMBER_COLUMNS)
        );
        let mut long = snapshot();
        long.labels[0].label = "a".repeat(70);
        let lines = draw(&long, &canvas(200, 30));
        assert!(lines[5].starts_with(&"a".repeat(70)), "{lines:#?}");
    }

    #[test]
    fn no_line_is_too_wide_and_not_too_many() {
        let mut crowded = snapshot();
        crowded.labels = (0..200)
            .map(|index| row(&format!("a rather long label, number {index}"), index, 1))
            .collect();
        crowded.recent_errors = vec![crowded.recent_errors[0].clone(); 50];
        for columns in [1, 10, 40, 80, 81, 200] {
            for rows in [1, 2, 5, 8, 24, 60] {
                let lines = draw(&crowded, &canvas(columns, rows));
                assert!(
                    lines.len() < rows.max(2),
                    "{columns}x{rows}: {} lines",
                    lines.len()
                );
                for line in &lines {
                    assert!(line.width() <= columns, "{columns}x{rows}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn the_busiest_labels_are_kept_in_the_order_of_the_plan() {
        let mut crowded = snapshot();
        crowded.recent_errors.clear();
        crowded.labels = (0..20)
            .map(|index| {
                row(
                    &format!("L{index}"),
                    if index % 5 == 0 { 100 } else { 1 },
                    0,
                )
            })
            .collect();
        let text = draw(&crowded, &canvas(100, 12)).join("\n");
        let order: Vec<usize> = ["L0 ", "L5 ", "L10", "L15"]
            .iter()
            .map(|name| text.find(name).expect("shown"))
            .collect();
        assert!(order.is_sorted(), "{text}");
        assert!(text.contains("and 16 more"), "{text}");
    }

    #[test]
    fn stopping_and_a_slow_disk_are_told() {
        let mut slow = snapshot();
        slow.stopping = Stopping::Shutdown;
        slow.grace_left_ms = Some(14_001);
        slow.backlog_bytes = 3 << 20;
        let text = draw(&slow, &canvas(120, 30)).join("\n");
        assert!(
            text.contains("3.0 MiB of results wait for the disk")
                && text.contains("samples, 15 s at most; Ctrl-C: stop now"),
            "{text}"
        );
    }

    #[test]
    fn the_phase_is_told() {
        let mut run = snapshot();
        assert_eq!(phase(&run), "ramp-up");
        run.users.started = 20;
        assert_eq!(phase(&run), "steady");
        run.ending_ms = Some(12_300);
        run.users.active = 3;
        assert_eq!(phase(&run), "ending, waiting for 3 users, 12 s");
    }

    #[test]
    fn without_a_planned_length_there_is_no_bar() {
        let mut open = snapshot();
        open.planned_ms = None;
        assert_eq!(draw(&open, &canvas(80, 30))[0], "shop.jmx  00:00:05");
    }

    #[test]
    fn agents_that_are_not_well_come_first_and_the_rest_is_counted() {
        let agent = |number: usize| AgentRow {
            name: format!("agent-{number}"),
            phase: match number {
                7 => AgentPhase::Lost,
                _ => AgentPhase::Running,
            },
            users: 5,
            samples: 1_200,
            rate_now: 40.0,
            cores: 0.25,
            late_ms: 1.5,
            grade: Some(drumfire_health::Grade::Valid),
        };
        let snapshot = Snapshot {
            agents: (0..9).map(agent).collect(),
            labels: vec![row("a", 5, 0)],
            ..Snapshot::default()
        };
        let lines = draw(&snapshot, &canvas(120, 24));
        let at = lines.iter().position(|line| line.starts_with("agent  "));
        let at = at.expect("there is a table of agents");
        assert!(lines[at + 1].starts_with("agent-7"), "{lines:#?}");
        assert!(lines[at + 1].contains("lost"), "{lines:#?}");
        let more = lines.iter().find(|line| line.starts_with("and "));
        assert_eq!(
            more.map(String::as_str),
            Some("and 4 more, 4 running"),
            "{lines:#?}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("a  ")),
            "labels are shown, too"
        );
        assert!(lines.iter().all(|line| line.width() <= 120), "{lines:#?}");
    }
}
