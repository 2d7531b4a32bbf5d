//! The integration tests of this crate, in one program: they are linked once, and run side by side.

mod golden;
mod json_search;
mod nested;
mod regex;
mod repeated;
mod xml_tree;
