//! Listeners.

mod auto_stop;
mod backend_listener;
mod console_status_logger;
mod flexible_file_writer;
mod mailer_result_collector;
mod perf_mon_collector;
mod prometheus_listener;
mod result_collector;
mod result_saver;
mod ssh_mon_collector;
mod summariser;

pub use auto_stop::decode as auto_stop;
pub use backend_listener::{NOT_SENT, decode as backend_listener};
pub use console_status_logger::decode as console_status_logger;
pub use flexible_file_writer::decode as flexible_file_writer;
pub use mailer_result_collector::decode as mailer_result_collector;
pub use perf_mon_collector::decode as perf_mon_collector;
pub use prometheus_listener::decode as prometheus_listener;
pub use result_collector::{
    decode as result_collector, decode_corrected as corrected_result_collector,
};
pub use result_saver::{ResultSaver, decode as result_saver};
pub use ssh_mon_collector::decode as ssh_mon_collector;
pub use summariser::decode as summariser;
