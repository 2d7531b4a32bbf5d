//! The sample of a call, as the plugin fills it.

use std::fmt::Write as _;
use std::ops::Range;

use drumfire_grpc::call;
use drumfire_grpc::{Code, PrintError, PrintStyle, Status};
use drumfire_http::Incoming;
use drumfire_results::{DataType, Sample, SharedText};

use super::channel::Channel;
use super::settings::Unprepared;
use crate::base::clock::Clock;
use crate::run::needs::Needs;

/// The message of a sample without a call (`GrpcSamplerConstant`).
const UNPREPARED: &str = " GRPCSampler parsing exception: An unknown exception occurred before the GRPC request was initiated, See response body for the stack trace.";

/// How a call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The channel stays open.
    Open,
    /// The channel is shut.
    Failed,
    /// The channel is shut, and the plugin fails on its sample, which has no row.
    Lost,
}

/// How a version of the plugin fills samples.
#[derive(Clone, Copy)]
pub struct SampleStyle {
    /// Version 1.0, whose sampler is a TestBean.
    pub is_old: bool,
    /// A status without a description has no row.
    pub has_faults: bool,
    pub needs: Needs,
}

impl SampleStyle {
    /// How messages of requests are printed.
    pub fn request(self) -> PrintStyle {
        PrintStyle {
            defaults: !self.is_old,
            own_names: false,
        }
    }

    fn response(self) -> PrintStyle {
        PrintStyle {
            defaults: !self.is_old,
            own_names: !self.is_old,
        }
    }

    /// Fills the sample of a response.
    pub fn read(
        self,
        sample: &mut Sample,
        incoming: &Incoming,
        channel: &Channel,
        parts: SubResults,
    ) -> CallEnd {
        let mut messages = MessageList::default();
        let (schema, method) = (&channel.schema, &channel.method);
        let status = call::read(
            incoming,
            channel.dialect,
            channel.streams(),
            channel.limits,
            &mut |message, end| {
                messages.received += 1;
                let text = &mut messages.text;
                let start = text.len();
                match schema.print(message, method.output, self.response(), text) {
                    Ok(()) => messages.printed.push(Printed {
                        text: start..text.len(),
                        end,
                    }),
                    Err(error) => {
                        text.truncate(start);
                        messages.is_damaged |= matches!(error, PrintError::Malformed(_));
                    }
                }
            },
        );
        if status.is_ok()
            && (messages.is_damaged || messages.received > 1 && !method.server_streaming)
        {
            let status = Status::new(Code::CANCELLED, "Failed to read message.");
            return self.fail(sample, &status);
        }
        if !status.is_ok() {
            return self.fail(sample, &status);
        }
        if messages.received == 0 && !method.server_streaming {
            if self.is_old {
                let status = Status::new(Code::INTERNAL, "No value received for unary call");
                return self.fail(sample, &status);
            }
            self.fail_with(sample, "The stack trace is null".to_owned());
            return CallEnd::Open;
        }
        sample.data_type = DataType::Text;
        sample.success = true;
        sample.code = SharedText::Static("200");
        sample.message = SharedText::Static(if self.is_old { "Success" } else { " success" });
        if messages.printed.len() > 1 {
            self.attach_messages(sample, incoming, &messages, parts);
        }
        let text = messages.finish();
        if self.needs.body {
            sample.response_data = Some(text.into_bytes().into());
        } else {
            sample.body_bytes = text.len() as u64;
        }
        CallEnd::Open
    }

    /// Attaches a sub-result for each message of a stream, from the arrival of the one before it to its own.
    fn attach_messages(
        self,
        sample: &mut Sample,
        incoming: &Incoming,
        messages: &MessageList,
        parts: SubResults,
    ) {
        let mut since = incoming.times.begin;
        for message in messages.printed.iter().take(parts.most) {
            let pieces = &incoming.pieces;
            let piece = pieces.partition_point(|(length, _)| *length < message.end as u64);
            let at = pieces.get(piece).map_or(incoming.times.end, |(_, at)| *at);
            let text = &messages.text[message.text.clone()];
            let mut child = Sample::new(sample.label.clone(), sample.thread_name.clone());
            child.start_ms = parts.clock.ms(since);
            child.set_end(parts.clock.ms(at));
            child.service_us = at.saturating_duration_since(since).as_micros() as u64;
            child.data_type = DataType::Text;
            child.set_ok();
            child.response_data = self.needs.body.then(|| text.as_bytes().into());
            child.body_bytes = text.len() as u64;
            sample.attach_child(child, parts.renames);
            since = at;
        }
    }

    /// Fills the sample of a failed call (`generateErrorResult`, in which `SampleResult#setResponseData` fails without a text).
    pub fn fail(self, sample: &mut Sample, status: &Status) -> CallEnd {
        let (code, name) = (status.code.number(), status.code.name());
        let description = status.description.as_deref().unwrap_or_default();
        if self.is_old {
            let mut message = format!("Exception: io.grpc.StatusRuntimeException: {name}");
            if status.description.is_some() {
                let _ = write!(message, ": {description}");
            }
            self.put_failure(sample, message, "Caught exception while waiting for rpc");
            sample.encoding = None;
            // Its channel stays open.
            return CallEnd::Open;
        }
        self.put_failure(sample, format!(" {code} {name}"), description);
        match status.description {
            None if self.has_faults => CallEnd::Lost,
            _ => CallEnd::Failed,
        }
    }

    /// Fills the sample of a call that ended with another exception.
    pub fn fail_with(self, sample: &mut Sample, exception: String) {
        let text = format!(" {exception}");
        self.put_failure(sample, text.clone(), &text);
    }

    fn put_failure(self, sample: &mut Sample, message: String, data: &str) {
        sample.code = SharedText::Static(if self.is_old { "500" } else { " 500" });
        sample.message = message.into();
        put_text(sample, data);
    }

    /// Fills the sample of a request that could not be made (`generateErrorResultInInitGRPCRequest`). The response is the
    /// exception; in place of its frames stands the cause.
    ///
    /// Version 1.0 fails on its sample.
    pub fn unprepared(self, sample: &mut Sample, error: &Unprepared) -> CallEnd {
        sample.code = SharedText::Static(" 400");
        sample.message = SharedText::Static(UNPREPARED);
        let text = format!("{}\n\tat {}\n", error.exception, error.cause);
        put_text(sample, &text);
        if self.is_old && self.has_faults {
            CallEnd::Lost
        } else {
            CallEnd::Failed
        }
    }
}

fn put_text(sample: &mut Sample, text: &str) {
    sample.success = false;
    sample.data_type = DataType::Text;
    sample.encoding = Some(SharedText::Static("UTF-8"));
    sample.response_data = Some(text.as_bytes().into());
}

/// How the messages of a stream become sub-results.
#[derive(Clone, Copy)]
pub struct SubResults {
    pub clock: Clock,
    /// How many there may be.
    pub most: usize,
    /// Whether they are numbered.
    pub renames: bool,
}

/// The messages of a response as text.
#[derive(Default)]
struct MessageList {
    text: String,
    printed: Vec<Printed>,
    /// How many came, also without a JSON form.
    received: usize,
    is_damaged: bool,
}

/// A message that has a JSON form.
struct Printed {
    /// Its part of the text.
    text: Range<usize>,
    /// The length of the body at which it ends.
    end: usize,
}

impl MessageList {
    /// The only message, or a list as `java.util.List` prints it.
    fn finish(self) -> String {
        match self.printed.as_slice() {
            [_] => self.text,
            all => {
                let texts = all.iter().map(|one| &self.text[one.text.clone()]);
                let texts: Vec<&str> = texts.collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }
}
