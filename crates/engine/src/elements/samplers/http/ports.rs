//! What the log says when the local ports have run out: once in a run, and what lifts it. The samples fail as in JMeter.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use drumfire_http::{Failure, FailureKind, Phase, Target};

use crate::context::Context;

/// How long Linux holds the port of a connection that this side has closed (`TCP_TIMEWAIT_LEN`), in seconds.
const TIME_WAIT_S: u32 = 60;

/// Tells the log if this failure means that no local port is left.
pub fn tell(cx: &Context, failure: &Failure, target: &Target) {
    let no_port =
        matches!(failure.kind, FailureKind::AddressNotAvailable) && failure.phase == Phase::Connect;
    // A source address that is not this machine's fails in the same way.
    if !no_port || !has_source(target) || cx.shared.statics.ports_told.swap(true, Ordering::Relaxed)
    {
        return;
    }
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
    let ports = range.as_deref().and_then(port_count);
    tracing::warn!("{}", message(failure, target, ports));
}

/// Connections without a source address always have one of the system's; others only if one can be bound.
fn has_source(target: &Target) -> bool {
    let Some(source) = &target.source else {
        return true;
    };
    let usable = |address| std::net::UdpSocket::bind(SocketAddr::new(address, 0)).is_ok();
    source.addresses().iter().copied().any(usable)
}

fn message(failure: &Failure, target: &Target, ports: Option<u32>) -> String {
    let (host, port) = match &target.proxy {
        Some(proxy) => (&proxy.host, proxy.port),
        None => (&target.host, target.port),
    };
    let to = match failure.addresses.first() {
        Some(address) => SocketAddr::new(*address, port).to_string(),
        None => format!("{host}:{port}"),
    };
    let ports = ports.map_or_else(|| "all".to_owned(), |ports| format!("all {ports}"));
    let sources = target
        .source
        .as_ref()
        .map_or(1, |source| source.addresses().len());
    format!(
        "No local port is left for connections to {to}: {ports} ports of {sources} source address(es) are in use; the port of \
         a connection closed here stays taken for {TIME_WAIT_S} s. More ports: keep connections alive, net.ipv4.tcp_tw_reuse=1, a wider \
         net.ipv4.ip_local_port_range, several source addresses (HTTPSampler.ipSource 127.0.0.2-127.0.0.9), or \
         drumfire.http.close_with_reset=true"
    )
}

/// The number of ports in the kernel's range, which is two numbers.
fn port_count(range: &str) -> Option<u32> {
    let mut numbers = range.split_whitespace().map(str::parse::<u32>);
    let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (first <= last).then(|| last - first + 1)
}

#[cfg(test)]
mod tests {
    use drumfire_http::Source;

    use super::*;

    #[test]
    fn ports_of_the_kernels_range() {
        assert_eq!(port_count("32768\t60999\n"), Some(28_232));
        assert_eq!(port_count("1024 1024"), Some(1));
        assert_eq!((port_count("9 1"), port_count("")), (None, None));
    }

    #[test]
    fn only_addresses_of_this_machine_run_out_of_ports() {
        let mut target = Target::new("127.0.0.1", 80, false);
        assert!(has_source(&target));
        let address = |text: &str| text.parse().expect("an address");
        target.source = Some(Source::new([address("127.0.0.2")]));
        assert!(has_source(&target));
        target.source = Some(Source::new([address("192.0.2.77")]));
        assert!(!has_source(&target));
    }
}
