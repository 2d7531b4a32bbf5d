//! Runs one thread for each sink: it collects the run's increments, encodes them once per interval, and sends them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_platform::secrets;
use drumfire_results::Increment;

use crate::encoder::{Encoder, Interval, Users};
use crate::queue::Queue;
use crate::transport::{Receipt, Transport, TransportError};

/// How long a sink may keep sending after the end of the run.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// A batch over TCP has arrived if the destination has not refused it for this long.
const SETTLED: Duration = Duration::from_millis(500);
/// The pause after the first failed attempt; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How many of a sink's batches were delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The sink, as the user named it.
    pub sink: String,
    /// Where it sends to, without user and password.
    pub address: String,
    /// Batches delivered.
    pub delivered: u64,
    /// Batches dropped because they were too old, too many, refused, or unsent at the end.
    pub dropped: u64,
    /// The last failure.
    pub problem: Option<String>,
}

/// Passes the run's increments to a sink. They are merged until the sink's thread takes them, so a slow sink needs no
/// memory beyond one entry per label.
#[derive(Clone, Default)]
pub struct Feed(Arc<ExporterState>);

#[derive(Default)]
struct ExporterState {
    pending: Mutex<Pending>,
    told: Condvar,
}

#[derive(Default)]
struct Pending {
    interval: Interval,
    ended: bool,
    delivery: Delivery,
}

impl Feed {
    /// Adds samples.
    pub fn add(&self, increment: Increment) {
        self.lock().interval.increment.merge(increment);
    }

    /// Sets the users and the verdict: 0 VALID, 1 DEGRADED, 2 INVALID, `None` until it is known.
    pub fn tick(&self, users: Users, verdict: Option<u8>) {
        let mut pending = self.lock();
        pending.interval.users = users;
        pending.interval.verdict = verdict;
    }

    /// Adds an action of a user or an element, with its time in milliseconds since the Unix epoch.
    pub fn mark(&self, at_ms: i64, text: &str) {
        self.lock().interval.marks.push((at_ms, text.to_owned()));
    }

    /// The sink's deliveries so far.
    pub fn delivery(&self) -> Delivery {
        self.lock().delivery.clone()
    }

    fn end(&self) {
        self.lock().ended = true;
        self.0.told.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a deadline or the end of the run, whichever comes first; returns true at the end.
    fn wait(&self, until: Instant) -> bool {
        let mut pending = self.lock();
        while !pending.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.0.told.wait_timeout(pending, left);
            pending = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Takes the increments since the last call. Users and verdict carry over.
    fn take(&self, now_ms: i64, is_last: bool) -> Interval {
        let mut pending = self.lock();
        let (users, verdict) = (pending.interval.users, pending.interval.verdict);
        let mut interval = std::mem::replace(
            &mut pending.interval,
            Interval {
                users,
                verdict,
                ..Interval::default()
            },
        );
        (interval.at_ms, interval.is_last) = (now_ms, is_last);
        interval
    }
}

/// A running sink.
pub struct Exporter {
    feed: Feed,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// Starts the thread of a sink. `now_ms` returns the time in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn start(
        name: &str,
        encoder: Box<dyn Encoder>,
        transport: Transport,
        now_ms: impl Fn() -> i64 + Send + 'static,
    ) -> std::io::Result<Exporter> {
        let feed = Feed::default();
        feed.lock().delivery = Delivery {
            sink: name.to_owned(),
            address: transport.address(),
            ..Delivery::default()
        };
        let sender = Sender {
            feed: feed.clone(),
            encoder,
            transport,
            queue: Queue::default(),
            retry: None,
            failures: 0,
            sent_at: Instant::now(),
            now_ms: Box::new(now_ms),
        };
        let thread = std::thread::Builder::new()
            .name(format!("sink {name}"))
            .spawn(move || sender.run())?;
        Ok(Exporter {
            feed,
            thread: Some(thread),
        })
    }

    /// The feed to which the run adds its increments.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Signals the end of the run, without waiting for the sink.
    pub fn close(&self) {
        self.feed.end();
    }

    /// Ends the sink. It may send its remaining batches for up to five seconds.
    pub fn end(mut self) -> Delivery {
        self.stop();
        self.feed.delivery()
    }

    fn stop(&mut self) {
        self.feed.end();
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the sink's batches are lost. The run's own results do not depend on it.
            let _ = thread.join();
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Sender {
    feed: Feed,
    encoder: Box<dyn Encoder>,
    transport: Transport,
    queue: Queue,
    /// Set after a failure: the time of the next attempt, and the current pause.
    retry: Option<(Instant, Duration)>,
    /// Attempts that failed, and may succeed later.
    failures: u64,
    /// The time of the last batch.
    sent_at: Instant,
    now_ms: Box<dyn Fn() -> i64 + Send>,
}

impl Sender {
    fn run(mut self) {
        let first = self.encoder.start((self.now_ms)());
        self.enqueue(first);
        let mut due = Instant::now();
        loop {
            due += self.encoder.interval();
            let ended = self.work_until(due);
            let interval = self.feed.take((self.now_ms)(), ended);
            let batches = self.encoder.encode(&interval);
            self.enqueue(batches);
            if ended {
                break;
            }
            // After a long attempt, all missed intervals become one.
            due = due.max(Instant::now() - self.encoder.interval());
        }
        self.deliver_rest();
    }

    fn enqueue(&mut self, batches: Vec<Vec<u8>>) {
        let now = Instant::now();
        for batch in batches {
            self.queue.push(batch, now);
        }
    }

    /// Sends queued batches until the deadline; returns true at the end of the run.
    fn work_until(&mut self, due: Instant) -> bool {
        loop {
            let now = Instant::now();
            let may_try = self.retry.is_none_or(|(at, _)| at <= now);
            if may_try && now < due && self.queue.first(now).is_some() {
                self.attempt();
                continue;
            }
            let next = self
                .retry
                .filter(|_| self.queue.first(now).is_some())
                .map_or(due, |(at, _)| at.min(due));
            if self.feed.wait(next) {
                return true;
            }
            if Instant::now() >= due {
                return false;
            }
        }
    }

    /// Tries to send the next batch, if the earlier ones have arrived.
    fn attempt(&mut self) {
        let arrived = self.transport.confirm();
        // A refusal takes a moment, so that a batch which was sent just now may still be refused.
        if (arrived.is_err() || self.sent_at.elapsed() > SETTLED)
            && let Err(error) = self.settle(arrived)
        {
            return self.postpone(&error);
        }
        let Some(batch) = self.queue.first(Instant::now()) else {
            return;
        };
        match self.transport.send(batch) {
            Ok(receipt) => {
                self.queue.sent();
                self.sent_at = Instant::now();
                if receipt == Receipt::Delivered {
                    self.retry = None;
                    self.delivered();
                }
            }
            Err(error) if error.is_temporary() => {
                self.queue.send_again();
                self.postpone(&error);
            }
            Err(error) => {
                self.queue.drop_oldest();
                self.note(&error);
            }
        }
    }

    /// Counts the batches that were sent as delivered, or has them sent again.
    fn settle(&mut self, arrived: Result<(), TransportError>) -> Result<(), TransportError> {
        match arrived {
            Ok(()) => self.delivered(),
            Err(_) => self.queue.send_again(),
        }
        arrived
    }

    fn delivered(&mut self) {
        let confirmed = self.queue.confirm();
        if confirmed > 0 {
            self.retry = None;
        }
        self.feed.lock().delivery.delivered += confirmed;
    }

    /// Pauses after a failure, each time for longer.
    fn postpone(&mut self, error: &TransportError) {
        let pause = self
            .retry
            .map_or(FIRST_PAUSE, |(_, pause)| (pause * 2).min(LONGEST_PAUSE));
        self.retry = Some((Instant::now() + pause, pause));
        self.failures += 1;
        self.note(error);
    }

    fn note(&self, error: &TransportError) {
        let mut pending = self.feed.lock();
        let delivery = &mut pending.delivery;
        delivery.dropped = self.queue.dropped();
        if delivery.problem.is_none() {
            tracing::warn!("sink {} at {}: {error}", delivery.sink, delivery.address);
        }
        delivery.problem = Some(secrets::text(&error.to_string()).into_owned());
    }

    /// Sends what is left. A destination that took nothing of late gets one more attempt, so that it does not delay the end.
    fn deliver_rest(&mut self) {
        let until = Instant::now() + LAST_WAIT;
        let is_down = self.retry.is_some() || self.feed.lock().delivery.delivered == 0;
        while Instant::now() < until && self.queue.len() > 0 {
            if let Some((at, _)) = self.retry.filter(|_| !is_down) {
                std::thread::sleep(at.min(until).saturating_duration_since(Instant::now()));
            }
            let failures = self.failures;
            match self.queue.first(Instant::now()) {
                Some(_) => self.attempt(),
                None => {
                    let arrived = self.transport.close();
                    if let Err(error) = self.settle(arrived) {
                        self.postpone(&error);
                    }
                }
            }
            if is_down && self.failures > failures {
                break;
            }
        }
        while self.queue.len() > 0 {
            self.queue.drop_oldest();
        }
        self.feed.lock().delivery.dropped = self.queue.dropped();
    }
}

#[cfg(test)]
mod tests {
    use drumfire_authorities::Authorities;

    use super::*;
    use crate::encoder::RunInfo;
    use crate::json::JsonLines;
    use drumfire_results::LabelIncrement;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    fn increment() -> Increment {
        let mut label = LabelIncrement::new("a".to_owned(), false);
        label.count = 1;
        label.ok.record(5_000);
        Increment {
            labels: vec![label],
            ..Increment::default()
        }
    }

    fn lines() -> Box<JsonLines> {
        Box::new(JsonLines {
            run: RunInfo::default(),
        })
    }

    #[test]
    fn everything_told_is_delivered_by_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let reader = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut text = String::new();
            stream.read_to_string(&mut text).expect("text");
            text
        });
        let exporter =
            Exporter::start("json", lines(), Transport::tcp(address), || 7).expect("a thread");
        for _ in 0..3 {
            exporter.feed().add(increment());
        }
        let delivery = exporter.end();
        assert_eq!(
            (delivery.delivered, delivery.dropped, delivery.problem),
            (1, 0, None)
        );
        let text = reader.join().expect("it reads");
        assert!(
            text.contains("\"count\":3") && text.contains("\"last\":true"),
            "{text}"
        );
    }

    #[test]
    fn batches_that_a_closing_server_did_not_take_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        std::thread::spawn(move || listener.incoming().for_each(drop));
        let transport = Transport::tcp(address.clone());
        let exporter = Exporter::start("json", lines(), transport, || 7).expect("a thread");
        exporter.feed().add(increment());
        std::thread::sleep(Duration::from_millis(1_200));
        exporter.feed().add(increment());
        let since = Instant::now();
        let delivery = exporter.end();
        assert_eq!((delivery.delivered, delivery.dropped), (0, 2));
        let told = delivery.problem.expect("the server closes");
        assert_eq!(told, "the other side closed the connection");
        assert_eq!(delivery.address, address);
        assert!(since.elapsed() < LAST_WAIT);
    }

    #[test]
    fn a_server_that_closes_after_it_took_all_has_all() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let reader = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let read = stream.read(&mut [0; 4096]).expect("a line");
            drop(stream);
            let (mut stream, _) = listener.accept().expect("another");
            let mut rest = String::new();
            stream.read_to_string(&mut rest).expect("text");
            (read, rest)
        });
        let exporter =
            Exporter::start("json", lines(), Transport::tcp(address), || 7).expect("a thread");
        exporter.feed().add(increment());
        std::thread::sleep(Duration::from_millis(1_700));
        exporter.feed().add(increment());
        let delivery = exporter.end();
        assert_eq!((delivery.delivered, delivery.dropped), (2, 0));
        let (read, rest) = reader.join().expect("it reads");
        assert!(read > 0 && rest.lines().count() == 1, "{rest}");
    }

    #[test]
    fn a_destination_that_refuses_costs_the_batch_only() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!");
            }
        });
        let exporter = Exporter::start(
            "web",
            lines(),
            Transport::http(url, Vec::new(), &Authorities::default()),
            || 7,
        )
        .expect("a thread");
        exporter.feed().add(increment());
        let delivery = exporter.end();
        assert_eq!((delivery.delivered, delivery.dropped), (0, 1));
        assert_eq!(
            delivery.problem.as_deref(),
            Some("refused with status 400: no!")
        );
    }
}
