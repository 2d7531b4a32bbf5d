//! Why a run on several machines did not start or go on.

use std::fmt;
use std::time::Duration;

/// Why a run on several machines did not start or go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// NATS cannot be reached, or refuses.
    Nats { url: String, why: String },
    /// Something was not done in time.
    Late {
        /// The event that was waited for, with the names of those who did not do it.
        what: String,
        waited: Duration,
        remedy: &'static str,
    },
    /// Agents refuse the plan: what each says.
    Refused(Vec<String>),
    /// The agent cannot do what it is for, as it was started.
    Unfit(String),
    /// Anything else, with its remedy.
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
            FleetError::Refused(lines) => {
                f.write_str("The plan cannot run on all agents; nothing was sent")?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            FleetError::Unfit(why) | FleetError::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FleetError {}

/// NATS's answer to an operation, or that there was none in time.
pub(crate) async fn within<T, E: fmt::Display>(
    patience: Duration,
    what: &str,
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, FleetError> {
    match tokio::time::timeout(patience, operation).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(FleetError::Other(format!("{what}: {error}"))),
        Err(_) => Err(FleetError::Late {
            what: what.to_owned(),
            waited: patience,
            remedy: "check the nats-server and the way to it",
        }),
    }
}
