//! The common part of the MQTT samplers.

use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_results::{Sample, SharedText};

use super::connect::ManySettings;
use super::link::UserLink;
use super::publish::PublishSettings;
use super::settings::ConnectSettings;
use super::subscribe::SubscribeSettings;
use crate::run::context::{Context, StateId};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// A decoded MQTT sampler.
pub struct MqttSampler {
    pub action: MqttAction,
    pub needs: Needs,
    /// The user's [`MqttUser`].
    pub user: StateId,
    /// In front of the labels of the Efficient samplers (`AbstractMQTTSampler#getLabelPrefix`).
    pub many_prefix: String,
    pub rename_children: bool,
    pub allowed_hosts: Option<Arc<[String]>>,
    /// The largest packet that a server may send.
    pub max_packet_bytes: usize,
    /// The memory of a connection's messages that no sampler has taken.
    pub max_waiting_bytes: usize,
}

/// The action of a sampler.
pub enum MqttAction {
    Connect(Box<ConnectSettings>),
    ConnectMany(Box<ManySettings>),
    Publish(Box<PublishSettings>),
    Subscribe(Box<SubscribeSettings>),
    /// MQTT DisConnect (`net.xmeter.samplers.DisConnectSampler`): ends the user's MQTT connection.
    Disconnect,
    /// Efficient MQTT DisConnect (`net.xmeter.samplers.EfficientDisConnectSampler`): ends the connections of Efficient MQTT Connect.
    DisconnectMany,
}

/// The connections of a user.
#[derive(Default)]
pub struct MqttUser {
    pub link: Option<UserLink>,
    /// The client identifier of the last connection, which stays when the connection ends.
    pub client_id: Option<String>,
    pub many: Option<Many>,
    /// The memory of the last payload.
    pub payload: Vec<u8>,
}

/// The connections of Efficient MQTT Connect.
#[derive(Default)]
pub struct Many {
    pub capacity: usize,
    pub links: Vec<UserLink>,
    /// Whether there is one, and it was not ended.
    pub is_open: bool,
}

impl MqttSampler {
    /// Sets the response data.
    pub(super) fn body(&self, sample: &mut Sample, text: &str) {
        set_body(sample, self.needs, text);
    }
}

impl Sampler for MqttSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        let label = name.eval(cx);
        let label = match &self.action {
            MqttAction::ConnectMany(_) | MqttAction::DisconnectMany => {
                format!("{}{}", self.many_prefix, &*label).into()
            }
            _ => cx.label(label),
        };
        let sample = Sample::new(label, cx.thread_name.clone());
        let mut sample = cx.worker.room.sample(sample);
        let mut user: Box<MqttUser> = cx.take_state(self.user).unwrap_or_default();
        // Each action has a future of its own: a user that waits for messages takes no room for connecting.
        match &self.action {
            MqttAction::Publish(settings) => self.publish(cx, user, settings, sample),
            MqttAction::Subscribe(settings) => SamplerTurn::wait(async move {
                let is_sampled = self.subscribe(cx, &user, settings, &mut sample).await;
                cx.put_state(self.user, user);
                is_sampled.then_some(sample)
            }),
            MqttAction::Connect(settings) => SamplerTurn::wait(async move {
                let is_sampled = self.connect(cx, &mut user, settings, &mut sample).await;
                cx.put_state(self.user, user);
                is_sampled.then_some(sample)
            }),
            MqttAction::ConnectMany(settings) => SamplerTurn::wait(async move {
                let connecting = self.connect_many(cx, &mut user, settings, &mut sample);
                let is_sampled = connecting.await;
                cx.put_state(self.user, user);
                is_sampled.then_some(sample)
            }),
            MqttAction::Disconnect => {
                self.disconnect(cx, &mut user, &mut sample);
                cx.put_state(self.user, user);
                SamplerTurn::Done(Some(sample))
            }
            MqttAction::DisconnectMany => {
                let is_sampled = self.disconnect_many(cx, &mut user, &mut sample);
                cx.put_state(self.user, user);
                SamplerTurn::Done(is_sampled.then_some(sample))
            }
        }
    }
}

/// Fails a sample.
pub fn fail(
    sample: &mut Sample,
    needs: Needs,
    code: &'static str,
    message: impl Into<SharedText>,
    body: &str,
) {
    sample.success = false;
    sample.code = SharedText::Static(code);
    sample.message = message.into();
    set_body(sample, needs, body);
}

fn set_body(sample: &mut Sample, needs: Needs, text: &str) {
    sample.body_bytes = text.len() as u64;
    sample.response_data = needs.body.then(|| text.as_bytes().into());
}
