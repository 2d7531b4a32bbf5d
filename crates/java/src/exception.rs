//! The Java exception that JMeter would catch, as its sample result shows it.

use std::borrow::Cow;
use std::fmt;

/// A failure in JMeter's terms: the class and message of the exception that `HTTPSamplerBase.errorResult` turns
/// into a response code and a response message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The full Java class name.
    pub class: Cow<'static, str>,
    /// The result of `getMessage()`; `None` is Java's `null`.
    pub message: Option<Cow<'static, str>>,
    /// The wrapped exception (`getCause()`).
    pub cause: Option<Box<Exception>>,
}

impl Exception {
    /// An exception with a message.
    pub fn new(class: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            class: Cow::Borrowed(class),
            message: Some(message.into()),
            cause: None,
        }
    }

    /// An exception whose `getMessage()` is `null`, such as HttpClient's wrapper around protocol errors.
    pub fn without_message(class: &'static str) -> Self {
        Self {
            class: Cow::Borrowed(class),
            message: None,
            cause: None,
        }
    }

    /// This exception around another one.
    #[must_use]
    pub fn caused_by(mut self, cause: Exception) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// The response data of the sample: the first line of its stack trace and the `Caused by` lines of wrapped
    /// exceptions, without the frames that `Throwable#printStackTrace` writes below each.
    pub fn trace(&self) -> String {
        let mut text = format!("{self}\n");
        let mut cause = self.cause.as_deref();
        while let Some(inner) = cause {
            text.push_str(&format!("Caused by: {inner}\n"));
            cause = inner.cause.as_deref();
        }
        text
    }

    /// The response code of the sample (`HTTPSamplerBase.errorResult`).
    pub fn response_code(&self) -> String {
        format!("Non HTTP response code: {}", self.class)
    }

    /// The response message of the sample (`HTTPSamplerBase.errorResult`).
    pub fn response_message(&self) -> String {
        format!(
            "Non HTTP response message: {}",
            self.message.as_deref().unwrap_or("null")
        )
    }

    /// Whether it is a `RuntimeException`, which no implementation of a sampler catches.
    pub fn is_unchecked(&self) -> bool {
        matches!(
            &*self.class,
            "java.lang.IllegalArgumentException"
                | "java.lang.ClassCastException"
                | "java.lang.NullPointerException"
        )
    }

    /// `java.net.MalformedURLException`.
    pub fn malformed_url(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("java.net.MalformedURLException", message)
    }

    /// `java.lang.IllegalArgumentException`.
    pub fn illegal_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("java.lang.IllegalArgumentException", message)
    }
}

/// The first line of the stack trace.
impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

impl std::error::Error for Exception {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}

/// Parses the first line of a trace: `class: message`.
impl From<String> for Exception {
    fn from(text: String) -> Exception {
        let (class, message) = match text.split_once(": ") {
            Some((class, message)) if !class.contains(' ') => {
                (class.to_owned(), Some(Cow::Owned(message.to_owned())))
            }
            _ => (text, None),
        };
        Exception {
            class: Cow::Owned(class),
            message,
            cause: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_message_read_as_in_jmeter() {
        let failure = Exception::malformed_url("unknown protocol: htp");
        assert_eq!(
            failure.response_code(),
            "Non HTTP response code: java.net.MalformedURLException"
        );
        assert_eq!(
            failure.response_message(),
            "Non HTTP response message: unknown protocol: htp"
        );
        let wrapped = Exception::without_message("org.apache.http.client.ClientProtocolException");
        assert_eq!(
            wrapped.response_message(),
            "Non HTTP response message: null"
        );
        assert_eq!(
            wrapped.to_string(),
            "org.apache.http.client.ClientProtocolException"
        );
        let wrapped = wrapped.caused_by(failure);
        assert_eq!(
            wrapped.trace(),
            "org.apache.http.client.ClientProtocolException\n\
             Caused by: java.net.MalformedURLException: unknown protocol: htp\n"
        );
    }
}
