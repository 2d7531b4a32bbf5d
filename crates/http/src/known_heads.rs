//! Caches of recent heads. A server repeats the same head until its date changes, and parsing one is a good part of the cost of
//! a small response. Recent HTTP/2 requests are cached too, since a plan repeats them.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::head::Head;
use crate::target::Target;

/// Number of cached heads: enough for a few pages that are requested in turn.
const MOST: usize = 8;
/// Longer heads rarely repeat.
const LONGEST_BYTES: usize = 2048;

/// A small cache of the latest items, the newest first: once the date has changed, older heads are not sent any more, and differ
/// from the newest only near their ends.
struct Latest<T>(VecDeque<T>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Latest<T> {
    fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<&T> {
        self.0.iter().find(|known| wanted(known))
    }

    fn add(&mut self, latest: T) {
        self.0.truncate(MOST - 1);
        self.0.push_front(latest);
    }
}

/// The cache of response heads of one worker.
#[derive(Default)]
pub(crate) struct KnownHeads(RefCell<Latest<Head>>);

impl KnownHeads {
    /// Finds a cached head at the start of `bytes`. A match needs no further check, since a head ends at its empty line.
    pub fn find(&self, bytes: &[u8]) -> Option<Head> {
        let latest = self.0.borrow();
        latest.find(|head| bytes.starts_with(&head.bytes)).cloned()
    }

    /// Caches the head that was parsed at the start of `bytes`. A head with folded lines differs from its source bytes and could
    /// not be found again, so it is not cached.
    pub fn add(&self, head: &Head, bytes: &[u8]) {
        if head.bytes.len() > LONGEST_BYTES || !bytes.starts_with(&head.bytes) {
            return;
        }
        self.0.borrow_mut().add(head.clone());
    }
}

/// The cache of requests of one worker, in the form that a version of HTTP sends.
pub(crate) struct KnownRequests<R>(RefCell<Latest<KnownRequest<R>>>);

struct KnownRequest<R> {
    target: Target,
    head: Box<[u8]>,
    request: R,
}

impl<R> Default for KnownRequests<R> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<R: Clone> KnownRequests<R> {
    /// The request for this head and target; on a cache miss, `make` builds it.
    pub fn request(
        &self,
        target: &Target,
        head: &[u8],
        make: impl FnOnce() -> Option<R>,
    ) -> Option<R> {
        let mut latest = self.0.borrow_mut();
        if let Some(known) = latest.find(|known| *known.head == *head && known.target == *target) {
            return Some(known.request.clone());
        }
        let request = make()?;
        if head.len() <= LONGEST_BYTES {
            latest.add(KnownRequest {
                target: target.clone(),
                head: head.into(),
                request: request.clone(),
            });
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::scan;

    fn read(text: &str) -> Head {
        let scanned = scan(text.as_bytes(), false).expect("the head is good");
        scanned.expect("it is whole").0
    }

    fn page(number: usize) -> String {
        format!("HTTP/1.1 200 OK\r\nETag: {number}\r\nContent-Length: {number}\r\n\r\n")
    }

    #[test]
    fn a_known_head_is_found_as_it_was_read() {
        let known = KnownHeads::default();
        let text = page(3);
        assert!(known.find(text.as_bytes()).is_none());
        known.add(&read(&text), text.as_bytes());
        let found = known.find(format!("{text}abc").as_bytes());
        let found = found.expect("it is known");
        let fresh = read(&text);
        assert_eq!(found.bytes, fresh.bytes);
        assert_eq!(found.facts, fresh.facts);
        assert_eq!(
            (found.status, found.version, found.reason),
            (200, (1, 1), 13..15)
        );
        // A truncated head is not a match.
        assert!(known.find(&text.as_bytes()[..text.len() - 1]).is_none());
    }

    #[test]
    fn the_latest_heads_are_known() {
        let known = KnownHeads::default();
        for number in 0..=MOST {
            known.add(&read(&page(number)), page(number).as_bytes());
        }
        assert!(known.find(page(0).as_bytes()).is_none());
        for number in 1..=MOST {
            let found = known.find(page(number).as_bytes());
            let length = found.map(|head| head.facts.last_content_length);
            assert_eq!(length, Some(Some(number as i64)));
        }
    }

    #[test]
    fn a_head_that_is_not_kept_as_it_came_is_not_known() {
        let known = KnownHeads::default();
        for text in [
            "HTTP/1.1 200 OK\nA: 1\n b\n\n",
            "\r\nHTTP/1.1 200 OK\r\n\r\n",
            &format!(
                "HTTP/1.1 200 OK\r\nA: {}\r\n\r\n",
                "x".repeat(LONGEST_BYTES)
            ),
        ] {
            known.add(&read(text), text.as_bytes());
            assert!(known.find(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_request_is_made_once() {
        let known = KnownRequests::default();
        let [plain, secure] = [false, true].map(|tls| Target::new("a.test", 80, tls));
        assert_eq!(known.request(&plain, b"a", || Some("/1")), Some("/1"));
        assert_eq!(known.request(&plain, b"a", || None), Some("/1"));
        assert_eq!(known.request(&secure, b"a", || None), None);
        assert_eq!(known.request(&plain, b"b", || None), None);
    }
}
