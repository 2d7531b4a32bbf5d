//! The programs that are compared: how each is found, which arguments it gets, and how its output is read.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::Servers;
use super::readings::{self, RoundReading};
use super::scenario::{Contender, Door, Reads};
use super::server::find;
use crate::measure::{Cost, measured};

/// How many large bodies are transferred in one round.
const BODIES: usize = 10;
/// How many files curl fetches over FTP in one round.
const FILES: usize = 5_000;
/// The rate for programs that follow a schedule.
pub const PACE_PER_SECOND: u32 = 5_000;
/// The rate of wrk2 in requests a second, with which it never waits.
const MORE_THAN_WRK2_CAN: u32 = 10_000_000;
/// The file with the final figures of k6, loadr and Artillery.
const SUMMARY: &str = "summary.json";
/// The result file of a program that runs a plan.
const RESULTS: &str = "out.jtl";
/// The request of `grpc.jmx` in its wire form, and its text: 64 times 16 letters.
const GRPC_REQUEST: &str = "request";
pub const GRPC_TEXT: &str = "0123456789abcdef";
pub const GRPC_TEXTS: usize = 64;
/// The mails that smtp-source sends, and the bytes of each.
const MAILS: u64 = 20_000;
pub const MAIL_BYTES: usize = 1024;
/// The input and output of vegeta.
const TARGETS: &str = "targets";
const HITS: &str = "hits";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadTester {
    Drumfire,
    Wrk,
    /// wrk at a given rate; its times begin when a request is due.
    Wrk2,
    Oha,
    K6,
    Gatling,
    Locust,
    Artillery,
    Loadr,
    JMeter,
    Curl,
    /// curl as an uploader.
    CurlUpload,
    /// Only computes the MD5 of a file.
    Md5sum,
    /// Only counts the lines of a file.
    Wc,
    H2load,
    /// Sends the requests of an open model, evenly spaced.
    Vegeta,
    /// Postfix's generator of mails.
    SmtpSource,
    /// Makes gRPC calls.
    Ghz,
}

impl LoadTester {
    pub const ALL: [LoadTester; 18] = [
        LoadTester::Drumfire,
        LoadTester::Wrk,
        LoadTester::Wrk2,
        LoadTester::Oha,
        LoadTester::K6,
        LoadTester::Gatling,
        LoadTester::Locust,
        LoadTester::Artillery,
        LoadTester::Loadr,
        LoadTester::JMeter,
        LoadTester::Curl,
        LoadTester::CurlUpload,
        LoadTester::Md5sum,
        LoadTester::Wc,
        LoadTester::H2load,
        LoadTester::Vegeta,
        LoadTester::SmtpSource,
        LoadTester::Ghz,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LoadTester::Drumfire => "drumfire",
            LoadTester::Wrk => "wrk",
            LoadTester::Wrk2 => "wrk2",
            LoadTester::Oha => "oha",
            LoadTester::K6 => "k6",
            LoadTester::Gatling => "gatling",
            LoadTester::Locust => "locust",
            LoadTester::Artillery => "artillery",
            LoadTester::Loadr => "loadr",
            LoadTester::JMeter => "jmeter",
            LoadTester::Curl => "curl",
            LoadTester::CurlUpload => "curl-upload",
            LoadTester::Md5sum => "md5sum",
            LoadTester::Wc => "wc",
            LoadTester::H2load => "h2load",
            LoadTester::Vegeta => "vegeta",
            LoadTester::SmtpSource => "smtp-source",
            LoadTester::Ghz => "ghz",
        }
    }

    /// The installed program: on the path, JMeter's also in JMETER_HOME, and the folder of Gatling's jars in GATLING_HOME.
    pub fn file(self) -> Option<PathBuf> {
        match self {
            LoadTester::JMeter => home("JMETER_HOME")
                .map(|home| home.join("bin/jmeter"))
                .filter(|file| file.is_file())
                .or_else(|| find("jmeter")),
            LoadTester::Gatling => home("GATLING_HOME").filter(|home| home.is_dir()),
            LoadTester::CurlUpload => find("curl"),
            other => find(other.name()),
        }
    }
}

/// The programs that are installed.
pub struct Peers {
    found: Vec<(LoadTester, PathBuf)>,
}

impl Peers {
    /// Searches for all programs; `own` is ours.
    pub fn find(own: PathBuf) -> Peers {
        let found = LoadTester::ALL.into_iter().filter_map(|program| {
            let file = match program {
                LoadTester::Drumfire => Some(own.clone()),
                other => other.file(),
            };
            Some((program, file?))
        });
        Peers {
            found: found.collect(),
        }
    }

    pub fn has(&self, program: LoadTester) -> bool {
        self.found.iter().any(|(known, _)| *known == program)
    }

    /// The programs that are not installed.
    pub fn missing(&self) -> Vec<&'static str> {
        let missing = LoadTester::ALL
            .into_iter()
            .filter(|program| !self.has(*program));
        missing.map(LoadTester::name).collect()
    }

    /// Runs an entry for this many seconds in an empty folder.
    pub fn run(
        &self,
        entry: &Contender,
        servers: &Servers,
        seconds: u32,
        folder: &Path,
    ) -> anyhow::Result<Round> {
        let program = self.found.iter().find(|(known, _)| *known == entry.program);
        let (_, file) = program.context("the program is not installed")?;
        let server = &servers.nginx;
        let command = Told {
            file,
            entry,
            port: port(servers, entry.door)?,
            servers,
            server: server.folder(),
            folder,
            seconds: match entry.seconds {
                0 => seconds,
                own => own,
            },
        }
        .command()?;
        if entry.prepares_java && entry.program == LoadTester::Drumfire {
            let mut install = std::process::Command::new(file);
            install.args(["jvm", "install"]).current_dir(folder);
            let output = install.output().context("drumfire jvm install")?;
            if !output.status.success() {
                bail!("{}", String::from_utf8_lossy(&output.stderr));
            }
        }
        let stall = entry
            .stalls
            .then(|| server.stall_after(Duration::from_millis(u64::from(seconds) * 500)));
        let neighbours = entry.busy.then(Busy::start);
        let before = loopback();
        let (said, cost) = measured(&command, folder, entry.counted)?;
        let wire = LoopbackTraffic::between(before, loopback());
        drop(neighbours);
        if let Some(stall) = stall {
            stall
                .join()
                .map_err(|_| anyhow::anyhow!("the server was not stopped"))??;
        }
        let said = match entry.program {
            LoadTester::Vegeta => said + &vegeta_hits(file, folder)?,
            _ => said,
        };
        let counted_ms = entry.counted.map(|part| {
            let ms = |seconds: u32| cost.began_ms + u64::from(seconds) * 1000;
            ms(part.from_s)..ms(part.to_s)
        });
        let reading = read(entry, &said, folder, counted_ms)
            .with_context(|| format!("{} printed no result:\n{said}", entry.program.name()))?;
        if reading.failed > 0 {
            let first = readings::first_failure(&folder.join(RESULTS)).unwrap_or_default();
            bail!("{} requests failed {first}", reading.failed);
        }
        Ok(Round {
            reading,
            cost,
            // The counters cover the whole run, so they are of no use if only a part of it counts.
            wire: wire.filter(|_| entry.counted.is_none()),
            said,
        })
    }
}

fn port(servers: &Servers, door: Door) -> anyhow::Result<u16> {
    match door {
        Door::Echo => servers.services.echo_port(),
        Door::Grpc => servers.services.grpc_port(),
        Door::Ftp => servers.services.ftp_port(),
        Door::Mail => servers.services.mail_port(),
        Door::Mqtt => servers.services.mqtt_port(),
        door => Ok(servers.nginx.port(door)),
    }
}

fn home(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// The traffic on the loopback interface during a round, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopbackTraffic {
    pub packets: u64,
    pub bytes: u64,
}

impl LoopbackTraffic {
    fn between(
        before: Option<LoopbackTraffic>,
        after: Option<LoopbackTraffic>,
    ) -> Option<LoopbackTraffic> {
        let (before, after) = (before?, after?);
        Some(LoopbackTraffic {
            packets: after.packets - before.packets,
            bytes: after.bytes - before.bytes,
        })
    }
}

/// Reads the counters of the loopback interface (`/proc/net/dev`). It receives everything that it sends, so counting one
/// direction covers both ends of a connection.
fn loopback() -> Option<LoopbackTraffic> {
    let table = std::fs::read_to_string("/proc/net/dev").ok()?;
    let line = table
        .lines()
        .find_map(|line| line.trim().strip_prefix("lo:"))?;
    let mut numbers = line.split_whitespace();
    let bytes = numbers.next()?.parse().ok()?;
    let packets = numbers.next()?.parse().ok()?;
    Some(LoopbackTraffic { packets, bytes })
}

impl Round {
    /// The time from the start of the process to its first sample.
    pub fn first_sample_ms(&self) -> Option<f64> {
        let first_ms = self.reading.first_ms?;
        Some(first_ms.saturating_sub(self.cost.began_ms) as f64)
    }
}

/// Keeps all cores busy with one computing thread each until it is dropped.
struct Busy {
    is_over: Arc<AtomicBool>,
}

impl Busy {
    fn start() -> Busy {
        let is_over = Arc::new(AtomicBool::new(false));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::black_box((0..10_000_u64).sum::<u64>());
                }
            });
        }
        Busy { is_over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// One round of one program.
pub struct Round {
    pub reading: RoundReading,
    pub cost: Cost,
    /// Present if the kernel counts it.
    pub wire: Option<LoopbackTraffic>,
    /// The program's output.
    pub said: String,
}

struct Told<'a> {
    file: &'a Path,
    entry: &'a Contender,
    port: u16,
    servers: &'a Servers,
    /// The server's folder.
    server: &'a Path,
    /// The folder in which it runs.
    folder: &'a Path,
    seconds: u32,
}

impl Told<'_> {
    fn url(&self) -> String {
        let scheme = match self.entry.door {
            Door::Tls | Door::ClientCertificate | Door::Http2Tls | Door::TenRequests => "https",
            Door::Plain | Door::Http2 | Door::Grpc => "http",
            Door::Echo => "ws",
            Door::Ftp => "ftp",
            Door::Mail => "smtp",
            Door::Mqtt => "mqtt",
        };
        format!("{scheme}://127.0.0.1:{}{}", self.port, self.entry.path)
    }

    /// The generated result file.
    fn results(&self) -> String {
        self.server.join(&self.entry.plan).display().to_string()
    }

    /// As many threads as cores, as our program uses, but no more than users.
    fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        cores.min(self.entry.users as usize)
    }

    /// The script in a program's own language for the work of a plan: `benches/k6/shop.js` for `shop.jmx`.
    fn script(&self, ending: &str) -> anyhow::Result<PathBuf> {
        let name = Path::new(&self.entry.plan).with_extension(ending);
        let folder = self.entry.program.name();
        let file = xtask::root().join("benches").join(folder).join(name);
        if !file.is_file() {
            bail!("{} is missing", file.display());
        }
        Ok(file)
    }

    fn command(&self) -> anyhow::Result<Vec<String>> {
        let text = match self.entry.program {
            LoadTester::Wc => format!("-l {}", self.results()),
            LoadTester::Drumfire | LoadTester::JMeter => match self.entry.reads {
                Some(Reads::Report) => format!("report {} --report page.html", self.results()),
                Some(Reads::Compare) => format!("compare {0} {0} --anyway", self.results()),
                Some(Reads::Merge) => format!("merge {0} {0} -o both.drumfire", self.results()),
                None => return self.plan(&xtask::root().join("benches")),
            },
            LoadTester::Gatling => return self.gatling(),
            LoadTester::K6 | LoadTester::Locust | LoadTester::Artillery | LoadTester::Loadr => {
                self.scripted()?
            }
            LoadTester::Wrk
            | LoadTester::Wrk2
            | LoadTester::Oha
            | LoadTester::H2load
            | LoadTester::Vegeta => self.asking()?,
            LoadTester::Curl | LoadTester::CurlUpload | LoadTester::Md5sum => self.bodies(),
            LoadTester::Ghz => self.calls()?,
            // It sends a number of mails, and no lines of more than 80 characters.
            LoadTester::SmtpSource => format!(
                "-s {} -m {MAILS} -l {MAIL_BYTES} -f me@x.test -t a@x.test -S Subj 127.0.0.1:{}",
                self.entry.users, self.port
            ),
        };
        let words = text.split_whitespace().map(str::to_owned);
        Ok([self.file.display().to_string()]
            .into_iter()
            .chain(words)
            .collect())
    }

    /// The arguments of programs that run their own kind of script.
    fn scripted(&self) -> anyhow::Result<String> {
        let (users, seconds, url) = (self.entry.users, self.seconds, self.url());
        Ok(match self.entry.program {
            LoadTester::K6 => format!(
                "run --quiet --no-usage-report --insecure-skip-tls-verify --summary-export {SUMMARY} \
                 -e URL={url} -e VUS={users} -e DURATION={seconds}s {}",
                self.script("js")?.display()
            ),
            LoadTester::Locust => format!(
                "--headless --json --loglevel ERROR --users {users} --spawn-rate {users} --run-time {seconds}s \
                 --host {url} --locustfile {}",
                self.script("py")?.display()
            ),
            LoadTester::Artillery => format!(
                "run --quiet --output {SUMMARY} --target http://127.0.0.1:{} --overrides {} {}",
                self.port,
                json!({"config": {
                    "phases": [{"duration": 1, "arrivalCount": users}],
                    "variables": {"seconds": seconds},
                }}),
                self.script("yaml")?.display()
            ),
            _ => {
                let script = std::fs::read_to_string(self.script("yaml")?)?
                    .replace("@USERS@", &users.to_string())
                    .replace("@SECONDS@", &seconds.to_string())
                    .replace("@URL@", &url);
                std::fs::write(self.folder.join("test.yaml"), script)?;
                format!("run --quiet --summary-export {SUMMARY} test.yaml")
            }
        })
    }

    /// The arguments of programs that request one URL.
    fn asking(&self) -> anyhow::Result<String> {
        let (users, seconds, url) = (self.entry.users, self.seconds, self.url());
        Ok(match self.entry.program {
            LoadTester::Wrk | LoadTester::Wrk2 => {
                let script = xtask::root().join("benches/wrk.lua");
                let threads = self.threads();
                let rate = match self.entry.program {
                    LoadTester::Wrk2 => format!(" -R{MORE_THAN_WRK2_CAN}"),
                    _ => String::new(),
                };
                format!(
                    "-t{threads} -c{users} -d{seconds}s{rate} -s {} {url}",
                    script.display()
                )
            }
            LoadTester::Oha => {
                let reconnect = if self.entry.reconnects {
                    " --disable-keepalive"
                } else {
                    ""
                };
                format!(
                    "-z {seconds}s -c {users} --no-tui --insecure --output-format json{reconnect} {url}"
                )
            }
            // As for a plan's users, each connection has one request at a time; like our program, h2load uses a thread per core
            // and writes a line per request.
            LoadTester::H2load => format!(
                "-D {seconds} -c {users} -m 1 -t {} --log-file=requests.log {}{url}",
                self.threads(),
                self.call()?
            ),
            _ => {
                std::fs::write(self.folder.join(TARGETS), format!("GET {url}\n"))?;
                format!(
                    "attack -targets={TARGETS} -rate={PACE_PER_SECOND} -duration={seconds}s -output={HITS}"
                )
            }
        })
    }

    /// The options with which h2load sends the request of `grpc.jmx`; nothing for other plans.
    fn call(&self) -> anyhow::Result<String> {
        if self.entry.door != Door::Grpc {
            return Ok(String::new());
        }
        let text = GRPC_TEXT.repeat(GRPC_TEXTS);
        let length = text.len();
        // A frame, whose message has a text in its first field. Both lengths have two bytes.
        let varint = [length as u8 | 0x80, (length >> 7) as u8];
        let message = [&[0x0A][..], &varint, text.as_bytes()].concat();
        let frame = [
            &[0, 0, 0][..],
            &(message.len() as u16).to_be_bytes(),
            &message,
        ]
        .concat();
        std::fs::write(self.folder.join(GRPC_REQUEST), frame)?;
        Ok(format!(
            "-d {GRPC_REQUEST} -H content-type:application/grpc -H te:trailers "
        ))
    }

    /// The arguments with which ghz makes the calls of `grpc.jmx`, over a connection for each user. It does not understand the
    /// `optional` of the plan's own file.
    fn calls(&self) -> anyhow::Result<String> {
        const PROTO: &str = "echo.proto";
        const DATA: &str = "request.json";
        let (users, seconds, port) = (self.entry.users, self.seconds, self.port);
        let proto = "syntax = \"proto3\"; package compat; message Say { string text = 1; } \
                     service Echo { rpc Hello(Say) returns (Say); }";
        std::fs::write(self.folder.join(PROTO), proto)?;
        let text = GRPC_TEXT.repeat(GRPC_TEXTS);
        std::fs::write(self.folder.join(DATA), format!("{{\"text\": \"{text}\"}}"))?;
        let method = self.entry.path.trim_start_matches('/');
        Ok(format!(
            "--insecure --proto {PROTO} --call {method} -D {DATA} -c {users} --connections {users} -z {seconds}s \
             --duration-stop ignore -O json 127.0.0.1:{port}"
        ))
    }

    /// The arguments of programs that transfer or read ten large bodies.
    fn bodies(&self) -> String {
        let url = self.url();
        let file = self.server.join("html/big").display().to_string();
        match self.entry.program {
            LoadTester::Curl if self.entry.door == Door::Ftp => {
                // curl logs in again for each password.
                let url = url.replacen("//", &format!("//anonymous:guest[1-{FILES}]@"), 1);
                format!("-s -S -w %{{http_code}}\\n -o /dev/null {url}")
            }
            LoadTester::Curl => {
                let all = vec![format!("-o /dev/null {url}"); BODIES].join(" ");
                format!("-s -S -k -w %{{http_code}}\\n {all}")
            }
            LoadTester::CurlUpload => {
                // Like JMeter, curl does not wait for a 100 Continue.
                let all = vec![format!("-o /dev/null -T {file} {url}"); BODIES].join(" ");
                format!("-s -S -X POST -H Expect: -w %{{http_code}}\\n {all}")
            }
            _ => vec![file; BODIES].join(" "),
        }
    }

    /// The arguments of programs that run a plan. The entry's own duration comes last and takes precedence.
    fn plan(&self, benches: &Path) -> anyhow::Result<Vec<String>> {
        let mut plan = benches.join(&self.entry.plan);
        if !plan.is_file() {
            plan = self.server.join(&self.entry.plan);
        }
        let mut words = Vec::new();
        if self.entry.cores > 0 {
            let last = self.entry.cores - 1;
            words.extend(["taskset", "-c"].map(str::to_owned));
            words.push(format!("0-{last}"));
        }
        words.extend([
            self.file.display().to_string(),
            "-n".to_owned(),
            format!("-t{}", plan.display()),
            "-jrun.log".to_owned(),
            format!("-Jport={}", self.port),
            format!("-Jusers={}", self.entry.users),
            format!("-Jseconds={}", self.seconds),
        ]);
        if self.entry.program == LoadTester::Drumfire {
            // The readings come from these lines.
            words.push("-Jdrumfire.verbose=true".to_owned());
        }
        if self.entry.writes_results {
            words.push(format!("-l{RESULTS}"));
        }
        for (name, value) in &self.entry.properties {
            let kind = if name.starts_with("javax.") { 'D' } else { 'J' };
            words.push(format!("-{kind}{name}={}", self.filled_in(value)?));
        }
        Ok(words)
    }

    /// The value of a property with the placeholders for servers and files replaced.
    fn filled_in(&self, value: &str) -> anyhow::Result<String> {
        let mut value = value
            .replace("@FOLDER@", &self.server.display().to_string())
            .replace("@PORT@", &self.port.to_string())
            .replace(
                "@TLS_PORT@",
                &self.servers.nginx.port(Door::Tls).to_string(),
            );
        if value.contains("@DB_PORT@") {
            let port = self.servers.services.database_port()?;
            value = value.replace("@DB_PORT@", &port.to_string());
        }
        if value.contains("@JARS@") {
            let jars = std::env::var("BENCH_JARS").context(
                "BENCH_JARS has to name the folder of jars that benches/install_peers.sh makes",
            )?;
            value = value.replace("@JARS@", &jars);
        }
        Ok(value)
    }

    /// Compiles Gatling's class beside its jars, once for each version of its source.
    fn gatling(&self) -> anyhow::Result<Vec<String>> {
        let name = Path::new(&self.entry.plan).with_extension("");
        let name = name.to_string_lossy();
        let class = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let source = xtask::root().join(format!("benches/gatling/{class}.java"));
        let jars = format!("{}/*", self.file.display());
        let classes = self.file.join("classes");
        let compiled = classes.join(format!("{class}.class"));
        let changed = |file: &Path| std::fs::metadata(file).and_then(|data| data.modified());
        let written = changed(&source).with_context(|| source.display().to_string())?;
        if !changed(&compiled).is_ok_and(|compiled| compiled >= written) {
            std::fs::create_dir_all(&classes)?;
            let mut compiler = std::process::Command::new("javac");
            compiler
                .args(["-cp", &jars, "-d"])
                .arg(&classes)
                .arg(&source);
            xtask::run(&mut compiler)?;
        }
        let log = xtask::root().join("benches/gatling/logback.xml");
        let text = format!(
            "java -cp {jars}:{} -Dlogback.configurationFile={} -Durl={} -Dusers={} -Dseconds={} \
             --add-opens=java.base/java.lang=ALL-UNNAMED io.gatling.app.Gatling -s {class} -rf gatling",
            classes.display(),
            log.display(),
            self.url(),
            self.entry.users,
            self.seconds
        );
        Ok(text.split(' ').map(str::to_owned).collect())
    }
}

/// Converts vegeta's recording to lines like those of our own tables: its delay, and the number of requests.
fn vegeta_hits(program: &Path, folder: &Path) -> anyhow::Result<String> {
    let mut encode = std::process::Command::new(program);
    encode.args(["encode", "-to=csv", HITS]).current_dir(folder);
    let output = encode.output().context("vegeta encode")?;
    let rows = String::from_utf8_lossy(&output.stdout);
    readings::vegeta_lines(&rows, PACE_PER_SECOND).context("vegeta has recorded nothing")
}

/// Reads the figures of a round. If only a part of the round counts, samples that began outside it are ignored.
fn read(
    entry: &Contender,
    said: &str,
    folder: &Path,
    counted_ms: Option<Range<u64>>,
) -> Option<RoundReading> {
    let rows = || readings::jtl(&folder.join(RESULTS), counted_ms);
    let summary = || std::fs::read_to_string(folder.join(SUMMARY)).ok();
    match entry.program {
        // The command would have failed if it had not read every row.
        LoadTester::Drumfire if entry.reads.is_some() => Some(RoundReading {
            samples: entry.case.parse().ok()?,
            ..RoundReading::default()
        }),
        LoadTester::Drumfire if !entry.writes_results => readings::summary(said),
        LoadTester::Drumfire => {
            let mut reading = rows()?;
            // The program's own table is more precise than the milliseconds in the file.
            if let Some((p50_ms, p99_ms)) = readings::drumfire(said) {
                (reading.p50_ms, reading.p99_ms) = (Some(p50_ms), Some(p99_ms));
            }
            Some(reading)
        }
        LoadTester::JMeter => rows(),
        LoadTester::Wrk => readings::wrk(said),
        // Its times begin when requests were due at a rate that it cannot reach.
        LoadTester::Wrk2 => readings::wrk(said).map(RoundReading::without_times),
        LoadTester::Oha => readings::oha(said),
        LoadTester::K6 => readings::k6(&summary()?),
        LoadTester::Loadr => readings::loadr(&summary()?),
        LoadTester::Artillery => readings::artillery(&summary()?),
        LoadTester::Locust => readings::locust(said),
        LoadTester::Gatling => readings::gatling(said),
        LoadTester::Curl | LoadTester::CurlUpload => readings::curl(said),
        LoadTester::Md5sum => Some(readings::lines(said)),
        LoadTester::Wc => Some(RoundReading {
            samples: said.split(' ').next()?.parse().ok()?,
            ..RoundReading::default()
        }),
        LoadTester::H2load => readings::h2load(said),
        LoadTester::Ghz => readings::ghz(said),
        LoadTester::Vegeta => readings::vegeta(said),
        // It would have failed at the first mail that was not taken.
        LoadTester::SmtpSource => Some(RoundReading {
            samples: MAILS,
            ..RoundReading::default()
        }),
    }
}
