//! The development commands that need the project's crates: `cargo xtask bench`, `faults`, `record`, `soak`, `streams`, `trust`, `truth`
//! and `gen`, and `measure`, which `bench` calls.

mod bench;
mod faults;
mod fleet;
mod measure;
mod record;
mod reference;
mod soak;
mod streams;
mod trust;
mod truth;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["bench", ref options @ ..] => bench::bench(options),
        ["record"] => record::record(None),
        ["record", case] => record::record(Some(case)),
        ["faults", ref options @ ..] => faults::faults(options),
        ["fleet", ref options @ ..] => fleet::fleet(options),
        ["soak"] => soak::soak("3600", None),
        ["soak", seconds] => soak::soak(seconds, None),
        ["soak", seconds, "--program", program] => soak::soak(seconds, Some(Path::new(program))),
        ["streams", ref options @ ..] => streams::streams(options),
        ["trust", ref options @ ..] => trust::trust(options),
        ["truth", ref options @ ..] => truth::truth(options),
        ["gen"] => reference::generate(),
        ["measure", report, part, ref command @ ..] => {
            measure::measure(Path::new(report), part, command)
        }
        _ => {
            eprintln!("`cargo xtask` lists the commands");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
