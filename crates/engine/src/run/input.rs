//! A text that extractors and assertions search.

use std::rc::Rc;

use drumfire_results::Sample;

/// Something to look into: a result, or the value of a variable.
#[derive(Clone)]
pub enum Input<'s> {
    Result(&'s Sample),
    Variable(Rc<str>),
}
