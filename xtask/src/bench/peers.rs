//! The programs that are compared: how each is found, what it is told, and what is read of its output.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::readings::{self, Reading};
use super::scenario::Entry;
use super::server::{Nginx, find};
use crate::measure::{Cost, measured};

/// Bodies of the download scenario.
const DOWNLOADS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Drumfire,
    Wrk,
    Oha,
    K6,
    Gatling,
    JMeter,
    Curl,
    H2load,
}

impl Program {
    pub const ALL: [Program; 8] = [
        Program::Drumfire,
        Program::Wrk,
        Program::Oha,
        Program::K6,
        Program::Gatling,
        Program::JMeter,
        Program::Curl,
        Program::H2load,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Program::Drumfire => "drumfire",
            Program::Wrk => "wrk",
            Program::Oha => "oha",
            Program::K6 => "k6",
            Program::Gatling => "gatling",
            Program::JMeter => "jmeter",
            Program::Curl => "curl",
            Program::H2load => "h2load",
        }
    }
}

/// The programs that are installed.
pub struct Peers {
    found: Vec<(Program, PathBuf)>,
}

impl Peers {
    /// Looks for all programs; `own` is ours. JMeter is looked for in JMETER_HOME too, Gatling's jars in GATLING_HOME.
    pub fn find(own: PathBuf) -> Peers {
        let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let found = Program::ALL.into_iter().filter_map(|program| {
            let file = match program {
                Program::Drumfire => Some(own.clone()),
                Program::JMeter => home("JMETER_HOME")
                    .map(|home| home.join("bin/jmeter"))
                    .filter(|file| file.is_file())
                    .or_else(|| find("jmeter")),
                Program::Gatling => home("GATLING_HOME").filter(|home| home.is_dir()),
                other => find(other.name()),
            };
            Some((program, file?))
        });
        Peers {
            found: found.collect(),
        }
    }

    pub fn has(&self, program: Program) -> bool {
        self.found.iter().any(|(known, _)| *known == program)
    }

    /// What is not installed.
    pub fn missing(&self) -> Vec<&'static str> {
        let missing = Program::ALL
            .into_iter()
            .filter(|program| !self.has(*program));
        missing.map(Program::name).collect()
    }

    /// Runs an entry for so many seconds in an empty folder.
    pub fn run(
        &self,
        entry: &Entry,
        server: &Nginx,
        seconds: u32,
        folder: &Path,
    ) -> anyhow::Result<Round> {
        let program = self.found.iter().find(|(known, _)| *known == entry.program);
        let (_, file) = program.context("the program is not installed")?;
        let command = Told {
            file,
            entry,
            port: match (entry.tls, entry.http2) {
                (true, _) => server.tls_port,
                (false, true) => server.http2_port,
                (false, false) => server.port,
            },
            seconds,
        }
        .command()?;
        let (said, cost) = measured(&command, folder)?;
        let reading = read(entry.program, &said, folder)
            .with_context(|| format!("{} said nothing to read:\n{said}", entry.program.name()))?;
        if reading.failed > 0 {
            bail!(
                "{} requests of {} failed",
                reading.failed,
                entry.program.name()
            );
        }
        Ok(Round {
            reading,
            cost,
            said,
        })
    }
}

/// One round of one program.
pub struct Round {
    pub reading: Reading,
    pub cost: Cost,
    /// What the program printed.
    pub said: String,
}

struct Told<'a> {
    file: &'a Path,
    entry: &'a Entry,
    port: u16,
    seconds: u32,
}

impl Told<'_> {
    fn url(&self) -> String {
        let scheme = if self.entry.tls { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}{}", self.port, self.entry.path)
    }

    fn command(&self) -> anyhow::Result<Vec<String>> {
        let Entry { users, .. } = self.entry;
        let (seconds, url) = (self.seconds, self.url());
        let benches = crate::root().join("benches");
        let text = match self.entry.program {
            Program::Drumfire | Program::JMeter => return Ok(self.plan(&benches)),
            Program::Gatling => return self.gatling(&benches),
            Program::Wrk => {
                let threads = std::thread::available_parallelism()
                    .map_or(1, usize::from)
                    .min(*users as usize);
                let script = benches.join("wrk.lua");
                format!(
                    "-t{threads} -c{users} -d{seconds}s -s {} {url}",
                    script.display()
                )
            }
            Program::Oha => {
                let reconnect = if self.entry.reconnects {
                    " --disable-keepalive"
                } else {
                    ""
                };
                format!(
                    "-z {seconds}s -c {users} --no-tui --insecure --output-format json{reconnect} {url}"
                )
            }
            Program::K6 => format!(
                "run --quiet --no-usage-report --insecure-skip-tls-verify --summary-export summary.json \
                 -e URL={url} -e VUS={users} -e DURATION={seconds}s {}",
                benches.join("k6.js").display()
            ),
            // One request at a time on each connection, as a user of a plan.
            Program::H2load => format!("-D {seconds} -c {users} -m 1 -t 1 {url}"),
            Program::Curl => {
                let one = format!("-o /dev/null {url}");
                let all = vec![one; DOWNLOADS].join(" ");
                format!("-s -S -w %{{http_code}}\\n {all}")
            }
        };
        let words = text.split_whitespace().map(str::to_owned);
        Ok([self.file.display().to_string()]
            .into_iter()
            .chain(words)
            .collect())
    }

    /// For programs that run a plan. What an entry says of the seconds comes last and so counts.
    fn plan(&self, benches: &Path) -> Vec<String> {
        let plan = benches.join(self.entry.plan);
        let mut words = vec![
            self.file.display().to_string(),
            "-n".to_owned(),
            format!("-t{}", plan.display()),
            "-lout.jtl".to_owned(),
            "-jrun.log".to_owned(),
            format!("-Jport={}", self.port),
            format!("-Jusers={}", self.entry.users),
            format!("-Jseconds={}", self.seconds),
        ];
        let properties = &self.entry.properties;
        words.extend(
            properties
                .iter()
                .map(|(name, value)| format!("-J{name}={value}")),
        );
        words
    }

    /// Gatling's class is compiled beside its jars, once.
    fn gatling(&self, benches: &Path) -> anyhow::Result<Vec<String>> {
        let jars = format!("{}/*", self.file.display());
        let classes = self.file.join("classes");
        if !classes.join("KeepAlive.class").is_file() {
            std::fs::create_dir_all(&classes)?;
            let source = benches.join("gatling/KeepAlive.java");
            let mut compiler = std::process::Command::new("javac");
            compiler
                .args(["-cp", &jars, "-d"])
                .arg(&classes)
                .arg(source);
            crate::run(&mut compiler)?;
        }
        let text = format!(
            "java -cp {jars}:{} -Durl={} -Dusers={} -Dseconds={} --add-opens=java.base/java.lang=ALL-UNNAMED \
             io.gatling.app.Gatling -s KeepAlive -rf gatling",
            classes.display(),
            self.url(),
            self.entry.users,
            self.seconds
        );
        Ok(text.split(' ').map(str::to_owned).collect())
    }
}

fn read(program: Program, said: &str, folder: &Path) -> Option<Reading> {
    match program {
        Program::Drumfire => {
            let mut reading = readings::jtl(&folder.join("out.jtl"))?;
            // Its own table is finer than the milliseconds of the file.
            if let Some((p50_ms, p99_ms)) = readings::drumfire(said) {
                (reading.p50_ms, reading.p99_ms) = (Some(p50_ms), Some(p99_ms));
            }
            Some(reading)
        }
        Program::JMeter => readings::jtl(&folder.join("out.jtl")),
        Program::Wrk => readings::wrk(said),
        Program::Oha => readings::oha(said),
        Program::K6 => readings::k6(&std::fs::read_to_string(folder.join("summary.json")).ok()?),
        Program::Gatling => readings::gatling(said),
        Program::Curl => readings::curl(said),
        Program::H2load => readings::h2load(said),
    }
}
