//! Users whose windows are known beforehand.

use super::{Crew, Terms};
use crate::run::schedule::Window;

impl Crew {
    /// `windows` are in the order of their starts.
    pub(super) async fn windows(&mut self, windows: impl Iterator<Item = (u32, Window)>) {
        for (number, window) in windows {
            if !self.wait_until(self.start.at_ms + window.start_ms).await {
                return;
            }
            let terms = Terms {
                end_ms: window.stop_ms.map(|stop_ms| self.start.at_ms + stop_ms),
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }
}
