//! A text that extractors and assertions search.

use std::rc::Rc;

use drumfire_results::Sample;

/// Something to search: a result, or the value of a variable.
#[derive(Clone)]
pub enum Input<'s> {
    Result(&'s Sample),
    Variable(Rc<str>),
}

impl Input<'_> {
    /// The approximate length of its text: that of the undecoded body, or of the value.
    pub fn bytes(&self) -> usize {
        match self {
            Input::Result(sample) => sample.response_data.as_deref().map_or(0, <[u8]>::len),
            Input::Variable(value) => value.len(),
        }
    }
}
