//! A keep-alive GET loop on one worker thread, to see what an exchange costs.
//!
//! `loop URL [CONNECTIONS [REQUESTS [nothing|all|close|http2]]]` prints requests per second and the CPU
//! time of each request, in user code and in the kernel. `close` opens a connection for each, `http2` speaks that.

use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_http::{
    HttpVersion, Limits, Outgoing, Session, Target, WantedParts, Worker, exchange,
};
use tokio::task::LocalSet;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| {
        let given = arguments.get(index).cloned();
        given.unwrap_or_else(|| default.to_owned())
    };
    let url = argument(0, "http://127.0.0.1:8080/");
    let connections: u64 = argument(1, "10").parse()?;
    let requests: u64 = argument(2, "200000").parse()?;
    let mode = argument(3, "nothing");
    let keep_alive = mode != "close";
    let want = match mode.as_str() {
        "all" => WantedParts::ALL,
        _ => WantedParts::NOTHING,
    };
    let (mut target, head) = parse(&url)?;
    if mode == "http2" {
        target.version = HttpVersion::Http2;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let worker = Worker::with_defaults()?;
    let begin = Instant::now();
    let (user_before, system_before) = cpu_time();
    let users = LocalSet::new();
    for _ in 0..connections {
        let (target, head) = (target.clone(), head.clone());
        let session = Session::new(Rc::clone(&worker));
        users.spawn_local(async move {
            let limits = Limits {
                connect: None,
                response: Some(Duration::from_secs(30)),
                ..Limits::default()
            };
            for _ in 0..requests / connections {
                let out = Outgoing {
                    keep_alive,
                    ..Outgoing::new(head.as_bytes())
                };
                if let Err(failure) = exchange(&session, &target, out, want, limits).await {
                    eprintln!("{failure}");
                    return;
                }
            }
        });
    }
    runtime.block_on(users);
    let (user, system) = cpu_time();
    let statistics = worker.statistics();
    let done = statistics.exchanges as f64;
    println!("{statistics:?}");
    println!(
        "{:.0} req/s, CPU us per request: {:.2} user + {:.2} system = {:.2}",
        done / begin.elapsed().as_secs_f64(),
        (user - user_before) / done,
        (system - system_before) / done,
        (user + system - user_before - system_before) / done,
    );
    Ok(())
}

fn parse(url: &str) -> Result<(Target, String), Box<dyn Error>> {
    let (scheme, rest) = url.split_once("://").ok_or("the URL has no scheme")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let tls = scheme == "https";
    let default = if tls { 443 } else { 80 };
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse()?),
        None => (authority, default),
    };
    let head = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    Ok((Target::new(host, port, tls), head))
}

/// User and system time of this process in microseconds.
fn cpu_time() -> (f64, f64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the structure it is given, and zeroes are valid for it anyway.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    (us(usage.ru_utime), us(usage.ru_stime))
}
