//! One sample of an SMTP Sampler (`SmtpSampler#sample`).

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::Template;
use drumfire_health::Stage;
use drumfire_http::Target;
use drumfire_mail::Message;
use drumfire_results::{DataType, Sample, SharedText};

use super::security::Begin;
use super::settings::{SmtpSettings, SmtpValues};
use super::transport::{SendFailure, Sending, send};
use crate::elements::samplers::http::hints;
use crate::elements::samplers::http::response::{phases, since};
use crate::elements::samplers::http::settings::{permit, took_too_long};
use crate::elements::samplers::http::state::{hints as run_hints, user as http_user, worker};
use crate::run::context::{Context, Unfinished};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// A decoded SMTP Sampler.
pub struct SmtpSampler {
    pub settings: SmtpSettings,
    pub needs: Needs,
    pub allowed_hosts: Option<Arc<[String]>>,
}

impl SmtpSampler {
    async fn sample(&self, cx: &mut Context, name: &Template) -> Box<Sample> {
        let label = name.eval(cx);
        let mut sample = Box::new(Sample::new(cx.label(label), cx.thread_name.clone()));
        let prepared = self.settings.values(cx);
        // In JMeter, a sample that fails before it connects has no times.
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        let prepared = prepared.map_err(|exception| exception.to_string());
        let counted = prepared.and_then(|(values, message)| {
            let size = match values.counts_bytes {
                true => counted(&message)?,
                false => -1,
            };
            Ok((values, message, size))
        });
        let (values, message, size) = match counted {
            Ok(prepared) => prepared,
            Err(exception) => {
                tracing::warn!("Error while preparing message: {exception}");
                fail(&mut sample, exception);
                return sample;
            }
        };
        sample.bytes = size;
        sample.data_type = DataType::Text;
        self.show_request(&mut sample, &message);
        self.send(cx, &mut sample, &values, &message).await;
        self.show_body(&mut sample, &message);
        sample
    }

    async fn send(
        &self,
        cx: &mut Context,
        sample: &mut Sample,
        values: &SmtpValues,
        message: &Message,
    ) {
        let server = &values.server;
        if let Err(exception) = permit(self.allowed_hosts.as_deref(), &server.host) {
            return fail(sample, exception.message.unwrap_or_default().into_owned());
        }
        let limit = worker(cx).http.max_exchange();
        let begin = Instant::now();
        let deadline = limit.and_then(|limit| begin.checked_add(limit));
        sample.start_ms = cx.clock().ms(begin);
        let joint = Rc::clone(&http_user(cx).joint);
        let sending = send(&joint.session, values, message);
        let sent = cx.attend_by(deadline, sending).await;
        let end = Instant::now();
        sample.set_end(cx.clock().ms(end));
        sample.service_us = since(begin, end);
        let sending = match sent {
            Ok(sending) => sending,
            Err(Unfinished::TooLong) => {
                return fail(sample, took_too_long(limit.unwrap_or_default()));
            }
            Err(Unfinished::Interrupted) => return fail(sample, "interrupted".to_owned()),
        };
        sample.own_us = sending.own_us;
        time(cx, sample, &sending, values);
        if let Some(failure) = &sending.unconnected {
            let target = Target::new(server.host.clone(), server.port, false);
            hints::tell(run_hints(cx), failure, &target);
        }
        match sending.outcome {
            Ok(()) => {
                sample.set_ok();
                sample.message = SharedText::Static("Message successfully sent!\n");
            }
            Err(SendFailure::Login(exception)) => fail(
                sample,
                format!(
                    "AuthenticationFailedException: authentication failed - wrong username / password!\n{exception}"
                ),
            ),
            Err(SendFailure::Other(message)) => fail(sample, message),
        }
    }

    /// `SmtpSampler#getRequestHeaders` and `getSamplerData`.
    fn show_request(&self, sample: &mut Sample, message: &Message) {
        if !self.needs.request {
            return;
        }
        sample.request_headers = Some(message.shown_headers().into());
        let shown = message.shown_content().unwrap_or_else(|exception| {
            format!("Error occurred trying to save request info: {exception}")
        });
        sample.sampler_data = Some(shown.into());
    }

    /// The mail's body is the response (`SmtpSampler#processSampler`).
    fn show_body(&self, sample: &mut Sample, message: &Message) {
        let Some(body) = message.shown_body() else {
            tracing::warn!("Failed to set result response data: the encoding is not known");
            return;
        };
        sample.body_bytes = body.len() as u64;
        sample.response_data = self.needs.body.then(|| (&*body).into());
    }
}

/// The size of the mail.
fn counted(message: &Message) -> Result<i64, String> {
    let size = message.size();
    let size = size.map_err(|error| error.to_string())?;
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

fn fail(sample: &mut Sample, message: String) {
    sample.success = false;
    sample.code = SharedText::Static("500");
    sample.message = message.into();
}

/// Sets the times within the sample, which JMeter does not measure; the columns for latency and connecting stay 0, as there.
fn time(cx: &Context, sample: &mut Sample, sending: &Sending, values: &SmtpValues) {
    let Some(times) = &sending.times else {
        return;
    };
    let is_secure = values.security.begin == Begin::AtOnce;
    sample.phases = phases(times, is_secure);
    let sent_and_answered = times.sent.zip(times.first_byte);
    sample.phases.wait_us = sent_and_answered.map_or(0, |(sent, first)| since(sent, first));
    if cx.is_timed {
        cx.worker.stages.add_exchange(times, is_secure, Stage::Read);
    }
}

impl Sampler for SmtpSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(self.sample(cx, name).await) })
    }
}
