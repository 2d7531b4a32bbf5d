//! Logic controllers: how each reads its settings. How they walk is in `walk.rs`, where their rules meet.

use std::sync::Mutex;

use drumfire_expr::Template;
use drumfire_jmx::Value;

use crate::compile::Decoder;
use crate::elements::Roles;
use crate::walk::{ForEach, Kind, Throughput};

/// Simple, Recording, Module and Include Controllers and Test Fragments: their children, once.
pub fn simple(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::Simple)
}

/// `LoopController`: `LoopController.loops` (-1 is forever), `LoopController.continue_forever`.
pub fn loops(d: &mut Decoder) -> Roles {
    let forever = d.bool("LoopController.continue_forever", true);
    Roles::controller(Kind::Loop { loops: d.template("LoopController.loops"), forever })
}

/// `WhileController`: `WhileController.condition` (blank, LAST, or anything that becomes "false").
pub fn whiles(d: &mut Decoder) -> Roles {
    let condition = d.template("WhileController.condition");
    Roles::controller(Kind::While { condition })
}

/// `IfController`: `IfController.condition`, `IfController.evaluateAll`, `IfController.useExpression`. Without
/// `useExpression` the condition is JavaScript, which needs a JVM.
pub fn ifs(d: &mut Decoder) -> Roles {
    if !d.bool("IfController.useExpression", false) {
        let message = format!("If Controller '{}' has a JavaScript condition, which needs a JVM", d.element.name);
        d.refuse("javascript-condition", message, "tick 'Interpret Condition as Variable Expression' and use ${__jexl3(…)}");
    }
    let every_child = d.bool("IfController.evaluateAll", false);
    Roles::controller(Kind::If { condition: d.template("IfController.condition"), every_child })
}

/// `OnceOnlyController`: its children in the first iteration of the controller above.
pub fn once_only(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::OnceOnly)
}

/// `TransactionController`: `TransactionController.parent`, `TransactionController.includeTimers`.
pub fn transaction(d: &mut Decoder) -> Roles {
    let parent = d.bool("TransactionController.parent", false);
    let include_timers = d.bool("TransactionController.includeTimers", true);
    Roles::controller(Kind::Transaction { parent, include_timers })
}

/// `ForeachController`: input and output variable, start (exclusive) and end (inclusive) index, separator. An end index
/// that is there but empty is 0, so nothing runs.
pub fn for_each(d: &mut Decoder) -> Roles {
    let separator = if d.bool("ForeachController.useSeparator", true) { "_" } else { "" };
    Roles::controller(Kind::ForEach(Box::new(ForEach {
        input: d.template("ForeachController.inputVal"),
        output: d.template("ForeachController.returnVal"),
        start: d.optional("ForeachController.startIndex"),
        end: d.optional("ForeachController.endIndex"),
        separator,
    })))
}

/// `InterleaveControl`: one child an iteration, in turn; style 1 runs a whole child controller.
pub fn interleave(d: &mut Decoder) -> Roles {
    let across_threads = d.bool("InterleaveControl.accrossThreads", false);
    Roles::controller(Kind::Interleave { whole_children: d.int("InterleaveControl.style", 0) == 1, across_threads, random: false })
}

/// `RandomController`: one child an iteration, by chance.
pub fn random(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Interleave { whole_children: d.int("InterleaveControl.style", 0) == 1, across_threads: false, random: true })
}

/// `RandomOrderController`: all children, in a new order each time.
pub fn random_order(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::RandomOrder)
}

/// `SwitchController`: `SwitchController.value`, a number from 0 or a child's name.
pub fn switch(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Switch { value: d.template("SwitchController.value") })
}

/// `ThroughputController`: total executions (style 0) or a share of iterations (style 1), per user or of all users.
pub fn throughput(d: &mut Decoder) -> Roles {
    let share = match d.element.props.value("ThroughputController.percentThroughput") {
        Some(Value::Float(share)) => Template::raw(&share.to_string()),
        _ => d.template("ThroughputController.percentThroughput"),
    };
    Roles::controller(Kind::Throughput(Box::new(Throughput {
        percent: d.int("ThroughputController.style", 0) == 1,
        per_thread: d.bool("ThroughputController.perThread", true),
        max: d.template("ThroughputController.maxThroughput"),
        share,
        shared: Mutex::new((0, -1)),
    })))
}

/// `CriticalSectionController`: `CriticalSectionController.lockName`; without a name there is no lock.
pub fn critical_section(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Critical { lock: d.template("CriticalSectionController.lockName") })
}

/// `RunTime`: `RunTime.seconds`.
pub fn runtime(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Runtime { seconds: d.template("RunTime.seconds") })
}
