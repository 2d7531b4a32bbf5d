//! A text that extractors and assertions search.

use std::rc::Rc;

use drumfire_results::Sample;

/// Something to look into: a result, or the value of a variable.
#[derive(Clone)]
pub enum Input<'s> {
    Result(&'s Sample),
    Variable(Rc<str>),
}

impl Input<'_> {
    /// About how long its text is: the length of the body or of the value. Nothing is decoded for it.
    pub fn bytes(&self) -> usize {
        match self {
            Input::Result(sample) => sample.response_data.as_deref().map_or(0, <[u8]>::len),
            Input::Variable(value) => value.len(),
        }
    }
}
