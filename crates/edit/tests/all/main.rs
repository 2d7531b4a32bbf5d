//! Tests of editing sessions.

mod bytes;
mod operations;
mod plans;
mod sessions;
mod versions;
