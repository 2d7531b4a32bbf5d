//! Bodies that are observed while they arrive.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::peer::{Do, GET, LIMITS, Peer, run, session};
use drumfire_http::{
    BodyWatch, Failure, FailureKind, Incoming, Keep, Outgoing, Session, WantedParts, Watched,
    exchange,
};

/// Notes everything, and ends the body after so many pieces or at a time.
struct Notes {
    most: usize,
    deadline: Cell<Option<Instant>>,
    limit: usize,
    heads: RefCell<Vec<(u16, Option<Vec<u8>>)>>,
    seen: RefCell<Vec<u8>>,
    arrivals: RefCell<Vec<(usize, Instant)>>,
}

impl Notes {
    fn new(most: usize) -> Rc<Notes> {
        Rc::new(Notes {
            most,
            deadline: Cell::new(None),
            limit: usize::MAX,
            heads: RefCell::default(),
            seen: RefCell::default(),
            arrivals: RefCell::default(),
        })
    }

    /// How much of the body had been seen at each arrival.
    fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self
            .arrivals
            .borrow()
            .iter()
            .map(|(length, _)| *length)
            .collect();
        lengths.dedup();
        lengths
    }
}

impl BodyWatch for Notes {
    fn begin(&self, status: u16, content_type: Option<&[u8]>) -> Option<u64> {
        let content_type = content_type.map(<[u8]>::to_vec);
        self.heads.borrow_mut().push((status, content_type));
        (status == 200).then_some(5)
    }

    fn piece(&self, bytes: &[u8]) -> Result<(), FailureKind> {
        let mut seen = self.seen.borrow_mut();
        seen.extend_from_slice(bytes);
        match seen.len() > self.limit {
            true => Err(FailureKind::EventTooLarge { limit: self.limit }),
            false => Ok(()),
        }
    }

    fn arrived(&self, at: Instant) -> Watched {
        let length = self.seen.borrow().len();
        self.arrivals.borrow_mut().push((length, at));
        match self.lengths().len() >= self.most {
            true => Watched::Ends,
            false => Watched::Continues,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const PAUSE: Duration = Duration::from_millis(30);

/// A chunk a pause, and then nothing more.
fn slow(count: usize) -> Vec<Do> {
    let mut script = vec![Do::ReadHead, Do::Send(HEAD.into())];
    for number in 0..count {
        script.extend([
            Do::Wait(PAUSE),
            Do::Send(format!("2\r\n{number};\r\n").into_bytes()),
        ]);
    }
    script
}

async fn watched(
    session: &Session,
    peer: &Peer,
    notes: &Rc<Notes>,
    keep: Keep,
) -> Result<Box<Incoming>, Box<Failure>> {
    let watch = Rc::clone(notes) as Rc<dyn BodyWatch>;
    let out = Outgoing {
        watch: Some(&watch),
        ..Outgoing::new(GET)
    };
    let want = WantedParts {
        keep,
        ..WantedParts::ALL
    };
    exchange(session, &peer.target(), out, want, LIMITS).await
}

#[test]
fn an_observer_sees_each_piece_when_it_comes_and_ends_the_body() {
    let script = [slow(3), vec![Do::Wait(Duration::from_secs(60))]].concat();
    let peer = Peer::start(vec![script]);
    let notes = Notes::new(4);
    let response = run(async {
        let session = session();
        let response = watched(&session, &peer, &notes, Keep::UpTo(3)).await;
        let counts = session.worker().statistics();
        assert_eq!((counts.closed_by_us, counts.closed_by_peer), (1, 0));
        response
    });
    let response = response.expect("the observer ended it");
    assert!(!response.kept_alive);
    // The head comes alone.
    assert_eq!(notes.lengths(), [0, 2, 4, 6]);
    assert_eq!(*notes.seen.borrow(), b"0;1;2;");
    assert_eq!(response.body.as_deref(), Some(&b"0;1"[..]));
    assert_eq!(response.body_len, 6);
    let heads = [(200, Some(b"text/event-stream".to_vec()))];
    assert_eq!(*notes.heads.borrow(), heads);
    let times: Vec<Instant> = notes.arrivals.borrow().iter().map(|(_, at)| *at).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn bodies_that_nothing_else_reads_are_observed_and_connections_kept() {
    let mut script = slow(2);
    script.push(Do::Send(b"0\r\n\r\n".to_vec()));
    let peer = Peer::start(vec![script]);
    let notes = Notes::new(usize::MAX);
    let response = run(async { watched(&session(), &peer, &notes, Keep::Nothing).await });
    let response = response.expect("it is complete");
    assert!(response.kept_alive && response.body.is_none());
    assert_eq!(*notes.seen.borrow(), b"0;1;");
}

#[test]
fn a_body_ends_by_itself_at_its_deadline() {
    let script = [slow(1), vec![Do::Wait(Duration::from_secs(60))]].concat();
    let peer = Peer::start(vec![script]);
    let notes = Notes::new(usize::MAX);
    notes.deadline.set(Some(Instant::now() + 4 * PAUSE));
    let response = run(async { watched(&session(), &peer, &notes, Keep::All).await });
    let response = response.expect("its time is over");
    assert_eq!(response.body.as_deref(), Some(&b"0;"[..]));
    assert!(!response.kept_alive && response.times.arrivals.is_none());
}

#[test]
fn a_deadline_is_no_excuse_for_a_missing_head() {
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Wait(2 * PAUSE), Do::Close]]);
    let notes = Notes::new(usize::MAX);
    notes.deadline.set(Some(Instant::now()));
    let failure = run(async { watched(&session(), &peer, &notes, Keep::All).await });
    let failure = failure.expect_err("there is no head");
    assert!(matches!(failure.kind, FailureKind::ClosedBeforeResponse));
}

#[test]
fn an_observer_sees_decoded_bytes_and_may_refuse_them() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"data: hello\n\n").expect("memory takes it");
    let body = gzip.finish().expect("memory takes it");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let bytes = [head.into_bytes(), body].concat();
    let script = vec![Do::ReadHead, Do::Send(bytes)];
    let peer = Peer::start(vec![script.clone(), script]);
    let notes = Notes::new(usize::MAX);
    let response = run(async { watched(&session(), &peer, &notes, Keep::Nothing).await });
    assert!(response.is_ok());
    assert_eq!(*notes.seen.borrow(), b"data: hello\n\n");
    let strict = Rc::new(Notes {
        limit: 5,
        ..Rc::into_inner(Notes::new(usize::MAX)).expect("it is not shared")
    });
    let failure = run(async { watched(&session(), &peer, &strict, Keep::Nothing).await });
    let failure = failure.expect_err("it is too much");
    assert!(matches!(
        failure.kind,
        FailureKind::EventTooLarge { limit: 5 }
    ));
}

#[test]
fn a_response_that_is_not_wanted_is_read_as_usual() {
    let bytes = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone".to_vec();
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Send(bytes)]]);
    let notes = Notes::new(1);
    let response = run(async { watched(&session(), &peer, &notes, Keep::All).await });
    let response = response.expect("it is complete");
    assert_eq!(response.body.as_deref(), Some(&b"none"[..]));
    assert!(notes.seen.borrow().is_empty() && notes.arrivals.borrow().is_empty());
}
