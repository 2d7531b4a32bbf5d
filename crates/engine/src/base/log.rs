//! The run's log: the lines that JMeter writes to jmeter.log in the same situations.

use drumfire_expr::Level;

/// Writes one line.
pub fn write(level: Level, message: &str) {
    match level {
        Level::Trace => tracing::trace!("{message}"),
        Level::Debug => tracing::debug!("{message}"),
        Level::Info => tracing::info!("{message}"),
        Level::Warn => tracing::warn!("{message}"),
        Level::Error => tracing::error!("{message}"),
    }
}
