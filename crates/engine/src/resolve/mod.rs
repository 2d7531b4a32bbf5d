//! The tree that is run, made of the plan's files alone.

mod load;
mod tree;

pub use load::LoadOverride;
pub use tree::{Element, Resolver};
