//! Samplers.

pub mod access_log_sampler;
pub mod ajp_sampler;
pub mod bean_shell_sampler;
pub mod bolt_request;
pub mod bsf_sampler;
pub mod bzm_http2_request;
pub mod debug_sampler;
pub mod dummy_sampler;
pub mod flow_control_action;
pub mod ftp_request;
pub mod graphql_http_request;
pub mod grpc_request;
pub mod http_request;
pub mod java_request;
pub mod jdbc_request;
pub mod jms_point_to_point;
pub mod jms_publisher;
pub mod jms_subscriber;
pub mod jsr223_sampler;
pub mod junit_request;
pub mod ldap_extended_request;
pub mod ldap_request;
pub mod mail_reader_sampler;
pub mod mqtt_connect;
pub mod mqtt_disconnect;
pub mod mqtt_efficient_connect;
pub mod mqtt_efficient_disconnect;
pub mod mqtt_pub;
pub mod mqtt_sub;
pub mod old_grpc_request;
pub mod old_http_request;
pub mod os_process_sampler;
pub mod parallel_http_requests;
pub mod set_variables_action;
pub mod smtp_sampler;
pub mod sse_sampler;
pub mod tcp_sampler;
pub mod websocket_close;
pub mod websocket_open;
pub mod websocket_ping_pong;
pub mod websocket_request_response;
pub mod websocket_sampler;
pub mod websocket_single_read;
pub mod websocket_single_write;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &http_request::FACTS,
    &access_log_sampler::FACTS,
    &ajp_sampler::FACTS,
    &bean_shell_sampler::FACTS,
    &bolt_request::FACTS,
    &bsf_sampler::FACTS,
    &bzm_http2_request::FACTS,
    &debug_sampler::FACTS,
    &dummy_sampler::FACTS,
    &flow_control_action::FACTS,
    &ftp_request::FACTS,
    &graphql_http_request::FACTS,
    &grpc_request::FACTS,
    &java_request::FACTS,
    &jdbc_request::FACTS,
    &jms_point_to_point::FACTS,
    &jms_publisher::FACTS,
    &jms_subscriber::FACTS,
    &jsr223_sampler::FACTS,
    &junit_request::FACTS,
    &ldap_extended_request::FACTS,
    &ldap_request::FACTS,
    &mail_reader_sampler::FACTS,
    &mqtt_connect::FACTS,
    &mqtt_disconnect::FACTS,
    &mqtt_efficient_connect::FACTS,
    &mqtt_efficient_disconnect::FACTS,
    &mqtt_pub::FACTS,
    &mqtt_sub::FACTS,
    &old_grpc_request::FACTS,
    &old_http_request::FACTS,
    &os_process_sampler::FACTS,
    &parallel_http_requests::FACTS,
    &set_variables_action::FACTS,
    &smtp_sampler::FACTS,
    &sse_sampler::FACTS,
    &tcp_sampler::FACTS,
    &websocket_close::FACTS,
    &websocket_open::FACTS,
    &websocket_ping_pong::FACTS,
    &websocket_request_response::FACTS,
    &websocket_sampler::FACTS,
    &websocket_single_read::FACTS,
    &websocket_single_write::FACTS,
];
