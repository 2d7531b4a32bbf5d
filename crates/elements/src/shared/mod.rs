//! Properties that several elements have.

pub mod dummy;
pub mod expectation;
pub mod frame;
pub mod ftp;
pub mod group;
pub mod http;
pub mod jdbc;
pub mod jms;
pub mod ldap;
pub mod login;
pub mod mail_security;
pub mod mqtt;
pub mod save_config;
pub mod scope;
pub mod script;
pub mod stream;
pub mod tcp;
