//! MQTT DisConnect (`DisConnectSampler#sample`) and Efficient MQTT DisConnect (`EfficientDisConnectSampler#sample`).

use drumfire_results::Sample;

use super::link::UserLink;
use super::sampler::{MqttSampler, MqttUser, fail};
use crate::run::context::Context;
use crate::run::failures::Failed;

impl MqttSampler {
    pub(super) fn disconnect(&self, cx: &Context, user: &mut MqttUser, sample: &mut Sample) {
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        let Some(link) = &user.link else {
            return self.find_none(sample);
        };
        // As in the plugin, a connection that the server has ended stays the user's.
        if self.leave(cx, link, sample) {
            user.link = None;
        }
    }

    /// False if there is no sample.
    pub(super) fn disconnect_many(
        &self,
        cx: &Context,
        user: &mut MqttUser,
        sample: &mut Sample,
    ) -> bool {
        let Some(many) = &mut user.many else {
            let why = "the plugin fails if no Efficient MQTT Connect ran before";
            cx.note_failure(Failed::Sample, None, why);
            return false;
        };
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        sample.success = true;
        for link in &many.links {
            let mut part = self.part(cx, sample);
            self.leave(cx, link, &mut part);
            sample.add_child(part, self.rename_children);
        }
        for _ in many.links.len()..many.capacity {
            let mut part = self.part(cx, sample);
            self.find_none(&mut part);
            sample.add_child(part, self.rename_children);
        }
        sample.sample_count = many.capacity as u32;
        many.links.clear();
        many.is_open = false;
        true
    }

    fn part(&self, cx: &Context, sample: &Sample) -> Sample {
        let mut part = Sample::new(sample.label.clone(), cx.thread_name.clone());
        part.start_ms = cx.clock().now_ms();
        part.set_end(part.start_ms);
        part
    }

    fn find_none(&self, sample: &mut Sample) {
        let message = "Connection not found.";
        fail(
            sample,
            self.needs,
            "500",
            message,
            "Failed. Connection not found.",
        );
    }

    /// Ends a connection; false if the server has ended it before.
    fn leave(&self, cx: &Context, user: &UserLink, sample: &mut Sample) -> bool {
        let shown = &user.link.shown;
        let left = user.link.disconnect();
        sample.set_end(cx.clock().now_ms());
        if left.is_err() {
            let id = &user.link.client_id;
            // `MessageFormat` takes the apostrophe of the plugin's text for a quotation mark.
            let body = format!("Client [{id}] failed. Couldnt disconnect connection.");
            let message = format!("Failed to disconnect Connection {shown}.");
            fail(sample, self.needs, "501", message, &body);
            return false;
        }
        sample.set_ok();
        sample.message = format!("Connection {shown} disconnected.").into();
        self.body(sample, "Successful.");
        true
    }
}
