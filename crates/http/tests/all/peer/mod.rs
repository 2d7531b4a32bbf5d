//! A server that says exactly what a test tells it to, byte by byte.

#![allow(dead_code, reason = "no test file needs all of it")]

pub mod tls;

use std::future::Future;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use drumfire_http::{
    Failure, Incoming, Limits, Outgoing, PoolOptions, Resolver, Resolving, Session, Target, Tls,
    TlsOptions, WantedParts, Worker, exchange,
};

/// One step of what the peer does on a connection.
#[derive(Clone, Debug)]
pub enum Do {
    /// Reads until the empty line after a request's head.
    ReadHead,
    /// Reads so many bytes.
    ReadBytes(usize),
    Send(Vec<u8>),
    /// Sends the bytes again and again, with this pause after each time, until the client goes away.
    Repeat(Vec<u8>, Duration),
    Wait(Duration),
    /// Closes with a FIN.
    Close,
    /// Closes with an RST.
    Reset,
}

/// Resolves every name to these addresses.
pub struct FixedAddresses(pub Vec<IpAddr>);

impl Resolver for FixedAddresses {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Answers a request with these bytes.
pub fn answer(bytes: &[u8]) -> Vec<Do> {
    vec![Do::ReadHead, Do::Send(bytes.to_vec())]
}

/// Answers a request with these bytes and closes.
pub fn answer_and_close(bytes: &[u8]) -> Vec<Do> {
    vec![Do::ReadHead, Do::Send(bytes.to_vec()), Do::Close]
}

/// A listening peer. Each connection follows the next script; afterwards it stays open, idle.
pub struct Peer {
    pub address: SocketAddr,
    received: Receiver<Vec<u8>>,
}

impl Peer {
    pub fn start(scripts: Vec<Vec<Do>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let (sender, received) = channel();
        thread::spawn(move || {
            for script in scripts {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let sender = sender.clone();
                thread::spawn(move || {
                    let mut seen = Vec::new();
                    // A client that goes away early is what some tests are about.
                    let _ = follow(stream, &script, &mut seen);
                    let _ = sender.send(seen);
                });
            }
        });
        Self { address, received }
    }

    pub fn target(&self) -> Target {
        Target::new("127.0.0.1", self.address.port(), false)
    }

    /// The bytes that the next connection to end its script has received.
    pub fn received(&self) -> Vec<u8> {
        let patience = Duration::from_secs(10);
        self.received
            .recv_timeout(patience)
            .expect("a connection ended")
    }
}

fn follow(mut stream: TcpStream, script: &[Do], seen: &mut Vec<u8>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    for step in script {
        match step {
            Do::ReadHead => {
                let start = seen.len();
                while !seen[start..].ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte)?;
                    seen.push(byte[0]);
                }
            }
            Do::ReadBytes(count) => {
                let start = seen.len();
                seen.resize(start + count, 0);
                stream.read_exact(&mut seen[start..])?;
            }
            Do::Send(bytes) => stream.write_all(bytes)?,
            Do::Repeat(bytes, pause) => loop {
                stream.write_all(bytes)?;
                thread::sleep(*pause);
            },
            Do::Wait(time) => thread::sleep(*time),
            Do::Close => stream.shutdown(Shutdown::Both)?,
            Do::Reset => {
                socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
                return Ok(());
            }
        }
    }
    if !matches!(script.last(), Some(Do::Close)) {
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(20));
            drop(stream);
        });
    }
    Ok(())
}

/// Runs a test's future as a worker does.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(test)
}

pub fn worker(pool: PoolOptions) -> Rc<Worker> {
    let tls = Tls::new(&TlsOptions::default()).expect("the defaults are valid");
    Worker::new(tls, pool)
}

pub fn session() -> Session {
    Session::new(worker(PoolOptions::default()))
}

pub const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n";

pub const LIMITS: Limits = Limits {
    connect: Some(Duration::from_secs(5)),
    response: Some(Duration::from_secs(5)),
    bytes_per_second: None,
    total: None,
};

pub async fn get(session: &Session, target: &Target) -> Result<Box<Incoming>, Box<Failure>> {
    exchange(
        session,
        target,
        Outgoing::new(GET),
        WantedParts::ALL,
        LIMITS,
    )
    .await
}

/// One GET to a peer that answers with these bytes and then closes.
pub fn get_from(bytes: &[u8]) -> Result<Box<Incoming>, Box<Failure>> {
    let peer = Peer::start(vec![answer_and_close(bytes)]);
    run(async { get(&session(), &peer.target()).await })
}

/// One GET to a peer that answers with these bytes and stays.
pub fn get_from_open(bytes: &[u8]) -> Result<Box<Incoming>, Box<Failure>> {
    let peer = Peer::start(vec![answer(bytes)]);
    run(async { get(&session(), &peer.target()).await })
}
