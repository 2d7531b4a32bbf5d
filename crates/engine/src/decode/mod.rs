//! How an element reads its properties.

pub mod compiled;
mod decoder;
pub mod roles;
pub mod save;
pub mod scoped;
pub mod setting;

pub use decoder::{Decoder, LEFT_OUT, Manager, Unit, World};
