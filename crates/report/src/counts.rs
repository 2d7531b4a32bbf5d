//! Whether the target counted as many requests as were sent.

use drumfire_platform::words::count;
use drumfire_results::{Connections, Recording};
use serde::{Deserialize, Serialize};

/// The start of the codes of samples that got no response, as JMeter writes them.
const NO_RESPONSE: &str = "Non HTTP response code";

/// The requests that a server counted during a run, beside those that the run sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedCount {
    /// The server, such as `nginx 10.0.0.5:80`.
    pub source: String,
    /// The requests that it counted.
    pub counted: u64,
    /// The requests that were sent, redirects, embedded resources and requests that were sent again included.
    pub sent: u64,
    /// The likely cause of a difference.
    pub cause: Option<String>,
}

impl CheckedCount {
    /// Compares the counts. `is_scraped` says that Prometheus tells the server's count, which it knows as of its last scrape; `others`
    /// is the number of other hosts that the run sent requests to.
    pub fn of(
        source: String,
        counted: u64,
        is_scraped: bool,
        others: usize,
        connections: Connections,
        recording: &Recording,
    ) -> CheckedCount {
        let sent = connections.opened.saturating_add(connections.reused);
        let missing = sent.saturating_sub(counted);
        let kinds = recording.errors.list().into_iter();
        let unanswered: u64 = kinds
            .filter(|kind| kind.code.starts_with(NO_RESPONSE))
            .map(|kind| kind.count)
            .sum();
        let cause = if counted == sent {
            None
        } else if counted > sent && is_scraped {
            Some("the counter includes other clients, such as the scrapes themselves: select the target's handlers in the query".to_owned())
        } else if counted > sent {
            Some("other clients sent requests, too, such as a health check or another load generator".to_owned())
        } else if others > 0 {
            Some(match others {
                1 => "the run sent requests to another host, too".to_owned(),
                others => format!("the run sent requests to {others} other hosts, too"),
            })
        } else if is_scraped {
            Some("Prometheus has not scraped the last requests yet, or not all servers of the target".to_owned())
        } else if unanswered >= missing {
            Some(format!(
                "{} samples got no response: connections were cut before the server counted the request",
                count(unanswered)
            ))
        } else if connections.closed_by_peer >= missing {
            Some("the server closed connections, and requests on them were sent again".to_owned())
        } else {
            Some("a cache, a proxy or another server of the same name answered, or its counter was set back".to_owned())
        };
        CheckedCount {
            source,
            counted,
            sent,
            cause,
        }
    }

    /// The comparison in one sentence.
    pub fn line(&self) -> String {
        let CheckedCount {
            source,
            counted,
            sent,
            cause,
        } = self;
        match cause {
            None => format!(
                "{source} counted all {} requests that were sent",
                count(*sent)
            ),
            Some(cause) => format!(
                "{source} counted {} requests, {} were sent ({} {}): {cause}",
                count(*counted),
                count(*sent),
                count(counted.abs_diff(*sent)),
                if counted > sent { "more" } else { "fewer" },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::Sample;

    use super::*;

    fn checked(counted: u64, others: usize, closed_by_peer: u64, unanswered: i64) -> String {
        checked_by(false, counted, others, closed_by_peer, unanswered)
    }

    fn checked_by(
        is_scraped: bool,
        counted: u64,
        others: usize,
        closed_by_peer: u64,
        unanswered: i64,
    ) -> String {
        let mut recording = Recording::default();
        for place in 0..unanswered {
            let mut sample = Sample::new("a".into(), "t".into());
            sample.set_end(place);
            sample.code = "Non HTTP response code: java.net.SocketException".into();
            recording.add(&sample);
        }
        let connections = Connections {
            opened: 10,
            reused: 990,
            closed_by_peer,
            ..Connections::default()
        };
        CheckedCount::of(
            "nginx web".to_owned(),
            counted,
            is_scraped,
            others,
            connections,
            &recording,
        )
        .line()
    }

    #[test]
    fn a_difference_has_its_likely_cause() {
        assert_eq!(
            checked(1_000, 3, 9, 9),
            "nginx web counted all 1,000 requests that were sent"
        );
        let start = "nginx web counted 995 requests, 1,000 were sent (5 fewer): ";
        for (others, closed, unanswered, cause) in [
            (2, 9, 9, "the run sent requests to 2 other hosts"),
            (0, 0, 5, "5 samples got no response"),
            (0, 5, 4, "the server closed connections"),
            (0, 4, 4, "a cache, a proxy"),
        ] {
            let line = checked(995, others, closed, unanswered);
            assert!(
                line.strip_prefix(start)
                    .is_some_and(|rest| rest.starts_with(cause)),
                "{line}"
            );
        }
        assert!(checked(1_005, 0, 0, 0).contains("(5 more): other clients"));
        assert!(checked_by(true, 995, 0, 9, 9).contains("(5 fewer): Prometheus has not scraped"));
        assert!(checked_by(true, 1_005, 0, 0, 0).contains("the scrapes themselves"));
    }
}
