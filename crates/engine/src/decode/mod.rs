//! How an element reads its properties.

pub mod compiled;
mod decoder;
mod kept;
pub mod roles;
pub mod save;
pub mod scoped;
pub mod script_words;
pub mod setting;

pub use decoder::{Decoder, DecodingContext, LEFT_OUT, NEEDS_JAVA, OutsideAccess};
