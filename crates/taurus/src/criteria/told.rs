//! The sentence on a criterion, in the words of thresholds.

use super::{Criterion, Logic, Subject};

/// The unit of a metric, and the factor from the metric's own unit.
struct Unit(&'static str, f64);

impl Criterion {
    /// The label that the criterion names; empty if it covers all samples.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether enough was measured to judge it.
    pub fn is_judged(&self) -> bool {
        let needed_s = match self.logic {
            Logic::For | Logic::Over => self.window.max(1.0),
            Logic::Within => 1.0,
        };
        f64::from(self.judged_s) >= needed_s
    }

    /// The value that met the criterion, or else the worst, in the unit of the limit. `None` if it was not judged.
    pub fn value(&self) -> Option<f64> {
        let worst = self.worst.filter(|_| self.is_met || self.is_judged());
        Some(worst? * self.unit_of().1)
    }

    /// The limit in its unit.
    pub fn limit(&self) -> f64 {
        self.threshold * self.unit_of().1
    }

    /// The unit of the limit.
    pub fn unit(&self) -> &'static str {
        self.unit_of().0
    }

    /// Times are compared in seconds and shown in milliseconds.
    fn unit_of(&self) -> Unit {
        match self.subject {
            _ if self.is_share => Unit("%", 1.0),
            Subject::ResponseTime
            | Subject::Latency
            | Subject::ConnectTime
            | Subject::Deviation
            | Subject::Percentile(_) => Unit("ms", 1000.0),
            Subject::Bytes => Unit("B", 1.0),
            Subject::Users
            | Subject::Hits
            | Subject::Successes
            | Subject::Failures
            | Subject::Code(_) => Unit("", 1.0),
        }
    }

    /// For a criterion that fails good runs, because it is true for low times, few failures or many successes: how to write it
    /// the other way round.
    pub fn inversion(&self) -> Option<String> {
        let is_low = self.condition.starts_with('<');
        let is_high = self.condition.starts_with('>');
        let is_inverted = match self.subject {
            Subject::ResponseTime
            | Subject::Latency
            | Subject::ConnectTime
            | Subject::Deviation
            | Subject::Percentile(_)
            | Subject::Failures => is_low,
            Subject::Successes | Subject::Hits => is_high,
            Subject::Users | Subject::Bytes | Subject::Code(_) => false,
        };
        if !is_inverted || !self.fails {
            return None;
        }
        let (sign, side) = if is_low {
            (">", "below")
        } else {
            ("<", "above")
        };
        Some(format!(
            "`{}` fails runs whose {} is {side} {}; write `{sign}` instead of `{}`",
            self.shown,
            self.measured(),
            self.shown_value(self.limit()),
            self.condition
        ))
    }

    /// The outcome without its word: `avg-rt of Login 200 ms   fails if > 150 ms for 10 s`.
    pub fn sentence(&self) -> String {
        let mut text = self.measured();
        if let Some(value) = self.value() {
            text.push(' ');
            text.push_str(&self.shown_value(value));
            if self.window > 0.0 && !self.is_met {
                text.push_str(" at worst");
            }
        }
        let verb = match (self.fails, self.stops) {
            (true, _) => "fails",
            (false, true) => "stops without failing",
            (false, false) => "is noted",
        };
        text.push_str(&format!(
            "   {verb} if {} {}",
            self.condition,
            self.shown_value(self.limit())
        ));
        if self.window > 0.0 {
            let logic = match self.logic {
                Logic::For => "for",
                Logic::Within => "within",
                Logic::Over => "over",
            };
            text.push_str(&format!(" {logic} {} s", self.window));
        }
        if self.is_met && !self.fails {
            text.push_str(", which was so");
        }
        if !self.is_met && !self.is_judged() {
            text.push_str("   ");
            text.push_str(&self.why_not_judged());
        }
        if let Some(message) = &self.message {
            text.push_str(&format!("   {message}"));
        }
        text
    }

    fn why_not_judged(&self) -> String {
        match (self.judged_s, self.label.as_str()) {
            (0, "") => "the run has no sample".to_owned(),
            (0, label) => format!("no sample has the label `{label}`"),
            (seconds, _) => format!(
                "it needs {} whole seconds; the run had {seconds} s",
                self.window
            ),
        }
    }

    /// The measure: `avg-rt of Login`.
    fn measured(&self) -> String {
        match self.label.as_str() {
            "" => self.subject_text.clone(),
            label => format!("{} of {label}", self.subject_text),
        }
    }

    fn shown_value(&self, value: f64) -> String {
        let text = format!("{value:.3}");
        let number = text.trim_end_matches('0').trim_end_matches('.');
        match self.unit() {
            "" => number.to_owned(),
            unit => format!("{number} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::criteria::{Criteria, Numbers, Subject};

    struct Fixed(Option<f64>);

    impl Numbers for Fixed {
        fn of(&self, _: &str, subject: &Subject) -> Option<f64> {
            match subject {
                Subject::Hits => self.0.map(|_| 10.0),
                _ => self.0,
            }
        }
    }

    fn criteria(text: &str) -> Criteria {
        let mut criteria = Criteria::default();
        criteria.read(&Value::from(text)).expect("it is right");
        criteria
    }

    fn told(text: &str, seconds: &[f64]) -> String {
        let mut criteria = criteria(text);
        for (second, value) in (0..).zip(seconds) {
            criteria.second(second, &Fixed(Some(*value)));
        }
        criteria.end(&Fixed(seconds.last().copied()));
        criteria.all[0].sentence()
    }

    #[test]
    fn a_criterion_is_told_with_its_value_and_the_condition_that_fails() {
        for (text, seconds, expected) in [
            (
                "avg-rt of Log in>150ms",
                &[0.2][..],
                "avg-rt of Log in 200 ms   fails if > 150 ms",
            ),
            (
                "avg-rt>150ms for 2s",
                &[0.1, 0.12],
                "avg-rt 120 ms at worst   fails if > 150 ms for 2 s",
            ),
            ("fail>50%", &[6.0], "fail 60 %   fails if > 50 %"),
            (
                "slow: p90>1s, continue as non-failed",
                &[2.0],
                "p90 2000 ms   is noted if > 1000 ms, which was so   slow",
            ),
            (
                "avg-rt>150ms for 10s",
                &[0.2, 0.2],
                "avg-rt   fails if > 150 ms for 10 s   it needs 10 whole seconds; the run had 2 s",
            ),
            (
                "avg-rt of Pay>150ms",
                &[],
                "avg-rt of Pay   fails if > 150 ms   no sample has the label `Pay`",
            ),
        ] {
            assert_eq!(told(text, seconds), expected, "{text}");
        }
    }

    #[test]
    fn a_criterion_that_fails_good_runs_is_told_the_other_way_round() {
        let told = |text: &str| criteria(text).all[0].inversion();
        assert_eq!(
            told("avg-rt of Log in<150ms").as_deref(),
            Some(
                "`avg-rt of Log in<150ms` fails runs whose avg-rt of Log in is below 150 ms; write `>` instead of `<`"
            )
        );
        assert!(told("succ>=90%").is_some() && told("fail<=1%").is_some());
        for fine in [
            "avg-rt>1s",
            "succ<100%",
            "rc2??>1",
            "avg-rt<1s, continue as non-failed",
        ] {
            assert_eq!(told(fine), None, "{fine}");
        }
    }
}
