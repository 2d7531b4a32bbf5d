//! MQTT Sub Sampler (`SubSampler#sample`).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_expr::Template;
use drumfire_java::values::parse_int;
use drumfire_mqtt::{Qos, SequenceWatch, check_filter, reason};
use drumfire_platform::message_error;
use drumfire_results::Sample;

use super::inbox::{Batch, Inbox, Wanted};
use super::link::{Link, SendFailure};
use super::sampler::{MqttSampler, MqttUser, fail};
use crate::decode::setting::Flag;
use crate::run::context::{Context, StateId, Unfinished};
use crate::run::failures::Failed;

/// The condition that time ends a sample (`Constants.SAMPLE_ON_CONDITION_OPTION1`).
const BY_TIME: &str = "specified elapsed time (ms)";
/// The pause after a failed sample (`Constants.SUB_FAIL_PENALTY`).
const PENALTY: Duration = Duration::from_secs(1);
/// How long a server may take to answer a subscription.
const PATIENCE: Duration = Duration::from_secs(10);

message_error! {
    /// Why there is no subscription.
    pub struct SubscribeError;
}

/// The settings of a Sub Sampler.
pub struct SubscribeSettings {
    pub topics: Template,
    pub qos: Template,
    pub stamped: Flag,
    pub shows_texts: Flag,
    pub condition: Template,
    pub value: Option<Template>,
    /// Whether lost and repeated messages are counted.
    pub numbered: bool,
    /// The user's [`Inbox`] of this sampler.
    pub inbox: StateId,
}

/// The condition that ends a sample.
enum Condition {
    Time(Duration),
    Count,
}

/// A failed sample.
struct Refusal {
    code: &'static str,
    message: String,
}

impl MqttSampler {
    /// False if there is no sample.
    pub(super) async fn subscribe(
        &self,
        cx: &mut Context,
        user: &MqttUser,
        settings: &SubscribeSettings,
        sample: &mut Sample,
    ) -> bool {
        match self.receive(cx, user, settings, sample).await {
            Ok(is_sampled) => is_sampled,
            Err(refusal) => {
                self.fail_subscribe(cx, user, sample, refusal).await;
                true
            }
        }
    }

    async fn receive(
        &self,
        cx: &mut Context,
        user: &MqttUser,
        settings: &SubscribeSettings,
        sample: &mut Sample,
    ) -> Result<bool, Refusal> {
        let link = user.link.as_ref().map(|user| user.link.clone());
        let link = link.ok_or_else(|| {
            let message = "Subscribe failed because connection is not established.";
            Refusal::new("500", message)
        })?;
        let (condition, wanted) = settings.condition(cx)?;
        let topics = settings.topics.eval(cx).into_string();
        let wrong = |filter| Some((filter, check_filter(filter).err()?));
        if let Some((filter, error)) = topics.split(',').find_map(wrong) {
            let why = format!("the plugin fails on the topic filter `{filter}`: {error}");
            cx.note_failure(Failed::Sample, None, &why);
            return Ok(false);
        }
        let inbox = Rc::clone(cx.state(settings.inbox, || {
            let mut inbox = Inbox::default();
            inbox.sequences = settings.numbered.then(SequenceWatch::default);
            Rc::new(RefCell::new(inbox))
        }));
        inbox.borrow_mut().wanted = wanted;
        link.deliver_to(&inbox);
        if !link.has_subscribed(&topics) {
            let qos = qos(&settings.qos.eval(cx));
            link.note_subscription(&topics);
            if let Err(error) = self.subscribe_link(cx, &link, &topics, qos).await {
                tracing::info!("subscribe failed: {error}");
                link.forget_subscription();
                let message = format!("Failed to subscribe to topic(s):{topics}");
                return Err(Refusal::new("501", message));
            }
        }
        match condition {
            Condition::Time(time) => drop(cx.attend_sleep(Instant::now() + time).await),
            Condition::Count => {
                if let Some(Err(end)) = cx.attend(link.batch(&inbox)).await {
                    return Err(Refusal::new("501", format!("Connection lost: {end}")));
                }
            }
        }
        let (batch, left_out) = inbox.borrow_mut().pop();
        let counts = inbox
            .borrow_mut()
            .sequences
            .as_mut()
            .map(SequenceWatch::take_counts);
        self.show(cx, sample, batch, wanted, counts);
        if left_out > 0 {
            let limit = self.max_waiting_bytes;
            cx.fail_by_limit(format!(
                "{left_out} messages exceeded {limit} bytes of waiting messages (drumfire.mqtt.max_waiting_bytes)"
            ));
        }
        Ok(true)
    }

    /// `SubSampler#produceResult`.
    fn show(
        &self,
        cx: &Context,
        sample: &mut Sample,
        batch: Batch,
        wanted: Wanted,
        counts: Option<(i64, u64)>,
    ) {
        sample.set_ok();
        let mut message = format!("Received {} of message.", grouped(batch.count));
        if let Some((lost, repeated)) = counts {
            message.push_str(&format!(" Lost: {lost}. Repeated: {repeated}."));
        }
        sample.message = message.into();
        sample.start_ms = cx.clock().now_ms();
        let average_ms = match wanted.stamped && batch.count > 0 {
            true => batch.average_ms as i64,
            false => 0,
        };
        sample.set_end(sample.start_ms + average_ms);
        sample.latency_ms = average_ms;
        sample.sample_count = batch.count;
        self.body(sample, &batch.texts);
        sample.body_bytes = batch.units;
        sample.bytes = batch.units as i64;
    }

    /// `SubSampler#fillFailedResult`.
    async fn fail_subscribe(
        &self,
        cx: &mut Context,
        user: &MqttUser,
        sample: &mut Sample,
        refusal: Refusal,
    ) {
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        let body = match &user.client_id {
            Some(id) => format!("Client [{id}]: {}", refusal.message),
            None => refusal.message.clone(),
        };
        fail(sample, self.needs, refusal.code, refusal.message, &body);
        cx.attend_sleep(Instant::now() + PENALTY).await;
    }

    /// Subscribes a connection to topic filters, which are separated by commas, and waits for the server's answer.
    pub(super) async fn subscribe_link(
        &self,
        cx: &Context,
        link: &Link,
        topics: &str,
        qos: Qos,
    ) -> Result<(), SubscribeError> {
        let filters: Vec<&str> = topics.split(',').collect();
        let (id, _) = link
            .subscribe(&filters, qos)
            .map_err(|failure| match failure {
                SendFailure::Ended => "MQTT client is not connected.".to_owned(),
                SendFailure::Refused(error) => error.to_string(),
            })?;
        let deadline = Instant::now() + PATIENCE;
        let codes = match cx.attend_by(Some(deadline), link.subscription(id)).await {
            Ok(Ok(codes)) => codes,
            Ok(Err(end)) => return Err(end.to_string().into()),
            Err(Unfinished::TooLong) => return Err("the server has not answered in time".into()),
            Err(Unfinished::Interrupted) => return Err("interrupted".into()),
        };
        match codes.iter().find(|code| **code >= 128) {
            Some(code) => Err(reason(*code).into()),
            None => Ok(()),
        }
    }
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>) -> Refusal {
        let message = message.into();
        Refusal { code, message }
    }
}

impl SubscribeSettings {
    fn condition(&self, cx: &mut Context) -> Result<(Condition, Wanted), Refusal> {
        let by_time = &*self.condition.eval(cx) == BY_TIME;
        let value = match &self.value {
            Some(value) => parse_int(&value.eval(cx)),
            None if by_time => Some(1000),
            None => Some(1),
        };
        let refuse = |code, message: &str| Err(Refusal::new(code, message));
        let wanted = Wanted {
            count: None,
            stamped: self.stamped.get(cx),
            texts: self.shows_texts.get(cx),
        };
        match (by_time, value) {
            (_, None) => refuse(
                "510",
                "Unrecognized value for sample elapsed time or message count.",
            ),
            (true, Some(..=0)) => {
                refuse("511", "Sample on elapsed time: must be greater than 0 ms.")
            }
            (false, Some(..=0)) => {
                refuse("512", "Sample on message count: must be greater than 1.")
            }
            (true, Some(ms)) => {
                let time = Duration::from_millis(ms.unsigned_abs().into());
                Ok((Condition::Time(time), wanted))
            }
            (false, Some(count)) => {
                let count = Some(count.unsigned_abs());
                Ok((Condition::Count, Wanted { count, ..wanted }))
            }
        }
    }
}

/// The quality of service of a subscription; the plugin takes 0 for anything else.
pub fn qos(text: &str) -> Qos {
    let number = parse_int(text).and_then(|number| u8::try_from(number).ok());
    number.and_then(Qos::of).unwrap_or_default()
}

/// A number as `java.text.MessageFormat` shows it.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_qualities_have_a_default() {
        let numbers = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let all = ["2", "3", "x", "-1"].map(qos);
        let none = Qos::AtMostOnce;
        assert_eq!(all, [Qos::ExactlyOnce, none, none, none]);
    }
}
