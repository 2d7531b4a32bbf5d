//! XML result files, of JMeter's format 1.2 and of its older format with long attribute names.
//!
//! The sub-results of a sample are part of it and not counted separately. The samples inside a transaction controller's
//! sample are counted (`jmeter.transaction.parent` and 'generate parent sample' put them there).

use std::io::BufRead;

use drumfire_platform::causes::cause;
use drumfire_results::{AssertionResult, Recording, Sample};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::stamp::{StampReader, integer};
use super::{ContentError, Jtl, JtlOptions, NO_RESULTS, RowInput, Selection};

/// Reads an XML file from its first byte.
pub fn read(input: &mut impl BufRead, options: &JtlOptions) -> Result<Jtl, ContentError> {
    let (input, ends) = RowInput::new(input, options.row_bytes);
    let mut reader = Reader::from_reader(input);
    reader.config_mut().check_end_names = false;
    let mut elements = Elements {
        stamps: StampReader::new(options.zone.clone()),
        stamp_at_start: options.stamp_at_start,
        open: Vec::new(),
        text: String::new(),
        assertion: None,
        jtl: Jtl::default(),
        is_closed: false,
        selection: options.selection.clone(),
    };
    let mut buffer = Vec::new();
    let mut broken = None;
    let mut has_root = false;
    loop {
        buffer.clear();
        ends.tell();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => {
                if let (false, Event::Start(tag) | Event::Empty(tag)) = (has_root, &event) {
                    check_root(tag)?;
                    has_root = true;
                }
                let taken = elements.take(&event);
                taken.map_err(|message| ContentError {
                    line: None,
                    message: format!("sample {}: {message}", elements.jtl.rows + 1),
                    remedy: "the file is not one that JMeter wrote; write it again",
                })?;
            }
            // A killed run leaves such a file; everything before this is valid.
            Err(error) if elements.jtl.rows > 0 => {
                broken = system_cause(&error);
                break;
            }
            Err(error) => {
                return Err(ContentError {
                    line: None,
                    message: system_cause(&error)
                        .unwrap_or_else(|| "this is not XML that can be read".to_owned()),
                    remedy: "a result file in XML starts with <testResults version=\"1.2\">",
                });
            }
        }
    }
    let mut jtl = elements.jtl;
    if !elements.is_closed {
        let why = broken.map(|why| format!(" ({why})")).unwrap_or_default();
        jtl.warnings.push(format!(
            "the file is cut off or damaged after sample {}{why}; what comes before was read",
            jtl.rows
        ));
    }
    Ok(jtl)
}

/// The cause of an error that is not one of the XML: of the system, or a limit.
fn system_cause(error: &quick_xml::Error) -> Option<String> {
    match error {
        quick_xml::Error::Io(error) => Some(cause(error)),
        _ => None,
    }
}

fn check_root(tag: &BytesStart<'_>) -> Result<(), ContentError> {
    let name = tag.name();
    match name.as_ref() {
        "testResults" => Ok(()),
        other => Err(ContentError {
            line: None,
            message: format!("this is not a result file: it starts with <{other}>"),
            remedy: match other {
                "jmeterTestPlan" => "this is a plan: write `drumfire run PLAN.jmx`",
                _ => NO_RESULTS,
            },
        }),
    }
}

struct Elements {
    stamps: StampReader,
    stamp_at_start: bool,
    /// Samples whose end tag has not been read, outermost first.
    open: Vec<Sample>,
    /// The text of the current element.
    text: String,
    assertion: Option<AssertionResult>,
    jtl: Jtl,
    is_closed: bool,
    selection: Selection,
}

impl Elements {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::Empty(tag) => {
                self.start(tag)?;
                self.end(tag.name().as_ref());
                Ok(())
            }
            Event::End(tag) => {
                self.end(tag.name().as_ref());
                Ok(())
            }
            Event::Text(text) => {
                self.text.push_str(text);
                Ok(())
            }
            Event::GeneralRef(name) => {
                // JMeter writes characters that XML does not allow as references, which XML readers refuse.
                let entity = format!("&{};", &**name);
                let text = quick_xml::escape::unescape(&entity);
                self.text.push_str(text.as_deref().unwrap_or("\u{fffd}"));
                Ok(())
            }
            Event::CData(data) => {
                self.text.push_str(data);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        self.text.clear();
        match tag.name().as_ref() {
            "httpSample" | "sample" | "sampleResult" => {
                let sample = self.sample(tag)?;
                self.open.push(sample);
            }
            "assertionResult" => self.assertion = Some(AssertionResult::default()),
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, tag: &BytesStart<'_>) -> Result<Sample, String> {
        let mut sample = Sample::default();
        let mut stamp_ms = None;
        // Duplicate attributes are not checked.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|_| "an attribute is broken")?;
            let text = quick_xml::escape::unescape(&attribute.value)
                .unwrap_or_else(|_| attribute.value.clone());
            let number = || {
                let name = attribute.key.as_ref();
                integer(text.as_bytes()).ok_or_else(|| format!("{name}: '{text}' is not a number"))
            };
            match attribute.key.as_ref() {
                "t" | "time" => sample.elapsed_ms = number()?,
                "lt" => sample.latency_ms = number()?,
                "ct" => sample.connect_ms = number()?,
                "ts" | "timeStamp" => {
                    let stamp = self.stamps.read(text.as_bytes());
                    stamp_ms = Some(stamp.ok_or_else(|| format!("'{text}' is not a time stamp"))?);
                }
                "s" | "success" => sample.success = text == "true",
                "lb" | "label" => sample.label = text.as_ref().into(),
                "rc" | "responseCode" => sample.code = text.into_owned().into(),
                "rm" | "responseMessage" => sample.message = text.into_owned().into(),
                "tn" | "threadName" => sample.thread_name = text.as_ref().into(),
                // The size has its own field: the data is only stored for display.
                "by" => sample.body_bytes = number()?.max(0) as u64,
                "sby" => sample.sent_bytes = number()?.max(0) as u64,
                "na" => sample.all_threads = u32::try_from(number()?).unwrap_or(0),
                "sc" => sample.sample_count = u32::try_from(number()?).unwrap_or(1),
                _ => {}
            }
        }
        let stamp_ms = stamp_ms.ok_or("there is no time stamp (ts)")?;
        sample.start_ms = if self.stamp_at_start {
            stamp_ms
        } else {
            stamp_ms.saturating_sub(sample.elapsed_ms)
        };
        sample.end_ms = sample.start_ms.saturating_add(sample.elapsed_ms);
        Ok(sample)
    }

    fn end(&mut self, name: &str) {
        let text = std::mem::take(&mut self.text);
        match name {
            "testResults" => self.is_closed = true,
            "httpSample" | "sample" | "sampleResult" => self.end_sample(),
            "assertionResult" => {
                if let (Some(assertion), Some(sample)) =
                    (self.assertion.take(), self.open.last_mut())
                {
                    sample.assertions.push(assertion);
                }
            }
            _ => self.end_detail(name, text),
        }
    }

    /// Handles the end of an element within a sample or within its assertion.
    fn end_detail(&mut self, name: &str, text: String) {
        if let Some(assertion) = &mut self.assertion {
            match name {
                "name" => assertion.name = Some(text.into()),
                "failure" => assertion.failure = text == "true",
                "error" => assertion.error = text == "true",
                "failureMessage" => assertion.message = Some(text.into()),
                _ => {}
            }
            return;
        }
        // The report shows texts only of failed samples.
        let Some(sample) = self.open.last_mut().filter(|sample| !sample.success) else {
            return;
        };
        match name {
            "requestHeader" => sample.request_headers = Some(text.into()),
            "responseHeader" => sample.response_headers = Some(text.into()),
            "responseData" => sample.response_data = Some(text.into_bytes().into()),
            "queryString" | "samplerData" if !text.is_empty() => {
                sample.query_string = Some(text.into());
            }
            "java.net.URL" => sample.url = Some(text.into()),
            "method" => sample.method = Some(text.into()),
            _ => {}
        }
    }

    fn end_sample(&mut self) {
        let Some(sample) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(sample),
            None => {
                self.jtl.rows += 1;
                count(&mut self.jtl.recording, &sample, &self.selection);
            }
        }
    }
}

fn count(recording: &mut Recording, sample: &Sample, selection: &Selection) {
    if selection.takes_label(&sample.label) && selection.takes_start(sample.start_ms) {
        recording.add(sample);
    }
    if sample.is_from_transaction() {
        for child in &sample.children {
            count(recording, child, selection);
        }
    }
}
