//! Java Request (`JavaSampler`): runs one of the two classes that ship with JMeter, `SleepTest` and `JavaTest`.
//!
//! Properties: `classname`, `arguments`, to which those of Java Request Defaults are added. Both classes sleep for a time plus
//! the current time modulo a mask; `JavaTest` also sets the fields of the sample. Java runs other classes. `SleepTest` reads
//! its arguments once per user, as its `setupTest` does.

use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_elements::config::user_defined_variables::VARIABLES;
use drumfire_elements::items;
use drumfire_elements::samplers::java_request;
use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_jmx::{Props, Value};
use drumfire_results::{DataType, Sample};

use crate::decode::Decoder;
use crate::elements::samplers::debug_sampler::set_response;
use crate::elements::samplers::defaults::{is_defaults, is_made_by};
use crate::resolve::Element;
use crate::run::context::{Context, StateId};
use crate::run::control::Stopping;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

const SLEEP_TEST: &str = "org.apache.jmeter.protocol.java.test.SleepTest";
const JAVA_TEST: &str = "org.apache.jmeter.protocol.java.test.JavaTest";

/// Guis of the configuration elements that apply (`JavaSampler.APPLIABLE_CONFIG_CLASSES`).
pub(super) const CONFIG_GUIS: [&str; 2] = [
    "org.apache.jmeter.protocol.java.config.gui.JavaConfigGui",
    "org.apache.jmeter.config.gui.SimpleConfigGui",
];

pub struct JavaSampler {
    client: JavaClient,
    arguments: Vec<(Template, Template)>,
    keeps_body: bool,
    state: StateId,
}

enum JavaClient {
    Sleep,
    Java,
}

/// The settings of `SleepTest`, from its first sample on.
struct SleepSetup {
    label: Rc<str>,
    sleep_ms: i64,
    mask: i64,
}

/// The arguments of one sample. The first of equal names counts (`Arguments#getArgumentsAsMap`).
struct Arguments(Vec<(String, String)>);

/// Whether the plan names one of the classes that are built in.
pub fn is_native(props: &Props) -> bool {
    let class = props.str(java_request::CLASS_NAME.name);
    [SLEEP_TEST, JAVA_TEST].contains(&drumfire_java::text::trim(&class))
}

/// Decodes the sampler; `None` for a class that is not built in.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<JavaSampler> {
    let class = d.text_now(java_request::CLASS_NAME.name);
    let client = match drumfire_java::text::trim(&class) {
        SLEEP_TEST => JavaClient::Sleep,
        JAVA_TEST => JavaClient::Java,
        _ => return None,
    };
    let mut arguments = Vec::new();
    add_arguments(d, &d.element.props, &mut arguments);
    for config in configs {
        if is_defaults(config) && is_made_by(config, &CONFIG_GUIS) {
            add_arguments(d, &config.props, &mut arguments);
        }
    }
    Some(JavaSampler {
        client,
        arguments,
        keeps_body: needs.body,
        state: d.new_state(),
    })
}

/// Appends the arguments of one element.
fn add_arguments(d: &mut Decoder, props: &Props, arguments: &mut Vec<(Template, Template)>) {
    let Some(element) = props.element(java_request::ARGUMENTS.name) else {
        return;
    };
    for argument in element.props.list(VARIABLES.name) {
        if let Value::Element(argument) = &argument.value {
            let name = d.compile(&argument.props.str(items::NAME.name));
            arguments.push((name, d.compile(&argument.props.str(items::VALUE.name))));
        }
    }
}

impl JavaSampler {
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        match self.client {
            JavaClient::Sleep => self.sleep_test(cx, name).await,
            JavaClient::Java => self.java_test(cx, name).await,
        }
    }

    fn arguments(&self, cx: &mut Context) -> Arguments {
        Arguments(
            self.arguments
                .iter()
                .map(|(name, value)| (name.eval(cx).into_string(), value.eval(cx).into_string()))
                .collect(),
        )
    }

    async fn sleep_test(&self, cx: &mut Context, name: &Template) -> Sample {
        let setup = match cx.take_state::<SleepSetup>(self.state) {
            Some(setup) => setup,
            None => {
                let arguments = self.arguments(cx);
                let (sleep_ms, mask) = (
                    arguments.long("SleepTime", 1000),
                    arguments.long("SleepMask", 0x3ff),
                );
                Box::new(SleepSetup {
                    label: name.eval(cx).into_value(),
                    sleep_ms,
                    mask,
                })
            }
        };
        let mut sample = Sample::new(setup.label.clone(), cx.thread_name.clone());
        let sleep_ms = masked_ms(setup.sleep_ms, setup.mask, cx.clock().now_ms());
        cx.put_state(self.state, setup);
        sample.sampler_data = Some(format!("Sleep Test: time = {sleep_ms}").into());
        sample.success = timed_sleep(cx, &mut sample, sleep_ms).await;
        if !sample.success {
            sample.message = "java.lang.InterruptedException: sleep interrupted".into();
        }
        sample
    }

    async fn java_test(&self, cx: &mut Context, name: &Template) -> Sample {
        let arguments = self.arguments(cx);
        let label: Rc<str> = match arguments.text("Label", "") {
            "" => name.eval(cx).into_value(),
            label => {
                name.repeat(cx, 1);
                label.into()
            }
        };
        let mut sample = Sample::new(label, cx.thread_name.clone());
        sample.code = arguments.text("ResponseCode", "").to_owned().into();
        sample.message = arguments.text("ResponseMessage", "").to_owned().into();
        let sampler_data = arguments.text("SamplerData", "");
        if !sampler_data.is_empty() {
            sample.sampler_data = Some(sampler_data.into());
        }
        sample.sent_bytes = sampler_data.encode_utf16().count() as u64;
        let result_data = arguments.text("ResultData", "");
        if !result_data.is_empty() {
            set_response(&mut sample, result_data, self.keeps_body);
        }
        sample.data_type = DataType::Text;
        let sleep_ms = arguments.long("Sleep_Time", 100);
        let sleep_ms = masked_ms(
            sleep_ms,
            arguments.long("Sleep_Mask", 0xff),
            cx.clock().now_ms(),
        );
        let slept = timed_sleep(cx, &mut sample, sleep_ms).await;
        sample.success = slept && arguments.text("Status", "OK").eq_ignore_ascii_case("OK");
        sample
    }
}

impl Arguments {
    fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .unwrap_or(default)
    }

    /// `JavaSamplerContext#getLongParameter`, which accepts hexadecimal and octal numbers.
    fn long(&self, name: &str, default: i64) -> i64 {
        let Some((_, text)) = self.0.iter().find(|(known, _)| known == name) else {
            return default;
        };
        values::decode_long(text).unwrap_or_else(|| {
            tracing::warn!(
                "Value for parameter '{name}' not a long: '{text}'.  Using default: '{default}'."
            );
            default
        })
    }
}

/// The sleep time plus a part that only looks random.
fn masked_ms(sleep_ms: i64, mask: i64, now_ms: i64) -> i64 {
    if sleep_ms > 0 && mask > 0 {
        sleep_ms.saturating_add(now_ms % mask)
    } else {
        sleep_ms
    }
}

/// Sleeps as the sample's work; returns false if it was interrupted.
async fn timed_sleep(cx: &mut Context, sample: &mut Sample, sleep_ms: i64) -> bool {
    let start_ns = cx.clock().now_ns();
    sample.start_ms = (start_ns / 1_000_000) as i64;
    let slept = sleep(cx, sleep_ms).await;
    let end_ns = cx.clock().now_ns();
    sample.service_us = (end_ns - start_ns) / 1000;
    sample.set_end((end_ns / 1_000_000) as i64);
    slept
}

/// Sleeps. Unlike a timer's wait, the sleep of a sampler outlasts a shutdown; only 'stop now' ends it early.
pub async fn sleep(cx: &mut Context, sleep_ms: i64) -> bool {
    if sleep_ms <= 0 {
        return true;
    }
    if cx.interrupted {
        return false;
    }
    let due = Instant::now() + Duration::from_millis(sleep_ms as u64);
    let over = cx.attend_sleep(due).await;
    if !over && cx.shared.control.state() != Stopping::Now {
        cx.interrupt_waits();
    }
    over
}

impl Sampler for JavaSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn xml(class: &str, arguments: &[(&str, &str)]) -> String {
        let arguments: String = arguments
            .iter()
            .map(|(name, value)| {
                format!(
                    r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
                )
            })
            .collect();
        format!(
            r#"<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="j">
            <elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>
            <stringProp name="classname">{class}</stringProp></JavaSampler>"#
        )
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built")
    }

    fn samples(class: &str, arguments: &[(&str, &str)], count: usize) -> Vec<Sample> {
        let (sampler, mut cx) = fixture::decode(&xml(class, arguments), |d| {
            decode(d, &[], Needs::BODY).expect("the class is built in")
        });
        (0..count)
            .map(|number| {
                cx.vars.set_named("n", number.to_string().into());
                runtime().block_on(sampler.sample(&mut cx, &Template::raw("j")))
            })
            .collect()
    }

    /// A user that begins a sample as the end comes is told to stop in the middle of it (`OpenModelThreadGroup`).
    #[test]
    fn sleeps_that_start_after_the_interrupt_end_at_once() {
        let xml = xml(JAVA_TEST, &[("Sleep_Time", "60000"), ("Sleep_Mask", "0x0")]);
        let (sampler, mut cx) = fixture::decode(&xml, |d| {
            decode(d, &[], Needs::BODY).expect("the class is built in")
        });
        let now_ms = cx.clock().now_ms();
        cx.facts_mut().end_ms = Some(now_ms - 1);
        cx.facts_mut().interrupted_at_end = true;
        let sample = runtime().block_on(sampler.sample(&mut cx, &Template::raw("j")));
        assert!(!sample.success && sample.elapsed_ms < 30_000, "{sample:?}");
        cx.facts_mut().interrupted = false;
        let start = Instant::now();
        runtime().block_on(cx.sleep_ms(60_000));
        assert!(cx.interrupted && start.elapsed().as_secs() < 30);
    }

    #[test]
    fn a_java_test_looks_as_its_arguments_say() {
        let arguments = [
            ("Sleep_Time", "3"),
            ("Sleep_Mask", "0x0"),
            ("Label", "own ${n}"),
            ("ResponseCode", "201"),
            ("ResponseMessage", "made"),
            ("Status", "ok"),
            ("SamplerData", "sent"),
            ("ResultData", "got ü"),
        ];
        let both = samples(JAVA_TEST, &arguments, 2);
        assert_eq!((&*both[0].label, &*both[1].label), ("own 0", "own 1"));
        let sample = &both[0];
        assert_eq!(
            (
                sample.code.as_str(),
                sample.message.as_str(),
                sample.success
            ),
            ("201", "made", true)
        );
        assert_eq!((sample.sent_bytes, sample.received_bytes()), (4, 6));
        assert_eq!(
            (sample.sampler_data.as_deref(), sample.data_type.as_str()),
            (Some("sent"), "text")
        );
        assert!(sample.elapsed_ms >= 3);
    }

    #[test]
    fn defaults_add_arguments_but_neither_a_class_nor_those_of_other_protocols() {
        let sampler = xml(
            JAVA_TEST,
            &[
                ("Sleep_Time", "0"),
                ("ResponseMessage", ""),
                ("Label", "own"),
            ],
        );
        let defaults = |class: &str, gui: &str, code: &str| {
            let arguments = [
                ("Label", "theirs"),
                ("ResponseMessage", "theirs"),
                ("ResponseCode", code),
            ];
            xml(SLEEP_TEST, &arguments)
                .replace("JavaSampler", class)
                .replace("JavaTestSamplerGui", gui)
        };
        let http = defaults("ConfigTestElement", "HttpDefaultsGui", "http");
        let near = defaults(
            "JavaConfig",
            "org.apache.jmeter.protocol.java.config.gui.JavaConfigGui",
            "near",
        );
        let far = defaults("ConfigTestElement", "SimpleConfigGui", "far");
        let scope = format!(
            "{sampler}<hashTree>{http}<hashTree/>{near}<hashTree/>{far}<hashTree/></hashTree>{far}"
        );
        let (sampler, mut cx) = fixture::decode(&scope, |d| {
            let configs: Vec<&Element> = d.element.children.iter().collect();
            assert_eq!(configs.len(), 3);
            decode(d, &configs, Needs::BODY).expect("the class is built in")
        });
        let arguments = sampler.arguments(&mut cx);
        assert!(matches!(sampler.client, JavaClient::Java));
        let read =
            ["Label", "ResponseMessage", "ResponseCode"].map(|name| arguments.text(name, "none"));
        assert_eq!(read, ["own", "", "near"]);
    }

    #[test]
    fn a_java_test_without_arguments_succeeds_under_the_elements_name() {
        let sample = &samples(JAVA_TEST, &[("Sleep_Time", "0"), ("Status", "")], 1)[0];
        assert_eq!(
            (&*sample.label, sample.success, sample.received_bytes()),
            ("j", false, 0)
        );
        let sample = &samples(JAVA_TEST, &[("Sleep_Time", "0")], 1)[0];
        assert_eq!((sample.code.as_str(), sample.success), ("", true));
    }

    #[test]
    fn a_sleep_test_keeps_its_first_arguments() {
        let both = samples(SLEEP_TEST, &[("SleepTime", "${n}"), ("SleepMask", "0")], 2);
        for sample in &both {
            assert_eq!(sample.sampler_data.as_deref(), Some("Sleep Test: time = 0"));
            assert_eq!(
                (
                    &*sample.label,
                    sample.success,
                    sample.code.as_str(),
                    sample.data_type.as_str()
                ),
                ("j", true, "", "")
            );
        }
    }

    #[test]
    fn the_mask_adds_the_time_of_day() {
        assert_eq!(
            masked_ms(100, 0xff, 1_700_000_000_123),
            100 + 1_700_000_000_123 % 255
        );
        assert_eq!(masked_ms(0, 0xff, 7), 0);
        assert_eq!(masked_ms(50, 0, 7), 50);
    }

    #[test]
    fn other_classes_are_javas() {
        let (none, _, findings) =
            fixture::decode_with_findings(&[], &xml("com.example.Mine", &[]), |d| {
                decode(d, &[], Needs::NOTHING).is_none()
            });
        assert!(none && findings.is_empty());
    }
}
