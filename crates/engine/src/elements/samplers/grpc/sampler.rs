//! One sample of a gRPC sampler.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_expr::Template;
use drumfire_grpc::{Code, Dialect, Status};
use drumfire_health::Stage;
use drumfire_http::{
    Body, Decode, Failure, Incoming, Limits, Outgoing, Times, WantedParts, exchange, place_in,
};
use drumfire_java::values::parse_long;
use drumfire_results::Sample;

use super::channel::{Channel, Request, UserChannel};
use super::outcome::{CallEnd, SampleStyle, SubResults};
use super::schemas::Schemas;
use super::settings::{GrpcSettings, Unprepared};
use crate::elements::config::keystore_config::Keystore;
use crate::elements::samplers::http::hints;
use crate::elements::samplers::http::response::{broken_stage, phases, since};
use crate::elements::samplers::http::state::hints as run_hints;
use crate::run::context::{Context, StateId};
use crate::run::failures::Failed;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// A decoded gRPC sampler.
pub struct GrpcSampler {
    pub settings: GrpcSettings,
    /// Version 1.0 of the plugin.
    pub is_old: bool,
    pub dialect: Dialect,
    pub schemas: Arc<Schemas>,
    /// The folder of the plan, from which relative folders are found.
    pub base_dir: PathBuf,
    pub keystore: Option<Arc<Keystore>>,
    pub allowed_hosts: Option<Arc<[String]>>,
    /// Whether the plugin's faults are reproduced: a channel stays shut after a failed call, and a status without a description
    /// has no row.
    pub has_faults: bool,
    /// How many messages of a stream become sub-results, and whether these are numbered.
    pub most_parts: usize,
    pub renames_parts: bool,
    pub channel: StateId,
    pub needs: Needs,
}

/// The result of the exchange of a call.
enum Exchanged {
    Response(Box<Incoming>),
    Failed(Box<Failure>),
    /// The call was not sent.
    Refused(Status),
    Interrupted,
}

impl GrpcSampler {
    /// `GRPCSampler#sample`. A sample that fails before it sends anything begins and ends now; in JMeter it has no times.
    async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        let label = name.eval(cx);
        let sample = Sample::new(cx.label(label), cx.thread_name.clone());
        let mut sample = cx.worker.room.sample(sample);
        let mut user = match cx.take_state::<UserChannel>(self.channel) {
            Some(user) => user,
            None => Box::new(UserChannel {
                settings: self.settings.of_channel(cx, &self.base_dir),
                open: None,
            }),
        };
        let is_sampled = self.call(cx, &mut user, &mut sample).await;
        cx.put_state(self.channel, user);
        is_sampled.then_some(sample)
    }

    /// False if an exception discards the sample.
    async fn call(&self, cx: &mut Context, user: &mut UserChannel, sample: &mut Sample) -> bool {
        let (mut request, channel) = match self.prepare(cx, user).await {
            Ok(prepared) => prepared,
            Err(error) => {
                sample.start_ms = cx.clock().now_ms();
                sample.set_end(sample.start_ms);
                let end = self.style().unprepared(sample, &error);
                if end == CallEnd::Lost {
                    cx.note_failure(Failed::Sample, None, &error.cause);
                }
                return end != CallEnd::Lost;
            }
        };
        self.show(sample, channel, &request);
        let deadline = self.settings.deadline.eval(cx);
        let Some(deadline_ms) = parse_long(&deadline) else {
            let why = format!("the deadline `{}` is no whole number", &*deadline);
            cx.note_failure(Failed::Sample, None, &why);
            return false;
        };
        let limit = u64::try_from(deadline_ms).ok().filter(|ms| *ms > 0);
        let limit = limit.map(Duration::from_millis);
        let begin = Instant::now();
        let exchanged = self.exchange(cx, channel, &mut request, limit, begin).await;
        channel.keep(request);
        sample.start_ms = cx.clock().ms(begin);
        let end = self.settle(cx, sample, channel, exchanged);
        if end != CallEnd::Open {
            channel.shut();
        }
        if end == CallEnd::Lost {
            let why = format!(
                "the plugin fails on{}, which has no description",
                &*sample.message
            );
            cx.note_failure(Failed::Sample, None, &why);
        }
        end != CallEnd::Lost
    }

    /// Fills the sample of a call that has ended.
    fn settle(
        &self,
        cx: &Context,
        sample: &mut Sample,
        channel: &Channel,
        exchanged: Exchanged,
    ) -> CallEnd {
        match exchanged {
            Exchanged::Response(incoming) => {
                let end = self
                    .style()
                    .read(sample, &incoming, channel, self.parts(cx));
                let secure = incoming.handshake.is_some();
                self.time(cx, sample, &incoming.times, Stage::Read, secure);
                sample.sent_bytes = incoming.wire.sent_bytes;
                if !incoming.reused {
                    sample.mark_connect(
                        cx.clock()
                            .ms(incoming.times.connected.unwrap_or(incoming.times.begin)),
                    );
                }
                channel.session.worker().take_back(incoming);
                end
            }
            Exchanged::Failed(failure) => {
                hints::tell(run_hints(cx), &failure, &channel.target);
                let (host, port) = (&channel.target.host, channel.target.port);
                let status = Status::of_failure(&failure, host, port);
                let last = broken_stage(failure.phase);
                self.time(cx, sample, &failure.times, last, channel.target.tls);
                self.style().fail(sample, &status)
            }
            Exchanged::Refused(status) => {
                sample.set_end(cx.clock().now_ms());
                self.style().fail(sample, &status)
            }
            Exchanged::Interrupted => {
                sample.set_end(cx.clock().now_ms());
                let exception = "java.lang.InterruptedException\n".to_owned();
                self.style().fail_with(sample, exception);
                CallEnd::Failed
            }
        }
    }

    /// The request and the channel of a call. A channel whose request cannot be made is shut.
    async fn prepare<'u>(
        &self,
        cx: &mut Context,
        user: &'u mut UserChannel,
    ) -> Result<(Request, &'u mut Channel), Unprepared> {
        if user.open.is_none() {
            // Boxed, since few samples open a channel, and asking a server for its services takes a large future.
            let opened = Box::pin(Channel::new(self, cx, &user.settings)).await?;
            user.open = Some(opened);
        }
        let channel = user.open.as_mut().expect("it has just been made");
        if !self.has_faults {
            channel.is_shut = false;
        }
        let settings = &self.settings;
        let file = settings.request_file.as_ref();
        match channel.request(cx, &settings.request, file, &settings.metadata) {
            Ok(request) => Ok((request, channel)),
            Err(error) => {
                channel.shut();
                Err(error)
            }
        }
    }

    /// Shows the request if something reads it.
    fn show(&self, sample: &mut Sample, channel: &Channel, request: &Request) {
        if !self.needs.request {
            return;
        }
        let mut shown = String::new();
        let (schema, input) = (&channel.schema, channel.method.input);
        // The message was encoded just now, so it can be printed.
        let _ = schema.print(&request.first, input, self.style().request(), &mut shown);
        sample.sampler_data = Some(shown.into());
        if !self.is_old {
            sample.request_headers = Some(request.metadata.shown().into());
        }
    }

    async fn exchange(
        &self,
        cx: &Context,
        channel: &Channel,
        request: &mut Request,
        limit: Option<Duration>,
        begin: Instant,
    ) -> Exchanged {
        if channel.is_shut {
            let status = Status::new(Code::UNAVAILABLE, "Channel shutdown invoked");
            return Exchanged::Refused(status);
        }
        let (head, body) = match channel.head(request, limit) {
            Ok(parts) => parts,
            Err(status) => return Exchanged::Refused(status),
        };
        let out = Outgoing {
            body: Body::Bytes(body),
            begin,
            ..Outgoing::new(head)
        };
        let want = WantedParts {
            decode: match channel.dialect {
                Dialect::Connect => Decode::All,
                Dialect::Grpc | Dialect::Web => Decode::Nothing,
            },
            trailers: true,
            pieces: channel.method.server_streaming,
            ..WantedParts::ALL
        };
        let limits = Limits {
            total: limit,
            ..Limits::default()
        };
        let exchange = exchange(&channel.session, &channel.target, out, want, limits);
        match cx.attend(exchange).await {
            Some(Ok(incoming)) => Exchanged::Response(incoming),
            Some(Err(failure)) => Exchanged::Failed(failure),
            None => Exchanged::Interrupted,
        }
    }

    /// Sets the sample's times, which the plugin leaves at the elapsed time.
    fn time(&self, cx: &Context, sample: &mut Sample, times: &Times, last: Stage, secure: bool) {
        let clock = cx.clock();
        if cx.is_timed {
            cx.worker.stages.add_exchange(times, secure, last);
        }
        sample.set_end(clock.ms(times.end));
        sample.service_us = since(times.begin, times.end);
        sample.own_us = times.own().map(|own| own.as_micros() as u64);
        sample.phases = phases(times, secure);
        if let Some(first) = times.first_body.or(times.first_byte) {
            sample.mark_latency(clock.ms(first));
        }
    }

    fn parts(&self, cx: &Context) -> SubResults {
        SubResults {
            clock: cx.clock(),
            most: self.most_parts,
            renames: self.renames_parts,
        }
    }

    fn style(&self) -> SampleStyle {
        SampleStyle {
            is_old: self.is_old,
            has_faults: self.has_faults,
            needs: self.needs,
        }
    }
}

impl Sampler for GrpcSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        let room = cx.worker.room.futures.room();
        SamplerTurn::Placed(place_in(room, || self.sample(cx, name)))
    }
}
