//! What takes a value from a response for a later request.

/// Copies a value from a response into a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extractor {
    /// The name of the variable.
    pub variable: String,
    /// Where the response holds the value.
    pub source: ExtractorSource,
}

/// Where an extractor looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractorSource {
    /// A JSONPath.
    Json(String),
    /// An attribute of an element that matches.
    Css {
        /// The selector.
        selector: String,
        /// The name of the attribute.
        attribute: String,
        /// Which of the matching elements, from 1.
        number: usize,
    },
    /// The text between two delimiters in the body.
    Boundary {
        /// The text before.
        left: String,
        /// The text after.
        right: String,
        /// Which of the matches, from 1.
        number: usize,
    },
    /// The first group of a regular expression in the body.
    Body {
        /// The expression.
        pattern: String,
        /// Which of the matches, from 1.
        number: usize,
    },
    /// The first group of a regular expression in the header.
    Header {
        /// The expression.
        pattern: String,
        /// Which of the matches, from 1.
        number: usize,
        /// Whether the headers of the redirects are searched, too, after that of the last response.
        in_redirects: bool,
    },
    /// The first group of a regular expression in the address that redirects led to.
    Address(String),
}

impl ExtractorSource {
    /// The first match of a regular expression in the header of the response.
    pub fn header(pattern: String) -> ExtractorSource {
        ExtractorSource::Header {
            pattern,
            number: 1,
            in_redirects: false,
        }
    }
}
