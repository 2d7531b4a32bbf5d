//! The sample of a call, as the plugin fills it.

use std::fmt::Write as _;

use drumfire_grpc::call;
use drumfire_grpc::{Code, PrintError, PrintStyle, Status};
use drumfire_http::Incoming;
use drumfire_results::{DataType, Sample, SharedText};

use super::channel::Channel;
use super::settings::Unprepared;
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
    pub fn read(self, sample: &mut Sample, incoming: &Incoming, channel: &Channel) -> CallEnd {
        let mut messages = MessageList::default();
        let (schema, method) = (&channel.schema, &channel.method);
        let status = call::read(
            incoming,
            channel.dialect,
            channel.streams(),
            channel.limits,
            &mut |message| {
                messages.received += 1;
                let text = messages.next();
                let before = text.len();
                match schema.print(message, method.output, self.response(), text) {
                    Ok(()) => messages.printed += 1,
                    Err(error) => {
                        text.truncate(before);
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
        let text = messages.finish();
        if self.needs.body {
            sample.response_data = Some(text.into_bytes().into());
        } else {
            sample.body_bytes = text.len() as u64;
        }
        CallEnd::Open
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

/// The messages of a response as one text: the only one, or a list as `java.util.List` prints it.
#[derive(Default)]
struct MessageList {
    text: String,
    /// Messages that came, and those of them that have a JSON form.
    received: usize,
    printed: usize,
    is_damaged: bool,
}

impl MessageList {
    /// The text, to which the next message is appended.
    fn next(&mut self) -> &mut String {
        match self.printed {
            0 => {}
            1 if !self.text.starts_with('[') => {
                self.text.insert(0, '[');
                self.text.push_str(", ");
            }
            _ => self.text.push_str(", "),
        }
        &mut self.text
    }

    fn finish(mut self) -> String {
        match self.printed {
            0 => "[]".to_owned(),
            1 => self.text,
            _ => {
                self.text.push(']');
                self.text
            }
        }
    }
}
