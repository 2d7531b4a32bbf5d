//! How long Java has collected garbage, asked without the risk to wait for ever: after a crash, Java stops every thread that
//! calls it, and the thread that asks is the one that ends the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How long an answer is awaited. It takes less than a millisecond unless a collection is under way.
const PATIENCE: Duration = Duration::from_millis(50);

/// The last answer.
#[derive(Default)]
pub struct GarbageClock {
    last_ms: Arc<AtomicU64>,
    is_asked: Arc<AtomicBool>,
}

impl GarbageClock {
    /// Asks on a thread of its own; returns the last answer if a question is still open.
    pub fn read(&self, ask: impl FnOnce() -> u64 + Send + 'static) -> u64 {
        if !self.is_asked.swap(true, Ordering::AcqRel) {
            let (last_ms, is_asked) = (self.last_ms.clone(), self.is_asked.clone());
            let (tell, told) = mpsc::channel();
            let asking = std::thread::Builder::new()
                .name("java-garbage".to_owned())
                .spawn(move || {
                    last_ms.store(ask(), Ordering::Release);
                    is_asked.store(false, Ordering::Release);
                    // Nobody waits any more if the answer took long.
                    let _ = tell.send(());
                });
            match asking {
                Ok(_) => drop(told.recv_timeout(PATIENCE)),
                Err(_) => self.is_asked.store(false, Ordering::Release),
            }
        }
        self.last_ms.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_an_answer_is_asked_once() {
        let clock = GarbageClock::default();
        assert_eq!(clock.read(|| 7), 7);
        let (answer, answered) = mpsc::channel();
        assert_eq!(clock.read(move || answered.recv().unwrap_or(0)), 7);
        assert_eq!(clock.read(|| unreachable!("the first question is open")), 7);
        answer.send(9).expect("somebody waits");
        let last = (0..1000).map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            clock.last_ms.load(Ordering::Acquire)
        });
        assert!(last.into_iter().any(|ms| ms == 9));
    }
}
