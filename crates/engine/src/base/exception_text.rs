//! Texts of Java exceptions that plans can see.

use drumfire_platform::message_error;
use drumfire_results::SharedText;

message_error! {
    /// The text of the exception that JMeter or one of its libraries throws: of a malformed expression, of a document that cannot be
    /// parsed, or of a value that does not fit. JMeter shows it in assertion results and logs.
    pub struct ExceptionText;
}

impl ExceptionText {
    /// The text without this beginning, which is the exception's class as a rule.
    pub fn without(self, beginning: &str) -> ExceptionText {
        match self.0.strip_prefix(beginning) {
            Some(rest) => rest.into(),
            None => self,
        }
    }
}

impl From<ExceptionText> for SharedText {
    fn from(text: ExceptionText) -> SharedText {
        String::from(text).into()
    }
}
