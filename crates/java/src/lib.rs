//! What the Java library does, where it shows through in JMeter's results: one module per rule.
//!
//! This crate imports no other crate of the workspace, so every crate may import it. Golden values are in `tests/golden`;
//! `Record.java` there records them with a JDK 17.

#![warn(missing_docs)]

pub mod file_server;
