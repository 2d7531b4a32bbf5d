//! Ports for servers that cannot choose one themselves, and ports at which nothing listens.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Child;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The first port that is tried. Lower ones belong to known services.
const LOWEST: u16 = 12_000;
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// The claims of this process, which end with it.
static CLAIMS: Mutex<Vec<Claim>> = Mutex::new(Vec::new());

/// A port of 127.0.0.1 at which nothing listens, over TCP or UDP. Nothing else gets it meanwhile: the system gives no socket a port
/// of this range by itself, and no other call returns the same, in whichever process.
///
/// # Panics
/// All ports are taken.
pub fn free_port() -> u16 {
    let ports = LOWEST..ephemeral_ports_begin();
    let first = std::process::id() as usize % ports.len();
    let from_first = ports.clone().skip(first).chain(ports);
    let mut claims = CLAIMS.lock().expect("no holder panics");
    for port in from_first {
        let address = (Ipv4Addr::LOCALHOST, port);
        let Some(claim) = claim(port) else { continue };
        claims.push(claim);
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            return port;
        }
    }
    panic!("loopback has no free port");
}

/// [`free_port`] with the address.
///
/// # Panics
/// All ports are taken.
pub fn free_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()))
}

/// The first of the ports that the system gives to sockets by itself.
fn ephemeral_ports_begin() -> u16 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let begin = range.split_whitespace().next();
    let begin = begin.and_then(|port| port.parse().ok());
    begin.filter(|begin| *begin > LOWEST).unwrap_or(32_768)
}

/// Holds a name of the kernel that tells other processes that a port is taken.
#[cfg(target_os = "linux")]
type Claim = std::os::unix::net::UnixDatagram;

#[cfg(target_os = "linux")]
fn claim(port: u16) -> Option<Claim> {
    use std::os::linux::net::SocketAddrExt as _;

    let name = std::os::unix::net::SocketAddr::from_abstract_name(format!("drumfire-test-{port}"));
    Claim::bind_addr(&name.ok()?).ok()
}

/// Where the kernel has no such names, a file of the temporary folder stands for one.
#[cfg(not(target_os = "linux"))]
type Claim = fs::File;

#[cfg(not(target_os = "linux"))]
fn claim(port: u16) -> Option<Claim> {
    let path = std::env::temp_dir().join(format!("drumfire-test-{port}"));
    let file = fs::File::create(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Waits until a server listens at this port of 127.0.0.1.
///
/// # Panics
/// The server ends before, or does not listen within a minute.
pub fn wait_for_port(name: &str, server: &mut Child, port: u16) {
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if let Ok(Some(status)) = server.try_wait() {
            panic!("{name} ended at its start: {status}");
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{name} does not listen at port {port}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let givers: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(|| [(); 20].map(|()| free_port())))
            .collect();
        let ports = givers
            .into_iter()
            .flat_map(|giver| giver.join().expect("no panic"));
        let mut ports: Vec<u16> = ports.collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 160);
        assert!(
            ports
                .last()
                .is_some_and(|port| *port < ephemeral_ports_begin())
        );
    }
}
