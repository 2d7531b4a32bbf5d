//! Limits the matches that an extractor keeps, so that a response of the server cannot exhaust the memory.

use crate::decode::Decoder;
use crate::run::view::PostProcessorView;

/// The default limit, more matches than real plans need.
const USUAL: usize = 1_000_000;

/// How many matches an extractor keeps (`drumfire.max_matches`).
#[derive(Clone, Copy, Debug)]
pub struct MostMatches(usize);

impl MostMatches {
    pub fn decode(d: &Decoder) -> MostMatches {
        let text = d.settings().properties.get_trimmed("drumfire.max_matches");
        let number = text.and_then(|number| number.parse().ok());
        MostMatches(number.unwrap_or(USUAL))
    }

    /// The matches up to the limit, and whether there are more.
    pub fn take<T>(self, found: impl IntoIterator<Item = T>) -> (Vec<T>, bool) {
        let mut matches = found.into_iter();
        let taken: Vec<T> = matches.by_ref().take(self.0).collect();
        let is_cut = taken.len() == self.0 && matches.next().is_some();
        (taken, is_cut)
    }

    /// Fails the current sample because it has more matches.
    pub fn report(self, cx: &mut PostProcessorView) {
        let message = format!(
            "an extractor keeps the first {} matches and leaves the others out: raise drumfire.max_matches",
            self.0
        );
        tracing::error!("{message}");
        cx.fail_by_limit(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_beyond_the_limit_are_left_out() {
        assert_eq!(MostMatches(2).take([1, 2]), (vec![1, 2], false));
        assert_eq!(MostMatches(2).take(1..), (vec![1, 2], true));
    }
}
