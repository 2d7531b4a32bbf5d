//! Dummy Sampler (`kg.apc.jmeter.samplers.DummySampler`): makes a sample from its properties.
//!
//! Properties: `SUCCESFULL`, `RESPONSE_CODE`, `RESPONSE_MESSAGE`, `RESPONSE_DATA`, `REQUEST_DATA`, `URL`, `RESPONSE_TIME`,
//! `LATENCY`, `CONNECT` (milliseconds; 0 if not a number), `WAITING` (whether to wait for the response time) and
//! `RESULT_CLASS`, which only matters in that it may be an HTTP result.

use drumfire_elements::shared::dummy as facts;
use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_results::{DataType, Sample, SampleKind};
use drumfire_web::url::Url;

use super::debug_sampler::set_response;
use super::java_sampler::sleep;
use crate::decode::Decoder;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

pub struct DummySampler {
    success: Template,
    waiting: Template,
    code: Template,
    message: Template,
    response: Template,
    request: Template,
    response_ms: Template,
    latency_ms: Template,
    connect_ms: Template,
    url: Template,
    class: Template,
    /// `sampleresult.timestamp.start`: a response time without waiting starts now instead of ending now.
    stamp_at_start: bool,
    keeps_body: bool,
}

pub fn decode(d: &mut Decoder, needs: Needs) -> DummySampler {
    DummySampler {
        success: d.template(facts::SUCCESFULL.name),
        waiting: d.template(facts::WAITING.name),
        code: d.template(facts::RESPONSE_CODE.name),
        message: d.template(facts::RESPONSE_MESSAGE.name),
        response: d.template(facts::RESPONSE_DATA.name),
        request: d.template(facts::REQUEST_DATA.name),
        response_ms: d.template(facts::RESPONSE_TIME.name),
        latency_ms: d.template(facts::LATENCY.name),
        connect_ms: d.template(facts::CONNECT.name),
        url: d.template(facts::URL.name),
        class: d.template(facts::RESULT_CLASS.name),
        stamp_at_start: d.decoding.save_config.stamp_at_start,
        keeps_body: needs.body,
    }
}

impl DummySampler {
    /// `DummyElement#sample`.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let mut sample = Sample::new("".into(), cx.thread_name.clone());
        self.take_time(cx, &mut sample).await;
        sample.label = name.eval(cx).into_value();
        if self.class.eval(cx).ends_with("HTTPSampleResult") {
            sample.kind = SampleKind::Http;
        }
        sample.sampler_data = Some(self.request.eval(cx).into_value());
        sample.code = self.code.eval(cx).into_string().into();
        sample.message = self.message.eval(cx).into_string().into();
        sample.success = values::property_bool(&self.success.eval(cx));
        sample.data_type = DataType::Text;
        let response = self.response.eval(cx);
        set_response(&mut sample, &response, self.keeps_body);
        drop(response);
        if let Ok(url) = Url::parse(&self.url.eval(cx)) {
            sample.url = Some(url.as_str().into());
        }
        sample.latency_ms = whole_ms(&self.latency_ms, cx);
        sample.connect_ms = whole_ms(&self.connect_ms, cx);
        sample
    }

    async fn take_time(&self, cx: &mut Context, sample: &mut Sample) {
        let response_ms = whole_ms(&self.response_ms, cx);
        let start_ns = cx.clock().now_ns();
        let start_ms = (start_ns / 1_000_000) as i64;
        if values::property_bool(&self.waiting.eval(cx)) {
            sample.start_ms = start_ms;
            sleep(cx, response_ms).await;
            let end_ns = cx.clock().now_ns();
            sample.service_us = (end_ns - start_ns) / 1000;
            sample.set_end((end_ns / 1_000_000) as i64);
            return;
        }
        let end_ms = if self.stamp_at_start {
            start_ms + response_ms
        } else {
            start_ms
        };
        sample.start_ms = end_ms - response_ms;
        sample.service_us = response_ms.max(0) as u64 * 1000;
        sample.set_end(end_ms);
    }
}

/// `DummyElement#getResponseTime` and its like.
fn whole_ms(template: &Template, cx: &mut Context) -> i64 {
    values::property_int(&template.eval(cx)).into()
}

impl Sampler for DummySampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn sample(properties: &[(&str, &str)]) -> Sample {
        let property = |(name, value): &(&str, &str)| {
            format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
        };
        let properties: String = properties.iter().map(property).collect();
        let xml = format!(
            r#"<kg.apc.jmeter.samplers.DummySampler guiclass="g" testclass="kg.apc.jmeter.samplers.DummySampler" testname="d ${{n}}">{properties}</kg.apc.jmeter.samplers.DummySampler>"#
        );
        let ((sampler, name), mut cx) =
            fixture::decode(&xml, |d| (decode(d, Needs::BODY), d.name()));
        cx.vars.set_named("n", "7".into());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built");
        runtime.block_on(sampler.sample(&mut cx, &name))
    }

    #[test]
    fn the_sample_is_what_the_properties_say() {
        // As jmeter-plugins-dummy 0.4 answers.
        let sample = sample(&[
            ("SUCCESFULL", "true"),
            ("RESPONSE_CODE", "201"),
            ("RESPONSE_MESSAGE", "made ${n}"),
            ("RESPONSE_DATA", "ü"),
            ("REQUEST_DATA", "asked"),
            ("RESPONSE_TIME", "250"),
            ("LATENCY", "40"),
            ("CONNECT", "x"),
            ("URL", "http://127.0.0.1/a"),
        ]);
        assert_eq!(
            (
                &*sample.label,
                sample.code.as_str(),
                sample.message.as_str()
            ),
            ("d 7", "201", "made 7")
        );
        assert_eq!(
            (sample.elapsed_ms, sample.latency_ms, sample.connect_ms),
            (250, 40, 0)
        );
        assert_eq!(
            (sample.success, sample.received_bytes(), sample.sent_bytes),
            (true, 2, 0)
        );
        assert_eq!(sample.response_data.as_deref(), Some("ü".as_bytes()));
        assert_eq!(sample.sampler_data.as_deref(), Some("asked"));
        assert_eq!(sample.url.as_deref(), Some("http://127.0.0.1/a"));
        assert_eq!(sample.kind, SampleKind::Other);
    }

    #[test]
    fn a_time_that_is_waited_for_passes() {
        let sample = sample(&[
            ("WAITING", "true"),
            ("RESPONSE_TIME", "5"),
            ("URL", "nowhere"),
            (
                "RESULT_CLASS",
                "org.apache.jmeter.protocol.http.sampler.HTTPSampleResult",
            ),
        ]);
        assert!(sample.elapsed_ms >= 5);
        assert_eq!((sample.success, sample.kind), (false, SampleKind::Http));
        assert_eq!((sample.url, sample.code.as_str()), (None, ""));
    }
}
