//! Unchecked Java exceptions that functions throw, with what their stack traces say of where they come from: a failed HTTP
//! sample holds the trace as its response data, so its size counts.
//!
//! Frames are facts recorded from JMeter 5.6.3 on Java 17; exceptions of functions that are not listed here have none.

use std::borrow::Cow;

use crate::java_time::DatePatternError;

/// An unchecked Java exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// The full name of its class.
    pub class: Cow<'static, str>,
    /// `getMessage()`.
    pub message: Option<String>,
    /// From the throwing method to the function's `execute`, as `class.method:line`.
    pub frames: Vec<&'static str>,
    /// The wrapped exception. Its frames end where those of this one continue.
    pub cause: Option<Box<Thrown>>,
}

impl Thrown {
    /// An exception without a cause.
    pub fn new(class: &'static str, message: impl Into<String>) -> Thrown {
        Thrown {
            class: Cow::Borrowed(class),
            message: Some(message.into()),
            frames: Vec::new(),
            cause: None,
        }
    }

    /// Where it comes from, from the inside out.
    pub(crate) fn at(mut self, frames: &[&'static str]) -> Thrown {
        self.frames.extend(frames);
        self
    }

    pub(crate) fn caused_by(mut self, cause: Thrown) -> Thrown {
        self.cause = Some(Box::new(cause));
        self
    }
}

/// From the first line of a trace, `class: message`.
impl From<String> for Thrown {
    fn from(text: String) -> Thrown {
        let (class, message) = match text.split_once(": ") {
            Some((class, message)) if !class.contains(' ') => {
                (class.to_owned(), Some(message.to_owned()))
            }
            _ => (text, None),
        };
        Thrown {
            class: Cow::Owned(class),
            message,
            frames: Vec::new(),
            cause: None,
        }
    }
}

/// The first line of the trace.
impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

impl std::error::Error for Thrown {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}

/// `Integer.parseInt` of a text that is no number, in a function.
pub(crate) fn no_int(text: &str, function: &'static str) -> Thrown {
    let line = match fault(text) {
        Digits::None => "java.lang.Integer.parseInt:678",
        Digits::BadFirst => "java.lang.Integer.parseInt:654",
        Digits::SignOnly => "java.lang.Integer.parseInt:658",
        Digits::Bad => "java.lang.Integer.parseInt:668",
    };
    no_number(text).at(&[line, "java.lang.Integer.parseInt:786", function])
}

/// `Long.parseLong` of a text that is no number, in a function.
pub(crate) fn no_long(text: &str, function: &'static str) -> Thrown {
    let line = match fault(text) {
        Digits::None => "java.lang.Long.parseLong:721",
        Digits::BadFirst => "java.lang.Long.parseLong:697",
        Digits::SignOnly => "java.lang.Long.parseLong:701",
        Digits::Bad => "java.lang.Long.parseLong:711",
    };
    no_number(text).at(&[line, "java.lang.Long.parseLong:836", function])
}

fn no_number(text: &str) -> Thrown {
    let message = format!("For input string: \"{text}\"");
    Thrown::new("java.lang.NumberFormatException", message)
        .at(&["java.lang.NumberFormatException.forInputString:67"])
}

/// Why a text is not a number, as `parseInt` and `parseLong` find it.
enum Digits {
    None,
    /// Neither a digit nor a sign at the beginning.
    BadFirst,
    SignOnly,
    /// No digit later, or too many digits.
    Bad,
}

fn fault(text: &str) -> Digits {
    match text.chars().next() {
        None => Digits::None,
        Some('+' | '-') if text.len() == 1 => Digits::SignOnly,
        // only what sorts before the digits is taken for a sign
        Some(first) if first < '0' && !matches!(first, '+' | '-') => Digits::BadFirst,
        Some(_) => Digits::Bad,
    }
}

/// A `__time` whose format is no pattern.
pub(crate) fn no_date_pattern(pattern: &str, error: &DatePatternError) -> Thrown {
    let message = format!("Unable to parse date format {pattern}");
    let cause = Thrown::new("java.lang.IllegalArgumentException", error.0.clone())
        .at(&pattern_frames(&error.0))
        .at(&[
            "java.time.format.DateTimeFormatterBuilder.appendPattern:1772",
            "java.time.format.DateTimeFormatter.ofPattern:566",
            "org.apache.jmeter.functions.TimeFunction.lambda$static$2:77",
        ]);
    Thrown::new("java.lang.IllegalArgumentException", message)
        .at(&[
            "org.apache.jmeter.functions.TimeFunction.lambda$static$2:80",
            "com.github.benmanes.caffeine.cache.LocalLoadingCache.lambda$newMappingFunction$2:145",
            "com.github.benmanes.caffeine.cache.BoundedLocalCache.lambda$doComputeIfAbsent$14:2406",
            "java.util.concurrent.ConcurrentHashMap.compute:1916",
            "com.github.benmanes.caffeine.cache.BoundedLocalCache.doComputeIfAbsent:2404",
            "com.github.benmanes.caffeine.cache.BoundedLocalCache.computeIfAbsent:2387",
            "com.github.benmanes.caffeine.cache.LocalCache.computeIfAbsent:108",
            "com.github.benmanes.caffeine.cache.LocalLoadingCache.get:56",
            "org.apache.jmeter.functions.TimeFunction.execute:137",
        ])
        .caused_by(cause)
}

/// Where `DateTimeFormatterBuilder` finds the commonest mistakes.
fn pattern_frames(message: &str) -> Vec<&'static str> {
    const LETTER: &str = "java.time.format.DateTimeFormatterBuilder.parsePattern:1804";
    if let Some(letter) = message.strip_prefix("Too many pattern letters: ") {
        let field = match letter {
            "d" | "h" | "H" | "k" | "K" | "m" | "s" => {
                "java.time.format.DateTimeFormatterBuilder.parseField:2020"
            }
            "M" | "L" | "Q" | "q" | "E" | "e" | "c" => {
                "java.time.format.DateTimeFormatterBuilder.parseField:1980"
            }
            "a" => "java.time.format.DateTimeFormatterBuilder.parseField:1987",
            "D" => "java.time.format.DateTimeFormatterBuilder.parseField:2029",
            "G" => "java.time.format.DateTimeFormatterBuilder.parseField:1995",
            _ => return Vec::new(),
        };
        return vec![field, LETTER];
    }
    if message.starts_with("Unknown pattern letter") {
        return vec!["java.time.format.DateTimeFormatterBuilder.parsePattern:1882"];
    }
    if message.starts_with("Pattern ends with an incomplete string literal") {
        return vec!["java.time.format.DateTimeFormatterBuilder.parsePattern:1899"];
    }
    Vec::new()
}
