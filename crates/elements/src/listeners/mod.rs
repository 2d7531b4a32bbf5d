//! Listeners.

pub mod auto_stop;
pub mod backend_listener;
pub mod bean_shell_listener;
pub mod blazemeter_uploader;
pub mod bsf_listener;
pub mod composite_result_collector;
pub mod console_status_logger;
pub mod corrected_result_collector;
pub mod db_mon_collector;
pub mod flexible_file_writer;
pub mod graphs_generator;
pub mod jmx_mon_collector;
pub mod jsr223_listener;
pub mod loadosophia_uploader;
pub mod mailer_visualizer;
pub mod perf_mon_collector;
pub mod prometheus_listener;
pub mod result_collector;
pub mod save_responses;
pub mod ssh_mon_collector;
pub mod summariser;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &auto_stop::FACTS,
    &backend_listener::FACTS,
    &bean_shell_listener::FACTS,
    &blazemeter_uploader::FACTS,
    &bsf_listener::FACTS,
    &composite_result_collector::FACTS,
    &console_status_logger::FACTS,
    &corrected_result_collector::FACTS,
    &db_mon_collector::FACTS,
    &flexible_file_writer::FACTS,
    &graphs_generator::FACTS,
    &jmx_mon_collector::FACTS,
    &jsr223_listener::FACTS,
    &loadosophia_uploader::FACTS,
    &mailer_visualizer::FACTS,
    &perf_mon_collector::FACTS,
    &prometheus_listener::FACTS,
    &result_collector::FACTS,
    &save_responses::FACTS,
    &ssh_mon_collector::FACTS,
    &summariser::FACTS,
];
