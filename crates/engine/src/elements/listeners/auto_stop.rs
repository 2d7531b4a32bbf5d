//! AutoStop of jmeter-plugins (`kg.apc.jmeter.reporters.AutoStop`): ends the run at once when averages of its samples stay above a
//! limit for some seconds.
//!
//! Properties: `avg_response_time` and `avg_response_latency` (milliseconds), `error_rate` (percent), each with the seconds for
//! which it must last in `…_length`; 0, or a text that is not a number, is no limit. All are evaluated before the run. The first
//! sample of a new second compares the averages of the samples since the last change of second with the limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use drumfire_elements::listeners::auto_stop as facts;
use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::needs::Needs;
use crate::run::roles::SampleListener;
use crate::run::view::ListenerView;

struct AutoStop {
    response_time: Limit,
    latency: Limit,
    errors: Limit,
    /// The second of the samples that are being added up.
    second: AtomicI64,
    count: AtomicU64,
    response_ms: AtomicI64,
    latency_ms: AtomicI64,
    failed: AtomicU64,
}

/// The limit of an average, and its duration.
struct Limit {
    /// 0 is no limit.
    limit: f64,
    lasts_s: i64,
    /// The message when it stops the run.
    message: String,
    /// The last second in which the average was not above the limit.
    kept_s: AtomicI64,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let auto_stop = AutoStop::decode(d);
    let listener = d.new_listener(Arc::new(auto_stop));
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

impl AutoStop {
    fn decode(d: &mut Decoder) -> AutoStop {
        AutoStop {
            response_time: limit(
                d,
                facts::RESPONSE_TIME.name,
                "Average Response Time is",
                whole,
            ),
            latency: limit(d, facts::LATENCY.name, "Average Latency Time is", whole),
            errors: limit(d, facts::ERROR_RATE.name, "Error rate", |text| {
                let percent = drumfire_java::values::parse_float(text)?;
                Some(f64::from(percent / 100.0))
            }),
            second: AtomicI64::new(0),
            count: AtomicU64::new(0),
            response_ms: AtomicI64::new(0),
            latency_ms: AtomicI64::new(0),
            failed: AtomicU64::new(0),
        }
    }
}

fn whole(text: &str) -> Option<f64> {
    text.parse::<i32>().ok().map(f64::from)
}

fn limit(
    d: &mut Decoder,
    property: &str,
    what: &str,
    parse: impl Fn(&str) -> Option<f64>,
) -> Limit {
    let text = d.text_now(property);
    let seconds = d.text_now(&format!("{property}_length"));
    let (seconds, lasts_s) = match seconds.parse::<i32>() {
        Ok(lasts_s) => (seconds, i64::from(lasts_s.max(1))),
        Err(_) => ("1".to_owned(), 1),
    };
    Limit {
        limit: parse(&text).unwrap_or(0.0),
        lasts_s,
        message: format!("{what} more than {text} for {seconds}s. Auto-shutdown test..."),
        kept_s: AtomicI64::new(0),
    }
}

impl Limit {
    /// Whether the average has been above the limit for long enough.
    fn is_exceeded(&self, average: f64, second: i64) -> bool {
        if self.limit <= 0.0 {
            return false;
        }
        if average > self.limit {
            return second - self.kept_s.load(Ordering::Relaxed) >= self.lasts_s;
        }
        self.kept_s.store(second, Ordering::Relaxed);
        false
    }
}

impl AutoStop {
    /// `AutoStop#sampleOccurred` without the stop: returns the messages of the limits that stop the run.
    fn add(&self, sample: &Sample, second: i64) -> Vec<&str> {
        let mut reached = Vec::new();
        let before = self.second.swap(second, Ordering::Relaxed);
        if before != second {
            let count = self.count.swap(0, Ordering::Relaxed).max(1) as f64;
            let averages = [
                self.response_ms.swap(0, Ordering::Relaxed) as f64 / count,
                self.latency_ms.swap(0, Ordering::Relaxed) as f64 / count,
                self.failed.swap(0, Ordering::Relaxed) as f64 / count,
            ];
            let limits = [&self.response_time, &self.latency, &self.errors];
            for (limit, average) in limits.into_iter().zip(averages) {
                if limit.is_exceeded(average, second) {
                    reached.push(limit.message.as_str());
                }
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.response_ms
            .fetch_add(sample.elapsed_ms, Ordering::Relaxed);
        self.latency_ms
            .fetch_add(sample.latency_ms, Ordering::Relaxed);
        self.failed
            .fetch_add(u64::from(!sample.success), Ordering::Relaxed);
        reached
    }
}

impl SampleListener for AutoStop {
    fn sample_occurred(&self, cx: &mut ListenerView, sample: &mut Sample) {
        let second = cx.clock().now_ms().div_euclid(1000);
        for message in self.add(sample, second) {
            tracing::info!("{message}");
            cx.shared()
                .announce(format!("kg.apc.jmeter.reporters.AutoStop - {message}"));
            cx.shared().stop(true);
        }
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::roles::ListenerRole;
    use crate::run::view::View;

    fn auto_stop(properties: &[(&str, &str)]) -> (Arc<dyn ListenerRole>, Context) {
        let properties: String = properties
            .iter()
            .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
            .collect();
        let class = "kg.apc.jmeter.reporters.AutoStop";
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="s">{properties}</{class}>"#
        );
        fixture::decode(&xml, |d| {
            decode(d);
            d.decoding.told.remove(0)
        })
    }

    /// One limit, and whether each of these averages, one a second, stops the run.
    fn stops(limit_s: i64, averages: &[f64]) -> Vec<bool> {
        let limit = Limit {
            limit: 10.0,
            lasts_s: limit_s,
            message: String::new(),
            kept_s: AtomicI64::new(0),
        };
        let seconds = 1_000..;
        seconds
            .zip(averages)
            .map(|(second, average)| limit.is_exceeded(*average, second))
            .collect()
    }

    #[test]
    fn an_average_must_stay_above_its_limit() {
        // The first look has no samples before it.
        assert_eq!(stops(1, &[0.0, 11.0]), [false, true]);
        assert_eq!(stops(2, &[0.0, 11.0, 11.0]), [false, false, true]);
        assert_eq!(
            stops(2, &[0.0, 11.0, 10.0, 11.0, 11.0]),
            [false, false, false, false, true]
        );
    }

    #[test]
    fn samples_of_a_second_are_judged_with_the_first_of_another() {
        let plan = r#"<kg.apc.jmeter.reporters.AutoStop guiclass="g" testclass="kg.apc.jmeter.reporters.AutoStop" testname="s"><stringProp name="error_rate">50</stringProp><stringProp name="error_rate_length">1</stringProp></kg.apc.jmeter.reporters.AutoStop>"#;
        let (auto_stop, _) = fixture::decode(plan, AutoStop::decode);
        let good = fixture::sample("");
        let bad = Sample::default();
        let none: [&str; 0] = [];
        assert_eq!(auto_stop.add(&bad, 50), none);
        assert_eq!(auto_stop.add(&good, 50), none);
        // Half of them failed, which is not more than half.
        assert_eq!(auto_stop.add(&bad, 51), none);
        assert_eq!(auto_stop.add(&bad, 51), none);
        assert_eq!(
            auto_stop.add(&good, 52),
            ["Error rate more than 50 for 1s. Auto-shutdown test..."]
        );
        assert_eq!(auto_stop.add(&good, 53), none);
    }

    #[test]
    fn without_limits_nothing_stops() {
        let (listener, mut cx) = auto_stop(&[("avg_response_time", "x"), ("error_rate", "")]);
        for _ in 0..3 {
            listener.at_once(View::of(&mut cx), &mut Sample::default());
        }
        assert!(!cx.shared.control.stopping());
    }
}
