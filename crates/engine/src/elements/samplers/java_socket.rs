//! Names and failures of connections as `java.net.Socket` has them.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::http::settings::took_too_long;
use super::system_sampler::words;
use crate::run::context::Unfinished;

/// `InetAddress.getByName`: IPv4 first; an empty name is this machine.
pub async fn resolve(name: &str) -> Option<IpAddr> {
    if name.is_empty() {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    if let Ok(address) = name.trim_matches(['[', ']']).parse() {
        return Some(address);
    }
    let mut addresses: Vec<IpAddr> = tokio::net::lookup_host((name, 0))
        .await
        .ok()?
        .map(|found| found.ip())
        .collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.first().copied()
}

/// The exception for a connection that cannot be made (`sun.nio.ch.Net`).
pub fn connect_failure(error: &io::Error) -> String {
    let class = match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut => "ConnectException",
        io::ErrorKind::HostUnreachable => "NoRouteToHostException",
        io::ErrorKind::AddrInUse
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::PermissionDenied => "BindException",
        _ => "SocketException",
    };
    format!("java.net.{class}: {}", words(error))
}

/// The exception of a sample that was not waited for. `limit` is the time that an exchange may take.
pub fn unfinished(why: Unfinished, limit: Option<Duration>) -> String {
    match (why, limit) {
        (Unfinished::TooLong, Some(limit)) => {
            format!("java.net.SocketTimeoutException: {}", took_too_long(limit))
        }
        _ => "java.net.SocketException: Socket closed".to_owned(),
    }
}
