//! The exit codes of the `drumfire` command.
//!
//! JMeter ends with 0 after almost anything, even a wrong command line, so a script cannot tell a run from a misspelt
//! option. These codes are published: scripts may rely on them, and a number never changes its meaning.

use std::process::ExitCode;

/// How the program ended, as the shell sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The run came to its end, or the question was answered. Failed samples do not change this.
    Ok,
    /// The run could not start or continue: a result file that cannot be written, a full disk, a port in use.
    RunFailed,
    /// The command line is wrong; nothing was read and nothing was sent.
    Usage,
    /// The plan, or a file it needs, cannot be run. The program printed every reason; nothing was sent.
    PlanRefused,
    /// The run came to its end and broke a threshold (`--fail-on`), or one could not be judged.
    ThresholdsNotMet,
    /// The run came to its end and its own verdict is not VALID, which `--strict` asks for.
    NotTrusted,
    /// A run is worse than the one it was compared with (`compare`, `--baseline`).
    Worse,
    /// The run came to its end without a single request; the program printed the reason.
    NothingSent,
    /// The run was stopped by Ctrl-C (SIGINT); the results are complete up to that moment.
    Interrupted,
    /// The run was stopped by SIGTERM; the results are complete up to that moment.
    Terminated,
    /// The run was stopped by SIGHUP; the results are complete up to that moment.
    HungUp,
}

/// Every code with its meaning in one line, in the order of `drumfire help exit-codes`.
pub const ALL: [(Exit, &str); 11] = [
    (Exit::Ok, "the run finished, or the command answered"),
    (Exit::RunFailed, "the run could not start or continue"),
    (Exit::Usage, "the command line is wrong"),
    (
        Exit::PlanRefused,
        "the plan or a file it needs cannot be run",
    ),
    (
        Exit::ThresholdsNotMet,
        "a threshold failed or could not be judged",
    ),
    (
        Exit::NotTrusted,
        "the run finished, but its verdict is not VALID (`--strict`)",
    ),
    (
        Exit::Worse,
        "a run is worse than the one it was compared with",
    ),
    (Exit::NothingSent, "the run finished and nothing was sent"),
    (
        Exit::Interrupted,
        "the run was stopped by SIGINT (Ctrl-C); its results are complete",
    ),
    (
        Exit::Terminated,
        "the run was stopped by SIGTERM; its results are complete",
    ),
    (
        Exit::HungUp,
        "the run was stopped by SIGHUP; its results are complete",
    ),
];

impl Exit {
    /// The exit code of a run that this signal stopped.
    pub fn by_signal(name: &str) -> Exit {
        match name {
            "SIGTERM" => Exit::Terminated,
            "SIGHUP" => Exit::HungUp,
            _ => Exit::Interrupted,
        }
    }

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::RunFailed => 1,
            Exit::Usage => 2,
            Exit::PlanRefused => 3,
            Exit::ThresholdsNotMet => 5,
            Exit::NotTrusted => 6,
            Exit::Worse => 7,
            Exit::NothingSent => 8,
            // Shells report 128 plus the signal's number for a program that a signal ended; JMeter's JVM returns the same
            // code.
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
            Exit::HungUp => 129,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// The list as text, one code a line.
pub fn describe() -> String {
    ALL.iter()
        .map(|(exit, meaning)| format!("  {:>3}  {meaning}\n", exit.code()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_codes_do_not_move() {
        let codes: Vec<u8> = ALL.iter().map(|(exit, _)| exit.code()).collect();
        // 4 once said that an option was missing. It is not used again.
        assert_eq!(codes, [0, 1, 2, 3, 5, 6, 7, 8, 130, 143, 129]);
    }

    #[test]
    fn every_code_is_described_once() {
        let text = describe();
        assert_eq!(text.lines().count(), ALL.len());
        assert!(text.contains("    3  the plan or a file it needs cannot be run\n"));
    }

    #[test]
    fn the_documentation_lists_them() {
        let documented = include_str!("../../../docs/command_line.md");
        for (exit, meaning) in ALL {
            let row = format!("| {} | {meaning}", exit.code());
            assert!(documented.contains(&row), "{row}");
        }
    }
}
