//! Asks name servers for the IPv4 addresses of a host (RFC 1035), as dnsjava's `ExtendedResolver` does: over UDP, and over TCP
//! if the answer does not fit. Nothing is cached.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How often every server is asked.
const ROUNDS: usize = 3;

/// How many aliases are followed before a host counts as unknown.
const ALIASES: usize = 8;

/// Servers, of which each lookup starts with the next one.
pub struct NameServers {
    servers: Vec<SocketAddr>,
    timeout: Duration,
    next: Cell<usize>,
}

impl NameServers {
    pub fn new(servers: Vec<SocketAddr>) -> NameServers {
        NameServers {
            servers,
            timeout: TIMEOUT,
            next: Cell::new(0),
        }
    }

    /// The addresses of a host; empty if it is unknown or no server answers.
    pub async fn addresses(&self, host: &str) -> Vec<Ipv4Addr> {
        let mut name = host.trim_end_matches('.').to_owned();
        for _ in 0..ALIASES {
            let Some(answer) = self.ask(&name).await else {
                break;
            };
            match answer.alias {
                Some(alias) if answer.addresses.is_empty() => name = alias,
                _ => return answer.addresses,
            }
        }
        Vec::new()
    }

    /// The first answer; a server that fails or does not know is passed over.
    async fn ask(&self, name: &str) -> Option<Answer> {
        let id = RandomState::new().hash_one(name) as u16;
        let query = query(id, name)?;
        let first = self.next.get();
        self.next.set(first.wrapping_add(1));
        for turn in 0..self.servers.len() * ROUNDS {
            let server = self.servers[first.wrapping_add(turn) % self.servers.len()];
            let exchange = tokio::time::timeout(self.timeout, exchange(server, &query));
            match exchange.await {
                Ok(Ok(answer)) => return Some(answer),
                Ok(Err(error)) => tracing::debug!("name server {server}: {error}"),
                Err(_) => tracing::debug!("name server {server}: no answer for `{name}`"),
            }
        }
        None
    }
}

/// Sends a query to a server and waits for its answer.
async fn exchange(server: SocketAddr, query: &[u8]) -> io::Result<Answer> {
    let any: IpAddr = if server.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(query).await?;
    let mut response = vec![0; usize::from(u16::MAX)];
    loop {
        let len = socket.recv(&mut response).await?;
        // Answers to other questions may be late or forged.
        if !answers(&response[..len], query) {
            continue;
        }
        const TRUNCATED: u8 = 0x02;
        if response[2] & TRUNCATED == 0 {
            return read(&response[..len], query.len());
        }
        let response = exchange_over_tcp(server, query).await?;
        return if answers(&response, query) {
            read(&response, query.len())
        } else {
            Err(malformed())
        };
    }
}

/// Over TCP, messages have their length in front.
async fn exchange_over_tcp(server: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let len = query.len() as u16; // a name has at most 255 bytes
    stream
        .write_all(&[&len.to_be_bytes(), query].concat())
        .await?;
    let mut response = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut response).await?;
    Ok(response)
}

/// A query for a host's addresses; `None` if a host cannot have this name.
fn query(id: u16, name: &str) -> Option<Vec<u8>> {
    const RECURSION_DESIRED: u8 = 0x01;
    let mut query = id.to_be_bytes().to_vec();
    query.extend([RECURSION_DESIRED, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        let len = u8::try_from(label.len()).ok()?;
        if !(1..=63).contains(&len) {
            return None;
        }
        query.push(len);
        query.extend(label.as_bytes());
    }
    let [kind, class] = [ADDRESS, INTERNET].map(u16::to_be_bytes);
    query.push(0);
    query.extend([kind, class].concat());
    (query.len() <= HEADER + 255 + 4).then_some(query)
}

/// Whether a response has the number and the question of a query.
fn answers(response: &[u8], query: &[u8]) -> bool {
    const RESPONSE: u8 = 0x80;
    response.len() >= query.len()
        && response[..2] == query[..2]
        && response[2] & RESPONSE != 0
        && response[4..6] == query[4..6]
        && response[HEADER..query.len()].eq_ignore_ascii_case(&query[HEADER..])
}

const HEADER: usize = 12;
const ADDRESS: u16 = 1;
const ALIAS: u16 = 5;
const INTERNET: u16 = 1;

#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    addresses: Vec<Ipv4Addr>,
    /// The last name that the host's name stands for.
    alias: Option<String>,
}

/// Reads the records behind the question, which ends at `start`.
fn read(response: &[u8], start: usize) -> io::Result<Answer> {
    /// No error, or no such name: both are answers.
    const ANSWERS: [u8; 2] = [0, 3];
    let code = response[3] & 0x0f;
    if !ANSWERS.contains(&code) {
        return Err(io::Error::other(format!("response code {code}")));
    }
    records(response, start).ok_or_else(malformed)
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed answer")
}

fn records(response: &[u8], start: usize) -> Option<Answer> {
    let mut answer = Answer::default();
    let mut at = start;
    for _ in 0..number(response, 6)? {
        (_, at) = name(response, at)?;
        let [kind, class] = [number(response, at)?, number(response, at + 2)?];
        let len = usize::from(number(response, at + 8)?);
        at += 10;
        let data = response.get(at..at + len)?;
        match kind {
            ADDRESS if class == INTERNET => {
                let octets = <[u8; 4]>::try_from(data).ok()?;
                answer.addresses.push(octets.into());
            }
            ALIAS => answer.alias = Some(name(response, at)?.0),
            _ => {}
        }
        at += len;
    }
    Some(answer)
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

/// The name at an offset, and the offset behind it. Names may end with a pointer to the rest of an earlier one.
fn name(response: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    let mut behind = None;
    loop {
        match *response.get(at)? {
            0 => break,
            len @ 1..=63 => {
                let label = response.get(at + 1..at + 1 + usize::from(len))?;
                labels.push(String::from_utf8_lossy(label).into_owned());
                at += 1 + usize::from(len);
            }
            0xc0.. => {
                let to = usize::from(number(response, at)? & 0x3fff);
                behind.get_or_insert(at + 2);
                // Pointers lead backwards, so they end.
                if to >= at {
                    return None;
                }
                at = to;
            }
            _ => return None,
        }
        const MOST_LABELS: usize = 128;
        if labels.len() > MOST_LABELS {
            return None;
        }
    }
    Some((labels.join("."), behind.unwrap_or(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use drumfire_testkit::ports::free_address;
    use tokio::net::TcpListener;

    /// A name server that answers each query with these flags and records, and counts the queries.
    async fn server(
        flags: [u8; 2],
        records: impl Fn(&str) -> Vec<Vec<u8>> + Send + Sync + 'static,
    ) -> (SocketAddr, Arc<AtomicUsize>) {
        let socket = UdpSocket::bind(free_address()).await.expect("loopback");
        let address = socket.local_addr().expect("it is bound");
        let listener = TcpListener::bind(address).await;
        let count = Arc::new(AtomicUsize::new(0));
        let asked = count.clone();
        let answer = move |query: &[u8], flags: [u8; 2]| {
            let (name, _) = name(query, HEADER).expect("a name");
            let records = records(&name);
            let counts = [0, 1, 0, records.len() as u8, 0, 0, 0, 0];
            let head = [&query[..2], &flags, &counts, &query[HEADER..]].concat();
            [head, records.concat()].concat()
        };
        tokio::spawn(async move {
            let mut query = vec![0; 512];
            loop {
                let (len, from) = socket.recv_from(&mut query).await.expect("a query");
                asked.fetch_add(1, Ordering::Relaxed);
                let response = answer(&query[..len], flags);
                // Late answers to other queries.
                let other = [&[!response[0]], &response[1..]].concat();
                socket.send_to(&other, from).await.expect("it is sent");
                socket.send_to(&response, from).await.expect("it is sent");
                if flags[0] & 0x02 != 0 {
                    let listener = listener.as_ref().expect("the port is free");
                    let (mut stream, _) = listener.accept().await.expect("a client");
                    let len = stream.read_u16().await.expect("a length");
                    let mut query = vec![0; usize::from(len)];
                    stream.read_exact(&mut query).await.expect("a query");
                    let whole = answer(&query, [0x81, 0x80]);
                    stream.write_u16(whole.len() as u16).await.expect("open");
                    stream.write_all(&whole).await.expect("open");
                }
            }
        });
        (address, count)
    }

    /// A record of the question's name.
    fn record(kind: u8, data: &[u8]) -> Vec<u8> {
        let head = [0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8];
        [&head, data].concat()
    }

    fn quick(servers: &[SocketAddr]) -> NameServers {
        NameServers {
            timeout: Duration::from_millis(300),
            ..NameServers::new(servers.to_vec())
        }
    }

    #[tokio::test]
    async fn addresses_come_with_their_alias_or_by_another_query() {
        let (address, count) = server([0x81, 0x80], |name| match name {
            // `other` below the question's name from its second label on.
            "www.shop.test" => vec![record(5, &[5, b'o', b't', b'h', b'e', b'r', 0xc0, 16])],
            "other.shop.test" => vec![record(1, &[10, 0, 0, 1]), record(1, &[10, 0, 0, 2])],
            "chained.test" => vec![record(5, &[1, b'x', 0]), record(1, &[10, 0, 0, 3])],
            "loop.test" => vec![record(5, &[0xc0, 12])],
            _ => Vec::new(),
        })
        .await;
        let servers = quick(&[address]);
        let two = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
        assert_eq!(servers.addresses("www.shop.test.").await, two);
        let one = Ipv4Addr::new(10, 0, 0, 3);
        assert_eq!(servers.addresses("chained.test").await, [one]);
        assert!(servers.addresses("unknown.test").await.is_empty());
        let before = count.load(Ordering::Relaxed);
        assert!(servers.addresses("loop.test").await.is_empty());
        assert_eq!(count.load(Ordering::Relaxed) - before, ALIASES);
        for name in ["", "a..b", &"x".repeat(64), &"abc.".repeat(64)] {
            assert!(servers.addresses(name).await.is_empty(), "{name}");
        }
        assert_eq!(count.load(Ordering::Relaxed) - before, ALIASES);
    }

    #[tokio::test]
    async fn truncated_answers_are_asked_for_over_tcp() {
        let (address, _) = server([0x83, 0x80], |_| vec![record(1, &[10, 0, 0, 9])]).await;
        let found = quick(&[address]).addresses("big.test").await;
        assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 9)]);
    }

    #[tokio::test]
    async fn servers_take_turns_and_a_failing_one_is_passed_over() {
        let (good, asked) = server([0x81, 0x80], |_| vec![record(1, &[10, 0, 0, 9])]).await;
        let (failing, failures) = server([0x81, 0x82], |_| Vec::new()).await;
        let silent = UdpSocket::bind("127.0.0.1:0").await.expect("loopback");
        let silent = silent.local_addr().expect("it is bound");
        let servers = quick(&[failing, silent, good]);
        for _ in 0..3 {
            let found = servers.addresses("a.test").await;
            assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 9)]);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert_eq!(failures.load(Ordering::Relaxed), 1);
        assert!(quick(&[failing]).addresses("a.test").await.is_empty());
        assert_eq!(failures.load(Ordering::Relaxed), 1 + ROUNDS);
    }

    #[test]
    fn damaged_answers_are_refused() {
        let query = query(7, "a.test").expect("a name");
        let mut response = [
            &query[..],
            &record(5, &[0xc0, 12]),
            &record(1, &[1, 2, 3, 4]),
        ]
        .concat();
        response[2..8].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 2]);
        assert!(answers(&response, &query));
        let answer = read(&response, query.len()).expect("whole");
        assert_eq!(answer.alias.as_deref(), Some("a.test"));
        for len in query.len()..response.len() {
            assert!(read(&response[..len], query.len()).is_err(), "{len}");
        }
        // A pointer to itself.
        let pointer = query.len() + 12;
        response[pointer + 1] = pointer as u8;
        assert!(read(&response, query.len()).is_err());
    }
}
