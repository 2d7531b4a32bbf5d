//! Replaces a plan's own load: by users, ramp-up, duration and rate from the command line, divided among the thread groups as
//! Taurus divides them, or by one user with one iteration for `--once`.

use std::fmt;
use std::num::NonZeroU32;

use drumfire_elements::controllers::loop_controller;
use drumfire_elements::shared::group;
use drumfire_elements::thread_groups::{
    arrivals_thread_group, concurrency_thread_group, free_form_arrivals_thread_group,
    open_model_thread_group, stepping_thread_group, thread_group, ultimate_thread_group,
};
use drumfire_elements::timers::throughput_shaping_timer;
use drumfire_jmx::{Element, Node, Prop, Tree, Value, did_you_mean};
use drumfire_platform::words::counted;

/// The load that a plan gets instead of its own. A setting that is not given stays as the plan has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOverride {
    /// Users of all groups together.
    pub users: Option<u32>,
    pub ramp_up_s: Option<u64>,
    /// From the start of a group to its end, including the ramp-up.
    pub duration_s: Option<u64>,
    /// Iterations of each user. With a duration, a group ends with whichever is over first.
    pub iterations: Option<NonZeroU32>,
    /// Samples a second, all groups together.
    pub rate: Option<f64>,
    /// Iterations a second, all groups together, that start whether or not earlier ones have ended. `users` then limits how
    /// many run at a time, and `duration_s` says for how long they start.
    pub arrivals: Option<f64>,
    /// Only the group of this name.
    pub group: Option<String>,
    /// One iteration of each group, unless `iterations` says more, with one user unless `users` says more.
    pub once: bool,
}

/// Why a plan cannot get another load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// A rate was given without the duration to spread it over.
    RateWithoutDuration,
    /// Iterations were given to the thread group of this name, whose schedule starts them.
    IterationsOfSchedule(String),
    /// Iterations were given along with a rate at which iterations arrive.
    IterationsOfArrivals,
    /// There is no enabled thread group whose load can be set.
    NoGroup,
    /// No such group has this name. The second field holds the names of those that can be chosen.
    UnknownGroup(String, Vec<String>),
}

impl LoadError {
    /// The remedy.
    pub fn remedy(&self) -> String {
        match self {
            LoadError::RateWithoutDuration => "add `--duration 60s`".to_owned(),
            LoadError::IterationsOfSchedule(_) => {
                "add `--users`, which replaces the schedule, or name another group with `--group`"
                    .to_owned()
            }
            LoadError::IterationsOfArrivals => "leave out `--iterations`".to_owned(),
            LoadError::NoGroup => "enable a thread group in the plan".to_owned(),
            LoadError::UnknownGroup(name, all) => {
                match did_you_mean(name, all.iter().map(String::as_str)) {
                    Some(near) => format!("write `{near}`"),
                    None => {
                        let all: Vec<String> = all
                            .iter()
                            .map(|name| format!("`--group '{name}'`"))
                            .collect();
                        format!("write {}", all.join(" or "))
                    }
                }
            }
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::RateWithoutDuration => f.write_str("a rate needs a duration"),
            LoadError::UnknownGroup(name, all) => {
                write!(
                    f,
                    "the plan has no enabled thread group `{name}`; it has {}",
                    quoted(all)
                )
            }
            LoadError::IterationsOfSchedule(name) => write!(
                f,
                "`--iterations` has no meaning for the thread group `{name}`: its schedule starts the iterations, each with a user of its own"
            ),
            LoadError::IterationsOfArrivals => {
                f.write_str("`--iterations` has no meaning here: iterations arrive at a rate")
            }
            LoadError::NoGroup => f.write_str("the plan has no enabled thread group"),
        }
    }
}

impl std::error::Error for LoadError {}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

const PLAIN: &str = thread_group::CLASS;
const ARRIVALS: &str = arrivals_thread_group::CLASS;
/// Groups whose schedule starts each iteration, with a user of its own.
const SCHEDULED: [&str; 3] = [
    open_model_thread_group::CLASS,
    ARRIVALS,
    free_form_arrivals_thread_group::CLASS,
];
/// Groups that send the load; set-up and tear-down groups keep theirs.
const GROUPS: [&str; 7] = [
    PLAIN,
    open_model_thread_group::CLASS,
    stepping_thread_group::CLASS,
    ultimate_thread_group::CLASS,
    concurrency_thread_group::CLASS,
    ARRIVALS,
    free_form_arrivals_thread_group::CLASS,
];
const CONTROLLER: &str = group::MAIN_LOOP.name;

impl LoadOverride {
    /// The plan with this load, and notes for its user.
    ///
    /// # Errors
    /// The plan has no such group, or the rate lacks a duration.
    pub fn apply(&self, tree: &Tree) -> Result<(Tree, Vec<String>), LoadError> {
        if *self == LoadOverride::default() {
            return Ok((tree.clone(), Vec::new()));
        }
        if self.rate.is_some() && self.duration_s.is_none() && !self.once {
            return Err(LoadError::RateWithoutDuration);
        }
        let mut roots = tree.roots.to_vec();
        let mut groups: Vec<&mut Node> = roots
            .iter_mut()
            .flat_map(|root| &mut root.children)
            .filter(|node| node.enabled && GROUPS.contains(&node.class.as_str()))
            .collect();
        if groups.is_empty() {
            return Err(LoadError::NoGroup);
        }
        if let Some(name) = &self.group {
            let all = groups.iter().map(|group| group.name.to_string()).collect();
            groups.retain(|group| group.name == *name);
            if groups.is_empty() {
                return Err(LoadError::UnknownGroup(name.clone(), all));
            }
        }
        self.check_iterations(&groups)?;
        let mut notes = Vec::new();
        if let Some(arrivals) = self.arrivals {
            self.arrive(&mut groups, arrivals);
        } else if self.once {
            groups.iter_mut().for_each(|group| self.once(group));
        } else {
            self.load(&mut groups, &mut notes);
        }
        if let (Some(rate), Some(seconds), false) = (self.rate, self.duration_s, self.once) {
            let timer = shaping_timer(rate, self.ramp_up_s.unwrap_or(0), seconds);
            match (&self.group, groups.into_iter().next()) {
                (Some(_), Some(group)) => group.children.insert(0, timer),
                _ => roots[0].children.insert(0, timer),
            }
        }
        let tree = Tree {
            roots: roots.into(),
            ..tree.clone()
        };
        Ok((tree, notes))
    }

    /// Refuses iterations where they have no meaning.
    fn check_iterations(&self, groups: &[&mut Node]) -> Result<(), LoadError> {
        if self.iterations.is_none() {
            return Ok(());
        }
        if self.arrivals.is_some() {
            return Err(LoadError::IterationsOfArrivals);
        }
        if self.once || self.replaces_schedule() {
            return Ok(());
        }
        match groups.iter().find(by_schedule) {
            Some(group) => Err(LoadError::IterationsOfSchedule(group.name.to_string())),
            None => Ok(()),
        }
    }

    /// Whether the load says how many users run and when, so that groups with a schedule become plain ones.
    fn replaces_schedule(&self) -> bool {
        self.users.is_some() || self.duration_s.is_some() || self.ramp_up_s.is_some()
    }

    fn load(&self, groups: &mut [&mut Node], notes: &mut Vec<String>) {
        let own: Vec<Option<u32>> = groups.iter().map(|group| own_users(group)).collect();
        let shares = self.users.map(|users| divide(users, &own));
        if let (Some(users), Some(shares)) = (self.users, &shares) {
            let total: u32 = shares.iter().sum();
            if total != users {
                notes.push(format!(
                    "{} cannot be divided among {} in their proportion: {total} will run",
                    counted(users.into(), "user"),
                    counted(shares.len() as u64, "thread group")
                ));
            }
        }
        for (place, group) in groups.iter_mut().enumerate() {
            let users = shares.as_ref().map(|shares| shares[place]);
            self.shape(group, users.or(own[place]));
        }
    }

    /// Turns a group of any other kind into a plain Thread Group, and applies the settings that were given.
    fn shape(&self, group: &mut Node, users: Option<u32>) {
        let is_plain = group.class == PLAIN;
        if !is_plain {
            if !self.replaces_schedule() && self.iterations.is_none() {
                return;
            }
            make_plain(group);
            group.props.remove("ThreadGroup.duration");
            put(group, "ThreadGroup.ramp_time", "0");
            put(group, "ThreadGroup.scheduler", false);
            set_loops(group, if self.duration_s.is_some() { "-1" } else { "1" });
        }
        if !is_plain || self.users.is_some() {
            let users = users.unwrap_or(1).to_string();
            put(group, "ThreadGroup.num_threads", users);
        }
        if let Some(seconds) = self.ramp_up_s {
            put(group, "ThreadGroup.ramp_time", seconds.to_string());
        }
        if let Some(seconds) = self.duration_s {
            put(group, "ThreadGroup.scheduler", true);
            put(group, "ThreadGroup.duration", seconds.to_string());
            set_loops(group, "-1");
        }
        if let Some(iterations) = self.iterations {
            set_loops(group, &iterations.to_string());
        }
    }

    fn once(&self, group: &mut Node) {
        if group.class != PLAIN {
            make_plain(group);
        }
        let users = self.users.unwrap_or(1).to_string();
        put(group, "ThreadGroup.num_threads", users);
        put(group, "ThreadGroup.ramp_time", "0");
        put(group, "ThreadGroup.scheduler", false);
        let iterations = self.iterations.map(NonZeroU32::get).unwrap_or(1);
        set_loops(group, &iterations.to_string());
    }
}

fn by_schedule(group: &&&mut Node) -> bool {
    SCHEDULED.contains(&group.class.as_str())
}

impl LoadOverride {
    /// Turns each group into an Arrivals Thread Group with a share of the rate and of the users.
    fn arrive(&self, groups: &mut [&mut Node], rate: f64) {
        let own: Vec<Option<u32>> = groups.iter().map(|group| own_users(group)).collect();
        let weights: Vec<f64> = own.iter().map(|own| f64::from(own.unwrap_or(1))).collect();
        let total: f64 = weights.iter().sum();
        for (group, weight) in groups.iter_mut().zip(weights) {
            let share = weight / total.max(1.0);
            let users = (f64::from(self.users.unwrap_or(0)) * share).ceil();
            group.class = ARRIVALS.into();
            group.written_class = ARRIVALS.into();
            group.gui_class = arrivals_thread_group::FACTS.gui.into();
            group.props.remove(CONTROLLER);
            for (name, value) in [
                ("TargetLevel", (rate * share).to_string()),
                ("Unit", "S".to_owned()),
                ("RampUp", String::new()),
                ("Steps", String::new()),
                ("Hold", self.duration_s.unwrap_or(1).to_string()),
                ("ConcurrencyLimit", users.to_string()),
                ("Iterations", String::new()),
            ] {
                put(group, name, value);
            }
        }
    }
}

fn put(group: &mut Node, name: &str, value: impl Into<Value>) {
    group.props.set(Prop::new(name, value));
}

/// Turns a group of another kind into a plain Thread Group without a controller.
fn make_plain(group: &mut Node) {
    group.class = PLAIN.into();
    group.written_class = PLAIN.into();
    group.gui_class = thread_group::FACTS.gui.into();
    group.props.remove(CONTROLLER);
}

fn set_loops(group: &mut Node, loops: &str) {
    let known = group.props.element(CONTROLLER).cloned();
    let controller = known
        .unwrap_or_else(|| Element::new(loop_controller::CLASS))
        .with(loop_controller::CONTINUE_FOREVER.name, false)
        .with(loop_controller::LOOPS.name, loops);
    put(group, CONTROLLER, controller);
}

/// The number of users in a group's own settings; `None` where an expression computes it.
fn own_users(node: &Node) -> Option<u32> {
    let property = match node.class.as_str() {
        concurrency_thread_group::CLASS => group::TARGET_LEVEL.name,
        open_model_thread_group::CLASS | ARRIVALS | free_form_arrivals_thread_group::CLASS => {
            return Some(1);
        }
        ultimate_thread_group::CLASS => {
            let rows = node.props.list(ultimate_thread_group::SCHEDULE.name).iter();
            let users = rows.map(|row| match &row.value {
                Value::List(cells) => cells.first().map(|cell| cell.value.as_int()).unwrap_or(0),
                _ => 0,
            });
            return u32::try_from(users.sum::<i32>()).ok();
        }
        _ => group::USERS.name,
    };
    node.props.str(property).trim().parse().ok()
}

/// Divides the users in proportion to the groups' own users. Ties round to even (Python's `round`). A group gets at least one
/// user, but a group without users gets none. A group whose number is an expression gets all users.
fn divide(users: u32, own: &[Option<u32>]) -> Vec<u32> {
    let total: u32 = own.iter().flatten().sum();
    let share = |own: &Option<u32>| match own {
        None => users,
        Some(0) => 0,
        Some(own) => {
            let part = f64::from(users) * f64::from(*own) / f64::from(total);
            (part.round_ties_even() as u32).max(1)
        }
    };
    own.iter().map(share).collect()
}

/// A Throughput Shaping Timer: the rate grows over the ramp-up and then stays.
fn shaping_timer(rate: f64, ramp_up_s: u64, duration_s: u64) -> Node {
    let ramp_up_s = ramp_up_s.min(duration_s);
    let mut rows = Vec::new();
    if ramp_up_s > 0 {
        let first = (rate / duration_s as f64).max(1.0).min(rate);
        rows.push(row(first, rate, ramp_up_s));
    }
    rows.push(row(rate, rate, duration_s - ramp_up_s));
    throughput_shaping_timer::FACTS
        .node("Rate of the command line")
        .with(throughput_shaping_timer::LOAD_PROFILE.name, rows)
}

fn row(from: f64, to: f64, seconds: u64) -> Prop {
    let cells = [from.to_string(), to.to_string(), seconds.to_string()];
    let cells: Vec<Prop> = cells.into_iter().map(|cell| Prop::new("", cell)).collect();
    Prop::new("", cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(class: &str, name: &str, users: &str) -> Node {
        Node::new(class, "", name).with("ThreadGroup.num_threads", users)
    }

    fn plan(groups: Vec<Node>) -> Tree {
        Tree::new(Node::new("TestPlan", "TestPlanGui", "p").above(groups))
    }

    #[test]
    fn users_are_divided_as_taurus_does() {
        assert_eq!(divide(50, &[Some(10), Some(30), Some(0)]), [12, 38, 0]);
        assert_eq!(
            divide(5, &[Some(1), Some(1)]),
            [2, 2],
            "2.5 is rounded to the even number"
        );
        assert_eq!(divide(2, &[Some(100), Some(1)]), [2, 1], "at least one");
        assert_eq!(divide(7, &[None, Some(3)]), [7, 7]);
    }

    #[test]
    fn a_duration_makes_the_groups_repeat_for_it() {
        let tree = plan(vec![
            group(PLAIN, "a", "1"),
            group("SetupThreadGroup", "setup", "3"),
        ]);
        let load = LoadOverride {
            users: Some(9),
            duration_s: Some(60),
            ramp_up_s: Some(5),
            ..LoadOverride::default()
        };
        let (changed, notes) = load.apply(&tree).expect("a group");
        assert!(notes.is_empty());
        let [first, setup] = changed.roots[0].children.as_slice() else {
            panic!("two groups")
        };
        assert_eq!(first.props.str("ThreadGroup.num_threads"), "9");
        assert_eq!(first.props.str("ThreadGroup.duration"), "60");
        assert_eq!(first.props.str("ThreadGroup.ramp_time"), "5");
        assert!(first.props.bool("ThreadGroup.scheduler", false));
        assert_eq!(
            first
                .props
                .element(CONTROLLER)
                .map(|one| one.props.int("LoopController.loops", 0)),
            Some(-1)
        );
        assert_eq!(setup.props.str("ThreadGroup.num_threads"), "3");
    }

    #[test]
    fn a_rate_becomes_a_timer_and_needs_a_duration() {
        let tree = plan(vec![group(PLAIN, "a", "1"), group(PLAIN, "b", "1")]);
        let rate = LoadOverride {
            rate: Some(20.0),
            ..LoadOverride::default()
        };
        assert!(rate.apply(&tree).is_err());
        let load = LoadOverride {
            duration_s: Some(30),
            ramp_up_s: Some(10),
            ..rate
        };
        let (changed, _) = load.apply(&tree).expect("a duration");
        let timer = &changed.roots[0].children[0];
        assert_eq!(timer.props.list("load_profile").len(), 2);
        let named = LoadOverride {
            group: Some("b".to_owned()),
            ..load
        };
        let (changed, _) = named.apply(&tree).expect("the group");
        assert_eq!(changed.roots[0].children.len(), 2);
        assert_eq!(changed.roots[0].children[1].children.len(), 1);
        let missing = LoadOverride {
            group: Some("c".to_owned()),
            ..LoadOverride::default()
        };
        let error = missing.apply(&tree).expect_err("no such group");
        assert_eq!(
            error,
            LoadError::UnknownGroup("c".to_owned(), vec!["a".to_owned(), "b".to_owned()])
        );
    }

    #[test]
    fn arrivals_are_divided_among_the_groups() {
        let tree = plan(vec![group(PLAIN, "a", "3"), group(PLAIN, "b", "1")]);
        let load = LoadOverride {
            arrivals: Some(10.0),
            users: Some(50),
            duration_s: Some(60),
            ..LoadOverride::default()
        };
        let (changed, _) = load.apply(&tree).expect("groups");
        let [a, b] = changed.roots[0].children.as_slice() else {
            panic!("two groups")
        };
        let told = |group: &Node| {
            let names = ["TargetLevel", "ConcurrencyLimit", "Hold"];
            names.map(|name| group.props.str(name).to_string())
        };
        assert_eq!(
            (a.class.as_str(), told(a)),
            (ARRIVALS, ["7.5", "38", "60"].map(str::to_owned))
        );
        assert_eq!(told(b), ["2.5", "13", "60"]);
    }

    fn loops(group: &Node) -> Option<i32> {
        let controller = group.props.element(CONTROLLER)?;
        Some(controller.props.int("LoopController.loops", 0))
    }

    #[test]
    fn iterations_are_the_loops_of_each_user_and_a_duration_is_their_limit() {
        let stepping = "kg.apc.jmeter.threads.SteppingThreadGroup";
        let tree = plan(vec![
            group(PLAIN, "a", "3")
                .with("ThreadGroup.scheduler", true)
                .with("ThreadGroup.duration", "60"),
            group(stepping, "b", "7"),
            group("SetupThreadGroup", "setup", "1"),
        ]);
        let load = LoadOverride {
            iterations: NonZeroU32::new(5),
            ..LoadOverride::default()
        };
        let (changed, _) = load.apply(&tree).expect("groups");
        let [a, b, setup] = changed.roots[0].children.as_slice() else {
            panic!("three groups")
        };
        assert_eq!((loops(a), loops(b), loops(setup)), (Some(5), Some(5), None));
        assert_eq!(a.props.str("ThreadGroup.num_threads"), "3");
        assert_eq!(a.props.str("ThreadGroup.duration"), "60");
        assert_eq!(
            (b.class.as_str(), &*b.props.str("ThreadGroup.num_threads")),
            (PLAIN, "7")
        );
        let limited = LoadOverride {
            duration_s: Some(30),
            ..load
        };
        let (changed, _) = limited.apply(&tree).expect("groups");
        for group in &changed.roots[0].children[..2] {
            assert_eq!(loops(group), Some(5));
            assert_eq!(group.props.str("ThreadGroup.duration"), "30");
            assert!(group.props.bool("ThreadGroup.scheduler", false));
        }
    }

    #[test]
    fn iterations_are_refused_where_a_schedule_starts_them() {
        let load = LoadOverride {
            iterations: NonZeroU32::new(5),
            ..LoadOverride::default()
        };
        for class in SCHEDULED {
            let tree = plan(vec![group(PLAIN, "a", "1"), group(class, "visits", "")]);
            let error = load.apply(&tree).expect_err("a schedule");
            assert_eq!(error, LoadError::IterationsOfSchedule("visits".to_owned()));
            assert!(error.remedy().contains("`--users`"), "{error}");
            let remedies = [
                LoadOverride {
                    users: Some(2),
                    ..load.clone()
                },
                LoadOverride {
                    group: Some("a".to_owned()),
                    ..load.clone()
                },
            ];
            for remedy in remedies {
                let (changed, _) = remedy.apply(&tree).expect("the remedy helps");
                assert_eq!(loops(&changed.roots[0].children[0]), Some(5), "{remedy:?}");
            }
        }
        let arrivals = LoadOverride {
            arrivals: Some(9.0),
            ..load
        };
        let error = arrivals.apply(&plan(vec![group(PLAIN, "a", "1")]));
        assert_eq!(error.expect_err("a rate"), LoadError::IterationsOfArrivals);
    }

    #[test]
    fn one_user_repeats_for_the_iterations_that_are_given() {
        let tree = plan(vec![group(PLAIN, "a", "9")]);
        let load = LoadOverride {
            once: true,
            iterations: NonZeroU32::new(3),
            ..LoadOverride::default()
        };
        let (changed, _) = load.apply(&tree).expect("a group");
        let group = &changed.roots[0].children[0];
        assert_eq!(loops(group), Some(3));
        assert_eq!(group.props.str("ThreadGroup.num_threads"), "1");
    }

    #[test]
    fn once_is_one_user_and_one_iteration_of_every_kind_of_group() {
        let tree = plan(vec![
            group(PLAIN, "a", "${n}"),
            group("OpenModelThreadGroup", "b", ""),
        ]);
        let once = LoadOverride {
            once: true,
            ..LoadOverride::default()
        };
        let (changed, _) = once.apply(&tree).expect("groups");
        for group in &changed.roots[0].children {
            assert_eq!(group.class, PLAIN);
            assert_eq!(group.props.str("ThreadGroup.num_threads"), "1");
            assert_eq!(
                group
                    .props
                    .element(CONTROLLER)
                    .map(|one| one.props.int("LoopController.loops", 0)),
                Some(1)
            );
        }
    }
}
