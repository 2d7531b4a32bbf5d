//! Hints about failures that say more about this machine or the target than JMeter's messages do. A run reports each hint
//! once, with the remedy. The samples fail as in JMeter.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use drumfire_http::{Failure, FailureKind, Phase, Target};
use drumfire_platform::words::counted;

/// How long Linux holds the port of a connection that this side has closed (`TCP_TIMEWAIT_LEN`), in seconds.
const TIME_WAIT_S: u32 = 60;
/// The share of the firewall's connection table above which it counts as full.
const NEARLY_FULL: f64 = 0.98;

/// The hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    NoPort,
    NoFile,
    Refused,
    /// No answer to an attempt to connect.
    NoAnswer,
    /// Connections are closed or reset before they have carried a response.
    TurnedAway,
    UnknownHost,
    /// This machine's own firewall blocks the connection.
    Forbidden,
}

/// The hints that a run has reported, and those that its user has not seen yet.
#[derive(Default)]
pub struct Hints {
    told: AtomicU32,
    has_news: AtomicBool,
    news: Mutex<Vec<String>>,
}

impl Hints {
    /// Whether local ports have run out.
    pub fn ports_ran_out(&self) -> bool {
        self.told.load(Ordering::Relaxed) & Hint::NoPort.bit() != 0
    }

    /// The hints since the last call.
    pub fn take_news(&self) -> Vec<String> {
        if !self.has_news.swap(false, Ordering::Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reports a hint, unless the run has already reported it.
    fn tell(&self, hint: Hint, text: impl FnOnce() -> String) {
        if self.told.fetch_or(hint.bit(), Ordering::Relaxed) & hint.bit() == 0 {
            let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
            news.push(text());
            self.has_news.store(true, Ordering::Relaxed);
        }
    }
}

impl Hint {
    fn bit(self) -> u32 {
        1 << self as u32
    }

    fn of(failure: &Failure) -> Option<Hint> {
        let is_opening = matches!(failure.phase, Phase::Connect | Phase::TlsHandshake);
        match &failure.kind {
            FailureKind::AddressNotAvailable if failure.phase == Phase::Connect => {
                Some(Hint::NoPort)
            }
            FailureKind::TooManyFiles => Some(Hint::NoFile),
            FailureKind::Refused => Some(Hint::Refused),
            FailureKind::ConnectTimeout => Some(Hint::NoAnswer),
            FailureKind::Reset | FailureKind::ClosedBeforeResponse if is_opening => {
                Some(Hint::TurnedAway)
            }
            FailureKind::UnknownHost | FailureKind::UnknownToNameServers => Some(Hint::UnknownHost),
            FailureKind::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Some(Hint::Forbidden)
            }
            _ => None,
        }
    }
}

/// Reports the hint that a failure gives, if any, unless the run has already reported it.
pub fn tell(hints: &Hints, failure: &Failure, target: &Target) {
    let Some(hint) = Hint::of(failure) else {
        return;
    };
    // A source address that is not this machine's fails as if ports had run out.
    if hint == Hint::NoPort && !has_source(target) {
        return;
    }
    hints.tell(hint, || text(hint, failure, target));
}

/// Whether the source address can be bound. Without one, the system provides an address, which always can.
fn has_source(target: &Target) -> bool {
    let Some(source) = &target.source else {
        return true;
    };
    source
        .addresses()
        .iter()
        .copied()
        .any(|address| std::net::UdpSocket::bind(SocketAddr::new(address, 0)).is_ok())
}

fn text(hint: Hint, failure: &Failure, target: &Target) -> String {
    let to = destination(failure, target);
    let host = target
        .proxy
        .as_ref()
        .map(|proxy| &proxy.host)
        .unwrap_or(&target.host);
    match hint {
        Hint::NoPort => {
            let sources = target
                .source
                .as_ref()
                .map(|source| source.addresses().len())
                .unwrap_or(1);
            no_port(&to, number_of_ports(), sources)
        }
        Hint::NoFile => no_file(open_files().as_deref()),
        Hint::Refused => format!(
            "{to} refuses connections: nothing listens there, or a firewall answers in its place. Is the server running, and the port right?"
        ),
        Hint::NoAnswer => no_answer(&to, tracked_connections()),
        Hint::TurnedAway => format!(
            "{to} closes connections before they carry any data: it has reached its own limit of connections, or its queue of new ones is full (listen backlog, net.core.somaxconn, with net.ipv4.tcp_abort_on_overflow) on the target"
        ),
        Hint::UnknownHost => format!(
            "The name '{host}' has no address: check its spelling, and whether the nameservers keep up (those in /etc/resolv.conf and in a DNS Cache Manager). An entry in /etc/hosts or a DNS Cache Manager with static hosts needs no nameserver"
        ),
        Hint::Forbidden => no_leave(&to, tracked_connections()),
    }
}

/// The address that was tried, or the name if there is none.
fn destination(failure: &Failure, target: &Target) -> String {
    let (host, port) = match &target.proxy {
        Some(proxy) => (&proxy.host, proxy.port),
        None => (&target.host, target.port),
    };
    match failure.addresses.first() {
        Some(address) => SocketAddr::new(*address, port).to_string(),
        None => format!("{host}:{port}"),
    }
}

fn no_port(to: &str, ports: Option<u32>, sources: usize) -> String {
    let ports = ports.map_or_else(|| "all".to_owned(), |ports| format!("all {ports}"));
    let sources = counted(sources as u64, "source address");
    format!(
        "No local port is left for connections to {to}: {ports} ports of {sources} are in use; the port of \
         a connection closed here stays taken for {TIME_WAIT_S} s. More ports: keep connections alive, net.ipv4.tcp_tw_reuse=1, a wider \
         net.ipv4.ip_local_port_range, several source addresses (HTTPSampler.ipSource 127.0.0.2-127.0.0.9), or \
         drumfire.http.close_with_reset=true"
    )
}

fn no_file(limit: Option<&str>) -> String {
    let limit = limit
        .map(|limit| format!(" of {limit}"))
        .unwrap_or_default();
    format!(
        "No file or socket can be opened: the limit{limit} open files is reached. Raise it before the run: ulimit -n 1048576 in the shell, LimitNOFILE= of a service, --ulimit nofile= of a container"
    )
}

/// How many connections the firewall tracks, and its maximum.
type Tracked = Option<(u64, u64)>;

fn no_answer(to: &str, tracked: Tracked) -> String {
    match table_full(tracked) {
        Some(full) => format!("{to} does not answer attempts to connect: {full}"),
        None => format!(
            "{to} does not answer attempts to connect: its queue of new connections is full (listen backlog, net.core.somaxconn and net.ipv4.tcp_max_syn_backlog on the target), or a firewall on the way drops them"
        ),
    }
}

fn no_leave(to: &str, tracked: Tracked) -> String {
    let why = table_full(tracked).unwrap_or_else(|| {
        "a rule of its firewall rejects them (iptables -L OUTPUT, nft list ruleset)".to_owned()
    });
    format!("This machine blocks connections to {to}: {why}")
}

fn table_full(tracked: Tracked) -> Option<String> {
    let (count, most) = tracked?;
    (count as f64 >= most as f64 * NEARLY_FULL).then(|| {
        format!(
            "this machine's connection-tracking table is full, {count} of {most}. Raise net.netfilter.nf_conntrack_max, lower nf_conntrack_tcp_timeout_time_wait, or exempt the load: iptables -t raw -A OUTPUT -p tcp -d TARGET -j NOTRACK"
        )
    })
}

fn tracked_connections() -> Tracked {
    let number = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/netfilter/{name}")).ok()?;
        text.trim().parse().ok()
    };
    Some((number("nf_conntrack_count")?, number("nf_conntrack_max")?))
}

fn open_files() -> Option<String> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn number_of_ports() -> Option<u32> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    port_count(&range)
}

/// The number of ports in the kernel's range, which is two numbers.
fn port_count(range: &str) -> Option<u32> {
    let mut numbers = range.split_whitespace().map(str::parse::<u32>);
    let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (first <= last).then(|| last - first + 1)
}

#[cfg(test)]
mod tests {
    use drumfire_http::SourceAddresses;

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
        target.source = Some(SourceAddresses::new([address("127.0.0.2")]));
        assert!(has_source(&target));
        target.source = Some(SourceAddresses::new([address("192.0.2.77")]));
        assert!(!has_source(&target));
    }

    #[test]
    fn each_hint_is_told_once() {
        let hints = Hints::default();
        assert!(hints.take_news().is_empty() && !hints.ports_ran_out());
        hints.tell(Hint::NoFile, || "files".to_owned());
        hints.tell(Hint::NoFile, || "again".to_owned());
        hints.tell(Hint::NoPort, || "ports".to_owned());
        assert_eq!(hints.take_news(), ["files", "ports"]);
        assert!(hints.take_news().is_empty() && hints.ports_ran_out());
    }

    #[test]
    fn texts_name_the_limit_and_the_remedy() {
        assert!(no_file(Some("1024")).contains("the limit of 1024 open files is reached"));
        let ports = no_port("10.0.0.1:443", Some(28_232), 1);
        assert!(
            ports.contains("connections to 10.0.0.1:443: all 28232 ports of 1 source address are")
        );
        assert!(no_answer("10.0.0.1:80", Some((262_144, 262_144))).contains("262144 of 262144"));
        assert!(no_answer("10.0.0.1:80", Some((7, 262_144))).contains("net.core.somaxconn"));
        assert!(no_leave("10.0.0.1:80", None).contains("a rule of its firewall"));
    }
}
