//! The live view on a terminal: a frame that redraws itself below the earlier output.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;

use super::format::shown_width;
use super::frame::{Canvas, draw};
use super::snapshot::Snapshot;
use super::style::Style;
use crate::engine::Stopping;
use crate::terminal::escape;

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// Terminals that support synchronized output show a frame at once instead of line by line; others ignore these sequences.
const BEGIN_FRAME: &str = "\x1b[?2026h";
const END_FRAME: &str = "\x1b[?2026l";
const CLEAR_TO_LINE_END: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// Whether the cursor is hidden. The panic hook reads it.
static CURSOR_HIDDEN: AtomicBool = AtomicBool::new(false);

/// A live view. Dropping it leaves the last frame on the screen and restores the terminal.
pub struct LiveView<W: Write> {
    out: W,
    plan: String,
    style: Style,
    zone: TimeZone,
    size: fn() -> (usize, usize),
    /// The width of each line that was drawn.
    drawn: Vec<usize>,
    /// When the run began to end, in milliseconds since its start.
    ending_since_ms: Option<u64>,
}

impl<W: Write> LiveView<W> {
    /// A view of a run of this plan. It calls `size` for the terminal's columns and rows before every frame.
    ///
    /// If the terminal cannot be written to.
    /// A terminal that cannot be written to.
    pub fn start(
        mut out: W,
        plan: &str,
        style: Style,
        zone: TimeZone,
        size: fn() -> (usize, usize),
    ) -> io::Result<Self> {
        show_cursor_on_panic();
        CURSOR_HIDDEN.store(true, Ordering::Relaxed);
        out.write_all(HIDE_CURSOR.as_bytes())?;
        out.flush()?;
        Ok(LiveView {
            out,
            plan: plan.to_owned(),
            style,
            zone,
            size,
            drawn: Vec::new(),
            ending_since_ms: None,
        })
    }

    /// Draws the current state of the run over the last frame.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn show(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let (columns, rows) = (self.size)();
        let canvas = Canvas {
            plan: &self.plan,
            columns,
            rows,
            style: self.style,
            zone: &self.zone,
        };
        let mut shown = snapshot.clone();
        shown.ending_ms = ending_ms(snapshot, &mut self.ending_since_ms);
        let lines = draw(&shown, &canvas);
        let mut text = String::from(BEGIN_FRAME);
        text.push_str(&self.back_to_top(columns));
        for line in &lines {
            text.push_str(&escape::line(line));
            text.push_str(CLEAR_TO_LINE_END);
            text.push('\n');
        }
        text.push_str(CLEAR_BELOW);
        text.push_str(END_FRAME);
        self.drawn = lines.iter().map(|line| shown_width(line)).collect();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Removes the frame, so that other output can take its place.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        let (columns, _) = (self.size)();
        let text = format!("{}{CLEAR_BELOW}", self.back_to_top(columns));
        self.drawn.clear();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Moves the cursor to the first line of the last frame. If the terminal has become narrower, a line occupies several
    /// rows.
    fn back_to_top(&self, columns: usize) -> String {
        let rows = |width: &usize| width.div_ceil(columns.max(1)).max(1);
        match self.drawn.iter().map(rows).sum::<usize>() {
            0 => String::new(),
            rows => format!("\x1b[{rows}A\r"),
        }
    }
}

/// How long the run has been ending: it was told to stop, or some users have finished, none is left to start, and the planned
/// time is over.
fn ending_ms(snapshot: &Snapshot, since_ms: &mut Option<u64>) -> Option<u64> {
    let users = snapshot.users;
    let all_started = users.started >= users.planned && users.started > 0;
    let is_over = snapshot
        .planned_ms
        .is_none_or(|planned| snapshot.elapsed_ms >= planned);
    let is_ending =
        snapshot.stopping != Stopping::No || (all_started && is_over && users.finished > 0);
    if !is_ending {
        *since_ms = None;
        return None;
    }
    let since = *since_ms.get_or_insert(snapshot.elapsed_ms);
    Some(snapshot.elapsed_ms.saturating_sub(since))
}

impl<W: Write> Drop for LiveView<W> {
    fn drop(&mut self) {
        // The error cannot be reported if the terminal is gone.
        let _ = self.out.write_all(SHOW_CURSOR.as_bytes());
        let _ = self.out.flush();
        CURSOR_HIDDEN.store(false, Ordering::Relaxed);
    }
}

/// The columns and rows of the terminal on standard output; 80 x 24 if they are unknown.
pub fn terminal_size() -> (usize, usize) {
    match terminal_size::terminal_size() {
        Some((width, height)) => (usize::from(width.0).max(1), usize::from(height.0).max(1)),
        None => (80, 24),
    }
}

/// The columns of the terminal on standard error; 80 if they are unknown.
pub fn error_columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map(|(width, _)| usize::from(width.0).max(1))
        .unwrap_or(80)
}

/// Installs a panic hook that shows the cursor again, whichever thread panics.
fn show_cursor_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if CURSOR_HIDDEN.swap(false, Ordering::Relaxed) {
                let _ = io::stdout().write_all(SHOW_CURSOR.as_bytes());
                let _ = io::stdout().flush();
            }
            earlier(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_twice(between: impl Fn(&mut LiveView<&mut Vec<u8>>)) -> String {
        let mut written = Vec::new();
        let mut view = LiveView::start(&mut written, "p.jmx", Style::PLAIN, TimeZone::UTC, || {
            (80, 24)
        })
        .expect("a Vec takes all");
        view.show(&Snapshot::default()).expect("a Vec takes all");
        between(&mut view);
        view.show(&Snapshot::default()).expect("a Vec takes all");
        drop(view);
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn a_frame_is_drawn_over_the_last_one() {
        let text = draw_twice(|_| {});
        assert!(
            text.starts_with("\x1b[?25l\x1b[?2026hp.jmx  00:00:00\x1b[K\n"),
            "{text:?}"
        );
        // Four lines: head, users, samples, hint.
        assert_eq!(text.matches("\x1b[4A\r").count(), 1, "{text:?}");
        assert!(
            text.ends_with("\x1b[J\x1b[?2026l\x1b[?25h"),
            "the cursor is shown again: {text:?}"
        );
    }

    #[test]
    fn a_cleared_frame_is_not_drawn_over() {
        let text = draw_twice(|view| view.clear().expect("a Vec takes all"));
        assert_eq!(
            text.matches("\x1b[4A\r").count(),
            1,
            "only the clearing goes back: {text:?}"
        );
    }
}
