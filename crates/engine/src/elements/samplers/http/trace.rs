//! Traces of requests: the `traceparent` that they carry, and what servers say about their own time (`drumfire.trace`).

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_http::Incoming;
use drumfire_results::{SampleTrace, TraceId, TraceLimits, TraceRate, TraceRateError};
use drumfire_web::server_timing;
use drumfire_web::traceparent::TraceParent;

use crate::decode::Decoder;

/// The metric that is the server's whole time if the property names none. Servers' libraries call it so.
const WHOLE: &str = "total";
/// The largest value of the limits. Metrics are looked up one by one.
const MOST: i64 = 1_000;

/// How requests are traced.
#[derive(Clone, Debug)]
pub struct Tracing {
    rate: TraceRate,
    limits: TraceLimits,
    /// The metric that is the server's whole time (`drumfire.trace.server`).
    whole: Option<Arc<str>>,
}

/// The trace of the sample that is under way.
#[derive(Clone, Copy, Debug)]
pub struct CurrentTrace {
    id: TraceId,
    is_sampled: bool,
}

/// Ids that differ from those of all other workers and machines. They leave the plan's own random numbers as they are.
#[derive(Default)]
pub struct TraceIds {
    /// Random keys from the operating system: a keyed hash of a counter is as good as a random number.
    keys: RandomState,
    count: Cell<u64>,
}

impl TraceIds {
    /// A random number that is not 0.
    fn next(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        self.keys.hash_one(self.count.get()).max(1)
    }

    fn trace(&self) -> TraceId {
        TraceId(u128::from(self.next()) << 64 | u128::from(self.next()))
    }
}

impl Tracing {
    /// The tracing of a run; `None` without `drumfire.trace`. Reports once a value that is not a share.
    pub fn of_run(d: &mut Decoder) -> Option<Tracing> {
        const CODE: &str = "trace-rate";
        match Tracing::read(&d.settings().properties) {
            Ok(tracing) => tracing,
            Err(error) => {
                let findings = &d.decoding.findings;
                if findings.iter().all(|finding| finding.code != CODE) {
                    d.refuse(
                        CODE,
                        format!("drumfire.trace: {error}"),
                        "set the share of the samples whose traces are recorded, or remove the property",
                    );
                }
                None
            }
        }
    }

    fn read(properties: &Properties) -> Result<Option<Tracing>, TraceRateError> {
        let Some(rate) = properties.get_trimmed("drumfire.trace") else {
            return Ok(None);
        };
        if rate.is_empty() {
            return Ok(None);
        }
        let limit =
            |name, default: u16| properties.get_long(name, default.into()).clamp(0, MOST) as u16;
        let whole = properties.get_trimmed("drumfire.trace.server");
        Ok(Some(Tracing {
            rate: rate.parse()?,
            limits: TraceLimits {
                names: limit("drumfire.trace.names", TraceLimits::DEFAULT.names),
                slowest: limit("drumfire.trace.slowest", TraceLimits::DEFAULT.slowest),
            },
            whole: whole.filter(|name| !name.is_empty()),
        }))
    }

    /// Begins the trace of a sample. All of its requests belong to it: redirects, embedded resources, answers to challenges.
    pub fn begin(&self, ids: &TraceIds) -> CurrentTrace {
        let id = ids.trace();
        let is_sampled = self.rate.samples(id);
        CurrentTrace { id, is_sampled }
    }

    /// Adds the sample's `traceparent` to a request head and to the text that shows it, unless the plan sends one of its own, whose
    /// trace then is the sample's. Returns the trace.
    pub fn stamp(
        &self,
        current: CurrentTrace,
        ids: &TraceIds,
        head: &mut Vec<u8>,
        shown: Option<&mut String>,
    ) -> SampleTrace {
        let parent = TraceParent::of_head(head).unwrap_or_else(|| {
            let parent = TraceParent {
                trace_id: current.id.0,
                parent_id: ids.next(),
                is_sampled: current.is_sampled,
            };
            parent.add_to(head);
            if let Some(shown) = shown {
                shown.push_str(&parent.line());
                shown.push('\n');
            }
            Some(parent)
        });
        let id = parent.map(|parent| TraceId(parent.trace_id));
        let is_sampled = parent.is_some_and(|parent| parent.is_sampled);
        SampleTrace::new(id, is_sampled, self.limits)
    }

    /// Reads what the server says about its own time.
    pub fn read_response(&self, incoming: &Incoming, trace: &mut SampleTrace) {
        let is_timing = |name: &[u8]| name.eq_ignore_ascii_case(server_timing::NAME.as_bytes());
        let values = incoming.headers().filter(|(name, _)| is_timing(name));
        let (mut whole_us, mut longest_us) = (None, None);
        for metric in values.flat_map(|(_, value)| server_timing::metrics(value)) {
            let is_whole = match &self.whole {
                Some(name) => **name == *metric.name,
                None => metric.name.eq_ignore_ascii_case(WHOLE),
            };
            if is_whole {
                whole_us = Some(metric.us);
            }
            longest_us = longest_us.max(Some(metric.us));
            trace.add_metric(metric.name, metric.us);
        }
        let is_named = self.whole.is_some();
        trace.server_us = whole_us.or(longest_us.filter(|_| !is_named));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_of_all_workers_differ() {
        let workers: Vec<TraceIds> = (0..8).map(|_| TraceIds::default()).collect();
        let ids = workers
            .iter()
            .flat_map(|worker| (0..10_000).map(|_| worker.trace().0));
        assert_eq!(ids.collect::<HashSet<u128>>().len(), 80_000);
    }

    #[test]
    fn properties_set_the_limits() {
        let read = |pairs: &[(&str, &str)]| {
            let properties = Properties::default();
            for (name, value) in pairs {
                properties.set(name, *value);
            }
            Tracing::read(&properties)
        };
        assert!(read(&[]).expect("no tracing").is_none());
        assert!(read(&[("drumfire.trace", "often")]).is_err());
        let tracing = read(&[
            ("drumfire.trace", "1/10"),
            ("drumfire.trace.names", "9999999"),
            ("drumfire.trace.slowest", "3"),
        ]);
        let limits = tracing.expect("a share").expect("tracing").limits;
        assert_eq!((limits.names, limits.slowest), (1_000, 3));
    }
}
