//! Java stack traces: what a failed sample holds as response data.
//!
//! `HTTPSamplerBase#errorResult` stores `Throwable#printStackTrace`, so the size of a failed sample is the length of its
//! trace, and assertions and extractors read it. A trace has two parts. The upper one says what failed: an
//! [`Exception`] carries its frames, from the throwing method to the sampler's implementation. The lower one says where
//! the sample ran, which only the caller knows: a [`Place`].
//!
//! The frames are facts recorded from JMeter 5.6.3 with HttpClient 4.5.14 on Java 17.0.15. Failures whose frames are not
//! recorded have their first line and the lower part.

use std::fmt::{self, Write};

use crate::exception::Exception;
pub(crate) use crate::origin::{Cause, Origin};
pub use crate::origin::{Frame, Until};

pub(crate) mod frames;
pub mod property;

/// Which sampler class and implementation runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// `HTTPSamplerProxy` with `HTTPHC4Impl`.
    #[default]
    HttpClient,
    /// `HTTPSamplerProxy` with `HTTPJavaImpl`.
    Java,
    /// The old class `HTTPSampler`, which is always `HTTPJavaImpl`.
    OldJava,
    /// `AccessLogSampler`, which is an `HTTPSampler`.
    AccessLog,
    /// `HTTPSamplerProxy` with `HTTPFileImpl`, which reads files.
    File,
}

impl Client {
    fn sampler(self) -> Frame {
        match self {
            Client::OldJava | Client::AccessLog => {
                "org.apache.jmeter.protocol.http.sampler.HTTPSampler.sample:45"
            }
            _ => "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy.sample:66",
        }
    }

    /// Where the implementation calls `resultProcessing`.
    fn processing(self) -> Frame {
        match self {
            Client::HttpClient => "org.apache.jmeter.protocol.http.sampler.HTTPHC4Impl.sample:738",
            Client::File => "org.apache.jmeter.protocol.http.sampler.HTTPFileImpl.sample:93",
            Client::Java | Client::OldJava | Client::AccessLog => {
                "org.apache.jmeter.protocol.http.sampler.HTTPJavaImpl.sample:646"
            }
        }
    }
}

/// Where a request is made, from the inside out.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// For the sampler itself, in so many transactions with a parent sample.
    Sampler {
        /// The implementation.
        client: Client,
        /// The number of transactions.
        transactions: u32,
    },
    /// To follow the redirect of another request.
    Redirect(&'a Place<'a>),
    /// For a resource of another request's page.
    Resource(&'a Place<'a>),
    /// For a resource, on the pool of parallel downloads; `depth` pages deep.
    Pool {
        /// The implementation.
        client: Client,
        /// The number of enclosing pages.
        depth: u32,
    },
}

impl Place<'_> {
    /// Whether the request follows a redirect.
    pub fn is_redirect(&self) -> bool {
        matches!(self, Place::Redirect(_))
    }

    /// How many pages enclose the request (`frameDepth`).
    pub fn depth(&self) -> u32 {
        match self {
            Place::Sampler { .. } => 0,
            Place::Redirect(outer) => outer.depth(),
            Place::Resource(page) => page.depth() + 1,
            Place::Pool { depth, .. } => *depth,
        }
    }

    /// The implementation that makes the request.
    pub fn client(&self) -> Client {
        match self {
            Place::Sampler { client, .. } | Place::Pool { client, .. } => *client,
            Place::Redirect(outer) | Place::Resource(outer) => outer.client(),
        }
    }

    /// The frames of the samplers' own methods that lead to the implementation.
    fn each_of_sampler(&self, frame: &mut dyn FnMut(Frame)) {
        let frames = match self.client() {
            Client::AccessLog => frames::ACCESS_LOG,
            _ => frames::SAMPLER,
        };
        frames.iter().for_each(|line| frame(line));
    }

    /// The frames below the implementation's `sample`.
    fn each(&self, frame: &mut dyn FnMut(Frame)) {
        frame(self.client().sampler());
        match self {
            Place::Sampler { transactions, .. } => {
                self.each_of_sampler(frame);
                each_of_thread(*transactions, frame);
            }
            Place::Pool { .. } => frames::POOL.iter().for_each(|line| frame(line)),
            Place::Redirect(outer) => {
                frame(frames::FOLLOW);
                outer.each_of_redirects(frame);
            }
            Place::Resource(page) => {
                frame(frames::DOWNLOAD);
                page.each_of_page(frame);
            }
        }
    }

    /// The frames below `followRedirects`.
    fn each_of_redirects(&self, frame: &mut dyn FnMut(Frame)) {
        frame(frames::PROCESS_REDIRECT);
        self.each_of_processing(frame);
    }

    /// The frames below `downloadPageResources`.
    fn each_of_page(&self, frame: &mut dyn FnMut(Frame)) {
        frame(frames::PROCESS_PAGE);
        self.each_of_processing(frame);
    }

    /// The frames below `resultProcessing`.
    fn each_of_processing(&self, frame: &mut dyn FnMut(Frame)) {
        frame(frames::PROCESS);
        frame(self.client().processing());
        self.each(frame);
    }

    /// The transactions around the sampler; the pool's threads know of none.
    fn transactions(&self) -> u32 {
        match self {
            Place::Sampler { transactions, .. } => *transactions,
            Place::Redirect(outer) | Place::Resource(outer) => outer.transactions(),
            Place::Pool { .. } => 0,
        }
    }
}

/// `JMeterThread`. The outermost transaction costs no frame of its own: `processSampler` goes on with its sampler.
fn each_of_thread(transactions: u32, frame: &mut dyn FnMut(Frame)) {
    frames::THREAD.iter().for_each(|line| frame(line));
    for _ in 1..transactions {
        frame(frames::INNER_TRANSACTION);
    }
    frames::RUN.iter().for_each(|line| frame(line));
}

impl Cause {
    /// `enclosing` is how many frames the trace around it has.
    fn write(&self, enclosing: usize, out: &mut impl Write) -> fmt::Result {
        match &self.message {
            Some(message) => writeln!(out, "Caused by: {}: {message}", self.class)?,
            None => writeln!(out, "Caused by: {}", self.class)?,
        }
        self.frames
            .iter()
            .try_for_each(|frame| write_frame(frame, out))?;
        let shared = enclosing - self.unshared;
        writeln!(out, "\t... {shared} more")?;
        match &self.cause {
            Some(cause) => cause.write(self.frames.len() + shared, out),
            None => Ok(()),
        }
    }
}

impl Exception {
    /// Adds the frames of callers, from the inside out.
    #[must_use]
    pub(crate) fn through(mut self, frames: impl IntoIterator<Item = Frame>) -> Self {
        self.origin.frames.extend(frames);
        self
    }

    /// Says which method of JMeter the frames lead down to.
    #[must_use]
    pub(crate) fn until(mut self, until: Until) -> Self {
        self.origin.until = until;
        self
    }

    #[must_use]
    pub(crate) fn caused_by(mut self, cause: Cause) -> Self {
        self.origin.cause = Some(Box::new(cause));
        self
    }

    fn each_frame(&self, place: &Place<'_>, frame: &mut dyn FnMut(Frame)) {
        self.origin.frames.iter().for_each(|line| frame(line));
        match self.origin.until {
            Until::Implementation => place.each(frame),
            Until::Address => {
                place.each_of_sampler(frame);
                each_of_thread(place.transactions(), frame);
            }
            Until::Thread => each_of_thread(place.transactions(), frame),
            Until::Redirects => place.each_of_redirects(frame),
            Until::Page => place.each_of_page(frame),
            Until::Processing => place.each_of_processing(frame),
        }
    }

    /// Writes the stack trace as `Throwable#printStackTrace` does.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_trace(&self, place: &Place<'_>, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "{self}")?;
        let mut written = Ok(());
        let mut count = 0;
        self.each_frame(place, &mut |frame| {
            count += 1;
            written = written.and_then(|()| write_frame(frame, out));
        });
        written?;
        match &self.origin.cause {
            Some(cause) => cause.write(count, out),
            None => Ok(()),
        }
    }

    /// The stack trace.
    pub fn trace(&self, place: &Place<'_>) -> String {
        let mut text = String::with_capacity(3_000);
        self.write_trace(place, &mut text)
            .expect("a String takes everything");
        text
    }

    /// The length of the stack trace in bytes of UTF-8.
    pub fn trace_len(&self, place: &Place<'_>) -> u64 {
        let mut length = Length(0);
        self.write_trace(place, &mut length)
            .expect("a counter takes everything");
        length.0
    }
}

struct Length(u64);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len() as u64;
        Ok(())
    }
}

/// JMeter's classes in Kotlin that frames name.
const KOTLIN: &[&str] = &["org.apache.jmeter.testelement.TestElement"];

fn write_frame(frame: Frame, out: &mut impl Write) -> fmt::Result {
    let (method, line) = frame.rsplit_once(':').unwrap_or((frame, "0"));
    let class = method.rsplit_once('.').map_or(method, |(class, _)| class);
    let is_java = ["java.", "javax.", "sun.", "jdk."]
        .iter()
        .any(|package| class.starts_with(package));
    let module = if is_java { "java.base/" } else { "" };
    if line == "0" {
        return writeln!(out, "\tat {module}{method}(Native Method)");
    }
    let simple = class.rsplit_once('.').map_or(class, |(_, simple)| simple);
    let file = simple.split_once('$').map_or(simple, |(outer, _)| outer);
    let language = if KOTLIN.contains(&class) {
        "kt"
    } else {
        "java"
    };
    writeln!(out, "\tat {module}{method}({file}.{language}:{line})")
}

#[cfg(test)]
mod tests;
