//! APDEX, with the properties and the formula of JMeter's dashboard (`ApdexSummaryConsumer`).

use drumfire_results::LabelStatistics;

/// The elapsed times up to which a user is satisfied and up to which a user tolerates the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApdexLimits {
    /// The limit for satisfied users, in milliseconds.
    pub satisfied_ms: u64,
    /// The limit for tolerating users, in milliseconds.
    pub tolerated_ms: u64,
}

impl Default for ApdexLimits {
    fn default() -> ApdexLimits {
        ApdexLimits {
            satisfied_ms: 500,
            tolerated_ms: 1500,
        }
    }
}

/// Whether the regular expression of a rule (first) matches a whole label (second).
pub type LabelMatcher<'a> = &'a dyn Fn(&str, &str) -> bool;

/// The limits for all labels, and special ones for some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apdex {
    /// For the total and for all labels without a rule.
    pub limits: ApdexLimits,
    /// Regular expressions for labels, with their limits.
    rules: Vec<(String, ApdexLimits)>,
}

impl Apdex {
    /// The limits that `jmeter.reportgenerator.apdex_satisfied_threshold`, `…apdex_tolerated_threshold` and
    /// `…apdex_per_transaction` set. A part that cannot be read is ignored, as in JMeter.
    pub fn from_properties(lookup: &dyn Fn(&str) -> Option<String>) -> Apdex {
        let number = |name| lookup(name).and_then(|text| text.trim().parse().ok());
        let satisfied = number("jmeter.reportgenerator.apdex_satisfied_threshold");
        let tolerated = number("jmeter.reportgenerator.apdex_tolerated_threshold");
        let limits = ApdexLimits {
            satisfied_ms: satisfied.unwrap_or(500),
            tolerated_ms: tolerated.unwrap_or(1500),
        };
        let rules = lookup("jmeter.reportgenerator.apdex_per_transaction").unwrap_or_default();
        Apdex {
            limits,
            rules: rules.split(';').filter_map(rule).collect(),
        }
    }

    /// The limits of a label: those of the rule with exactly its name, or else of a rule whose expression
    /// matches it.
    pub fn limits_of(&self, label: &str, matches: LabelMatcher<'_>) -> ApdexLimits {
        let named = self.rules.iter().find(|(name, _)| name == label);
        let rule = named.or_else(|| self.rules.iter().find(|(name, _)| matches(name, label)));
        rule.map(|(_, limits)| *limits).unwrap_or(self.limits)
    }
}

/// Parses `label:satisfied|tolerated`, as `ReportGeneratorConfiguration.getApdexPerTransactionParts` does.
fn rule(text: &str) -> Option<(String, ApdexLimits)> {
    let (name, limits) = text.rsplit_once(':')?;
    let (satisfied, tolerated) = limits.rsplit_once('|')?;
    let limits = ApdexLimits {
        satisfied_ms: satisfied.trim().parse().ok()?,
        tolerated_ms: tolerated.trim().parse().ok()?,
    };
    Some((name.trim().to_owned(), limits))
}

/// The index, from 0 to 1; `None` without samples. `resolution_us` is the unit of the times, in microseconds.
pub fn apdex(label: &LabelStatistics, limits: ApdexLimits, resolution_us: u64) -> Option<f64> {
    // JMeter truncates elapsed times to whole milliseconds, so the whole last millisecond of a limit counts.
    let good = |limit_ms: u64| {
        let limit_us = limit_ms.saturating_mul(1000) + 1000u64.saturating_sub(resolution_us);
        label.service.count_up_to(limit_us) - label.failed.count_up_to(limit_us)
    };
    let satisfied = good(limits.satisfied_ms);
    let tolerated = good(limits.tolerated_ms).saturating_sub(satisfied);
    let count = label.service.count();
    (count > 0).then(|| (satisfied as f64 + tolerated as f64 / 2.0) / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_results::Sample;

    #[test]
    fn failed_samples_never_count_and_slow_ones_half() {
        let mut label = LabelStatistics::new("a".to_owned(), false);
        for (elapsed_ms, success) in [
            (100, true),
            (500, true),
            (501, true),
            (1500, true),
            (1501, true),
            (5, false),
        ] {
            let mut sample = Sample::new("a".into(), "t".into());
            sample.start_ms = 1;
            sample.set_end(1 + elapsed_ms);
            sample.success = success;
            label.add(&sample);
        }
        assert_eq!(apdex(&label, ApdexLimits::default(), 1000), Some(3.0 / 6.0));
        assert_eq!(
            apdex(
                &LabelStatistics::new(String::new(), false),
                ApdexLimits::default(),
                1
            ),
            None
        );
    }

    #[test]
    fn properties_are_jmeters() {
        let lookup = |name: &str| match name {
            "jmeter.reportgenerator.apdex_satisfied_threshold" => Some("300".to_owned()),
            "jmeter.reportgenerator.apdex_per_transaction" => {
                Some("sample(\\d+):1000|2000;a:b:3000|4000;wrong;c:x|1".to_owned())
            }
            _ => None,
        };
        let apdex = Apdex::from_properties(&lookup);
        let limits = |label| {
            let limits = apdex.limits_of(label, &|rule, label| {
                rule.starts_with("sample") && label == "sample7"
            });
            (limits.satisfied_ms, limits.tolerated_ms)
        };
        assert_eq!(
            [limits("sample7"), limits("a:b"), limits("c")],
            [(1000, 2000), (3000, 4000), (300, 1500)]
        );
    }
}
