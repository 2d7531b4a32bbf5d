//! Standard output, standard error and the environment, as values, so that tests can run a command without starting a
//! process.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::OnceLock;

use drumfire_platform::causes::cause;
use drumfire_platform::secrets::addresses;

use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::terminal::escape;
use crate::terminal::live::terminal_size;
use crate::terminal::style::Style;

/// Why standard output lost something. A reader that has gone away wants no more, and is no loss.
static LOSS: OnceLock<String> = OnceLock::new();

/// The surroundings of a command.
pub struct Console<'a> {
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
    /// The variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Colours on standard output.
    pub style: Style,
    /// Colours on standard error.
    pub err_style: Style,
    /// Whether standard output is a terminal that can be drawn on.
    pub is_terminal: bool,
    /// Whether the compiler optimized the program; runs say so if not.
    pub is_optimized: bool,
    /// The width of the terminal on standard error; `None` elsewhere.
    pub err_columns: Option<usize>,
}

impl Console<'_> {
    /// Prints a text to standard output, without user and password of the addresses in it. A reader that has gone away (`| head`) does not stop a run.
    pub fn print(&mut self, text: &str) {
        self.print_as_it_is(&escape::text(&addresses(text)));
    }

    /// The width of the terminal on standard output; `None` elsewhere.
    pub fn columns(&self) -> Option<usize> {
        self.is_terminal.then(|| terminal_size().0)
    }

    /// Prints commands for a CI system to standard output. The caller has already escaped their texts.
    pub fn print_as_it_is(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| self.out.flush())
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            LOSS.get_or_init(|| cause(&error));
        }
    }

    /// Ends a command: if standard output lost something, that is told, and the command has failed.
    pub fn end(&mut self, exit: Exit) -> Exit {
        let Some(why) = LOSS.get() else { return exit };
        self.error(&format!("standard output cannot be written: {why}"));
        match exit {
            Exit::Ok => Exit::RunFailed,
            other => other,
        }
    }

    /// Prints a line to standard output.
    pub fn line(&mut self, line: &str) {
        self.print(&format!("{}\n", escape::line(line)));
    }

    /// Prints to standard error.
    pub fn print_error(&mut self, text: &str) {
        let _ = self
            .err
            .write_all(escape::text(&addresses(text)).as_bytes());
        let _ = self.err.flush();
    }

    /// Warns of something odd that does no harm.
    pub fn warn(&mut self, message: &str) {
        tracing::warn!("{message}");
        let head = self.err_style.yellow("warning");
        self.print_error(&format!("{head}: {message}\n"));
    }

    /// Tells something worth knowing that is neither odd nor wrong.
    pub fn note(&mut self, message: &str) {
        tracing::info!("{message}");
        self.print_error(&format!("note: {message}\n"));
    }

    /// Reports an error after which the command goes on.
    pub fn error(&mut self, message: &str) {
        tracing::error!("{message}");
        let head = self.err_style.red("error");
        self.print_error(&format!("{head}: {message}\n"));
    }

    /// Prints why a command is not carried out.
    pub fn refuse(&mut self, refusal: &Refusal) -> Exit {
        if !refusal.err.is_empty() {
            tracing::error!("{}", refusal.err.trim_end());
        }
        self.print(&refusal.out);
        self.print_error(&refusal.err);
        refusal.exit
    }
}
