//! One sample, with the arithmetic of JMeter's `SampleResult`.

mod body;
mod written;

use std::rc::Rc;

use memchr::{memchr, memchr2_iter};

use crate::phases::Phases;
use crate::sample_trace::SampleTrace;
use crate::streams::StreamSample;
use crate::text::SharedText;

pub use body::ResponseBody;
pub use written::Written;

/// Prefix of the response message that identifies a transaction controller's sample
/// (`TransactionController.NUMBER_OF_SAMPLES_IN_TRANSACTION_PREFIX`).
pub const TRANSACTION_MESSAGE_PREFIX: &str = "Number of samples in transaction : ";

/// How many bytes of an HTML page are searched for its charset (`HTTPSampleResult.getDataEncodingNoDefault`).
const META_SEARCH_BYTES: usize = 2000;
const META_CONTENT_TYPE: &[u8] = b"<meta http-equiv=\"content-type\" content=\"";
/// Offset of the letter q in it.
const META_Q: usize = 12;

/// Known binary media types, and the exceptions among them (`SampleResult.isBinaryType`).
const BINARY_TYPES: [&str; 3] = ["image/", "audio/", "video/"];
const NON_BINARY_TYPES: [&str; 4] = [
    "audio/x-mpegurl",
    "audio/mpegurl",
    "video/f4m",
    "image/svg+xml",
];

/// The JMeter result class behind a sample; it decides the element name and content in XML files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleKind {
    /// `HTTPSampleResult`, written as `httpSample`.
    Http,
    /// `SampleResult`, written as `sample`.
    #[default]
    Other,
}

/// The data type column; JMeter lets scripts store any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DataType {
    /// Never set: the empty text.
    #[default]
    Unset,
    /// `text`.
    Text,
    /// `bin`.
    Binary,
    /// Any object that a script stored.
    Other(SharedText),
}

impl DataType {
    /// The text as result files show it.
    pub fn as_str(&self) -> &str {
        match self {
            DataType::Unset => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
            DataType::Other(text) => text,
        }
    }

    /// The data type of a `Content-Type` value (`SampleResult.isBinaryType`).
    pub fn of_content_type(content_type: &str) -> DataType {
        let starts = |list: &[&str]| list.iter().any(|entry| content_type.starts_with(entry));
        if !starts(&NON_BINARY_TYPES) && starts(&BINARY_TYPES) {
            DataType::Binary
        } else {
            DataType::Text
        }
    }
}

/// The verdict of one assertion (`AssertionResult`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssertionResult {
    /// Name of the assertion element; absent when JMeter's is null.
    pub name: Option<SharedText>,
    /// The assertion did not hold.
    pub failure: bool,
    /// The assertion could not be evaluated.
    pub error: bool,
    /// Why; absent when JMeter's is null.
    pub message: Option<SharedText>,
}

/// One sample. Plain data; times are milliseconds unless the name says otherwise.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Sample label.
    pub label: Rc<str>,
    /// Name of the virtual user's thread.
    pub thread_name: Rc<str>,
    /// Response code.
    pub code: SharedText,
    /// Response message.
    pub message: SharedText,
    /// Whether the sample succeeded.
    pub success: bool,
    /// Data type column.
    pub data_type: DataType,
    /// Charset of the response, when known (`getDataEncodingNoDefault`).
    pub encoding: Option<SharedText>,
    /// `Content-Type` of the response.
    pub content_type: Option<Rc<str>>,
    /// Start, since the Unix epoch.
    pub start_ms: i64,
    /// End, since the Unix epoch.
    pub end_ms: i64,
    /// Elapsed time without the idle time.
    pub elapsed_ms: i64,
    /// Time inside the sample that does not count (`samplePause`).
    pub idle_ms: i64,
    /// Time to the first byte of the response.
    pub latency_ms: i64,
    /// Time to establish the connection.
    pub connect_ms: i64,
    /// Elapsed time in microseconds, for histograms; 0 means that only `elapsed_ms` is known.
    pub service_us: u64,
    /// The part of the elapsed time that passed in the generator itself, in microseconds; `None` if the kernel's stamps do not tell.
    pub own_us: Option<u64>,
    /// The phases of the elapsed time, where they are known more precisely than by the milliseconds above.
    pub phases: Phases,
    /// Measurements of a streamed response.
    pub stream: Option<Box<StreamSample>>,
    /// How late the generator itself was, when an intended start is known, in microseconds.
    pub delay_us: Option<u64>,
    /// Its trace, if requests are traced.
    pub trace: Option<Box<SampleTrace>>,
    /// Bytes received, used only where both sizes below are 0 (`SampleResult.getBytesAsLong`). SMTP sets -1, scripts any number.
    pub bytes: i64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes of the response headers.
    pub header_bytes: u64,
    /// Bytes of the response body; 0 falls back to the length of `response_data`.
    pub body_bytes: u64,
    /// Active threads of the thread group.
    pub group_threads: u32,
    /// Active threads of all groups.
    pub all_threads: u32,
    /// The request URL.
    pub url: Option<Rc<str>>,
    /// Number of samples that this one represents.
    pub sample_count: u32,
    /// Verdicts of the assertions, in order.
    pub assertions: Vec<AssertionResult>,
    /// Sub-results, in order.
    pub children: Vec<Sample>,
    /// JMeter's result class.
    pub kind: SampleKind,
    /// Request headers.
    pub request_headers: Option<Rc<str>>,
    /// Response headers.
    pub response_headers: Option<Rc<str>>,
    /// The data that a non-HTTP sampler sent; absent when JMeter's is null.
    pub sampler_data: Option<Rc<str>>,
    /// Response body, if anything needs it.
    pub response_data: Option<ResponseBody>,
    /// HTTP method.
    pub method: Option<SharedText>,
    /// HTTP request body or query string.
    pub query_string: Option<Rc<str>>,
    /// HTTP cookies sent.
    pub cookies: Option<Rc<str>>,
    /// Target of the response's redirect.
    pub redirect_location: Option<Rc<str>>,
    /// File a result saver wrote the response to.
    pub result_file_name: Option<Rc<str>>,
    /// Values of the `sample_variables`, in their order; a missing value is JMeter's null.
    pub variables: Vec<Option<Rc<str>>>,
    /// The sample must not reach listeners (`SampleResult.setIgnore`).
    pub ignore: bool,
    /// Next number for a renamed sub-result (`SampleResult.subResultIndex`).
    pub next_child_index: u32,
    /// Where it has been recorded.
    pub written: Written,
}

thread_local! {
    /// The empty text that default samples share, which saves an allocation.
    static EMPTY: Rc<str> = Rc::from("");
}

impl Default for Sample {
    fn default() -> Self {
        EMPTY.with(|empty| Sample::new(Rc::clone(empty), Rc::clone(empty)))
    }
}

impl Sample {
    /// A sample as JMeter's constructors leave it: not successful, no times, one sample.
    pub fn new(label: Rc<str>, thread_name: Rc<str>) -> Sample {
        Sample {
            label,
            thread_name,
            code: SharedText::EMPTY,
            message: SharedText::EMPTY,
            success: false,
            data_type: DataType::Unset,
            encoding: None,
            content_type: None,
            start_ms: 0,
            end_ms: 0,
            elapsed_ms: 0,
            idle_ms: 0,
            latency_ms: 0,
            connect_ms: 0,
            service_us: 0,
            own_us: None,
            phases: Phases::default(),
            stream: None,
            delay_us: None,
            trace: None,
            bytes: 0,
            sent_bytes: 0,
            header_bytes: 0,
            body_bytes: 0,
            group_threads: 0,
            all_threads: 0,
            url: None,
            sample_count: 1,
            assertions: Vec::new(),
            children: Vec::new(),
            kind: SampleKind::Other,
            request_headers: None,
            response_headers: None,
            sampler_data: None,
            response_data: None,
            method: None,
            query_string: None,
            cookies: None,
            redirect_location: None,
            result_file_name: None,
            variables: Vec::new(),
            ignore: false,
            next_child_index: 0,
            written: Written::default(),
        }
    }

    /// Code 200, message OK, successful (`SampleResult.setResponseOK`).
    pub fn set_ok(&mut self) {
        self.code = SharedText::Static("200");
        self.message = SharedText::Static("OK");
        self.success = true;
    }

    /// Sets the end and, when a start is set, the elapsed time without the idle time (`SampleResult.setEndTime`).
    pub fn set_end(&mut self, end_ms: i64) {
        self.end_ms = end_ms;
        if self.start_ms != 0 {
            self.elapsed_ms = end_ms - self.start_ms - self.idle_ms;
        }
    }

    /// Takes `now_ms` as the arrival of the first byte (`SampleResult.latencyEnd`).
    pub fn mark_latency(&mut self, now_ms: i64) {
        self.latency_ms = now_ms - self.start_ms - self.idle_ms;
    }

    /// Takes `now_ms` as the end of connecting (`SampleResult.connectEnd`).
    pub fn mark_connect(&mut self, now_ms: i64) {
        self.connect_ms = now_ms - self.start_ms - self.idle_ms;
    }

    /// Bytes received: headers plus body, or the plain count where both are 0 (`SampleResult.getBytesAsLong`).
    pub fn received_bytes(&self) -> i64 {
        match self.header_bytes + self.body_size() {
            0 => self.bytes,
            sum => i64::try_from(sum).unwrap_or(i64::MAX),
        }
    }

    /// The same for sums, in which a negative size counts as none.
    pub fn counted_bytes(&self) -> u64 {
        u64::try_from(self.received_bytes()).unwrap_or(0)
    }

    /// Size of the body: the stated one, or else the length of the stored data (`SampleResult.getBodySizeAsLong`).
    pub fn body_size(&self) -> u64 {
        if self.body_bytes == 0 {
            self.response_data
                .as_ref()
                .map(|data| data.len() as u64)
                .unwrap_or(0)
        } else {
            self.body_bytes
        }
    }

    /// 1 for a failed sample, else 0, however many samples it represents (`SampleResult.getErrorCount`).
    pub fn error_count(&self) -> u32 {
        u32::from(!self.success)
    }

    /// Elapsed time in microseconds: the precise one, or else the milliseconds. Never negative.
    pub fn precise_service_us(&self) -> u64 {
        if self.service_us == 0 {
            u64::try_from(self.elapsed_ms)
                .map(|ms| ms.saturating_mul(1000))
                .unwrap_or(0)
        } else {
            self.service_us
        }
    }

    /// Adds the generator's own part of a sample that is a part of this one. If one is unknown, so is the sum.
    pub fn add_own(&mut self, part: &Sample) {
        self.own_us = self.own_us.zip(part.own_us).map(|(own, more)| own + more);
    }

    /// Adds the server's times of a sample that is a part of this one.
    pub fn add_trace(&mut self, part: &Sample) {
        if let (Some(mine), Some(theirs)) = (&mut self.trace, &part.trace) {
            mine.add(theirs);
        }
    }

    /// Sets the precise elapsed time. It was added up from several measurements, and each of the `parts` may have been rounded
    /// to milliseconds. A value that does not match the milliseconds belongs to another interval and is ignored.
    pub fn refine_service(&mut self, us: u64, parts: u64) {
        self.service_us = 0;
        if us.abs_diff(self.precise_service_us()) <= (parts + 1) * 1000 {
            self.service_us = us;
        }
    }

    /// Adds a sub-result that happened within this sample: extends the end time, adds the bytes, and passes on the thread name
    /// (`SampleResult.addSubResult`). `rename` is false in functional mode, with `subresults.disable_renaming`, and for
    /// children of a transaction.
    pub fn add_child(&mut self, mut child: Sample, rename: bool) {
        child.thread_name = Rc::clone(&self.thread_name);
        self.set_end(self.end_ms.max(child.end_ms));
        self.bytes = self.received_bytes() + child.received_bytes();
        self.sent_bytes += child.sent_bytes;
        self.header_bytes += child.header_bytes;
        self.body_bytes = self.body_size() + child.body_size();
        self.attach_child(child, rename);
    }

    /// Adds a sub-result without changing this sample's times and sizes (`SampleResult.addRawSubResult`, `storeSubResult`). If
    /// `rename` is set, the sub-result is renamed to `label-0`, `label-1`, …
    pub fn attach_child(&mut self, mut child: Sample, rename: bool) {
        if rename {
            child.label = format!("{}-{}", self.label, self.next_child_index).into();
            self.next_child_index += 1;
        }
        self.children.push(child);
    }

    /// Adds a verdict; a failure or an error makes the sample fail (`JMeterThread.processAssertion`).
    pub fn apply_assertion(&mut self, result: AssertionResult) {
        self.success = self.success && !(result.error || result.failure);
        self.assertions.push(result);
    }

    /// The failure message for a result row: the first assertion message, of a failed assertion or not
    /// (`SampleResult.getFirstAssertionFailureMessage`).
    pub fn first_assertion_message(&self) -> Option<&str> {
        self.assertions
            .iter()
            .find_map(|result| result.message.as_deref())
    }

    /// Sets the thread name and thread counts of this sample only (`JMeterThread.fillThreadInformation`). A transaction needs
    /// no more, since its sub-results already have theirs.
    pub fn set_thread(&mut self, name: &Rc<str>, group_threads: u32, all_threads: u32) {
        self.thread_name = Rc::clone(name);
        self.group_threads = group_threads;
        self.all_threads = all_threads;
    }

    /// Sets them for this sample and its direct sub-results; `JMeterThread` does not descend further.
    pub fn set_thread_with_children(
        &mut self,
        name: &Rc<str>,
        group_threads: u32,
        all_threads: u32,
    ) {
        self.set_thread(name, group_threads, all_threads);
        for child in &mut self.children {
            child.set_thread(name, group_threads, all_threads);
        }
    }

    /// Whether a transaction controller made this sample (`TransactionController.isFromTransactionController`).
    pub fn is_from_transaction(&self) -> bool {
        self.message.starts_with(TRANSACTION_MESSAGE_PREFIX)
    }

    /// Whether an HTTP response redirects (`HTTPSampleResult.isRedirect`): 301, 302, 303, 308, and 307 of a GET or HEAD.
    pub fn is_redirect(&self) -> bool {
        match self.code.as_str() {
            "301" | "302" | "303" | "308" => true,
            "307" => matches!(self.method.as_deref(), Some("GET" | "HEAD")),
            _ => false,
        }
    }

    /// Takes charset and data type from a `Content-Type` value (`SampleResult.setEncodingAndType`).
    pub fn set_encoding_and_type(&mut self, content_type: &str) {
        if let Some(charset) = charset_of(content_type) {
            self.encoding = Some(charset.to_owned().into());
        }
        self.data_type = DataType::of_content_type(content_type);
    }

    /// For an HTML page without a charset in its headers, takes the one its `meta` element names
    /// (`HTTPSampleResult.getDataEncodingNoDefault`: the first 2,000 bytes, that one spelling only).
    pub fn sniff_html_encoding(&mut self) {
        let html = self
            .content_type
            .as_deref()
            .is_some_and(|content_type| content_type.starts_with("text/html"));
        if self.kind != SampleKind::Http || self.encoding.is_some() || !html {
            return;
        }
        let Some(data) = &self.response_data else {
            return;
        };
        let prefix = &data[..data.len().min(META_SEARCH_BYTES)];
        // `q` is the rarest letter of the tag in HTML pages.
        let tag = memchr2_iter(b'q', b'Q', prefix).find_map(|at| {
            let tag = prefix.get(at.checked_sub(META_Q)?..)?;
            let (name, value) = tag.split_at_checked(META_CONTENT_TYPE.len())?;
            name.eq_ignore_ascii_case(META_CONTENT_TYPE)
                .then_some(value)
        });
        let value = tag.and_then(|value| Some(&value[..memchr(b'"', value)?]));
        if let Some(value) = value {
            let content_type = String::from_utf8_lossy(value).into_owned();
            self.set_encoding_and_type(&content_type);
        }
    }
}

/// The charset parameter of a `Content-Type` value, without its quotes.
fn charset_of(content_type: &str) -> Option<&str> {
    const PREFIX: &str = "charset=";
    let at = content_type.to_ascii_lowercase().find(PREFIX)?;
    let rest = &content_type[at + PREFIX.len()..];
    let charset = rest.split(';').next().unwrap_or(rest);
    if charset.starts_with(['"', '\'']) {
        // JMeter removes the last character, whatever it is. A lone quote makes JMeter fail; here it gives an empty charset.
        let mut chars = charset.chars();
        chars.next();
        chars.next_back();
        Some(chars.as_str())
    } else {
        Some(charset)
    }
}

#[cfg(test)]
mod tests;
