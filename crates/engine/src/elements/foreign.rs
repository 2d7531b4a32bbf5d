//! Decodes elements, including those of classes that the engine does not know: a plugin's, or the user's own.

use std::path::PathBuf;
use std::sync::Arc;

use drumfire_elements::controllers::loop_controller;
use drumfire_elements::shared::group;
use drumfire_jmx::full_class_name;

use super::catalogue::{Role, Rung, UNKNOWN_CLASS, entry, is_thread_group};
use super::java::{self, JavaElement, element_as, number};
use super::listeners;
use super::plugins::absent;
use super::refusal::cannot_run;
use crate::decode::roles::Roles;
use crate::decode::{Decoder, DecodingContext, OutsideAccess};
use crate::resolve::Element;
use crate::run::context::Context;
use crate::run::controllers::{ControllerKind, Hook, JavaController};
use crate::run::java::host::Java;
use crate::run::java::host::JavaFailure;
use crate::run::java::plan::{Ask, ClassRoles, JavaEvent, JavaRole, NOTHING};
use crate::run::java::visit::{ControllerChildren, Visit};
use crate::run::roles::{Driver, IterationListener};
use crate::run::view::PreProcessorView;

const BOTH: &str = "it is both a controller and a sampler";
const CLIENT: &str = "it is the client of a Backend Listener, not an element";
const BARE_GROUP: &str = "it lacks the settings of a thread group (`ThreadGroup.on_sample_error`): save the plan in JMeter";
const NO_GROUP: &str =
    "it has the settings of a thread group, but its class does not extend AbstractThreadGroup";

/// Decodes an element; reports a finding if it cannot run.
pub fn decode(d: &mut Decoder) -> Roles {
    let class = d.element.class.clone();
    match entry(&class) {
        Some(entry) => match entry.rung {
            Rung::Native | Rung::Jvm => {
                let roles = (entry.decode)(d);
                match roles.foreign {
                    Some(why) => java::instead(d, why, foreign),
                    None => roles,
                }
            }
            Rung::Skipped => {
                d.warn(
                    "element-skipped",
                    format!("{class} '{}' is skipped: {}", d.element.name, entry.why),
                );
                Roles::default()
            }
            Rung::Refused => cannot_run(d, &class, entry.why),
        },
        None => foreign(d),
    }
}

/// The role of an element: the catalogue's, or what its Java class says.
pub fn role(element: &Element, decoding: &mut DecodingContext) -> Option<Role> {
    if let Some(entry) = entry(&element.class) {
        return Some(entry.role);
    }
    if is_thread_group(element) {
        return Some(Role::ThreadGroup);
    }
    let traits = traits(&mut Decoder::new(element, decoding)).ok()?;
    match traits {
        ClassRoles {
            controller: true,
            sampler: true,
            ..
        }
        | ClassRoles {
            thread_group: true, ..
        } => None,
        ClassRoles {
            controller: true, ..
        } => Some(Role::Controller),
        ClassRoles { sampler: true, .. } => Some(Role::Sampler),
        ClassRoles { config: true, .. } => Some(Role::Config),
        _ => Some(Role::Scoped),
    }
}

/// The roles of the element's class, or why it cannot be run.
fn traits(d: &mut Decoder) -> Result<ClassRoles, JavaFailure> {
    let element = d.element;
    traits_of(d, &element.class)
}

/// Why Java cannot run the client that a Backend Listener names, if it cannot.
pub fn client_fault(d: &mut Decoder, class: &str) -> Option<String> {
    let roles = traits_of(d, class);
    let is_asked = d.decoding.unasked.iter().all(|unasked| unasked != class);
    match roles {
        Ok(traits) if traits.backend_client || !is_asked => None,
        Ok(_) => Some("it is not a BackendListenerClient".to_owned()),
        Err(why) => Some(why.into()),
    }
}

/// Why Java cannot run a class that a Java Request names, if no jar has it.
pub fn class_fault(d: &mut Decoder, class: &str) -> Option<String> {
    traits_of(d, class).err().map(String::from)
}

fn traits_of(d: &mut Decoder, class: &str) -> Result<ClassRoles, JavaFailure> {
    if let Some(answer) = d.decoding.foreign.get(class) {
        return answer.clone();
    }
    let answer = match &d.settings().java {
        Java::Host(_) if d.decoding.outside == OutsideAccess::Closed => {
            d.decoding.needs_java = true;
            d.decoding.unasked.push(class.to_string());
            // Only controllers have samplers below them.
            return Ok(ClassRoles {
                controller: has_samplers(d.element),
                ..ClassRoles::default()
            });
        }
        java => java.host().and_then(|host| {
            host.classify(
                full_class_name(class),
                &plan_file(d),
                &d.decoding.java.classpath,
            )
        }),
    };
    let roles = match answer {
        Ok(Some(traits)) => Ok(traits),
        Ok(None) => Err(absent(full_class_name(class)).into()),
        Err(why) => Err(format!("{UNKNOWN_CLASS}: {why}").into()),
    };
    d.decoding.foreign.insert(class.to_string(), roles.clone());
    roles
}

fn has_samplers(element: &Element) -> bool {
    element.children.iter().any(|child| {
        let role = entry(&child.class).map(|entry| entry.role);
        matches!(role, Some(Role::Sampler | Role::Controller)) || has_samplers(child)
    })
}

/// The plan file that contains the element.
fn plan_file(d: &Decoder) -> PathBuf {
    let file = d.element.source.path.file_name().unwrap_or_default();
    d.settings().base_dir.join(file)
}

/// Decodes an element that is not in the catalogue, in all its roles; reports a finding if it cannot run.
fn foreign(d: &mut Decoder) -> Roles {
    let class = d.element.class.clone();
    let traits = match traits(d) {
        Ok(traits) => traits,
        Err(why) => return cannot_run(d, &class, why.as_ref()),
    };
    if traits.backend_client {
        return cannot_run(d, &class, CLIENT);
    }
    if traits.thread_group {
        return cannot_run(d, &class, BARE_GROUP);
    }
    if traits.controller && traits.sampler {
        return cannot_run(d, &class, BOTH);
    }
    if traits.controller {
        return controller(d, traits);
    }
    if traits.result_collector {
        return listeners::result_collector(d);
    }
    let mut roles = Roles {
        java: number(d),
        ..Roles::default()
    };
    let mut play = |is_played: bool, role: JavaRole| {
        is_played
            .then(|| element_as(d, role))
            .flatten()
            .map(Arc::new)
    };
    if let Some(pre) = play(traits.pre, JavaRole::PreProcessor) {
        roles.pre = Some(pre);
    }
    if let Some(post) = play(traits.post, JavaRole::PostProcessor) {
        roles.post = Some(post);
    }
    if let Some(assertion) = play(traits.assertion, JavaRole::Assertion) {
        roles.assertion = Some(assertion);
    }
    if let Some(timer) = play(traits.timer, JavaRole::Timer) {
        roles.timer = Some(timer);
    }
    // Only its iteration listener is called, so the role does not matter.
    if let Some(pre_processor) = play(traits.iterations, JavaRole::PreProcessor) {
        roles.each_iteration = Some(Hook::Element(pre_processor));
    }
    if let Some(listener) = play(traits.listener, JavaRole::Listener) {
        roles.listener = Some(d.new_listener(listener));
    }
    roles
}

/// Decodes a controller that its Java object drives: the engine asks it for the next sampler, and it asks the
/// controllers below it.
fn controller(d: &mut Decoder, traits: ClassRoles) -> Roles {
    let Some(element) = element_as(d, JavaRole::PreProcessor) else {
        return Roles::default();
    };
    Roles {
        java: Some(element.number()),
        ..Roles::controller(ControllerKind::Driven(JavaController {
            driver: Arc::new(element),
            iterates: traits.iterating,
            listens: traits.iterations,
        }))
    }
}

/// Decodes a thread group whose Java object starts its users; `None`, with a finding, if its class cannot.
pub fn thread_group(d: &mut Decoder) -> Option<JavaGroup> {
    let class = d.element.class.clone();
    let traits = match traits(d) {
        Ok(traits) => traits,
        Err(why) => {
            cannot_run(d, &class, why.as_ref());
            return None;
        }
    };
    if !traits.thread_group && d.decoding.outside != OutsideAccess::Closed {
        cannot_run(d, &class, NO_GROUP);
        return None;
    }
    let element = element_as(d, JavaRole::PreProcessor)?;
    let number = element.number();
    let main = d.element.props.element(group::MAIN_LOOP.name);
    let has_loop = main.is_some_and(|main| main.class == loop_controller::CLASS);
    let root = (traits.walks_itself || !has_loop).then(|| {
        ControllerKind::Driven(JavaController {
            driver: Arc::new(element),
            iterates: true,
            listens: false,
        })
    });
    Some(JavaGroup { number, root })
}

/// A thread group whose Java object starts its users.
pub struct JavaGroup {
    /// Its index among the elements that Java runs.
    pub number: u32,
    /// Present if the object itself drives the users; otherwise its class leaves that to the controller in it.
    pub root: Option<ControllerKind>,
}

impl Driver for JavaElement {
    fn ask(&self, cx: &mut Context, below: &mut dyn ControllerChildren, ask: Ask) -> i32 {
        let mut visit = Visit::above(cx, below);
        let answer = self.host.drive(&mut visit, self.number(), ask);
        answer.unwrap_or_else(|raised| {
            // JMeterThread#run
            tracing::error!("Test failed! {raised}");
            visit.end_user(&raised.to_string());
            NOTHING
        })
    }
}

impl IterationListener for JavaElement {
    fn iteration_start(&self, cx: &mut PreProcessorView, iteration: i32) {
        cx.tell_java(&[self.number()], JavaEvent::LoopIteration(iteration));
    }
}
