//! Pre-processors.

mod user_parameters;

pub use user_parameters::decode as user_parameters;
