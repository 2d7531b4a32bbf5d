//! The errors of a run on several machines.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Why a run on several machines did not start or go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// NATS cannot be reached, or refuses.
    Nats { url: String, why: String },
    /// Something was not done in time.
    Late {
        /// The event that was waited for, and the agents that did not deliver it.
        what: String,
        waited: Duration,
        remedy: &'static str,
    },
    /// NATS has no room for something.
    Full {
        /// The data that does not fit.
        what: String,
        /// The data folder of the server, if the server belongs to this run alone.
        folder: Option<PathBuf>,
    },
    /// Another run has got an agent first.
    Busy { agent: String, run: String },
    /// Agents refuse the plan; contains the reason of each.
    Refused(Vec<String>),
    /// The agent cannot work with the options it was started with.
    Unfit(String),
    /// Any other error, with its remedy.
    Other(String),
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetError::Nats { url, why } => write!(
                f,
                "NATS at {url}: {why}; check that a nats-server with JetStream runs there"
            ),
            FleetError::Late {
                what,
                waited,
                remedy,
            } => {
                let seconds = waited.as_secs_f64();
                write!(f, "Waited {seconds:.0} s for {what}; {remedy}")
            }
            FleetError::Full {
                what,
                folder: Some(folder),
            } => write!(
                f,
                "The disk of {} is full: the run's own NATS server has no room for {what}; free some space, or let TMPDIR name a folder on another disk",
                folder.display()
            ),
            FleetError::Full { what, folder: None } => write!(
                f,
                "NATS has no room for {what}: its disk is full, or its limit `max_file_store` is reached; free some space where nats-server keeps its data, or raise the limit"
            ),
            FleetError::Busy { agent, run } => write!(
                f,
                "agent `{agent}` is busy with run {run}; choose another one, or pass `--wait`"
            ),
            FleetError::Refused(lines) => {
                f.write_str("The plan cannot run on all agents; nothing was sent")?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            FleetError::Unfit(why) | FleetError::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FleetError {}

/// The server's codes for a full disk (`JSInsufficientResourcesErr`, `JSStorageResourcesExceededErr`), and its messages for cases
/// where the client does not pass on the code.
const FULL: [&str; 5] = [
    "error code 10023",
    "error code 10047",
    "insufficient resources",
    "insufficient storage resources",
    "no space left on device",
];

/// The error of an operation, from NATS's message.
pub(crate) fn failed(what: &str, why: &str) -> FleetError {
    if FULL.iter().any(|words| why.contains(words)) {
        FleetError::Full {
            what: what.to_owned(),
            folder: None,
        }
    } else {
        FleetError::Other(format!("{what}: {why}"))
    }
}

/// NATS's answer to an operation, or an error if none arrives in time.
pub(crate) async fn within<T, E: fmt::Display>(
    patience: Duration,
    what: &str,
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, FleetError> {
    match tokio::time::timeout(patience, operation).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(what, &error.to_string())),
        Err(_) => Err(FleetError::Late {
            what: what.to_owned(),
            waited: patience,
            remedy: "check the nats-server and the network to it",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_its_place_and_the_remedy() {
        let words = "jetstream error: insufficient storage resources available (code 500, error code 10047)";
        let error = failed("the seconds", words);
        let text = error.to_string();
        assert!(text.contains("no room for the seconds") && text.contains("max_file_store"));
        assert!(matches!(failed("x", "timed out"), FleetError::Other(_)));
    }
}
