//! Debug Sampler (`DebugSampler`): a sample whose response lists variables and properties.
//!
//! Properties: `displayJMeterVariables`, `displayJMeterProperties`, `displaySystemProperties`. Numbers in names are sorted
//! by value. System properties are only those of the command line and its files, since there is no JVM with more.

use std::cmp::Ordering;
use std::fmt::Write;

use drumfire_elements::samplers::debug_sampler as facts;
use drumfire_expr::Template;
use drumfire_results::{DataType, Sample, SharedText};

use crate::decode::Decoder;
use crate::decode::setting::Flag;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::own_variables::OWN_VARIABLES;
use crate::run::sampler::{Sampler, SamplerTurn};
use crate::run::view::{PostProcessorView, View};

pub struct DebugSampler {
    variables: Flag,
    properties: Flag,
    system_properties: Flag,
    keeps_body: bool,
}

pub fn decode(d: &mut Decoder, needs: Needs) -> DebugSampler {
    DebugSampler {
        variables: Flag::decode(d, facts::VARIABLES.name, false),
        properties: Flag::decode(d, facts::PROPERTIES.name, false),
        system_properties: Flag::decode(d, facts::SYSTEM_PROPERTIES.name, false),
        keeps_body: needs.body,
    }
}

/// Whether the sampler's response is always empty.
pub fn lists_nothing(d: &mut Decoder) -> bool {
    let lists = [
        facts::VARIABLES,
        facts::PROPERTIES,
        facts::SYSTEM_PROPERTIES,
    ];
    lists.iter().all(|list| d.text_now(list.name) != "true")
}

/// Makes a text the sample's response (`SampleResult#setResponseData`, with Java's default charset, UTF-8). If nothing
/// reads the body, only its size is stored. Otherwise the size is taken from the data at the end, since scripts may
/// replace them.
pub fn set_response(sample: &mut Sample, text: &str, keeps_body: bool) {
    sample.encoding = Some(SharedText::Static("UTF-8"));
    if keeps_body {
        sample.response_data = Some(text.as_bytes().into());
    } else {
        sample.body_bytes = text.len() as u64;
    }
}

/// The lists of a Debug Sampler or a Debug PostProcessor.
pub struct Shown {
    pub variables: bool,
    pub properties: bool,
    pub system_properties: bool,
}

impl Shown {
    /// Appends the lists to the response, and their names to the request.
    pub fn list(&self, cx: &PostProcessorView, listed: &mut String, request: &mut String) {
        if self.variables {
            request.push_str("JMeterVariables\n");
            list(listed, "JMeterVariables", variables(cx));
        }
        if self.properties {
            request.push_str("JMeterProperties\n");
            let properties = cx.shared().properties.snapshot();
            let entries = properties.iter().map(|(name, value)| (&**name, &**value));
            list(listed, "JMeterProperties", entries.collect());
        }
        if self.system_properties {
            request.push_str("SystemProperties\n");
            let properties = cx.shared().properties.system_snapshot();
            let entries = properties.iter().map(|(name, value)| (&**name, &**value));
            list(listed, "SystemProperties", entries.collect());
        }
    }
}

impl DebugSampler {
    pub fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let label = name.eval(cx);
        let mut sample = Sample::new(cx.label(label), cx.thread_name.clone());
        let start_ns = cx.clock().now_ns();
        sample.start_ms = (start_ns / 1_000_000) as i64;
        let shown = Shown {
            variables: self.variables.get(cx),
            properties: self.properties.get(cx),
            system_properties: self.system_properties.get(cx),
        };
        let (mut listed, mut request) = (String::new(), String::new());
        shown.list(View::of(cx), &mut listed, &mut request);
        set_response(&mut sample, &listed, self.keeps_body);
        sample.data_type = DataType::Text;
        sample.sampler_data = Some(request.into());
        sample.set_ok();
        let end_ns = cx.clock().now_ns();
        sample.service_us = (end_ns - start_ns) / 1000;
        sample.set_end((end_ns / 1_000_000) as i64);
        sample
    }
}

/// The user's variables, including JMeter's internal ones (`JMeterThread`). The number after `SamplePackage` differs
/// between JMeter's runs; mostly it has eight digits.
fn variables(cx: &PostProcessorView) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = cx
        .vars()
        .iter()
        .map(|(name, value)| (name, &**value))
        .chain(cx.vars().nulls().map(|name| (name, "null")))
        .collect();
    let of_user = OWN_VARIABLES
        .iter()
        .filter_map(|name| Some((*name, cx.own_variable(name)?)))
        .chain([(
            "JMeterThread.pack",
            "org.apache.jmeter.threads.SamplePackage@10000000",
        )]);
    for variable in of_user {
        if cx.vars().get_named(variable.0).is_none() {
            all.push(variable);
        }
    }
    all
}

fn list(out: &mut String, title: &str, mut entries: Vec<(&str, &str)>) {
    entries.sort_by(|a, b| compare_alphanumeric(a.0, b.0));
    let _ = writeln!(out, "{title}:");
    for (name, value) in entries {
        let _ = writeln!(out, "{name}={value}");
    }
    out.push('\n');
}

/// `AlphaNumericComparator`: runs of digits compare as numbers, whatever their leading zeros; the rest by UTF-16 units.
fn compare_alphanumeric(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let (words_a, rest_a) = split_at(a, |c| c.is_ascii_digit());
        let (words_b, rest_b) = split_at(b, |c| c.is_ascii_digit());
        let (digits_a, next_a) = split_at(rest_a, |c| !c.is_ascii_digit());
        let (digits_b, next_b) = split_at(rest_b, |c| !c.is_ascii_digit());
        let words = words_a.encode_utf16().cmp(words_b.encode_utf16());
        if words != Ordering::Equal {
            return words;
        }
        if digits_a.is_empty() || digits_b.is_empty() {
            return digits_b.is_empty().cmp(&digits_a.is_empty());
        }
        let (number_a, number_b) = (
            digits_a.trim_start_matches('0'),
            digits_b.trim_start_matches('0'),
        );
        let numbers = number_a
            .len()
            .cmp(&number_b.len())
            .then_with(|| number_a.cmp(number_b));
        if numbers != Ordering::Equal {
            return numbers;
        }
        (a, b) = (next_a, next_b);
    }
}

fn split_at(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

impl Sampler for DebugSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        let sample = self.sample(cx, name);
        SamplerTurn::Done(Some(cx.worker.room.sample(sample)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_size_is_that_of_the_data_in_the_end() {
        let mut sample = Sample::default();
        set_response(&mut sample, "abc", false);
        assert_eq!(sample.body_size(), 3);
        let mut sample = Sample::default();
        set_response(&mut sample, "abc", true);
        assert_eq!(sample.body_size(), 3);
        sample.response_data = Some(b"longer text"[..].into());
        assert_eq!(sample.body_size(), 11);
    }

    #[test]
    fn names_are_sorted_with_their_numbers_as_numbers() {
        let mut names = vec![
            "b_10", "b_2", "a", "B", "b_02x", "b", "b_2_1", "b_", "10", "9",
        ];
        names.sort_by(|a, b| compare_alphanumeric(a, b));
        assert_eq!(
            names,
            [
                "9", "10", "B", "a", "b", "b_", "b_2", "b_2_1", "b_02x", "b_10"
            ]
        );
    }

    #[test]
    fn the_response_lists_what_is_asked_for() {
        let xml = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="d">
            <boolProp name="displayJMeterProperties">true</boolProp><boolProp name="displayJMeterVariables">true</boolProp>
            <boolProp name="displaySystemProperties">false</boolProp></DebugSampler>"#;
        let (sampler, mut cx, _) =
            fixture::decode_with_findings(&[("p10", "x"), ("p9", "y")], xml, |d| {
                decode(d, Needs::BODY)
            });
        cx.vars.set_named("id_1", "ü".into());
        let sample = sampler.sample(&mut cx, &Template::raw("d"));
        let expected = "JMeterVariables:\nJMeterThread.last_sample_ok=true\nJMeterThread.pack=org.apache.jmeter.threads.SamplePackage@10000000\n\
                        __jmv_SAME_USER=true\nid_1=ü\n\nJMeterProperties:\np9=y\np10=x\n\n";
        assert_eq!(crate::base::body::text(&sample, None), expected);
        assert_eq!(
            sample.sampler_data.as_deref(),
            Some("JMeterVariables\nJMeterProperties\n")
        );
        assert_eq!(sample.received_bytes(), expected.len() as i64);
        crate::elements::samplers::http::user(&cx).keep_token();
        let after_a_request = sampler.sample(&mut cx, &Template::raw("d"));
        let listed = crate::base::body::text(&after_a_request, None);
        let token = format!("__jmeter.U_T__={}\n__jmv_SAME_USER", cx.thread_name);
        assert!(listed.contains(&token), "{listed}");
        assert_eq!(
            (
                sample.code.as_str(),
                sample.message.as_str(),
                sample.data_type.as_str()
            ),
            ("200", "OK", "text")
        );
    }

    #[test]
    fn without_a_reader_the_size_alone_is_kept() {
        let xml = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="d">
            <boolProp name="displaySystemProperties">true</boolProp></DebugSampler>"#;
        let (sampler, mut cx) = fixture::decode(xml, |d| decode(d, Needs::NOTHING));
        let sample = sampler.sample(&mut cx, &Template::raw("d"));
        assert_eq!(sample.response_data, None);
        assert_eq!(
            sample.received_bytes(),
            "SystemProperties:\n\n".len() as i64
        );
    }
}
