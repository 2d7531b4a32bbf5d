//! Thread groups: how each reads its load, and when its users start and stop.

mod arrivals_thread_group;
mod concurrency_thread_group;
mod free_form_arrivals_thread_group;
mod open_model_thread_group;
mod stepping_thread_group;
mod thread_group;
mod ultimate_thread_group;

pub use ultimate_thread_group::short_seconds;

use drumfire_elements::controllers::loop_controller;
use drumfire_elements::shared::group;
use drumfire_elements::thread_groups as facts;
use drumfire_expr::Template;

use crate::base::number;
use crate::decode::Decoder;
use crate::run::controllers::ControllerKind;
use crate::run::schedule::Shape;

/// A decoded thread group's load, and what drives its users.
pub struct GroupLoad {
    pub shape: Shape,
    pub root: ControllerKind,
    /// Iterations per user: -1 is forever; absent when it is only known at run time.
    pub loops: Option<i32>,
    pub same_user: bool,
    /// The text between the group's name and its number in the names of threads.
    pub thread_name_suffix: &'static str,
    /// Its index among the elements that Java runs, if its Java object starts the users.
    pub java: Option<u32>,
}

/// Decodes a thread group; `None`, with a finding, if it cannot run.
pub fn decode(d: &mut Decoder) -> Option<GroupLoad> {
    match d.element.class.as_str() {
        facts::stepping_thread_group::CLASS => stepping_thread_group::decode(d),
        facts::ultimate_thread_group::CLASS => ultimate_thread_group::decode(d),
        facts::concurrency_thread_group::CLASS => Some(concurrency_thread_group::decode(d)),
        facts::arrivals_thread_group::CLASS => Some(arrivals_thread_group::decode(d)),
        facts::free_form_arrivals_thread_group::CLASS => {
            Some(free_form_arrivals_thread_group::decode(d))
        }
        facts::open_model_thread_group::CLASS => Some(open_model_thread_group::decode(d)),
        _ => thread_group::decode(d),
    }
}

/// The load of a group whose users repeat the loop controller inside it (`ThreadGroup.main_controller`).
pub fn looping(d: &mut Decoder, shape: Shape, same_user: bool) -> Option<GroupLoad> {
    let (forever, loops) = main_loop(d)?;
    Some(GroupLoad {
        shape,
        loops: loops
            .literal()
            .map(number::int)
            .or_else(|| Some(number::int(&d.now(&loops)))),
        root: ControllerKind::Loop { loops, forever },
        same_user,
        thread_name_suffix: "",
        java: None,
    })
}

fn main_loop(d: &mut Decoder) -> Option<(bool, Template)> {
    let element = d.element;
    let Some(main) = element.props.element(group::MAIN_LOOP.name) else {
        let message = format!(
            "thread group '{}' has no loop controller (ThreadGroup.main_controller)",
            element.name
        );
        d.refuse(
            "no-main-controller",
            message,
            "open the plan in JMeter and save it again",
        );
        return None;
    };
    if main.class != loop_controller::CLASS {
        let message = format!(
            "thread group '{}' is driven by {}, which Drumfire does not support",
            element.name, main.class
        );
        d.refuse(
            "main-controller-class",
            message,
            "use a Thread Group with a loop count",
        );
        return None;
    }
    let loops = d.compile(&main.props.str(loop_controller::LOOPS.name));
    Some((
        main.props.bool("LoopController.continue_forever", true),
        loops,
    ))
}

/// The rows of a table that a plugin stores as a collection of collections, evaluated before the run.
pub fn rows(d: &mut Decoder, property: &str) -> Vec<Vec<String>> {
    let element = d.element;
    let rows: Vec<_> = element.props.list(property).iter().map(cells).collect();
    rows.iter()
        .map(|row| {
            let texts = row.iter().map(|cell| cell.value.as_str().into_owned());
            texts
                .collect::<Vec<_>>()
                .iter()
                .map(|text| {
                    let template = d.compile(text);
                    d.now(&template)
                })
                .collect()
        })
        .collect()
}

fn cells(row: &drumfire_jmx::Prop) -> Vec<drumfire_jmx::Prop> {
    match &row.value {
        drumfire_jmx::Value::List(cells) => cells.clone(),
        _ => Vec::new(),
    }
}
