//! `cargo xtask truth --peers`: how far the numbers of other programs are from the target's, in the same situations.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::situations::{SITUATIONS, Situation};
use super::{LABEL, Measured, PERCENTILES, Target, plan_arguments};
use crate::bench::readings::{self, RoundReading};
use crate::bench::server::find;

/// The script of k6: requests at a rate, and the percentiles that the table has.
const K6_SCRIPT: &str = "
import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
  scenarios: { measured: {
    executor: 'constant-arrival-rate', rate: +__ENV.RATE, timeUnit: '1s', duration: __ENV.DURATION,
    preAllocatedVUs: +__ENV.USERS, maxVUs: +__ENV.USERS,
  } },
};
export default function () { http.get(__ENV.URL); }
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Wrk2,
    Oha,
    K6,
    JMeter,
}

impl Peer {
    const ALL: [Peer; 4] = [Peer::Wrk2, Peer::Oha, Peer::K6, Peer::JMeter];

    fn name(self) -> &'static str {
        match self {
            Peer::Wrk2 => "wrk2",
            Peer::Oha => "oha",
            Peer::K6 => "k6",
            Peer::JMeter => "JMeter",
        }
    }

    /// The program's file: on the path, or JMeter's in JMETER_HOME.
    fn file(self) -> Option<PathBuf> {
        match self {
            Peer::JMeter => std::env::var_os("JMETER_HOME")
                .map(|home| Path::new(&home).join("bin/jmeter"))
                .filter(|file| file.is_file()),
            other => find(other.name()),
        }
    }

    /// Runs a situation and reads the program's own numbers.
    fn run(
        self,
        file: &Path,
        folder: &Path,
        order: &Order<'_>,
    ) -> anyhow::Result<Option<RoundReading>> {
        let &Order {
            situation: Situation { rate, users, .. },
            port,
            path,
            seconds,
        } = order;
        let url = format!("http://127.0.0.1:{port}{path}");
        let mut command = Command::new(file);
        let text = match self {
            Peer::Wrk2 => {
                let script = xtask::root().join("benches/wrk.lua");
                format!(
                    "-t1 -c{users} -d{seconds}s -R{rate} -s {} {url}",
                    script.display()
                )
            }
            Peer::Oha => {
                format!("-z {seconds}s -c {users} -q {rate} --no-tui --output-format json {url}")
            }
            Peer::K6 => {
                std::fs::write(folder.join("script.js"), K6_SCRIPT)?;
                format!(
                    "run --quiet --no-usage-report --summary-export summary.json -e URL={url} -e RATE={rate} \
                     -e USERS={users} -e DURATION={seconds}s script.js"
                )
            }
            Peer::JMeter => {
                command.args(plan_arguments(order.situation, port, path));
                format!("-n -t ../plan.jmx -Jseconds={seconds} -l rows.jtl -j jmeter.log")
            }
        };
        command.args(text.split_whitespace()).current_dir(folder);
        let output = command.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(match self {
            Peer::Wrk2 => readings::wrk(&said),
            Peer::Oha => readings::oha(&said),
            Peer::K6 => readings::k6(&std::fs::read_to_string(folder.join("summary.json"))?),
            Peer::JMeter => {
                let rows = std::fs::read_to_string(folder.join("rows.jtl"))?;
                let measured = folder.join("measured.jtl");
                std::fs::write(&measured, rows_of_label(&rows))?;
                readings::jtl(&measured, None)
            }
        })
    }
}

/// The head and the rows of the label that counts.
fn rows_of_label(rows: &str) -> String {
    let of_label = format!(",{LABEL},");
    let lines = rows.lines().enumerate();
    let wanted = lines.filter(|(number, line)| *number == 0 || line.contains(&of_label));
    wanted.map(|(_, line)| format!("{line}\n")).collect()
}

/// A situation, and where its requests go.
struct Order<'a> {
    situation: &'a Situation,
    port: u16,
    path: &'a str,
    seconds: u32,
}

/// The errors of a program, in milliseconds: at the median and the 99th percentile of each situation.
struct Errors {
    name: &'static str,
    at: [Vec<f64>; 2],
}

impl Errors {
    fn of(name: &'static str) -> Errors {
        Errors {
            name,
            at: [Vec::new(), Vec::new()],
        }
    }
}

/// Runs each situation once with each program that is installed, and prints the errors.
pub fn peers(
    target: &Target,
    folder: &Path,
    seconds: u32,
    own: impl Fn(usize) -> anyhow::Result<Measured>,
) -> anyhow::Result<()> {
    let installed: Vec<(Peer, PathBuf)> = Peer::ALL
        .into_iter()
        .filter_map(|peer| Some((peer, peer.file()?)))
        .collect();
    let mut programs = vec![Errors::of("drumfire")];
    programs.extend(installed.iter().map(|(peer, _)| Errors::of(peer.name())));
    println!("error at p50 / p99 in milliseconds");
    print!("{:<36}{:>17}", "", "true p50 / p99");
    programs
        .iter()
        .for_each(|program| print!("{:>18}", program.name));
    println!();
    for (place, situation) in SITUATIONS.iter().enumerate() {
        let run = own(place)?;
        let truths = PERCENTILES.map(|name| run.truth[name].as_f64().unwrap_or(f64::NAN));
        print!(
            "{:<36}{:>17}",
            situation.name,
            format!("{:.1} / {:.1}", truths[0], truths[1])
        );
        let measured = |name: &str| run.label[name].as_f64();
        let mut told = vec![
            [PERCENTILES[0], PERCENTILES[1]]
                .map(|name| Some(measured(name)? - run.truth[name].as_f64()?)),
        ];
        for (peer, file) in &installed {
            let name = format!("peer-{}-{place}", peer.name());
            let folder = folder.join(&name);
            std::fs::create_dir_all(&folder)?;
            let path = format!("/{}/{name}", situation.service);
            let order = Order {
                situation,
                port: target.port,
                path: &path,
                seconds,
            };
            let reading = peer
                .run(file, &folder, &order)
                .with_context(|| format!("{} in {}", peer.name(), situation.name))?;
            let truth = target.truth(&name)?;
            let reading = reading.unwrap_or_default();
            told.push(
                [
                    reading.p50_ms.zip(truth["p50_ms"].as_f64()),
                    reading.p99_ms.zip(truth["p99_ms"].as_f64()),
                ]
                .map(|pair| pair.map(|(measured, is)| measured - is)),
            );
        }
        for (program, errors) in programs.iter_mut().zip(told) {
            let [p50, p99] =
                errors.map(|error| error.map_or("–".to_owned(), |ms| format!("{ms:+.2}")));
            print!("{:>18}", format!("{p50} / {p99}"));
            for (all, error) in program.at.iter_mut().zip(errors) {
                all.extend(error.map(f64::abs));
            }
        }
        println!();
    }
    for (row, pick) in [("median of the errors' sizes", 0.5), ("largest", 1.0)] {
        print!("{row:<36}{:>17}", "");
        for program in &mut programs {
            let [p50, p99] = program.at.each_mut().map(|all| {
                all.sort_by(f64::total_cmp);
                let place = (all.len() as f64 * pick).ceil() as usize;
                all.get(place.saturating_sub(1))
                    .map_or("–".to_owned(), |ms| format!("{ms:.2}"))
            });
            print!("{:>18}", format!("{p50} / {p99}"));
        }
        println!();
    }
    Ok(())
}
