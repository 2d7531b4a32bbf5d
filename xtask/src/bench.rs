//! `cargo xtask bench`: CPU per request with a peer beside it, in turns, so that both meet the same machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::peers::{Nginx, Peer, Round};

/// Longest round: a bench is bounded in time whatever its options say.
const MAX_SECONDS: u32 = 60;
const MAX_ROUNDS: u32 = 20;

struct Options {
    rounds: u32,
    seconds: u32,
}

/// Runs the benchmark, prints it, and keeps all that was printed in `benches/runs/<date>/`.
pub fn bench(words: &[&str]) -> anyhow::Result<()> {
    let options = options(words)?;
    let peers = Peer::all()?;
    let server = Nginx::start()?;
    let folder = run_folder()?;
    let work = tempfile(&folder)?;
    let mut rounds = Vec::new();
    let mut report = format!("{}\n\n{}", surroundings(&options), Table::HEAD);
    print!("{report}");
    for number in 1..=options.rounds {
        for peer in &peers {
            let round = peer.run(server.port, options.seconds, &work)?;
            std::fs::write(
                folder.join(format!("{}-{number}.txt", round.peer)),
                &round.said,
            )?;
            let line = Table::line(&number.to_string(), &[&round]);
            print!("{line}");
            report.push_str(&line);
            rounds.push(round);
        }
    }
    let end = summary(&rounds, &peers);
    print!("{end}");
    report.push_str(&end);
    std::fs::remove_dir_all(&work)?;
    std::fs::write(folder.join("report.txt"), report)?;
    println!("raw output: {}", folder.display());
    Ok(())
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        rounds: 5,
        seconds: 5,
    };
    for pair in words.chunks(2) {
        let number = |most: u32| -> anyhow::Result<u32> {
            let value = pair
                .get(1)
                .with_context(|| format!("{} needs a number", pair[0]))?;
            Ok(value
                .parse::<u32>()
                .with_context(|| (*value).to_owned())?
                .clamp(1, most))
        };
        match pair[0] {
            "--rounds" => options.rounds = number(MAX_ROUNDS)?,
            "--seconds" => options.seconds = number(MAX_SECONDS)?,
            other => anyhow::bail!("bench has no option {other}"),
        }
    }
    Ok(options)
}

fn run_folder() -> anyhow::Result<PathBuf> {
    let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H%M%S").to_string();
    let folder = super::root().join("benches/runs").join(now);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn tempfile(folder: &Path) -> anyhow::Result<PathBuf> {
    let work = folder.join("work");
    std::fs::create_dir_all(&work)?;
    Ok(work)
}

fn surroundings(options: &Options) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown CPU", |model| {
            model.trim_start_matches([' ', '\t', ':'])
        });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "nginx on loopback, 510-byte page, {} keep-alive connections, {} rounds of {} s; {cores} cores, {model}",
        crate::peers::USERS,
        options.rounds,
        options.seconds
    )
}

/// The printed table.
struct Table;

impl Table {
    const HEAD: &str =
        "round   program     requests    rate/s   user us  system us   CPU us/request   peak MiB\n";

    /// One line for rounds of one program together.
    fn line(name: &str, rounds: &[&Round]) -> String {
        let sum =
            |value: fn(&Round) -> u64| rounds.iter().map(|round| value(round)).sum::<u64>() as f64;
        let requests = sum(|round| round.requests).max(1.0);
        let user_us = sum(|round| round.cost.user_us) / requests;
        let system_us = sum(|round| round.cost.system_us) / requests;
        let rate = requests / (sum(|round| round.cost.wall_us) / 1e6).max(f64::MIN_POSITIVE);
        let peak_mib = rounds
            .iter()
            .map(|round| round.cost.peak_kib)
            .max()
            .unwrap_or(0) as f64
            / 1024.0;
        let program = rounds.first().map_or("", |round| round.peer);
        format!(
            "{name:<7} {program:<9} {requests:>10.0} {rate:>9.0} {user_us:>9.2} {system_us:>10.2} {:>16.2} {peak_mib:>10.1}\n",
            user_us + system_us
        )
    }
}

fn cpu_us(rounds: &[&Round]) -> f64 {
    let cpu: u64 = rounds
        .iter()
        .map(|round| round.cost.user_us + round.cost.system_us)
        .sum();
    let requests: u64 = rounds.iter().map(|round| round.requests).sum();
    cpu as f64 / requests.max(1) as f64
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

fn summary(rounds: &[Round], peers: &[Peer]) -> String {
    let of = |name: &str| {
        rounds
            .iter()
            .filter(|round| round.peer == name)
            .collect::<Vec<_>>()
    };
    let mut text = String::new();
    for peer in peers {
        text.push_str(&Table::line("all", &of(peer.name())));
    }
    if let [first, others @ ..] = peers {
        for other in others {
            let (ours, theirs) = (of(first.name()), of(other.name()));
            let all = cpu_us(&ours) / cpu_us(&theirs);
            let median = median(
                ours.iter()
                    .zip(&theirs)
                    .map(|(ours, theirs)| cpu_us(&[ours]) / cpu_us(&[theirs]))
                    .collect(),
            );
            let _ = writeln!(
                text,
                "{} / {}, CPU per request: {all:.2} over all rounds, {median:.2} in the median round",
                first.name(),
                other.name()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Cost;

    #[test]
    fn rounds_add_up() {
        let round = |requests, user_us| Round {
            peer: "wrk",
            requests,
            cost: Cost {
                wall_us: 1_000_000,
                user_us,
                system_us: 1_000,
                peak_kib: 2_048,
            },
            said: String::new(),
        };
        let (one, two) = (round(100, 1_000), round(300, 1_000));
        assert_eq!(cpu_us(&[&one, &two]), 10.0);
        let line = Table::line("all", &[&one, &two]);
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            cells,
            ["all", "wrk", "400", "200", "5.00", "5.00", "10.00", "2.0"]
        );
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(
            (
                median(vec![9.0, 1.0, 2.0]),
                median(vec![4.0, 1.0, 3.0, 2.0])
            ),
            (2.0, 2.5)
        );
    }

    #[test]
    fn options_are_bounded() {
        let options = options(&["--rounds", "900", "--seconds", "2"]).expect("options");
        assert_eq!((options.rounds, options.seconds), (20, 2));
        assert!(
            super::options(&["--rounds"]).is_err() && super::options(&["--fast", "1"]).is_err()
        );
    }
}
