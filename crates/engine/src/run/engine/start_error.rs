//! Why a run did not start.

use std::fmt;

use drumfire_platform::causes::cause;
use drumfire_results::OpenError;

use crate::run::java::host::JavaFailure;
use crate::run::slots::TrustError;

/// The remedy where the system has neither threads nor descriptors for a worker.
pub(super) const MORE_THREADS: &str = "allow this user more threads and open files (`ulimit -u`, `ulimit -n`, or the limits of the container)";

/// Why a run did not start.
#[derive(Debug)]
pub enum StartError {
    /// A result file that is to be deleted cannot be.
    Results(OpenError),
    /// Java, or an element that it runs, cannot start.
    Java(JavaFailure),
    /// The certificates to verify servers with cannot be loaded.
    Tls(TrustError),
    /// Not even one worker can start.
    Workers(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Results(error) => error.fmt(f),
            StartError::Java(error) => error.fmt(f),
            StartError::Tls(error) => error.fmt(f),
            StartError::Workers(error) => write!(
                f,
                "no worker can start, the system refused it: {}; {MORE_THREADS}",
                cause(error)
            ),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Results(error) => std::error::Error::source(error),
            StartError::Java(error) => std::error::Error::source(error),
            StartError::Tls(error) => std::error::Error::source(error),
            StartError::Workers(error) => std::error::Error::source(error),
        }
    }
}
