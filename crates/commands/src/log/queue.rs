//! The log of an agent. Its lines wait in a queue until they are sent to the coordinator.

use std::sync::{Arc, PoisonError, RwLock};

use drumfire_fleet::{LogLevel, LogQueue};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::{CATEGORY_FIELD, Levels, Parts};

/// The prefix of the program's own modules.
const OWN: &str = "drumfire";

/// The levels that the coordinator's command line sets; `None` before the first run.
static LEVELS: RwLock<Option<Levels>> = RwLock::new(None);

/// Sends an agent's warnings and errors, and what its scripts log, to the queue for its coordinator.
pub fn start_queue(queue: Arc<LogQueue>) {
    // A process that already has a log keeps it.
    let _ = tracing_subscriber::registry()
        .with(QueuedLog(queue))
        .try_init();
}

/// Sets which events the queue takes from now on, from `(category, level)` pairs of `-L`; an empty category is the root.
pub fn set_queue_levels(wanted: &[(String, String)]) {
    // The coordinator reports mistakes in the pairs to the user.
    let (levels, _) = Levels::new(wanted);
    *LEVELS.write().unwrap_or_else(PoisonError::into_inner) = Some(levels);
    tracing::callsite::rebuild_interest_cache();
}

/// The most verbose level that is logged for a category. The root's level applies only to scripts and to this program: libraries
/// log much for each message that carries a line, so the user must name them.
fn least(levels: Option<&Levels>, category: &str, is_of_script: bool) -> LevelFilter {
    let is_known = is_of_script || category.starts_with(OWN);
    let asked = levels.and_then(|levels| {
        let of_root = levels.of_root().filter(|_| is_known);
        levels.of_category(category).or(of_root)
    });
    asked.unwrap_or(match (is_of_script, is_known) {
        (true, _) => LevelFilter::INFO,
        (false, true) => LevelFilter::WARN,
        (false, false) => LevelFilter::OFF,
    })
}

fn is_told(category: &str, is_of_script: bool, level: Level) -> bool {
    let levels = LEVELS.read().unwrap_or_else(PoisonError::into_inner);
    level <= least(levels.as_ref(), category, is_of_script)
}

/// Writes events to the queue of an agent.
struct QueuedLog(Arc<LogQueue>);

impl<S: Subscriber> Layer<S> for QueuedLog {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // A script's category is known only when the event arrives.
        metadata.fields().field(CATEGORY_FIELD).is_some()
            || is_told(metadata.target(), false, *metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let levels = LEVELS.read().unwrap_or_else(PoisonError::into_inner);
        let most = levels.as_ref().map(Levels::most);
        Some(most.unwrap_or(LevelFilter::INFO).max(LevelFilter::INFO))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let level = *event.metadata().level();
        let category = match &parts.category {
            Some(category) if !is_told(category, true, level) => return,
            Some(category) => category,
            None => event.metadata().target(),
        };
        let level = match level {
            Level::ERROR => LogLevel::Error,
            Level::WARN => LogLevel::Warning,
            Level::INFO => LogLevel::Info,
            Level::DEBUG => LogLevel::Debug,
            Level::TRACE => LogLevel::Trace,
        };
        self.0.push(level, category, &parts.harmless_message());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_tell_what_was_asked_for_and_little_otherwise() {
        let levels = |wanted: &[(&str, &str)]| {
            let wanted = wanted
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
            Levels::new(&wanted.collect::<Vec<_>>()).0
        };
        let script = "org.apache.jmeter.extractor.JSR223PostProcessor";
        let own = "drumfire_engine::run::engine";
        let library = "async_nats::connection";
        let of = |wanted: &[(&str, &str)]| {
            let levels = levels(wanted);
            let least = |category, is_of_script| least(Some(&levels), category, is_of_script);
            [
                least(script, true),
                least(own, false),
                least(library, false),
            ]
        };
        use LevelFilter as F;
        assert_eq!(of(&[]), [F::INFO, F::WARN, F::OFF]);
        assert_eq!(of(&[("", "DEBUG")]), [F::DEBUG, F::DEBUG, F::OFF]);
        assert_eq!(of(&[("", "ERROR")]), [F::ERROR, F::ERROR, F::OFF]);
        assert_eq!(
            of(&[("jmeter.extractor", "DEBUG")]),
            [F::DEBUG, F::WARN, F::OFF]
        );
        assert_eq!(of(&[("async_nats", "DEBUG")]), [F::INFO, F::WARN, F::DEBUG]);
        assert_eq!(least(None, own, false), F::WARN);
    }
}
