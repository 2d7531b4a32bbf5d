//! Faults in a property text, for the plan's diagnostics.

use std::ops::Range;

/// The severity of a [`TemplateError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// JMeter rejects the text and leaves every property of the element unevaluated.
    Error,
    /// JMeter runs the text, but probably not as its author intended.
    Warning,
}

/// A finding about one property text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// A stable identifier, such as `function-arguments`.
    pub code: &'static str,
    /// Whether JMeter rejects the text.
    pub severity: Severity,
    /// The message; for errors, the one that JMeter logs.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The byte range in the property text.
    pub span: Range<usize>,
}

impl TemplateError {
    pub(crate) fn error(code: &'static str, message: String, span: Range<usize>) -> TemplateError {
        TemplateError {
            code,
            severity: Severity::Error,
            message,
            help: None,
            span,
        }
    }

    /// Limits the span to the text. If the text ends with a backslash, the parser reads the backslash twice, as JMeter's
    /// does.
    pub(crate) fn keep_within(&mut self, text: &str) {
        let within = |at: usize| text.floor_char_boundary(at);
        self.span = within(self.span.start)..within(self.span.end);
    }

    pub(crate) fn warning(
        code: &'static str,
        message: String,
        span: Range<usize>,
    ) -> TemplateError {
        TemplateError {
            code,
            severity: Severity::Warning,
            message,
            help: None,
            span,
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> TemplateError {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TemplateError {}
