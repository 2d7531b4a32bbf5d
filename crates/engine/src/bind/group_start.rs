//! Settings of a thread group that hold functions or variables are read again when the group starts
//! (`StandardJMeterEngine#startThreadGroup`, `ThreadGroup#start`): by then setUp groups, and earlier groups of a serialized plan,
//! may have set the properties that these settings read.

use drumfire_elements::other::test_plan;
use drumfire_elements::shared::group;
use drumfire_elements::thread_groups::{setup_thread_group, teardown_thread_group};
use drumfire_expr::Compiler;
use drumfire_jmx::Value;

use crate::bind::scripts::Scripts;
use crate::decode::{Decoder, DecodingContext, OutsideAccess};
use crate::elements;
use crate::elements::java_thread_group;
use crate::elements::thread_groups::{self, GroupLoad};
use crate::resolve::Element;
use crate::run::action::OnError;
use crate::run::program::{GroupStart, LateSettings, Program};

/// A thread group's element, to be read again when the group starts.
pub struct LateElement {
    element: Element,
    unsettled: Vec<(String, String)>,
}

impl LateElement {
    /// `None` where every setting is spelled out: then there is nothing to read again.
    pub fn of(element: &Element, plan: &Element) -> Option<LateElement> {
        let is_computed =
            element.name.contains("${") || element.props.texts().any(|text| text.contains("${"));
        is_computed.then(|| LateElement {
            element: element.alone(),
            unsettled: if runs_before(element, plan).any(may_set_properties) {
                functions(element)
            } else {
                Vec::new()
            },
        })
    }
}

impl LateSettings for LateElement {
    fn unsettled(&self) -> &[(String, String)] {
        &self.unsettled
    }

    fn read(&self, program: &Program) -> Option<GroupStart> {
        let settings = &*program.settings;
        let mut compiler = Compiler::with_names(settings.properties.clone(), &program.names);
        compiler.set_plan(&program.script, &program.base_dir);
        for (name, value) in &program.variables {
            compiler.define(name, value.as_str());
        }
        let scripts = Scripts::new(&settings.java, &program.java.classpath, OutsideAccess::Open);
        compiler.set_scripts(scripts.runner());
        let mut decoding = DecodingContext::empty(settings, compiler);
        let read = read(&mut Decoder::new(&self.element, &mut decoding));
        scripts.report(&mut decoding);
        for finding in &decoding.findings {
            tracing::warn!("{}", finding.message);
        }
        let (name, on_error, load) = read?;
        Some(GroupStart {
            name,
            shape: load.shape,
            on_error,
            same_user: load.same_user,
        })
    }
}

/// The thread groups that have ended when this one starts.
fn runs_before<'p>(group: &'p Element, plan: &'p Element) -> impl Iterator<Item = &'p Element> {
    let serialized = plan.props.bool(test_plan::SERIALIZE.name, false);
    let groups = plan
        .children
        .iter()
        .filter(|child| elements::is_thread_group(child));
    groups.filter(move |other| {
        let (own, theirs) = (phase(&group.class), phase(&other.class));
        theirs < own || (serialized && theirs == own && other.id < group.id)
    })
}

fn phase(class: &str) -> i32 {
    match class {
        setup_thread_group::CLASS => 0,
        teardown_thread_group::CLASS => 2,
        _ => 1,
    }
}

/// Whether something in the tree looks as if it set properties.
fn may_set_properties(element: &Element) -> bool {
    sets(&element.name)
        || element.props.texts().any(sets)
        || element.children.iter().any(may_set_properties)
}

fn sets(text: &str) -> bool {
    ["setProperty", "props", "JMeterProperties"]
        .iter()
        .any(|word| text.contains(word))
}

/// Names and texts of the properties that call functions.
fn functions(element: &Element) -> Vec<(String, String)> {
    let props = element.props.iter();
    props
        .filter_map(|prop| match &prop.value {
            Value::Str(text) if text.contains("${__") => {
                Some((prop.name.to_string(), text.clone()))
            }
            _ => None,
        })
        .collect()
}

/// A thread group's name, its action after a failed sample, and its load, as they are now.
pub fn read(d: &mut Decoder) -> Option<(String, OnError, GroupLoad)> {
    let on_error = match d
        .text_now(group::ON_SAMPLE_ERROR.name)
        .to_ascii_lowercase()
        .as_str()
    {
        "startnextloop" => OnError::StartNextLoop,
        "stopthread" => OnError::StopThread,
        "stoptest" => OnError::StopTest,
        "stoptestnow" => OnError::StopTestNow,
        _ => OnError::Continue,
    };
    let name = d.name();
    let name = d.now(&name);
    let load = match elements::entry(&d.element.class) {
        Some(_) => thread_groups::decode(d)?,
        None => java_thread_group::decode(d)?,
    };
    Some((name, on_error, load))
}
