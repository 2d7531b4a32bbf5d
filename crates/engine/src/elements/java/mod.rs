//! Elements that JMeter's own classes run: scripts (JSR223, BeanShell, BSF) and whatever has no native form. One type plays
//! every role; what an element does, and which properties it reads, is its Java class's business.
//!
//! Differences from JMeter: a script's result is made for it only if its text can reach one (`sight.rs`).

mod pace;
mod sight;
mod xml;

use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::{Raised, Template};
use drumfire_results::{AssertionResult, Sample};

use crate::compile::Decoder;
use crate::context::Context;
use crate::elements::{Assertion, PostProcessor, PreProcessor, Roles, SampleListener, Timer};
use crate::java::{Java, JavaCall, JavaHost, JavaRole, JavaSource, Visit};
use crate::program::Needs;

use pace::Pace;
pub use sight::{looks_back, text_blocks, text_sees};

/// An element of the plan that is run by its Java class.
pub struct JavaElement {
    host: Arc<dyn JavaHost>,
    call: JavaCall,
    name: Template,
    pace: Pace,
}

pub fn pre(d: &mut Decoder) -> Roles {
    element(d, JavaRole::PreProcessor)
        .map(Roles::pre)
        .unwrap_or_default()
}

pub fn post(d: &mut Decoder) -> Roles {
    element(d, JavaRole::PostProcessor)
        .map(Roles::post)
        .unwrap_or_default()
}

pub fn assertion(d: &mut Decoder) -> Roles {
    element(d, JavaRole::Assertion)
        .map(Roles::assertion)
        .unwrap_or_default()
}

pub fn timer(d: &mut Decoder) -> Roles {
    element(d, JavaRole::Timer)
        .map(Roles::timer)
        .unwrap_or_default()
}

pub fn listener(d: &mut Decoder) -> Roles {
    let Some(element) = element(d, JavaRole::Listener) else {
        return Roles::default();
    };
    Roles {
        listener: Some(d.new_listener(Arc::new(element))),
        ..Roles::default()
    }
}

pub fn sampler(d: &mut Decoder) -> Option<JavaElement> {
    element(d, JavaRole::Sampler)
}

/// `None`, and a finding, where there is no Java.
fn element(d: &mut Decoder, role: JavaRole) -> Option<JavaElement> {
    let class = d.element.class.clone();
    let host = host(d, &format!("{class} '{}'", d.element.name))?;
    let wants_result = match role {
        JavaRole::Assertion | JavaRole::Listener => true,
        _ => sight::sees_results(&class, &d.element.props),
    };
    let waits = !sight::is_script(&class) || sight::blocks(&d.element.props);
    let xml = xml::write(d);
    let source = JavaSource {
        class,
        name: d.element.name.clone(),
        xml,
    };
    let number = d.unit.java.elements.len() as u32;
    d.unit.java.elements.push(source);
    Some(JavaElement {
        host,
        call: JavaCall {
            element: number,
            role,
            wants_result,
        },
        name: d.name(),
        pace: Pace::new(waits),
    })
}

/// The Java that runs `what`; `None`, and a finding, if there is none.
pub fn host(d: &mut Decoder, what: &str) -> Option<Arc<dyn JavaHost>> {
    let found = match &d.settings().java {
        Java::Host(host) => host.find().map(|()| host.clone()),
        Java::Absent(why) => Err((*why).to_owned()),
    };
    match found {
        Ok(host) => Some(host),
        Err(why) => {
            d.cannot_run(NEEDS_JAVA, format!("{what} needs Java: {why}"));
            None
        }
    }
}

/// The code of the finding that an element needs Java and there is none.
pub const NEEDS_JAVA: &str = "java-missing";

impl JavaElement {
    /// A call on this thread.
    fn run(&self, visit: &mut Visit<'_>) -> Result<i64, Raised> {
        let began = Instant::now();
        let outcome = self.host.call(visit, self.call);
        self.pace.note_in_place(began.elapsed());
        outcome
    }

    /// A call on a thread of its own.
    async fn run_apart(&self, visit: &mut Visit<'_>) -> Result<i64, Raised> {
        let began = Instant::now();
        let outcome = self.host.call_apart(visit, self.call).await;
        self.pace.note_apart(began.elapsed());
        outcome
    }

    /// Itself if its next call is to be apart.
    fn if_apart(&self) -> Option<&JavaElement> {
        self.pace.is_apart().then_some(self)
    }

    /// One call that makes a sample, if it makes one.
    pub async fn sample(&self, cx: &mut Context) -> Option<Sample> {
        let mut visit = Visit::new(cx);
        let raised = match self.pace.is_apart() {
            true => self.run_apart(&mut visit).await.err(),
            false => self.run(&mut visit).err(),
        };
        let outcome = visit.outcome.take();
        note(cx, raised);
        outcome
    }

    /// [`PreProcessor::process`] on a thread of its own.
    pub async fn process_before(&self, cx: &mut Context) {
        let raised = self.run_apart(&mut Visit::new(cx)).await.err();
        note(cx, raised);
    }

    /// [`PostProcessor::process`] on a thread of its own.
    pub async fn process_after(&self, cx: &mut Context, sample: &mut Sample) {
        let raised = self.run_apart(&mut Visit::of(cx, sample)).await.err();
        note(cx, raised);
    }

    /// [`Assertion::check`] on a thread of its own.
    pub async fn check_apart(&self, cx: &mut Context, sample: &mut Sample) -> AssertionResult {
        let mut visit = Visit::of(cx, sample);
        let raised = self.run_apart(&mut visit).await.err();
        let verdict = visit.verdict.take().unwrap_or_default();
        note(cx, raised);
        verdict
    }

    /// [`Timer::delay_ms`] on a thread of its own.
    pub async fn delay_apart(&self, cx: &mut Context) -> i64 {
        let delay = self.run_apart(&mut Visit::new(cx)).await;
        delay_of(cx, delay)
    }

    /// [`SampleListener::sample_occurred`] on a thread of its own.
    pub async fn listen_apart(&self, cx: &mut Context, sample: &mut Sample) {
        let raised = self.run_apart(&mut Visit::of(cx, sample)).await.err();
        note_in_listener(raised);
    }
}

/// What Java threw is for the sample at hand to deal with.
fn note(cx: &mut Context, raised: Option<Raised>) {
    if let Some(raised) = raised {
        drumfire_expr::Scope::raise(cx, raised);
    }
}

fn delay_of(cx: &mut Context, delay: Result<i64, Raised>) -> i64 {
    match delay {
        Ok(delay_ms) => delay_ms,
        Err(raised) => {
            note(cx, Some(raised));
            0
        }
    }
}

/// `ListenerNotifier`: an exception ends this listener's work on the sample.
fn note_in_listener(raised: Option<Raised>) {
    if let Some(raised) = raised {
        tracing::error!("Detected problem in Listener. {raised}");
        tracing::info!("Continuing to process further listeners");
    }
}

impl PreProcessor for JavaElement {
    fn process(&self, cx: &mut Context) {
        let raised = self.run(&mut Visit::new(cx)).err();
        note(cx, raised);
    }

    fn apart(&self) -> Option<&JavaElement> {
        self.if_apart()
    }
}

impl PostProcessor for JavaElement {
    fn process(&self, cx: &mut Context, sample: &mut Sample) {
        let raised = self.run(&mut Visit::of(cx, sample)).err();
        note(cx, raised);
    }

    fn apart(&self) -> Option<&JavaElement> {
        self.if_apart()
    }

    fn needs(&self) -> Needs {
        if self.call.wants_result {
            Needs::ALL
        } else {
            Needs::NOTHING
        }
    }
}

impl Assertion for JavaElement {
    fn check(&self, cx: &mut Context, sample: &mut Sample) -> AssertionResult {
        let mut visit = Visit::of(cx, sample);
        let raised = self.run(&mut visit).err();
        let verdict = visit.verdict.take().unwrap_or_default();
        note(cx, raised);
        verdict
    }

    fn apart(&self) -> Option<&JavaElement> {
        self.if_apart()
    }

    fn name(&self, cx: &mut Context) -> String {
        self.name.eval(cx).into_string()
    }

    fn needs(&self) -> Needs {
        Needs::ALL
    }
}

impl Timer for JavaElement {
    fn delay_ms(&self, cx: &mut Context) -> i64 {
        let delay = self.run(&mut Visit::new(cx));
        delay_of(cx, delay)
    }

    fn apart(&self) -> Option<&JavaElement> {
        self.if_apart()
    }
}

impl SampleListener for JavaElement {
    fn sample_occurred(&self, cx: &mut Context, sample: &mut Sample) {
        note_in_listener(self.run(&mut Visit::of(cx, sample)).err());
    }

    fn apart(&self) -> Option<&JavaElement> {
        self.if_apart()
    }

    fn needs(&self) -> Needs {
        Needs::ALL
    }
}
