//! Elements that JMeter's own classes run: scripts (JSR223, BeanShell, BSF) and elements without a native implementation.
//! One type plays every role. The Java class decides what an element does and which properties it reads.
//!
//! Difference from JMeter: a script gets a result object only if its text can refer to one (`decode/script_words.rs`).

mod marked;
mod pace;

use std::sync::Arc;
use std::time::Instant;

use drumfire_elements::config::{
    auth_manager, cache_manager, cookie_manager, dns_cache_manager, header_manager,
    keystore_configuration,
};
use drumfire_expr::{Raised, Template};
use drumfire_results::{AssertionResult, Sample};

use crate::decode::roles::Roles;
use crate::decode::{Decoder, script_words};
use crate::elements::jdbc;
use crate::elements::refusal::cannot_run;
use crate::resolve::Element;
use crate::run::alarm::Wait;
use crate::run::context::{Context, UserFacts};
use crate::run::java::host::{Apart, Interrupter, JavaHost};
use crate::run::java::plan::{JavaCall, JavaRole, JavaSource};
use crate::run::java::visit::Visit;
use crate::run::needs::Needs;
use crate::run::view::{
    AssertionView, ListenerView, PostProcessorView, PreProcessorView, TimerView,
};

use crate::run::roles::Act;
use crate::run::roles::AssertionRole;
use crate::run::roles::ListenerRole;
use crate::run::roles::PostProcessorRole;
use crate::run::roles::PreProcessorRole;
use crate::run::roles::TimerRole;
use crate::run::sampler::{Sampler, SamplerTurn};
use pace::{CallPlace, Pace};

/// An element of the plan that is run by its Java class.
pub struct JavaElement {
    pub host: Arc<dyn JavaHost>,
    call: JavaCall,
    name: Template,
    pace: Arc<Pace>,
}

/// The pace of all JDBC elements of a plan, which share one database.
struct PaceOfDatabase(Arc<Pace>);

impl Default for PaceOfDatabase {
    fn default() -> PaceOfDatabase {
        PaceOfDatabase(Arc::new(Pace::new(CallPlace::WhereItNeverWaits)))
    }
}

/// The roles of an element that exists only as a Java object.
fn numbered(d: &mut Decoder, role: JavaRole, roles: fn(JavaElement) -> Roles) -> Roles {
    element_as(d, role)
        .map(|element| Roles {
            java: Some(element.number()),
            ..roles(element)
        })
        .unwrap_or_default()
}

pub fn pre(d: &mut Decoder) -> Roles {
    numbered(d, JavaRole::PreProcessor, Roles::pre)
}

pub fn post(d: &mut Decoder) -> Roles {
    numbered(d, JavaRole::PostProcessor, Roles::post)
}

pub fn assertion(d: &mut Decoder) -> Roles {
    numbered(d, JavaRole::Assertion, Roles::assertion)
}

pub fn timer(d: &mut Decoder) -> Roles {
    numbered(d, JavaRole::Timer, Roles::timer)
}

pub fn listener(d: &mut Decoder) -> Roles {
    let Some(element) = element_as(d, JavaRole::Listener) else {
        return Roles::default();
    };
    Roles {
        java: Some(element.number()),
        listener: Some(d.new_listener(Arc::new(element))),
        ..Roles::default()
    }
}

/// A listener that only passes each sample on, which takes microseconds.
pub fn quick_listener(d: &mut Decoder) -> Roles {
    let Some(mut element) = element_as(d, JavaRole::Listener) else {
        return Roles::default();
    };
    element.pace = Arc::new(Pace::new(CallPlace::Worker));
    Roles {
        java: Some(element.number()),
        listener: Some(d.new_listener(Arc::new(element))),
        ..Roles::default()
    }
}

/// Lets Java run an element whose settings the native implementation does not cover; `run` decodes it in its role.
pub fn instead(d: &mut Decoder, why: &str, run: fn(&mut Decoder) -> Roles) -> Roles {
    tell(d, why);
    run(d)
}

/// Warns that Java runs an element which has a native implementation.
pub fn tell(d: &mut Decoder, why: &str) {
    let (class, name) = (&d.element.class, &d.element.name);
    let message = format!("{class} '{name}' is run by its Java class: {why}");
    d.warn(IN_JAVA, message);
}

/// The code of the finding that Java runs an element which has a native implementation.
pub const IN_JAVA: &str = "run-by-java";

/// A sampler with the configuration in its scope, the nearest first.
pub fn sampler(d: &mut Decoder, configs: &[&Element]) -> Option<JavaElement> {
    // The sampler comes first, so that a reason why it cannot run is reported once.
    let element = element_as(d, JavaRole::Sampler)?;
    let mut merged = Vec::new();
    for config in configs {
        if !NOT_MERGED.contains(&config.class.as_str()) {
            let mut d = Decoder::new(config, d.decoding);
            merged.extend(number(&mut d));
        }
    }
    d.decoding.java.elements[element.call.element as usize].configs = merged;
    Some(element)
}

/// An element that samplers take settings from, or that only listens to what happens.
pub fn config(d: &mut Decoder) -> Roles {
    Roles {
        java: number(d),
        ..Roles::default()
    }
}

/// HTTP's own configuration, which no sampler that Java runs reads.
const NOT_MERGED: [&str; 6] = [
    header_manager::CLASS,
    cookie_manager::CLASS,
    cache_manager::CLASS,
    auth_manager::CLASS,
    dns_cache_manager::CLASS,
    keystore_configuration::CLASS,
];

/// The element in one role; `None`, with a finding, if there is no Java.
pub fn element_as(d: &mut Decoder, role: JavaRole) -> Option<JavaElement> {
    let host = own_host(d)?;
    let wants_result = match role {
        JavaRole::Assertion | JavaRole::Listener => true,
        _ => {
            let properties = &d.decoding.settings.properties;
            script_words::sees_results(&d.element.class, &d.element.props, properties)
        }
    };
    let pace = pace(d);
    Some(JavaElement {
        host,
        call: JavaCall {
            element: number(d)?,
            role,
            wants_result,
            watches_waits: pace.watches_waits(),
        },
        name: d.name(),
        pace,
    })
}

fn pace(d: &mut Decoder) -> Arc<Pace> {
    let (class, props) = (&d.element.class, &d.element.props);
    if jdbc::CLASSES.contains(&class.as_str()) && jdbc::is_each_alone(d.decoding) {
        return d.decoding.kept.of::<PaceOfDatabase>().0.clone();
    }
    let waits = !drumfire_elements::is_script(class) || script_words::blocks(props);
    Arc::new(Pace::new(if waits {
        CallPlace::Apart
    } else {
        CallPlace::Worker
    }))
}

fn own_host(d: &mut Decoder) -> Option<Arc<dyn JavaHost>> {
    let class = d.element.class.clone();
    if let Some(Err(why)) = d.decoding.foreign.get(class.as_str()) {
        let why = why.to_string();
        cannot_run(d, &class, &why);
        return None;
    }
    let what = format!("{} '{}'", d.element.class, d.element.name);
    d.java_host(&what)
}

/// The element's index among those that Java runs, whatever its roles; `None`, with a finding, if there is no Java.
pub fn number(d: &mut Decoder) -> Option<u32> {
    let id = d.element.id;
    if let Some(position) = d
        .decoding
        .java
        .elements
        .iter()
        .position(|known| known.id == id)
    {
        return Some(position as u32);
    }
    own_host(d)?;
    let source = JavaSource {
        id,
        class: d.element.class.to_string(),
        name: d.element.name.to_string(),
        element: marked::element(d),
        configs: Vec::new(),
    };
    d.decoding.java.elements.push(source);
    Some((d.decoding.java.elements.len() - 1) as u32)
}

/// Registers a thread group for scripts that read it.
pub fn show_group(d: &mut Decoder) {
    let shown = marked::element(d);
    d.decoding.java.groups.push(shown);
}

impl JavaElement {
    /// Its index among the elements that Java runs.
    pub fn number(&self) -> u32 {
        self.call.element
    }

    /// Calls the element on this thread.
    fn run(&self, visit: &mut Visit<'_>) -> Result<i64, Raised> {
        let began = self.pace.begin();
        let outcome = self.host.call(visit, self.call);
        let took = self.pace.end(began, visit.has_waited);
        visit.note_time(took);
        outcome
    }

    /// Calls the element on a separate thread, unless it may meanwhile run on this one.
    async fn run_apart(&self, visit: &mut Visit<'_>) -> Result<i64, Raised> {
        self.run_interruptibly(visit, Vec::new()).await
    }

    /// The same for a sample that is interrupted at these times, if it then runs on a separate thread.
    async fn run_interruptibly(
        &self,
        visit: &mut Visit<'_>,
        interruptions: Vec<Wait>,
    ) -> Result<i64, Raised> {
        if self.pace.settle().await {
            return self.run(visit);
        }
        let began = Instant::now();
        let away = self.pace.go_apart();
        let interrupter = if interruptions.is_empty() {
            None
        } else {
            self.host.interrupter(visit)
        };
        let call = self.host.call_apart(visit, self.call);
        let outcome = match interrupter {
            Some(interrupter) => interrupted(call, interruptions, &interrupter).await,
            None => call.await,
        };
        let took = began.elapsed();
        away.note(took, visit.has_waited);
        visit.note_time(took);
        outcome
    }

    /// Calls the element, and makes its turn's outcome of what the call returns.
    fn act<'a, T: 'a>(
        &'a self,
        mut visit: Visit<'a>,
        outcome_of: impl FnOnce(&mut Visit<'a>, Result<i64, Raised>) -> T + 'a,
    ) -> Act<'a, T> {
        if self.pace.is_apart() {
            return Act::wait(async move {
                let returned = self.run_apart(&mut visit).await;
                outcome_of(&mut visit, returned)
            });
        }
        let returned = self.run(&mut visit);
        Act::Done(outcome_of(&mut visit, returned))
    }

    /// Calls the sampler once and returns its sample, if it makes one.
    async fn sample(&self, cx: &mut Context) -> Option<Sample> {
        let interruptions = cx.sample_limits();
        let mut visit = Visit::new(cx);
        let returned = if self.pace.is_apart() {
            let call = self.run_interruptibly(&mut visit, interruptions);
            call.await
        } else {
            self.run(&mut visit)
        };
        note(&mut visit, returned);
        visit.outcome.take()
    }
}

/// Interrupts a call at these times, until it ends.
async fn interrupted(
    mut call: Apart<'_>,
    interruptions: Vec<Wait>,
    interrupter: &Interrupter,
) -> Result<i64, Raised> {
    for at in interruptions {
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            () = at => interrupter(),
        }
    }
    call.await
}

/// Returns what the call returned. If it threw, raises its exception in the current sample, which handles it.
fn note(visit: &mut Visit<'_>, outcome: Result<i64, Raised>) -> Option<i64> {
    outcome.map_err(|raised| visit.raise(raised)).ok()
}

/// `ListenerNotifier`: an exception ends this listener's work on the sample, and an error ends the user before anything else
/// receives the sample. Whether to ignore a sample was decided before the listeners.
fn note_in_listener(user: &UserFacts, sample: &mut Sample, raised: Option<Raised>) {
    sample.ignore = user.is_ended_by_error && raised.is_some();
    if let Some(raised) = raised {
        tracing::error!("Detected problem in Listener. {raised}");
        if !sample.ignore {
            tracing::info!("Continuing to process further listeners");
        }
    }
}

impl Sampler for JavaElement {
    fn turn<'a>(&'a self, cx: &'a mut Context, _: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { self.sample(cx).await.map(Box::new) })
    }

    fn java_element(&self) -> Option<u32> {
        Some(self.number())
    }
}

impl PreProcessorRole for JavaElement {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        self.act(Visit::new(cx.visited()), |visit, outcome| {
            note(visit, outcome);
        })
    }
}

impl PostProcessorRole for JavaElement {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        self.act(Visit::of(cx.visited(), sample), |visit, outcome| {
            note(visit, outcome);
        })
    }

    fn reads(&self) -> Needs {
        if self.call.wants_result {
            Needs::ALL
        } else {
            Needs::NOTHING
        }
    }
}

impl AssertionRole for JavaElement {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        self.act(Visit::of(cx.visited(), sample), |visit, outcome| {
            note(visit, outcome);
            visit.verdict.take().unwrap_or_default()
        })
    }

    fn row_name(&self) -> &Template {
        &self.name
    }

    fn reads(&self) -> Needs {
        Needs::ALL
    }
}

impl TimerRole for JavaElement {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        self.act(Visit::new(cx.visited()), |visit, outcome| {
            note(visit, outcome).unwrap_or(0)
        })
    }
}

impl ListenerRole for JavaElement {
    fn turn<'a>(&'a self, cx: &'a mut ListenerView, sample: &'a mut Sample) -> Act<'a> {
        if self.pace.is_apart() {
            return Act::wait(async {
                let raised = self
                    .run_apart(&mut Visit::of(cx.visited(), sample))
                    .await
                    .err();
                note_in_listener(cx, sample, raised);
            });
        }
        self.at_once(cx, sample);
        Act::Done(())
    }

    fn at_once(&self, cx: &mut ListenerView, sample: &mut Sample) {
        let raised = self.run(&mut Visit::of(cx.visited(), sample)).err();
        note_in_listener(cx, sample, raised);
    }

    fn reads(&self) -> Needs {
        Needs::ALL
    }
}
