//! Basics that every layer uses: time, numbers as Java reads them, bodies, the log.

pub mod body;
pub mod clock;
pub mod exception_text;
pub mod java_random;
pub mod log;
pub mod number;
pub mod properties;
