//! How an element reads its properties.

pub mod compiled;
mod decoder;
pub mod setting;

pub use decoder::{Decoder, LEFT_OUT, Manager, Unit};
