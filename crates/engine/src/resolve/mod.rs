//! The tree that is run, made of the plan's files alone.

mod tree;

pub use tree::{Element, Resolver};
