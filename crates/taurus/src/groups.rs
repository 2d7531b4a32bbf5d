//! Applies another load to thread groups: `LoadSettingsProcessor`.

use drumfire_elements::controllers::loop_controller;
use drumfire_elements::items;
use drumfire_elements::shared::group;
use drumfire_elements::thread_groups::{
    arrivals_thread_group, concurrency_thread_group, open_model_thread_group,
    stepping_thread_group, thread_group, ultimate_thread_group,
};
use drumfire_elements::timers::throughput_shaping_timer;
use drumfire_jmx::{Element, Node, Prop, Value};

use crate::amount::Amount;
use crate::error::TaurusError;
use crate::load::Load;
use crate::value::{float_text, has_variable};

pub(crate) const PLAIN: &str = thread_group::CLASS;
pub(crate) const CONCURRENCY: &str = concurrency_thread_group::CLASS;
const SHAPER: &str = throughput_shaping_timer::CLASS;
/// The groups whose load is replaced, in the order in which they are counted.
pub(crate) const GROUPS: [&str; 6] = [
    PLAIN,
    stepping_thread_group::CLASS,
    ultimate_thread_group::CLASS,
    CONCURRENCY,
    arrivals_thread_group::CLASS,
    open_model_thread_group::CLASS,
];

/// The rules for changing thread groups.
pub(crate) struct GroupRules {
    /// `modules.jmeter.force-ctg`: groups with a duration become Concurrency Thread Groups.
    pub force_concurrency: bool,
    /// Whether the plan was made from requests.
    pub is_generated: bool,
    /// Whether the groups start with a delay. Only plain groups support that.
    pub waits: bool,
}

/// Applies the load to the groups of a plan. `plan` is the Test Plan.
pub(crate) fn apply(
    plan: &mut Node,
    load: &Load,
    rules: &GroupRules,
    notes: &mut Vec<String>,
) -> Result<(), TaurusError> {
    if load.is_absent() {
        return Ok(());
    }
    let timed = rules.force_concurrency && load.duration != 0.0 && !load.iterations.is_set();
    let target = if timed && !rules.waits {
        CONCURRENCY
    } else {
        PLAIN
    };
    let places: Vec<usize> = GROUPS
        .iter()
        .flat_map(|class| {
            let of_class = |node: &Node| node.enabled && node.class == *class;
            let children = plan.children.iter().enumerate();
            children
                .filter(move |(_, node)| of_class(node))
                .map(|(at, _)| at)
        })
        .collect();
    let shares = shares(plan, &places, load, notes)?;
    for (at, users) in places.into_iter().zip(shares) {
        let group = &mut plan.children[at];
        convert(group, target, users, load, rules);
    }
    if let Some(rate) = load.throughput.as_ref().filter(|rate| rate.is_set()) {
        if load.duration == 0.0 {
            notes.push(
                "`throughput` needs `ramp-up` or `hold-for`; without them it has no effect"
                    .to_owned(),
            )
        } else {
            plan.children.push(shaper(rate, load))
        }
    }
    if target == PLAIN && load.steps.as_ref().is_some_and(Amount::is_set) {
        notes.push("`steps` has no effect on plain Thread Groups".to_owned());
    }
    Ok(())
}

/// The number of users of each group.
fn shares(
    plan: &Node,
    places: &[usize],
    load: &Load,
    notes: &mut Vec<String>,
) -> Result<Vec<Amount>, TaurusError> {
    let planned_users = places.iter().map(|at| own_users(&plan.children[*at]));
    match &load.concurrency {
        Some(expression @ Amount::Text(_)) => Ok(vec![expression.clone(); places.len()]),
        None => Ok(planned_users.map(Amount::Text).collect()),
        Some(Amount::Number(users)) => {
            let planned_users: Result<Vec<f64>, TaurusError> =
                planned_users.map(|own| counted(&own)).collect();
            Ok(divided(*users, &planned_users?, notes))
        }
    }
}

/// Divides users in proportion to the groups' own numbers, at least one each. A group without users
/// stays without.
fn divided(users: f64, own: &[f64], notes: &mut Vec<String>) -> Vec<Amount> {
    let total: f64 = own.iter().sum();
    let shares: Vec<f64> = own
        .iter()
        .map(|own| {
            if total != 0.0 && *own != 0.0 {
                // Python rounds half to even.
                (users * own / total).round_ties_even().max(1.0)
            } else {
                0.0
            }
        })
        .collect();
    let given_users: f64 = shares.iter().sum();
    if given_users != users {
        notes.push(format!(
            "the number of users, {users}, cannot be divided among the thread groups in their proportion: {given_users} will run"
        ));
    }
    shares.into_iter().map(Amount::Number).collect()
}

fn own_users(group: &Node) -> String {
    let property = match group.class.as_str() {
        PLAIN | stepping_thread_group::CLASS => group::USERS.name,
        CONCURRENCY => group::TARGET_LEVEL.name,
        _ => return "1".to_owned(),
    };
    group.props.str_or(property, "1").into_owned()
}

/// The number of users that a group has itself. For a property it is the default, or else one.
fn counted(own: &str) -> Result<f64, TaurusError> {
    let constant = if has_variable(own) {
        let is_property = own.starts_with("${__P(") || own.starts_with("${__property(");
        let default = own.find(',').filter(|_| is_property && own.len() > 2);
        default.map_or("1", |comma| own[comma + 1..].trim_end_matches(")}"))
    } else {
        own
    };
    let number: Option<f64> = constant.trim().parse().ok();
    number.map(f64::trunc).ok_or_else(|| {
        TaurusError::new(format!(
            "a thread group has `{own}` users, which is not a number"
        ))
        .hint("write a number there, or `${__P(users,5)}`")
    })
}

fn own_ramp_up(group: &Node) -> Amount {
    let property = match group.class.as_str() {
        PLAIN => group::RAMP_TIME.name,
        CONCURRENCY | arrivals_thread_group::CLASS => group::LEVEL_RAMP_UP.name,
        _ => return Amount::Number(0.0),
    };
    let written = group.props.str(property);
    match written.parse() {
        _ if written.is_empty() => Amount::Number(0.0),
        Ok(number) => Amount::Number(number),
        Err(_) => Amount::Text(written.into_owned()),
    }
}

fn keeps_user(group: &Node) -> bool {
    match group.class.as_str() {
        PLAIN | CONCURRENCY => group.props.str_or(group::SAME_USER.name, "true") == "true",
        _ => false,
    }
}

fn convert(group: &mut Node, target: &str, users: Amount, load: &Load, rules: &GroupRules) {
    let ramp_up = if load.has_ramp_up {
        load.ramp_up.clone().unwrap_or(Amount::Number(0.0))
    } else {
        own_ramp_up(group)
    };
    let enabled = users.number().is_none_or(|users| users > 0.0);
    let on_error = group
        .props
        .value(group::ON_SAMPLE_ERROR.name)
        .map(|value| value.as_str().into_owned());
    let made = match target {
        CONCURRENCY => concurrency_group(group, &users, &ramp_up, load, on_error),
        _ => {
            let planned_loops = if rules.force_concurrency || rules.is_generated {
                None
            } else {
                own_loops(group)
            };
            let iterations = planned_loops.unwrap_or_else(|| load.iterations.clone());
            let mut made = plain_group(&PlainGroup {
                name: &group.name,
                users,
                ramp_up,
                adds_ramp_up: load.has_ramp_up,
                hold: load.hold.clone(),
                iterations,
                on_error,
                keeps_user: keeps_user(group),
            });
            if group.class == PLAIN {
                keep_delay(group, &mut made);
            }
            made
        }
    };
    let children = std::mem::take(&mut group.children);
    *group = made.above(children);
    group.enabled = enabled;
}

fn own_loops(group: &Node) -> Option<Amount> {
    let controller = group
        .props
        .element(group::MAIN_LOOP.name)
        .filter(|_| group.class == PLAIN)?;
    if controller.props.str(loop_controller::CONTINUE_FOREVER.name) != "false" {
        return None;
    }
    let loops = controller.props.str(loop_controller::LOOPS.name);
    match loops.parse() {
        Ok(loops) => Some(Amount::Number(loops)),
        Err(_) if loops.is_empty() => None,
        Err(_) => Some(Amount::Text(loops.into_owned())),
    }
}

/// Copies the start delay of a plain group.
fn keep_delay(from: &Node, to: &mut Node) {
    let delay = from.props.str(group::DELAY.name);
    if !delay.is_empty() {
        to.props.put(group::DELAY.name, delay.as_ref());
    }
    if from.props.str(group::DELAYED_START.name) == "true" {
        to.props.put(group::DELAYED_START.name, true);
    }
}

/// The settings of a plain Thread Group.
pub(crate) struct PlainGroup<'n> {
    pub name: &'n str,
    pub users: Amount,
    pub ramp_up: Amount,
    /// Whether the ramp-up is added to the duration even if one of them is an expression.
    pub adds_ramp_up: bool,
    pub hold: Amount,
    pub iterations: Amount,
    pub on_error: Option<String>,
    pub keeps_user: bool,
}

pub(crate) fn plain_group(group: &PlainGroup<'_>) -> Node {
    let (ramp_up, hold) = (&group.ramp_up, &group.hold);
    let duration = match (ramp_up, hold) {
        (ramp_up, hold) if !hold.is_set() => ramp_up.clone(),
        (ramp_up, hold) if !ramp_up.is_set() => hold.clone(),
        (Amount::Number(ramp_up), Amount::Number(hold)) => {
            Amount::Number(ramp_up.trunc() + hold.trunc())
        }
        (_, hold) if !group.adds_ramp_up => hold.clone(),
        (ramp_up, hold) => Amount::Text(format!(
            "${{__intSum({},{})}}",
            ramp_up.whole(),
            hold.whole()
        )),
    };
    let iterations = match (group.iterations.is_set(), duration.is_set()) {
        (true, _) => group.iterations.clone(),
        (false, true) => Amount::Number(-1.0),
        (false, false) => Amount::Number(1.0),
    };
    let ends_by_time = hold.is_set() || ramp_up.is_set() && iterations == Amount::Number(-1.0);
    let controller = Element::new(loop_controller::CLASS)
        .shown("LoopControlPanel", "Loop Controller")
        .with(loop_controller::CONTINUE_FOREVER.name, false)
        .with(loop_controller::LOOPS.name, iterations.whole());
    let mut node = Node::new(PLAIN, "ThreadGroupGui", group.name);
    if let Some(on_error) = &group.on_error {
        node = node.with(group::ON_SAMPLE_ERROR.name, on_error.as_str());
    }
    node.with(group::MAIN_LOOP.name, controller)
        .with(group::USERS.name, group.users.whole())
        .with(group::RAMP_TIME.name, ramp_up.whole())
        .with(group::START_TIME.name, "")
        .with(group::END_TIME.name, "")
        .with(group::SCHEDULER.name, ends_by_time)
        .with(group::DURATION.name, duration.whole())
        .with(group::SAME_USER.name, group.keeps_user)
}

fn concurrency_group(
    group: &Node,
    users: &Amount,
    ramp_up: &Amount,
    load: &Load,
    on_error: Option<String>,
) -> Node {
    let planned_iterations = if group.class == CONCURRENCY {
        group.props.str(group::ITERATIONS.name).into_owned()
    } else {
        String::new()
    };
    let steps = load
        .steps
        .as_ref()
        .map(Amount::whole)
        .unwrap_or_else(|| "0".to_owned());
    Node::new(CONCURRENCY, &format!("{CONCURRENCY}Gui"), &group.name)
        .with(
            group::MAIN_LOOP.name,
            Element::new(items::VIRTUAL_USER.class),
        )
        .with(
            group::ON_SAMPLE_ERROR.name,
            on_error.unwrap_or_else(|| "continue".to_owned()),
        )
        .with(group::TARGET_LEVEL.name, users.whole())
        .with(group::LEVEL_RAMP_UP.name, ramp_up.whole())
        .with(group::STEPS.name, steps)
        .with(group::HOLD.name, load.hold.whole())
        .with(group::LOG_FILE.name, "")
        .with(group::ITERATIONS.name, planned_iterations)
        .with(group::UNIT.name, "S")
        .with(group::LEVEL_SAME_USER.name, keeps_user(group))
}

/// A Throughput Shaping Timer with the rate of an execution.
fn shaper(rate: &Amount, load: &Load) -> Node {
    let mut rows = Vec::new();
    if let Some(ramp_up) = load.ramp_up.as_ref().filter(|time| time.is_set()) {
        let first = rate
            .number()
            .map(|rate| (rate / load.duration).max(1.0))
            .unwrap_or(1.0);
        let steps = load
            .steps
            .as_ref()
            .and_then(Amount::number)
            .filter(|steps| *steps > 0.0);
        match (steps, rate.number(), ramp_up.number()) {
            (Some(steps), Some(rate), Some(ramp_up)) => {
                let (height, width) = (rate / steps, ramp_up / steps);
                let mut passed = 0.0;
                for step in 1..=(steps as u32) {
                    let step = f64::from(step);
                    let level = Amount::Number(height * step);
                    let seconds = (width * step - passed).trunc();
                    passed += seconds;
                    rows.push(shaper_row(&level, &level, format!("{seconds}")));
                }
            }
            _ => rows.push(shaper_row(&Amount::Number(first), rate, ramp_up.whole())),
        }
    }
    if load.hold.is_set() {
        rows.push(shaper_row(rate, rate, load.hold.whole()));
    }
    Node::new(SHAPER, &format!("{SHAPER}Gui"), "Throughput_Limiter").with(
        throughput_shaping_timer::LOAD_PROFILE.name,
        Value::List(rows),
    )
}

/// A row of the Throughput Shaping Timer.
fn shaper_row(from: &Amount, to: &Amount, seconds: String) -> Prop {
    let cells: Vec<Prop> = [shown(from), shown(to), seconds]
        .into_iter()
        .map(|cell| Prop::new("", cell))
        .collect();
    Prop::new("", cells)
}

fn shown(amount: &Amount) -> String {
    match amount {
        Amount::Number(number) => float_text((number * 1000.0).round() / 1000.0),
        Amount::Text(text) => text.clone(),
    }
}
