//! `cargo xtask atomics`: counts the locked instructions that one sample executes.
//!
//! A worker owns everything that its samples change, so that cores never wait for each other's caches. Rust has no type for that
//! rule, but the processor does: a write that others may see is a locked instruction. This counts those of a sample of
//! `benches/requests.jmx`, as the difference of two runs.

use std::collections::HashMap;
use std::process::Command;

use anyhow::{Context as _, bail};
use xtask::output;

use crate::callgrind::{Bench, executions};

const PLAN: &str = "benches/requests.jmx";
/// Enough users that a worker finds several of them ready in most turns of its event loop.
const USERS: &str = "-Jusers=50";
/// Iterations of the users, with ten requests each, in the two runs.
const LOOPS: [&str; 2] = ["-Jloops=4", "-Jloops=44"];

/// An instruction with this rate is executed by each sample. Others are executed by each turn of the event loop, which serves all
/// sockets that became ready together, or more rarely.
const OF_EACH: f64 = 0.9;
/// The most locked instructions that each sample executes, on memory of its own worker. Tokio executes thirteen to wake a task: for
/// the socket's readiness, the task's state and the queue.
const MOST: f64 = 13.5;
/// The most writes a sample to a static, which all workers share. Seconds are handed over, and buffers are written, once for thousands.
const MOST_SHARED: f64 = 0.02;

/// Prints the locked instructions of a sample.
///
/// # Errors
/// They are more than the limits, Valgrind or objdump is missing, or a run fails.
pub fn check() -> anyhow::Result<()> {
    let bench = Bench::new("atomics", "release", &[])?;
    let disassembly = output(
        Command::new("objdump")
            .args(["--disassemble", "--no-show-raw-insn"])
            .arg(bench.program()),
    )
    .context("objdump (Debian: binutils)")?;
    let locked: HashMap<u64, &str> = disassembly.lines().filter_map(locked).collect();
    let mut executed: HashMap<u64, (&str, [u64; 2])> = HashMap::new();
    let options = ["--dump-instr=yes", "--dump-line=no"];
    let runs = LOOPS.map(|loops| bench.run(&options, PLAN, &["-Jseconds=600", USERS, loops]));
    let [fewer, more] = runs;
    let runs = [fewer?, more?];
    for (index, run) in runs.iter().enumerate() {
        for execution in executions(&run.text) {
            if locked.contains_key(&execution.address) {
                let counts = executed
                    .entry(execution.address)
                    .or_insert((execution.function, [0; 2]));
                counts.1[index] += execution.count;
            }
        }
    }
    let samples = (runs[1].samples - runs[0].samples) as f64;
    let mut rates: Vec<(f64, &str, &str)> = executed
        .iter()
        .map(|(at, (function, [fewer, more]))| {
            let rate = more.saturating_sub(*fewer) as f64 / samples;
            (rate, locked[at], *function)
        })
        .filter(|(rate, ..)| *rate >= 0.001)
        .collect();
    rates.sort_by(|a, b| b.0.total_cmp(&a.0));
    judge(&rates)
}

fn judge(rates: &[(f64, &str, &str)]) -> anyhow::Result<()> {
    for (rate, instruction, function) in rates {
        println!("{rate:8.3} {instruction:32} {function}");
    }
    let sum = |of: &dyn Fn(f64, &str) -> bool| -> f64 {
        let chosen = rates.iter().filter(|(rate, text, _)| of(*rate, text));
        // The sum of no numbers would be printed as -0.
        chosen.fold(0.0, |sum, (rate, ..)| sum + rate)
    };
    let each = sum(&|rate, _| rate >= OF_EACH);
    let shared = sum(&|_, instruction| is_static(instruction));
    println!("{each:.2} locked instructions in each sample; {shared:.3} a sample on statics");
    if each == 0.0 {
        bail!("none was found; is the program linked at a fixed address?");
    }
    if each > MOST || shared > MOST_SHARED {
        bail!("at most {MOST} and {MOST_SHARED} are allowed; see xtask/src/atomics.rs");
    }
    Ok(())
}

/// The address and the text of a locked instruction in a line of objdump: one with the prefix, or an exchange with memory.
fn locked(line: &str) -> Option<(u64, &str)> {
    let (address, instruction) = line.trim_start().split_once(":\t")?;
    let is_locked = instruction.starts_with("lock ")
        || instruction.starts_with("xchg") && instruction.contains('(');
    let address = u64::from_str_radix(address, 16).ok()?;
    // Without objdump's remark on what a static is.
    let text = instruction.split('#').next().unwrap_or(instruction);
    is_locked.then_some((address, text.trim_end()))
}

/// Whether an instruction addresses a static.
fn is_static(instruction: &str) -> bool {
    instruction.contains("(%rip)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_instructions_are_told_from_others() {
        let lines = [
            " 12d0d65:\tlock xadd %rax,(%rdi)",
            " 12cb400:\txchg   %eax,0x15370c2(%rip)        # 28024c8 <QUEUE>",
            " 1451a1e:\txchg   %ax,%ax",
            " 1109b47:\tpush   %r12",
            "0000000001451a00 <lock>:",
        ];
        let found: Vec<_> = lines.iter().filter_map(|line| locked(line)).collect();
        let expected = [
            (0x12d_0d65, "lock xadd %rax,(%rdi)"),
            (0x12c_b400, "xchg   %eax,0x15370c2(%rip)"),
        ];
        assert_eq!(found, expected);
        let statics: Vec<_> = found.iter().map(|(_, text)| is_static(text)).collect();
        assert_eq!(statics, [false, true]);
    }

    #[test]
    fn a_sample_that_writes_shared_memory_is_refused() {
        let own = |rate| (rate, "lock xadd %rax,(%rdi)", "clone_waker");
        let shared = |rate| (rate, "xchg   %eax,0x15370c2(%rip)", "reap_orphans");
        let in_turns = own(OF_EACH / 2.0);
        assert!(
            judge(&[
                own(MOST - 0.5),
                in_turns,
                in_turns,
                shared(MOST_SHARED / 2.0)
            ])
            .is_ok()
        );
        for rates in [&[own(MOST + 1.0)][..], &[own(1.0), shared(0.1)], &[]] {
            assert!(judge(rates).is_err());
        }
    }
}
