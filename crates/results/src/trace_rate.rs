//! The share of traces that servers are asked to record.

use std::str::FromStr;

use drumfire_platform::message_error;

use crate::sample_trace::TraceId;

/// Each id has this many random bits at its end (W3C Trace Context, level 2).
const RANDOM_BITS: u32 = 56;

/// The share of traces that servers are asked to record, such as `1/100`, `5%` or `0.05`.
///
/// The id decides, as OpenTelemetry's consistent sampling proposes: all who know the id and the share decide alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRate {
    /// Traces are recorded from this value of the random bits on.
    threshold: u64,
}

message_error! {
    /// A text that is not a share.
    pub struct TraceRateError;
}

impl TraceRate {
    /// Whether servers are asked to record this trace.
    pub fn samples(self, id: TraceId) -> bool {
        id.0 as u64 & ((1 << RANDOM_BITS) - 1) >= self.threshold
    }
}

impl FromStr for TraceRate {
    type Err = TraceRateError;

    fn from_str(text: &str) -> Result<TraceRate, TraceRateError> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let share = if let Some(percent) = text.trim().strip_suffix('%') {
            number(percent).map(|percent| percent / 100.0)
        } else if let Some((part, whole)) = text.split_once('/') {
            number(part)
                .zip(number(whole))
                .map(|(part, whole)| part / whole)
        } else {
            number(text)
        };
        let share = share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
            TraceRateError::from(format!(
                "`{text}` is not a share of the samples: write 1/100, 5% or 0.05; 100% records every trace"
            ))
        })?;
        Ok(TraceRate {
            threshold: ((1.0 - share) * (1u64 << RANDOM_BITS) as f64) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 1,000 ids with evenly distributed random bits are sampled.
    fn sampled(rate: &str) -> usize {
        let rate: TraceRate = rate.parse().expect("a share");
        let step = (1u128 << RANDOM_BITS) / 1_000;
        let ids = (0..1_000).map(|place| TraceId((7 << 100) | (step * place + step / 2)));
        ids.filter(|id| rate.samples(*id)).count()
    }

    #[test]
    fn a_share_is_written_as_fraction_percentage_or_number() {
        for (rate, expected) in [
            ("1/100", 10),
            ("5%", 50),
            (" 2.5 % ", 25),
            ("0.25", 250),
            ("1", 1_000),
            ("100%", 1_000),
            ("0%", 0),
        ] {
            assert_eq!(sampled(rate), expected, "{rate}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_an_example() {
        for wrong in ["", "all", "2", "101%", "-1%", "1/0", "3/2", "NaN", "1:100"] {
            let error = wrong.parse::<TraceRate>().expect_err(wrong).to_string();
            assert!(error.contains("1/100"), "{error}");
        }
    }
}
