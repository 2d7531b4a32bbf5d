//! The status code that a TCP Sampler finds in a response (`tcp.status.prefix`, `.suffix`, `.properties`).

use crate::base::exception_text::ExceptionText;
use std::collections::HashMap;
use std::path::Path;

use drumfire_expr::Properties;
use drumfire_java::values;
use drumfire_results::{Sample, SharedText};

/// Where to find a code in a response, and the messages of codes.
pub struct Status {
    /// If empty, responses have no code.
    prefix: Box<str>,
    suffix: Box<str>,
    /// Messages by code, if there is such a file.
    messages: Option<HashMap<String, String>>,
}

impl Status {
    pub fn from_properties(properties: &Properties) -> Status {
        let text = |name: &str| properties.get(name).unwrap_or_default();
        let file = text("tcp.status.properties");
        let messages = if file.is_empty() {
            None
        } else {
            drumfire_jmx::load(Path::new(&*file)).ok()
        };
        Status {
            prefix: (&*text("tcp.status.prefix")).into(),
            suffix: (&*text("tcp.status.suffix")).into(),
            messages: messages.map(|messages| messages.into_iter().collect()),
        }
    }

    /// Takes code and message from the response, if a prefix is set and the response is not empty.
    ///
    /// # Errors
    /// With Java's exception for a code that is no number.
    pub fn judge(&self, sample: &mut Sample, response: &[u8]) -> Result<(), ExceptionText> {
        if self.prefix.is_empty() || response.is_empty() {
            return Ok(());
        }
        let response = String::from_utf8_lossy(response);
        let parts = response.split_once(&*self.prefix);
        let code = parts.and_then(|(_, rest)| rest.find(&*self.suffix).map(|end| &rest[..end]));
        let Some(code) = code else {
            sample.code = SharedText::Static("999");
            sample.message = SharedText::Static("Status value not found");
            sample.success = false;
            return Ok(());
        };
        sample.code = code.to_owned().into();
        if sample.success {
            let number = values::parse_int(code).ok_or_else(|| {
                format!("java.lang.NumberFormatException: For input string: \"{code}\"")
            })?;
            // TCPSampler#checkResponseCode takes errors for successes.
            sample.success = (400..=599).contains(&number);
        }
        sample.message = match &self.messages {
            None => SharedText::Static("No status property file"),
            Some(messages) => match messages.get(code) {
                Some(message) => message.clone().into(),
                None => SharedText::Static("Status code not found in properties"),
            },
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(response: &str, messages: Option<&[(&str, &str)]>) -> String {
        let owned = |(code, message): &(&str, &str)| ((*code).to_owned(), (*message).to_owned());
        let status = Status {
            prefix: "rc=".into(),
            suffix: ";".into(),
            messages: messages.map(|messages| messages.iter().map(owned).collect()),
        };
        let mut sample = Sample::default();
        sample.set_ok();
        match status.judge(&mut sample, response.as_bytes()) {
            Ok(()) => format!("{} {} {}", &*sample.code, &*sample.message, sample.success),
            Err(exception) => exception.into(),
        }
    }

    #[test]
    fn a_code_is_between_prefix_and_suffix() {
        assert_eq!(
            judge("a rc=404; b", None),
            "404 No status property file true"
        );
        assert_eq!(judge("rc=200;", None), "200 No status property file false");
        let messages = [("404", "not there")];
        assert_eq!(judge("rc=404;", Some(&messages)), "404 not there true");
        assert_eq!(
            judge("rc=405;", Some(&messages)),
            "405 Status code not found in properties true"
        );
        assert_eq!(judge("rc=404", None), "999 Status value not found false");
        assert_eq!(judge("none", None), "999 Status value not found false");
        assert_eq!(judge("", None), "200 OK true");
        assert_eq!(
            judge("rc=x;", None),
            "java.lang.NumberFormatException: For input string: \"x\""
        );
    }
}
