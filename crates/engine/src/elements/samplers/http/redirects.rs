//! What follows a response: redirects that JMeter follows itself, and embedded resources
//! (`HTTPSamplerBase#resultProcessing`, `#followRedirects`).

use drumfire_results::{DataType, Sample};
use drumfire_web::Exception;
use drumfire_web::redirect::{
    method_after_redirect, nested_too_deep, redirect_url, too_many_redirects,
};
use drumfire_web::url::Url;

use super::HttpSampler;
use super::call::Call;
use super::failure;
use crate::run::context::Context;

/// What a request is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// Whether the request follows a redirect.
    pub is_redirect: bool,
    /// How many pages enclose the request (`frameDepth`).
    pub depth: u32,
}

impl Nesting {
    /// A request to follow the redirect of this one.
    fn redirected(self) -> Nesting {
        Nesting {
            is_redirect: true,
            ..self
        }
    }

    /// A request for a resource of this one's page.
    pub fn inner(self) -> Nesting {
        Nesting {
            is_redirect: false,
            depth: self.depth + 1,
        }
    }
}

impl HttpSampler {
    /// `HTTPSamplerBase#resultProcessing`.
    pub(super) async fn process(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sample: Box<Sample>,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let mut sample = sample;
        let mut redirected = false;
        if !nesting.is_redirect && self.follow_redirects && sample.redirect_location.is_some() {
            *sample = Box::pin(self.follow(cx, call, *sample, nesting)).await;
            redirected = true;
        }
        if !self.image_parser || !sample.success || sample.data_type != DataType::Text {
            return Some(sample);
        }
        if nesting.depth > self.settings.max_frame_depth {
            let mut error = (*sample).clone();
            error.children.clear();
            failure::apply(&mut error, &nested_too_deep(), self.needs);
            sample.add_child(error, self.settings.rename_children);
        } else if !redirected {
            *sample = Box::pin(self.embedded(cx, call, *sample, nesting)).await;
        }
        Some(sample)
    }

    /// `HTTPSamplerBase#followRedirects`: the whole takes the outcome of the last response and all of them as sub-results.
    async fn follow(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        first: Sample,
        nesting: Nesting,
    ) -> Sample {
        let rename = self.settings.rename_children;
        let mut total = first.clone();
        total.children.clear();
        let mut shown = first.clone();
        // Its thread writes its name into samples and their direct sub-results, in the end.
        shown.thread_name = "".into();
        total.attach_child(shown, rename);
        let mut service_us = first.precise_service_us();
        let mut last = first;
        let mut redirects = 0;
        while redirects < self.settings.max_redirects {
            let mut invalid = false;
            match self.next_address(&last) {
                Ok((url, method)) => match self
                    .fetch(cx, call, &url, &method, nesting.redirected())
                    .await
                {
                    Some(sample) => {
                        total.phases.add(sample.phases);
                        service_us += sample.precise_service_us();
                        last = *sample;
                    }
                    None => break,
                },
                Err(exception) => {
                    failure::apply(&mut last, &exception, self.needs);
                    // It is one object with the sub-result that was redirected.
                    if let Some(shown) = total.children.last_mut() {
                        failure::apply(shown, &exception, self.needs);
                    }
                    last.redirect_location = None;
                    invalid = true;
                }
            }
            if last.children.is_empty() {
                if !invalid {
                    total.add_child(last.clone(), rename);
                }
            } else {
                for child in last.children.clone() {
                    total.add_child(child, rename);
                }
            }
            if last.redirect_location.is_none() {
                break;
            }
            redirects += 1;
        }
        if redirects >= self.settings.max_redirects {
            last.children.clear();
            failure::apply(
                &mut last,
                &too_many_redirects(self.settings.max_redirects),
                self.needs,
            );
            total.add_child(last.clone(), rename);
        }
        take_outcome(&mut total, last);
        total.refine_service(service_us, u64::from(redirects) + 1);
        total
    }

    fn next_address(&self, last: &Sample) -> Result<(Url, String), Exception> {
        let base = Url::parse(last.url.as_deref().unwrap_or_default())?;
        let location = last.redirect_location.as_deref().unwrap_or_default();
        let url = redirect_url(&base, location, self.settings.remove_slash_dot_dot)?;
        Ok((
            url,
            method_after_redirect(last.method.as_deref().unwrap_or("GET")).to_owned(),
        ))
    }
}

/// The whole shows what the last response was.
fn take_outcome(total: &mut Sample, last: Sample) {
    total.label = format!("{}->{}", total.label, last.label).into();
    total.url = last.url;
    total.method = last.method;
    total.query_string = last.query_string;
    total.request_headers = last.request_headers;
    total.response_data = last.response_data;
    total.code = last.code;
    total.success = last.success;
    total.message = last.message;
    total.data_type = last.data_type;
    total.response_headers = last.response_headers;
    total.content_type = last.content_type;
    total.encoding = last.encoding;
}
