//! `cargo xtask streams`: what many open streams cost, and how far the times between events are from those of the server.
//!
//! The server runs on threads of this process. It writes events at a steady rate to each stream, and notes the times between its
//! own writes, with which those that the program measured are compared.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail, ensure};
use drumfire_results::Distribution;
use serde_json::Value;

use crate::faults::built;
use crate::measure::{Cost, measured};

/// How often the server looks which streams are due.
const TICK: Duration = Duration::from_micros(500);
/// The time in which all streams are opened, in seconds.
const OPENING_S: u64 = 2;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// The measurement that was asked for.
struct Wanted {
    streams: usize,
    /// Events a second on each stream.
    rate: u64,
    seconds: u64,
}

/// Opens the streams and prints a line.
///
/// # Errors
/// For an unknown option, or if the run fails.
pub fn streams(options: &[&str]) -> anyhow::Result<()> {
    let mut wanted = Wanted {
        streams: 1_000,
        rate: 10,
        seconds: 10,
    };
    let mut program = None;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let value = rest
            .next()
            .with_context(|| format!("{option} needs a value"))?;
        match *option {
            "--streams" => wanted.streams = value.parse()?,
            "--rate" => wanted.rate = value.parse()?,
            "--seconds" => wanted.seconds = value.parse()?,
            "--program" => program = Some(std::path::absolute(value)?),
            _ => bail!("there is no option {option}"),
        }
    }
    ensure!(
        wanted.rate > 0 && wanted.seconds > 0,
        "no events are wanted"
    );
    let program = program.map_or_else(built, Ok)?;
    let server = EventServer::start(wanted.rate)?;
    let (cost, summary) = run(&program, &wanted, server.port)?;
    print(&wanted, cost, &summary["total"], &server.gaps())
}

/// Runs the program against the server. Returns its cost and its summary.
fn run(program: &Path, wanted: &Wanted, port: u16) -> anyhow::Result<(Cost, Value)> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("streams.jmx"), plan(wanted, port))?;
    let program = program.to_string_lossy();
    let words = "run streams.jmx --progress quiet --summary-json s.json --fail-on errors>0";
    let command: Vec<String> = std::iter::once(&*program)
        .chain(words.split(' '))
        .map(str::to_owned)
        .collect();
    let (_, cost) = measured(&command, folder.path(), None)?;
    let text = std::fs::read_to_string(folder.path().join("s.json"))?;
    Ok((cost, serde_json::from_str(&text)?))
}

fn plan(wanted: &Wanted, port: u16) -> String {
    let Wanted {
        streams, seconds, ..
    } = wanted;
    let ms = seconds * 1_000;
    drumfire_testkit::plans::plan(&format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="listeners"><stringProp name="ThreadGroup.num_threads">{streams}</stringProp><stringProp name="ThreadGroup.ramp_time">{OPENING_S}</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree><HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="stream"><stringProp name="HTTPSampler.path">http://127.0.0.1:{port}/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><stringProp name="drumfire.stream">sse</stringProp><stringProp name="drumfire.stream.stop.after_ms">{ms}</stringProp></HTTPSamplerProxy><hashTree/></hashTree>"#
    ))
}

/// Prints the cost of an event, and the percentiles of the times between events: the server's, those measured, and the errors.
fn print(wanted: &Wanted, cost: Cost, total: &Value, server: &Distribution) -> anyhow::Result<()> {
    let stream = &total["stream"];
    let events = stream["events"].as_u64().context("no event came")?;
    let cpu_s = (cost.user_us + cost.system_us) as f64 / 1e6;
    println!(
        "{} streams, {} events/s each, {} s: {events} events, {cpu_s:.2} s CPU, {:.2} s CPU for 100,000 events, {} MiB",
        wanted.streams,
        wanted.rate,
        wanted.seconds,
        cpu_s * 1e5 / events as f64,
        cost.peak_kib >> 10,
    );
    for (name, percent) in [
        ("p50_ms", 50.0),
        ("p95_ms", 95.0),
        ("p99_ms", 99.0),
        ("max_ms", 100.0),
    ] {
        let told = stream["gap"][name].as_f64().context("there are no gaps")?;
        let sent = server.percentile(percent) / 1_000.0;
        println!(
            "  gap {name:<7} server {sent:>9.3}  measured {told:>9.3}  error {:>+7.3}",
            told - sent
        );
    }
    Ok(())
}

/// A stream and the time of its last event.
struct OpenStream {
    socket: TcpStream,
    due: Instant,
    last: Option<Instant>,
}

/// A server of events.
struct EventServer {
    port: u16,
    gaps: Arc<Mutex<Distribution>>,
}

impl EventServer {
    fn start(rate: u64) -> anyhow::Result<EventServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let gaps = Arc::new(Mutex::new(Distribution::default()));
        let opened = Arc::new(Mutex::new(Vec::new()));
        let (new, noted) = (Arc::clone(&opened), Arc::clone(&gaps));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                // A client that is gone already needs no stream.
                if let Ok(stream) = open(socket) {
                    new.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(stream);
                }
            }
        });
        std::thread::spawn(move || serve(&opened, &noted, Duration::from_secs(1) / rate as u32));
        Ok(EventServer { port, gaps })
    }

    fn gaps(&self) -> Distribution {
        self.gaps
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn open(mut socket: TcpStream) -> std::io::Result<OpenStream> {
    let mut request = [0; 4096];
    let mut length = 0;
    while !request[..length].ends_with(b"\r\n\r\n") {
        match socket.read(&mut request[length..])? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => length += count,
        }
    }
    socket.set_nodelay(true)?;
    socket.write_all(HEAD)?;
    socket.set_nonblocking(true)?;
    Ok(OpenStream {
        socket,
        due: Instant::now(),
        last: None,
    })
}

/// Writes the events that are due, for ever. A stream whose client is gone, or reads nothing, is dropped.
fn serve(opened: &Mutex<Vec<OpenStream>>, gaps: &Mutex<Distribution>, period: Duration) {
    let mut streams: Vec<OpenStream> = Vec::new();
    loop {
        streams.append(&mut opened.lock().unwrap_or_else(PoisonError::into_inner));
        let now = Instant::now();
        let mut noted = Distribution::default();
        streams.retain_mut(|stream| {
            if stream.due > now {
                return true;
            }
            stream.due += period;
            let at = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let event = format!("data: {{\"at_us\":{}}}\n\n", at.as_micros());
            let sent = Instant::now();
            let is_sent = stream.socket.write_all(event.as_bytes()).is_ok();
            if let Some(last) = stream.last.replace(sent).filter(|_| is_sent) {
                noted.record((sent - last).as_micros() as u64);
            }
            is_sent
        });
        gaps.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .merge(&noted);
        std::thread::sleep(TICK);
    }
}
