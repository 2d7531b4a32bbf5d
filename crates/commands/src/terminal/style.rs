//! Colours, if the terminal has them and the user did not turn them off (`NO_COLOR`, `TERM=dumb`).
//!
//! Red, green and amber come from the palette of 256 colours, where they are legible on white and on black. Terminals choose the
//! first eight colours freely, and most show yellow and green too bright to read on white.

use std::io::IsTerminal;

use drumfire_platform::colour::painted;

/// Whether to use colours. No output relies on colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// No colours.
    pub const PLAIN: Style = Style { coloured: false };
    /// Colours.
    pub const COLOURED: Style = Style { coloured: true };

    /// The style for this stream and the environment. `NO_COLOR` counts if it is not empty (no-color.org).
    pub fn of(stream: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Style {
            coloured: stream.is_terminal() && !refused && !dumb,
        }
    }

    /// Whether colours are used.
    pub fn is_coloured(self) -> bool {
        self.coloured
    }

    /// For headings and names.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// For less important text.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// For failures.
    pub fn red(self, text: &str) -> String {
        self.wrap(drumfire_platform::palette::RED, text)
    }

    /// For success and progress.
    pub fn green(self, text: &str) -> String {
        self.wrap(drumfire_platform::palette::GREEN, text)
    }

    /// For warnings.
    pub fn yellow(self, text: &str) -> String {
        self.wrap(drumfire_platform::palette::AMBER, text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.coloured {
            painted(code, text)
        } else {
            text.to_owned()
        }
    }
}
