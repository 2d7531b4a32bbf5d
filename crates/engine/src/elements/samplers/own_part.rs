//! The generator's own part of a sample that is not an exchange of HTTP.

use std::time::{Duration, Instant};

/// The own part, in microseconds, of a sample that ends now. `arrived` is when the kernel had received its last byte, as far as it
/// says.
pub fn own_us(begin: Instant, arrived: Option<Instant>) -> Option<u64> {
    drumfire_http::own_part(begin, arrived?, Instant::now()).map(|own| own.as_micros() as u64)
}

/// The own part of a conversation in which client and server take turns: of each turn, the time from the kernel's receipt of the
/// answer's last byte until the program has read it and asks again or ends.
pub struct OwnTurns {
    /// `None` once the kernel did not say when an answer arrived.
    own: Option<Duration>,
    /// When the program began to wait for the answer that it waits for.
    asked: Option<Instant>,
}

impl OwnTurns {
    /// A conversation that the server begins.
    pub fn begun_by_server() -> OwnTurns {
        OwnTurns {
            own: Some(Duration::ZERO),
            asked: Some(Instant::now()),
        }
    }

    /// The program waits for an answer from now on.
    pub fn asks(&mut self) {
        self.asked = Some(Instant::now());
    }

    /// The program has the answer, if it waits for one. The kernel received its last byte at `arrived`; an answer that was there
    /// before it was asked for has cost the time since then.
    pub fn answered(&mut self, arrived: Option<Instant>) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        let lay =
            arrived.map(|arrived| Instant::now().saturating_duration_since(arrived.max(asked)));
        self.own = self.own.zip(lay).map(|(own, lay)| own + lay);
    }

    /// The own part of the turns so far, in microseconds.
    pub fn own_us(&self) -> Option<u64> {
        self.own.map(|own| own.as_micros() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_counts_from_the_arrival_of_its_answer() {
        let ago = |ms| Instant::now() - Duration::from_millis(ms);
        let mut turns = OwnTurns::begun_by_server();
        turns.asked = Some(ago(1000));
        turns.answered(Some(ago(200)));
        // Nothing is awaited.
        turns.answered(Some(ago(900)));
        let first = turns.own_us().expect("all arrivals are known");
        assert!((200_000..300_000).contains(&first), "{first}");
        turns.asked = Some(ago(100));
        // The answer had arrived before it was asked for.
        turns.answered(Some(ago(500)));
        let second = turns.own_us().expect("all arrivals are known") - first;
        assert!((100_000..200_000).contains(&second), "{second}");
        turns.asks();
        turns.answered(None);
        assert_eq!(turns.own_us(), None);
    }
}
