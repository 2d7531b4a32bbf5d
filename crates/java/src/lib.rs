//! Rules of the Java library that show through in JMeter's results: one module per rule.
//!
//! This crate imports no other crate of the workspace, so every crate may import it. Golden values are in `tests/golden`;
//! `Record.java` there records them with a JDK 17.

#![warn(missing_docs)]

mod exception;

pub mod charset;
pub mod date;
pub mod file_server;
pub mod jvm;
pub mod text;
pub mod uri;
pub mod url;
pub mod url_coding;
pub mod values;

pub use exception::Exception;
pub use jvm::{JvmDefaults, READ_AT_START};
