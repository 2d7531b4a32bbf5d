//! MQTT Connect (`ConnectSampler#sample`) and Efficient MQTT Connect (`EfficientConnectSampler#sample`).

use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_expr::Template;
use drumfire_health::Stage;
use drumfire_http::{Target, Times};
use drumfire_results::Sample;

use super::link::UserLink;
use super::open::{OpenFailure, OpenRules, open};
use super::sampler::{Many, MqttSampler, MqttUser, fail};
use super::settings::{ConnectSettings, ConnectValues, int};
use super::subscribe::qos;
use crate::decode::setting::Flag;
use crate::elements::samplers::http::hints;
use crate::elements::samplers::http::response::{phases, since};
use crate::elements::samplers::http::settings::permit;
use crate::elements::samplers::http::state::{hints as run_hints, user as http_user};
use crate::run::context::{Context, Unfinished};
use crate::run::failures::Failed;

/// The settings of Efficient MQTT Connect.
pub struct ManySettings {
    pub connect: ConnectSettings,
    pub capacity: Template,
    pub subscribes: Flag,
    pub topics: Template,
    pub qos: Template,
}

/// The result of an attempt to connect.
enum Attempt {
    Open(UserLink),
    /// The settings cannot be used.
    Unusable,
    Failed,
    /// An exception of the plugin discards the sample.
    Lost,
}

impl MqttSampler {
    /// False if there is no sample.
    pub(super) async fn connect(
        &self,
        cx: &mut Context,
        user: &mut MqttUser,
        settings: &ConnectSettings,
        sample: &mut Sample,
    ) -> bool {
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        if let Some(known) = &user.link {
            let message = format!("Connection {} is already established.", known.link.shown);
            let body = "Failed. Connection is already established.";
            fail(sample, self.needs, "500", message, body);
            return true;
        }
        const FAILED: &str = "Failed to establish Connection null.";
        let (attempt, id) = self.attempt(cx, settings, None, sample).await;
        match attempt {
            Attempt::Open(link) => {
                self.succeed_to_connect(sample, &link);
                user.client_id = Some(link.link.client_id.clone());
                user.link = Some(link);
            }
            Attempt::Unusable => fail(
                sample,
                self.needs,
                "502",
                format!("{FAILED} Please check SSL authentication info."),
                "Failed to establish Connection. Please check SSL authentication info.",
            ),
            Attempt::Failed => {
                let body = format!("Client [{id}] failed with exception.");
                fail(sample, self.needs, "502", FAILED, &body);
            }
            Attempt::Lost => return false,
        }
        true
    }

    /// False if there is no sample.
    pub(super) async fn connect_many(
        &self,
        cx: &mut Context,
        user: &mut MqttUser,
        settings: &ManySettings,
        sample: &mut Sample,
    ) -> bool {
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        if user.many.as_ref().is_some_and(|many| many.is_open) {
            let message = "Connections are already established.";
            let body = "Failed. Connections are already established.";
            fail(sample, self.needs, "500", message, body);
            return true;
        }
        let capacity = match int(&settings.capacity, cx) {
            Ok(capacity) => usize::try_from(capacity).unwrap_or(0),
            Err(error) => {
                cx.note_failure(Failed::Sample, None, error.as_ref());
                return false;
            }
        };
        sample.success = true;
        let mut many = Many {
            capacity,
            ..Many::default()
        };
        let label: Rc<str> = Rc::clone(&sample.label);
        for number in 0..capacity {
            let mut part = Sample::new(label.clone(), cx.thread_name.clone());
            part.start_ms = cx.clock().now_ms();
            part.set_end(part.start_ms);
            let (attempt, id) = self
                .attempt(cx, &settings.connect, Some(number), &mut part)
                .await;
            match attempt {
                Attempt::Open(link) => {
                    self.succeed_to_connect(&mut part, &link);
                    if settings.subscribes.get(cx) {
                        self.subscribe_part(cx, settings, &link, &mut part).await;
                    }
                    many.links.push(link);
                }
                Attempt::Unusable | Attempt::Failed | Attempt::Lost => {
                    let body = format!("Client [{id}] failed with exception.");
                    let message = "Failed to establish Connections.";
                    fail(&mut part, self.needs, "502", message, &body);
                }
            }
            sample.add_child(part, self.rename_children);
        }
        sample.sample_count = capacity as u32;
        many.is_open = !many.links.is_empty();
        user.many = Some(many);
        true
    }

    async fn subscribe_part(
        &self,
        cx: &mut Context,
        settings: &ManySettings,
        user: &UserLink,
        part: &mut Sample,
    ) {
        let topics = settings.topics.eval(cx).into_string();
        let qos = qos(&settings.qos.eval(cx));
        let subscribed = self.subscribe_link(cx, &user.link, &topics, qos).await;
        part.set_end(cx.clock().now_ms());
        if subscribed.is_err() {
            let id = &user.link.client_id;
            let body = format!("Client [{id}] failed. Could not subscribe to topic(s) {topics}.");
            let message = format!("Failed to subscripbe to topics(s) {topics}.");
            fail(part, self.needs, "501", message, &body);
        }
    }

    fn succeed_to_connect(&self, sample: &mut Sample, link: &UserLink) {
        sample.set_ok();
        let shown = &link.link.shown;
        sample.message = format!("Connection {shown} established successfully.").into();
        self.body(sample, "Successful.");
    }

    /// Opens a connection and times it. Also gives the client identifier.
    async fn attempt(
        &self,
        cx: &mut Context,
        settings: &ConnectSettings,
        number: Option<usize>,
        sample: &mut Sample,
    ) -> (Attempt, String) {
        let values = match settings.values(cx, number) {
            Ok(values) => values,
            Err(error) => {
                tracing::error!("Failed to establish Connection null: {error}");
                return (Attempt::Unusable, String::new());
            }
        };
        let (Some(port), false) = (values.port, values.host.is_empty()) else {
            let why = "the plugin fails on an empty server name, and on a port above 65535";
            cx.note_failure(Failed::Sample, None, why);
            return (Attempt::Lost, values.client_id);
        };
        let Some(connect) = &values.connect else {
            tracing::error!("Failed to establish Connection null: the keep-alive is out of range");
            return (Attempt::Failed, values.client_id);
        };
        if let Err(exception) = permit(self.allowed_hosts.as_deref(), &values.host) {
            tracing::error!("{}", exception.response_message());
            return (Attempt::Failed, values.client_id);
        }
        let mut target = Target::new(values.host.as_str(), port, values.tls);
        target.identity.clone_from(&values.identity);
        let random = cx.random();
        let rules = OpenRules {
            random: [random.next_u64(), random.next_u64()],
            clock: cx.clock(),
            max_packet_bytes: self.max_packet_bytes,
            max_waiting_bytes: self.max_waiting_bytes,
        };
        let joint = Rc::clone(&http_user(cx).joint);
        let begin = Instant::now();
        sample.start_ms = cx.clock().ms(begin);
        let limit = Duration::from_secs(u64::try_from(values.timeout_s).unwrap_or(0));
        let opening = open(&joint.session, &target, &values, connect, &rules);
        let opened = cx.attend_by(Some(begin + limit), opening).await;
        let end = Instant::now();
        sample.set_end(cx.clock().ms(end));
        sample.service_us = since(begin, end);
        let why = match opened {
            Ok(Ok((link, times))) => {
                self.time(cx, sample, &times, &values);
                return (Attempt::Open(UserLink::start(link)), values.client_id);
            }
            Ok(Err(failure)) => {
                if let OpenFailure::Unconnected(failure) = &failure {
                    hints::tell(run_hints(cx), failure, &target);
                }
                failure.to_string()
            }
            Err(Unfinished::TooLong) => format!("no answer within {} seconds", values.timeout_s),
            Err(Unfinished::Interrupted) => "interrupted".to_owned(),
        };
        let at = target.authority();
        tracing::error!("Failed to establish Connection null: {at}: {why}");
        (Attempt::Failed, values.client_id)
    }

    /// Sets the times within connecting, which the plugin leaves at 0.
    fn time(&self, cx: &Context, sample: &mut Sample, times: &Times, values: &ConnectValues) {
        let clock = cx.clock();
        if cx.is_timed {
            cx.worker
                .stages
                .add_exchange(times, values.tls, Stage::Read);
        }
        sample.phases = phases(times, values.tls);
        sample.own_us = times.own().map(|own| own.as_micros() as u64);
        sample.mark_connect(clock.ms(times.connected.unwrap_or(times.begin)));
        sample.mark_latency(clock.ms(times.end));
    }
}
