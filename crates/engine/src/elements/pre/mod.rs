//! Pre-processors.

mod anchor_modifier;
mod fifo_pop_pre_processor;
mod jdbc_pre_processor;
mod reg_ex_user_parameters;
mod sample_timeout;
mod url_rewriting_modifier;
mod user_parameters;

pub use anchor_modifier::decode as anchor_modifier;
pub use fifo_pop_pre_processor::{FifoPop, decode as fifo_pop};
pub use jdbc_pre_processor::decode as jdbc_pre_processor;
pub use reg_ex_user_parameters::decode as reg_ex_user_parameters;
pub use sample_timeout::{SampleTimeout, decode as sample_timeout};
pub use url_rewriting_modifier::decode as url_rewriting_modifier;
pub use user_parameters::decode as user_parameters;
