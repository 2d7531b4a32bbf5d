//! Searches in texts. An element describes a search once, and the run decides where it takes place.
//!
//! A worker runs all its users on one thread, so a search of 50 ms delays every other user by 50 ms. The [pool] therefore runs
//! searches of long texts, while the worker's other users go on. Once an element's searches have proved quick, they run on the
//! worker, which caches the parsed texts.

mod pool;
mod source;

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use crate::run::roles::Act;
use crate::run::view::View;

pub use self::source::{JsonText, PageText, Source, XmlText};

/// Searches that take no longer may run on the worker.
const QUICK: Duration = Duration::from_millis(1);
/// The limit for searches that parse their text first. It is higher because searches on the worker share the parsed text, but
/// not by much because all other users of the worker wait meanwhile.
const QUICK_WITH_PARSING: Duration = Duration::from_millis(2);

/// Texts up to this length are searched on the worker, whatever the query.
const SHORT_BYTES: usize = 8 << 10;

/// The searches of one element.
pub struct Searches {
    /// The size of text up to which they have proved quick.
    quick_bytes: AtomicUsize,
    quick: Duration,
}

impl Default for Searches {
    fn default() -> Searches {
        Searches {
            quick_bytes: AtomicUsize::new(0),
            quick: QUICK,
        }
    }
}

impl Searches {
    /// For an element whose searches parse their text first.
    pub fn with_parsing() -> Searches {
        Searches {
            quick: QUICK_WITH_PARSING,
            ..Searches::default()
        }
    }

    /// Whether a text of this size can be searched on the worker.
    fn covers(&self, bytes: usize) -> bool {
        bytes <= self.quick_bytes.load(Ordering::Relaxed)
    }

    /// Records how long a search took. A quick one also covers texts a quarter longer, since similar pages differ a little in
    /// size.
    pub fn note(&self, bytes: usize, took: Duration) {
        if took <= self.quick {
            self.quick_bytes
                .fetch_max(bytes + bytes / 4, Ordering::Relaxed);
        } else {
            self.quick_bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Runs the turn of an element that searches `bytes` bytes of text in all.
    pub fn turn<'a, R, T, F>(
        &self,
        cx: &'a mut View<R>,
        bytes: usize,
        turn: impl FnOnce(&'a mut View<R>) -> F,
    ) -> Act<'a, T>
    where
        F: Future<Output = T> + 'a,
    {
        let long_bytes = Some(bytes).filter(|bytes| *bytes > SHORT_BYTES);
        self.turn_of_long(cx, long_bytes, turn)
    }

    /// Runs the turn of an element whose searches may take long only in texts of `long_bytes` bytes in all, if there are any.
    pub fn turn_of_long<'a, R, T, F>(
        &self,
        cx: &'a mut View<R>,
        long_bytes: Option<usize>,
        turn: impl FnOnce(&'a mut View<R>) -> F,
    ) -> Act<'a, T>
    where
        F: Future<Output = T> + 'a,
    {
        cx.user.searches_apart = long_bytes.is_some_and(|bytes| !self.covers(bytes));
        if cx.user.searches_apart {
            return Act::wait(turn(cx));
        }
        let long = long_bytes.map(|bytes| (bytes, Instant::now()));
        let outcome = at_once(turn(cx)).expect("only searches in the pool wait");
        if let Some((bytes, begin)) = long {
            self.note(bytes, begin.elapsed());
        }
        Act::Done(outcome)
    }

    /// Prepares a text for a search within an element's turn. On the worker, this parses the text.
    pub fn open<R, S: Source>(&self, cx: &mut View<R>, source: S) -> Opened<'_, S> {
        let sent = if cx.user.searches_apart {
            source.send(&mut cx.user)
        } else {
            None
        };
        Opened {
            searches: self,
            form: match sent {
                Some(sent) => Form::Sent(source, sent),
                None => Form::Local(source.local(&mut cx.user)),
            },
        }
    }

    /// Searches a text; `None` if the run is told to stop now. The pool gets a copy of `query`.
    pub async fn search<R, S: Source, Q: Clone + Send + 'static, T: Send + 'static>(
        &self,
        cx: &mut View<R>,
        source: S,
        query: &Q,
        search: impl FnOnce(&S::Form, &Q) -> T + Send + 'static,
    ) -> Option<T> {
        let opened = self.open(cx, source);
        opened.search(cx, query, search).await
    }
}

/// A text that is ready for a search.
pub struct Opened<'q, S: Source> {
    searches: &'q Searches,
    form: Form<S>,
}

enum Form<S: Source> {
    /// On the worker.
    Local(S::Local),
    /// On its way to the pool.
    Sent(S, S::Sent),
}

impl<S: Source> Opened<'_, S> {
    /// The text as this worker has parsed it; `None` if the pool parses it.
    pub fn local(&self) -> Option<&S::Form> {
        match &self.form {
            Form::Local(form) => Some(form),
            Form::Sent(..) => None,
        }
    }

    /// See [`Searches::search`].
    pub async fn search<R, Q: Clone + Send + 'static, T: Send + 'static>(
        self,
        cx: &mut View<R>,
        query: &Q,
        search: impl FnOnce(&S::Form, &Q) -> T + Send + 'static,
    ) -> Option<T> {
        let (source, sent) = match self.form {
            Form::Local(form) => return Some(search(&form, query)),
            Form::Sent(source, sent) => (source, sent),
        };
        let query = query.clone();
        let timed = move || {
            let begin = Instant::now();
            let outcome = S::search_sent(sent, |form| search(form, &query));
            (outcome, begin.elapsed())
        };
        // A search that the run no longer waits for goes on in the pool, and its outcome is dropped.
        let ((found, parsed), took) = cx.user.attend(pool::run(timed)).await.flatten()?;
        self.searches.note(source.bytes(), took);
        source.keep(&mut cx.user, parsed);
        Some(found)
    }
}

/// The outcome of work that does not wait; `None` if it does wait.
fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut task = std::task::Context::from_waker(Waker::noop());
    match pin!(work).poll(&mut task) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_stay_on_the_worker_while_they_are_quick() {
        let searches = Searches::default();
        assert!(!searches.covers(100));
        searches.note(100, QUICK);
        assert!(searches.covers(125) && !searches.covers(126));
        searches.note(100, 2 * QUICK);
        assert!(!searches.covers(1));
        let parsing = Searches::with_parsing();
        parsing.note(100, 2 * QUICK);
        assert!(parsing.covers(100));
    }
}
