//! MQTT Pub Sampler (`PubSampler#sample`).

use std::rc::Rc;
use std::time::Instant;

use drumfire_expr::Template;
use drumfire_health::Stage;
use drumfire_http::{Times, place_in};
use drumfire_mqtt::{Message, Qos, TIME_MARK, TopicError, check_topic, reason};
use drumfire_results::{Sample, SharedText};

use super::link::{Link, SendFailure};
use super::sampler::{MqttSampler, MqttUser, fail};
use super::settings::{Unusable, int};
use crate::decode::setting::Flag;
use crate::elements::samplers::http::response::since;
use crate::elements::samplers::http::state::worker;
use crate::elements::samplers::own_part::own_us;
use crate::run::context::{Context, StateId, Unfinished};
use crate::run::sampler::SamplerTurn;

/// The letters of random payloads (`Util.seeds`), of which the last one is never taken.
const LETTERS: &[u8; 35] = b"abcdefghijklmnopqrstuvwxmy012345678";
/// The longest random payload; a packet cannot be longer.
const MAX_RANDOM: i32 = 256 << 20;

/// The settings of a Pub Sampler.
pub struct PublishSettings {
    pub topic: Template,
    pub qos: Template,
    pub stamped: Flag,
    pub retained: Flag,
    pub kind: Template,
    pub length: Template,
    pub message: Template,
    /// Whether payloads get sequence numbers.
    pub numbered: bool,
    /// The user's random payload of this sampler.
    pub random: StateId,
}

/// A message that was sent, for which the user may have to wait.
struct Sent {
    sample: Box<Sample>,
    link: Rc<Link>,
    begin: Instant,
    id: u16,
    is_taken: bool,
}

impl MqttSampler {
    pub(super) fn publish<'a>(
        &'a self,
        cx: &'a mut Context,
        mut user: Box<MqttUser>,
        settings: &'a PublishSettings,
        mut sample: Box<Sample>,
    ) -> SamplerTurn<'a> {
        let Some(link) = user.link.as_ref().map(|user| user.link.clone()) else {
            cx.put_state(self.user, user);
            sample.start_ms = cx.clock().now_ms();
            sample.set_end(sample.start_ms);
            let body = "Publish failed because connection is not established.";
            fail(
                &mut sample,
                self.needs,
                "500",
                "Publish: Connection not found.",
                body,
            );
            return SamplerTurn::Done(Some(sample));
        };
        let mut payload = std::mem::take(&mut user.payload);
        payload.clear();
        let prepared = settings.prepare(cx, &link, &mut payload);
        let begin = Instant::now();
        sample.start_ms = cx.clock().ms(begin);
        sample.sent_bytes = payload.len() as u64;
        if self.needs.request && prepared.is_ok() {
            sample.sampler_data = Some(String::from_utf8_lossy(&payload).into());
        }
        let sent = prepared.map(|(topic, qos, retain)| {
            link.forget_answers();
            let message = Message {
                topic: &topic,
                payload: &payload,
                qos,
                retain,
            };
            check_topic(&topic).map_err(|error| not_a_topic(&topic, error))?;
            link.publish(&message).map_err(|failure| match failure {
                SendFailure::Ended => "MQTT client is not connected.".to_owned(),
                SendFailure::Refused(error) => error.to_string(),
            })
        });
        user.payload = payload;
        cx.put_state(self.user, user);
        let (code, why) = match sent {
            Ok(Ok((id, is_taken))) => {
                let sent = Sent {
                    sample,
                    link,
                    begin,
                    id,
                    is_taken,
                };
                if id == 0 && is_taken {
                    return SamplerTurn::Done(Some(self.published(cx, sent, Ok(None))));
                }
                let room = cx.worker.room.futures.room();
                return SamplerTurn::Placed(place_in(room, || self.acknowledged(cx, sent)));
            }
            Ok(Err(why)) => ("501", why),
            Err(error) => ("502", error.into()),
        };
        self.time_publish(cx, &mut sample, begin, None);
        self.fail_publish(&mut sample, &link, code, &why);
        SamplerTurn::Done(Some(sample))
    }

    /// Waits until the server has acknowledged a message, or the kernel has taken it if it is of QoS 0.
    async fn acknowledged(&self, cx: &mut Context, sent: Sent) -> Option<Box<Sample>> {
        let limit = worker(cx).http.max_exchange();
        let deadline = limit.and_then(|limit| sent.begin.checked_add(limit));
        let (link, id, is_taken) = (&sent.link, sent.id, sent.is_taken);
        let waited = cx
            .attend_by(deadline, async {
                if !is_taken {
                    link.flushed().await;
                }
                if id == 0 {
                    return Ok((0, None));
                }
                link.published(id).await
            })
            .await;
        let outcome = match waited {
            Ok(Ok((code @ 128.., _))) => Err(reason(code).to_owned()),
            Ok(Ok((_, arrived))) => Ok(arrived),
            // `MqttSessionExpiredException`
            Ok(Err(_)) => Err("Session expired as connection was closed.".to_owned()),
            Err(Unfinished::TooLong) => Err("the server has not acknowledged in time".to_owned()),
            Err(Unfinished::Interrupted) => Err("interrupted".to_owned()),
        };
        Some(self.published(cx, sent, outcome))
    }

    /// The sample of a message. It was sent, and the kernel received the acknowledgement at this time; or it failed.
    fn published(
        &self,
        cx: &Context,
        sent: Sent,
        outcome: Result<Option<Instant>, String>,
    ) -> Box<Sample> {
        let mut sample = sent.sample;
        let answered = (sent.id != 0).then(Instant::now);
        self.time_publish(cx, &mut sample, sent.begin, answered);
        match outcome {
            Ok(arrived) => {
                sample.own_us = match sent.id {
                    // Nothing is awaited but the kernel, which has taken the message at once.
                    0 => sent.is_taken.then_some(sample.service_us),
                    _ => own_us(sent.begin, arrived),
                };
                sample.set_ok();
                let shown = &sent.link.shown;
                sample.message = format!("publish successfully for Connection {shown}.").into();
                self.body(&mut sample, "Publish successfuly.");
            }
            Err(why) => self.fail_publish(&mut sample, &sent.link, "501", &why),
        }
        sample
    }

    fn fail_publish(&self, sample: &mut Sample, link: &Link, code: &'static str, why: &str) {
        let body = format!("Client [{}] publish failed: {why}", link.client_id);
        let message = format!("Publish failed for connection {}.", link.shown);
        fail(sample, self.needs, code, SharedText::from(message), &body);
    }

    fn time_publish(
        &self,
        cx: &Context,
        sample: &mut Sample,
        begin: Instant,
        answered: Option<Instant>,
    ) {
        let end = answered.unwrap_or_else(Instant::now);
        sample.set_end(cx.clock().ms(end));
        sample.service_us = since(begin, end);
        sample.mark_latency(sample.end_ms);
        sample.phases.wait_us = answered.map_or(0, |at| since(begin, at));
        if cx.is_timed {
            let times = Times {
                begin,
                resolved: None,
                tcp_connected: None,
                connected: None,
                sent: Some(begin),
                arrivals: None,
                first_byte: answered,
                first_body: None,
                end,
            };
            let last = match answered {
                Some(_) => Stage::Read,
                None => Stage::Write,
            };
            cx.worker.stages.add_exchange(&times, false, last);
        }
    }
}

impl PublishSettings {
    /// Evaluates a message. Its topic may be none.
    fn prepare(
        &self,
        cx: &mut Context,
        link: &Link,
        payload: &mut Vec<u8>,
    ) -> Result<(String, Qos, bool), Unusable> {
        let stamped = self.stamped.get(cx);
        let body = self.body(cx)?;
        let qos = match int(&self.qos, cx)? {
            1 => Qos::AtLeastOnce,
            2 => Qos::ExactlyOnce,
            // The plugin keeps the sampler's last one for other numbers, and begins with 0.
            _ => Qos::AtMostOnce,
        };
        let topic = self.topic.eval(cx).into_string();
        let retain = self.retained.get(cx);
        if stamped {
            payload.extend_from_slice(cx.clock().now_ms().to_string().as_bytes());
            payload.extend_from_slice(TIME_MARK.as_bytes());
        }
        if self.numbered {
            let number = link.sequence.borrow_mut().next(&link.client_id);
            payload.extend_from_slice(number.as_bytes());
        }
        payload.extend_from_slice(&body);
        Ok((topic, qos, retain))
    }

    fn body(&self, cx: &mut Context) -> Result<Vec<u8>, Unusable> {
        let kind = self.kind.eval(cx).into_string();
        match &*kind {
            "String" => Ok(self.message.eval(cx).into_string().into_bytes()),
            "Hex string" => from_hex(&self.message.eval(cx)),
            "Random string with fixed length" => {
                if let Some(known) = cx.take_state::<Vec<u8>>(self.random) {
                    let body = (*known).clone();
                    cx.put_state(self.random, known);
                    return Ok(body);
                }
                let length = int(&self.length, cx)?.clamp(0, MAX_RANDOM);
                let random = cx.random();
                let letter = |_| LETTERS[(random.next_u64() % LETTERS.len() as u64) as usize];
                let body: Vec<u8> = (0..length).map(letter).collect();
                cx.put_state(self.random, Box::new(body.clone()));
                Ok(body)
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// `DatatypeConverter#parseHexBinary`.
pub fn from_hex(text: &str) -> Result<Vec<u8>, Unusable> {
    let units = text.encode_utf16().count();
    if !units.is_multiple_of(2) {
        return Err(format!("hexBinary needs to be even-length: {text}").into());
    }
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8))
        .collect();
    let digits =
        digits.ok_or_else(|| format!("contains illegal character for hexBinary: {text}"))?;
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

/// The message of `MqttTopicImpl#of` for a text that is no topic.
fn not_a_topic(topic: &str, error: TopicError) -> String {
    match error {
        TopicError::Empty => "Topic must be at least one character long.".to_owned(),
        TopicError::Wildcard(sign, at) => {
            let kind = if sign == '#' { "multi" } else { "single" };
            format!(
                "Topic [{topic}] must not contain {kind} level wildcard ({sign}), found at index {at}."
            )
        }
        other => format!("Topic [{topic}]: {other}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_hexadecimal_as_java_reads_them() {
        assert_eq!(from_hex("68C6c6").as_deref(), Ok(&[0x68, 0xc6, 0xc6][..]));
        let refused = |text: &str| from_hex(text).map_err(String::from);
        let odd = "hexBinary needs to be even-length: abc".to_owned();
        assert_eq!(refused("abc"), Err(odd));
        let illegal = "contains illegal character for hexBinary: xy".to_owned();
        assert_eq!(refused("xy"), Err(illegal));
    }
}
