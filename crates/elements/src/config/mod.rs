//! Configuration: defaults, managers, data sets.

pub mod auth_manager;
pub mod bolt_connection;
pub mod cache_manager;
pub mod cookie_manager;
pub mod counter;
pub mod csv_data_set;
pub mod dns_cache_manager;
pub mod ftp_defaults;
pub mod header_manager;
pub mod http_defaults;
pub mod java_defaults;
pub mod jdbc_connection;
pub mod keystore_configuration;
pub mod ldap_defaults;
pub mod ldap_extended_defaults;
pub mod login;
pub mod old_login;
pub mod random_csv_data_set;
pub mod random_variable;
pub mod redis_data_set;
pub mod simple;
pub mod tcp_defaults;
pub mod user_defined_variables;
pub mod websocket_binary_filter;
pub mod websocket_ping_filter;
pub mod websocket_text_filter;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &http_defaults::FACTS,
    &user_defined_variables::FACTS,
    &auth_manager::FACTS,
    &bolt_connection::FACTS,
    &cache_manager::FACTS,
    &cookie_manager::FACTS,
    &counter::FACTS,
    &csv_data_set::FACTS,
    &dns_cache_manager::FACTS,
    &ftp_defaults::FACTS,
    &header_manager::FACTS,
    &java_defaults::FACTS,
    &jdbc_connection::FACTS,
    &keystore_configuration::FACTS,
    &ldap_defaults::FACTS,
    &ldap_extended_defaults::FACTS,
    &login::FACTS,
    &old_login::FACTS,
    &random_csv_data_set::FACTS,
    &random_variable::FACTS,
    &redis_data_set::FACTS,
    &simple::FACTS,
    &tcp_defaults::FACTS,
    &websocket_binary_filter::FACTS,
    &websocket_ping_filter::FACTS,
    &websocket_text_filter::FACTS,
];
