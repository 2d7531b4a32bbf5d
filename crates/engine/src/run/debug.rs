//! Lets a debugger follow a user step by step: it sees what each element did, and can stop the user before an element.
//!
//! In a plan that is debugged, elements are wrapped ([`watched`](super::watched)) and samples retain all their parts. A plan
//! that is not debugged pays for one pointer check per sample.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use drumfire_expr::Vars;
use drumfire_results::{ResponseBody, Sample};
use tokio::sync::oneshot;

/// The longest body that is shown, in bytes.
const MOST_BODY: usize = 4 << 20;

/// The kind of the element that has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// A pre-processor.
    PreProcessor,
    /// A timer.
    Timer,
    /// The sampler itself.
    Sampler,
    /// A post-processor, such as an extractor.
    PostProcessor,
    /// An assertion.
    Assertion,
}

/// The turn of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementTurn {
    /// The kind of the element.
    pub part: ElementKind,
    /// Its name in the plan; that of a sampler with the values of its variables.
    pub name: String,
    /// Its class as the plan has it.
    pub class: String,
    /// Its place, if it is known.
    pub place: Option<ElementPlace>,
}

/// The place of an element in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementPlace {
    /// The plan.
    pub path: PathBuf,
    /// The offset of its start tag.
    pub start: usize,
}

/// The variables of a user by name.
pub type VariableValues = BTreeMap<String, String>;

/// Variables to change before a user goes on; `None` removes a variable.
pub type Edits = Vec<(String, Option<String>)>;

/// Follows the users of a run. Its methods are called by the users' workers and must not wait.
pub trait Debugger: Send + Sync {
    /// Whether the user with this number, from 1, of a main thread group runs.
    fn follows(&self, number: u32) -> bool;

    /// Called before an element has its turn. If this returns a receiver, the user waits until the debugger sends edits or
    /// drops the sender.
    fn before(
        &self,
        thread_name: &str,
        turn: &ElementTurn,
        vars: &VariableValues,
    ) -> Option<oneshot::Receiver<Edits>>;

    /// Called after the element has had its turn.
    fn after(
        &self,
        thread_name: &str,
        turn: &ElementTurn,
        before: &VariableValues,
        after: &VariableValues,
    );

    /// Called when a sample is complete, including its assertions.
    fn sampled(&self, thread_name: &str, sample: SampleView);
}

/// A debugger, if there is one.
#[derive(Clone, Default)]
pub struct Debugging(Option<Arc<dyn Debugger>>);

impl Debugging {
    /// Turns debugging on, with this debugger.
    pub fn by(debugger: Arc<dyn Debugger>) -> Debugging {
        Debugging(Some(debugger))
    }

    /// The debugger.
    pub fn debugger(&self) -> Option<&Arc<dyn Debugger>> {
        self.0.as_ref()
    }
}

impl fmt::Debug for Debugging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Debugging"
        } else {
            "no Debugging"
        })
    }
}

impl PartialEq for Debugging {
    fn eq(&self, other: &Debugging) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Debugging {}

/// The variables of a user now.
pub fn values(vars: &Vars) -> VariableValues {
    let values = vars.iter();
    values
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect()
}

/// Carries out edits.
pub fn edit(vars: &mut Vars, edits: Edits) {
    for (name, value) in edits {
        match value {
            Some(value) => vars.set_named(&name, value.as_str().into()),
            None => drop(vars.remove_named(&name)),
        }
    }
}

/// A sample with everything that is known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleView {
    /// Its label.
    pub label: String,
    /// Response code.
    pub code: String,
    /// Response message.
    pub message: String,
    /// Whether it counts as good.
    pub success: bool,
    /// Start, in milliseconds since the Unix epoch.
    pub start_ms: i64,
    /// Elapsed time, in microseconds.
    pub elapsed_us: u64,
    /// Time to the first byte of the response, in milliseconds.
    pub latency_ms: i64,
    /// Time to the connection, in milliseconds.
    pub connect_ms: i64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Where the request went.
    pub url: String,
    /// HTTP method.
    pub method: String,
    /// Request headers.
    pub request_headers: String,
    /// Cookies that were sent.
    pub cookies: String,
    /// The data sent: the body of a request, or the data of a sampler that speaks no HTTP.
    pub request_body: String,
    /// Response headers.
    pub response_headers: String,
    /// `Content-Type` of the response.
    pub content_type: String,
    /// Response body as text, cut after 4 MiB.
    pub response_body: String,
    /// Response body as it came.
    pub response_data: Option<ResponseBody>,
    /// Whether the body is not text.
    pub is_binary: bool,
    /// The assertions: name, why it failed.
    pub assertions: Vec<(String, Option<String>)>,
    /// Sub-results, such as redirects and embedded resources.
    pub children: Vec<SampleView>,
}

impl SampleView {
    /// The parts of a sample.
    pub fn of(sample: &Sample) -> SampleView {
        let body = sample.response_data.as_deref().unwrap_or_default();
        let body = &body[..body.len().min(MOST_BODY)];
        let shown = String::from_utf8_lossy(body);
        let assertions = sample.assertions.iter().map(|assertion| {
            let failed = assertion.failure || assertion.error;
            let name = text(assertion.name.as_deref());
            (name, failed.then(|| text(assertion.message.as_deref())))
        });
        SampleView {
            label: sample.label.to_string(),
            code: sample.code.to_string(),
            message: sample.message.to_string(),
            success: sample.success,
            start_ms: sample.start_ms,
            elapsed_us: sample.precise_service_us(),
            latency_ms: sample.latency_ms,
            connect_ms: sample.connect_ms,
            sent_bytes: sample.sent_bytes,
            received_bytes: sample.counted_bytes(),
            url: text(sample.url.as_deref()),
            method: text(sample.method.as_deref()),
            request_headers: text(sample.request_headers.as_deref()),
            cookies: text(sample.cookies.as_deref()),
            request_body: text(
                sample
                    .query_string
                    .as_deref()
                    .or(sample.sampler_data.as_deref()),
            ),
            response_headers: text(sample.response_headers.as_deref()),
            content_type: text(sample.content_type.as_deref()),
            is_binary: sample.data_type.as_str() == "bin" || shown.contains('\0'),
            response_body: shown.into_owned(),
            response_data: sample.response_data.clone(),
            assertions: assertions.collect(),
            children: sample.children.iter().map(SampleView::of).collect(),
        }
    }
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {

    use drumfire_expr::VarNames;

    use super::*;

    #[test]
    fn edits_set_and_remove_variables() {
        let mut names = VarNames::new();
        names.intern("host");
        let mut vars = Vars::new(Arc::new(names));
        vars.set_named("host", "a".into());
        vars.set_named("gone", "x".into());
        let edits = vec![
            ("host".to_owned(), Some("b".to_owned())),
            ("new".to_owned(), Some("c".to_owned())),
            ("gone".to_owned(), None),
        ];
        edit(&mut vars, edits);
        let expected = [("host", "b"), ("new", "c")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(values(&vars), VariableValues::from(expected));
    }

    #[test]
    fn a_sample_is_shown_with_its_sub_results() {
        let mut sample = Sample::new("Page".into(), "t 1-1".into());
        sample.response_data = Some(b"<p>\xff".into());
        sample
            .children
            .push(Sample::new("image".into(), "t 1-1".into()));
        let view = SampleView::of(&sample);
        assert_eq!(
            (view.response_body.as_str(), view.is_binary),
            ("<p>\u{fffd}", false)
        );
        assert_eq!(view.children[0].label, "image");
    }
}
