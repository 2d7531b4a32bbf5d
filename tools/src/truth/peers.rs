//! `cargo xtask truth --peers`: how far the numbers of other programs are from the target's, in the same situations.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::situations::{SITUATIONS, Situation};
use super::{LABEL, Measured, PERCENTILES, Target, plan_arguments};
use crate::bench::LoadTester;
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

    /// The program's file, if it is installed.
    fn file(self) -> Option<PathBuf> {
        match self {
            Peer::Wrk2 => find(self.name()),
            Peer::Oha => LoadTester::Oha.file(),
            Peer::K6 => LoadTester::K6.file(),
            Peer::JMeter => LoadTester::JMeter.file(),
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

    fn add(&mut self, errors: Two) {
        for (all, error) in self.at.iter_mut().zip(errors) {
            all.extend(error.map(f64::abs));
        }
    }

    /// The size that this share of the errors does not exceed.
    fn size(&mut self, share: f64) -> Two {
        self.at.each_mut().map(|all| {
            all.sort_by(f64::total_cmp);
            let rank = (all.len() as f64 * share).ceil() as usize;
            all.get(rank.saturating_sub(1)).copied()
        })
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
    let names = installed.iter().map(|(peer, _)| peer.name());
    let mut programs: Vec<Errors> = std::iter::once("drumfire")
        .chain(names)
        .map(Errors::of)
        .collect();
    println!("error at p50 / p99 in milliseconds");
    let heads = programs.iter().map(|program| program.name.to_owned());
    print_row("", "true p50 / p99", heads);
    for (place, situation) in SITUATIONS.iter().enumerate() {
        let run = own(place)?;
        let truth = two(|name| run.truth[name].as_f64());
        let mut rows = vec![errors(two(|name| run.label[name].as_f64()), truth)];
        for (peer, file) in &installed {
            let name = format!("{}-{place}", peer.name());
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
            let reading = reading.unwrap_or_default();
            let truth = target.truth(&name)?;
            rows.push(errors(
                [reading.p50_ms, reading.p99_ms],
                two(|name| truth[name].as_f64()),
            ));
        }
        print_row(
            situation.name,
            &pair(truth, |ms| format!("{ms:.1}")),
            rows.iter().map(|row| pair(*row, |ms| format!("{ms:+.2}"))),
        );
        for (program, row) in programs.iter_mut().zip(rows) {
            program.add(row);
        }
    }
    for (row, share) in [("median of the errors' sizes", 0.5), ("largest", 1.0)] {
        let cells = programs
            .iter_mut()
            .map(|program| pair(program.size(share), |ms| format!("{ms:.2}")));
        print_row(row, "", cells);
    }
    Ok(())
}

/// A number at the median and at the 99th percentile.
type Two = [Option<f64>; 2];

fn two(of: impl Fn(&str) -> Option<f64>) -> Two {
    [of(PERCENTILES[0]), of(PERCENTILES[1])]
}

/// How much more was measured than is true.
fn errors(measured: Two, truth: Two) -> Two {
    std::array::from_fn(|at| Some(measured[at]? - truth[at]?))
}

fn pair(two: Two, shown: impl Fn(f64) -> String) -> String {
    let [p50, p99] = two.map(|ms| ms.map_or("–".to_owned(), &shown));
    format!("{p50} / {p99}")
}

fn print_row(name: &str, truth: &str, cells: impl Iterator<Item = String>) {
    let cells: String = cells.map(|cell| format!("{cell:>18}")).collect();
    println!("{name:<36}{truth:>17}{cells}");
}
