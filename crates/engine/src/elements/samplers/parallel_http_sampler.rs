//! Parallel HTTP Sampler (`com.blazemeter.jmeter.http.ParallelHTTPSampler`): requests a list of addresses at once.
//!
//! Properties: `urls` (a table of one column) and those of an HTTP Request that concern its embedded resources, above all
//! `HTTPSampler.concurrentDwn` and `.concurrentPool`. The plugin builds a page whose frames are the addresses and
//! downloads its resources, so the row has neither code nor message, and each address is a sub-result.

use drumfire_elements::samplers::parallel_http_requests as facts;
use drumfire_expr::Template;
use drumfire_jmx::Value;
use drumfire_results::Sample;

use super::http::{self, HttpSampler};
use crate::decode::Decoder;
use crate::resolve::Element;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// The plugin's class.
pub const CLASS: &str = http::PARALLEL;

pub struct ParallelHttpSampler {
    http: HttpSampler,
    addresses: Vec<Template>,
}

pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<ParallelHttpSampler> {
    let mut addresses = Vec::new();
    for row in d.element.props.list(facts::URLS.name) {
        if let Value::List(cells) = &row.value
            && let Some(cell) = cells.iter().next()
        {
            addresses.push(d.compile(&cell.value.as_str()));
        }
    }
    Some(ParallelHttpSampler {
        http: http::decode(d, configs, needs)?,
        addresses,
    })
}

impl Sampler for ParallelHttpSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { self.sample(cx, name).await })
    }
}

impl ParallelHttpSampler {
    async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        let addresses: Vec<String> = self
            .addresses
            .iter()
            .map(|address| address.eval(cx).into_string())
            .collect();
        self.http.sample_together(cx, name, &addresses).await
    }
}
