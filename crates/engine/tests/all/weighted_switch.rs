//! Weighted Switch Controllers: the order of samplers, as jmeter-plugins-wsc 0.7 gives it in JMeter 5.6.3.

use crate::support::{group, run_group};

const CLASS: &str = "com.blazemeter.jmeter.control.WeightedSwitchController";

fn element(class: &str, name: &str, properties: &str, children: &str) -> String {
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="{name}">{properties}</{class}><hashTree>{children}</hashTree>"#
    )
}

/// Debug Samplers of these names.
fn samplers(names: &str) -> String {
    let names = names.split(' ');
    names
        .map(|name| element("DebugSampler", name, "", ""))
        .collect()
}

/// A switch; its table is `child=weight child=weight`, as the plugin's first version wrote it.
fn switch(name: &str, table: &str, children: &str) -> String {
    let rows: String = table
        .split_whitespace()
        .filter_map(|row| row.split_once('='))
        .map(|(child, weight)| {
            format!(
                r#"<collectionProp name="r"><stringProp name="1">{child}</stringProp><stringProp name="2">{weight}</stringProp></collectionProp>"#
            )
        })
        .collect();
    let table = format!(r#"<collectionProp name="Weights">{rows}</collectionProp>"#);
    element(CLASS, name, &table, children)
}

fn transaction(name: &str, parent: bool, children: &str) -> String {
    let properties = format!(
        r#"<boolProp name="TransactionController.parent">{parent}</boolProp><boolProp name="TransactionController.includeTimers">false</boolProp>"#
    );
    element("TransactionController", name, &properties, children)
}

fn simple(name: &str, children: &str) -> String {
    element("GenericController", name, "", children)
}

fn loops(name: &str, count: u32, children: &str) -> String {
    let properties = format!(
        r#"<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{count}</stringProp>"#
    );
    element("LoopController", name, &properties, children)
}

fn labels(iterations: u32, body: &str) -> String {
    let ran = run_group(&group(1, iterations, true), body, &[("weight", "5")]);
    ran.column("label").join(" ")
}

#[test]
fn runs_come_close_to_the_weights() {
    let body = switch("w", "a=70 b=20 c=10", &samplers("a b c")) + &samplers("z");
    assert_eq!(
        labels(12, &body),
        "a z b z a z c z a z a z b z a z a z a z a z b z"
    );
    let body = switch("w", "a=1 b=${__P(weight)}", &samplers("a b"));
    assert_eq!(labels(4, &body), "b a b b");
}

#[test]
fn a_chosen_controller_runs_whole() {
    let body = switch(
        "w",
        "a=1 b=2",
        &(simple("a", &samplers("a1 a2")) + &simple("b", &samplers("b1 b2 b3"))),
    );
    assert_eq!(
        labels(7, &body),
        "b1 b2 b3 a1 a2 b1 b2 b3 b1 b2 b3 a1 a2 b1 b2 b3 b1 b2 b3"
    );
}

#[test]
fn rows_count_by_their_place_and_switches_may_hold_switches() {
    let inner = switch("b", "p=1 q=1", &samplers("p q"));
    let body = switch("w", "a=1 x=5 b=2", &(samplers("a") + &inner)) + &samplers("z");
    assert_eq!(labels(9, &body), "p z z z a z p z q z z z p z");
}

#[test]
fn without_a_weight_above_zero_the_user_ends() {
    for table in ["a=q", "a=0", ""] {
        let body = switch("w", table, &samplers("a")) + &samplers("z");
        assert_eq!(labels(3, &body), "", "{table}");
    }
}

#[test]
fn a_loop_that_is_done_leaves_its_place_to_the_next_child() {
    let children = loops("a", 3, &samplers("a1")) + &samplers("b");
    let body = switch("w", "a=1 b=1", &children) + &samplers("z");
    assert_eq!(labels(6, &body), "a1 a1 a1 z z b z b z z b z");
    let body = loops("l", 3, &switch("w", "a=50 b=50", &samplers("a b")));
    assert_eq!(labels(2, &body), "a b a");
}

#[test]
fn a_child_that_gives_nothing_ends_the_choice() {
    let never = r#"<stringProp name="IfController.condition">false</stringProp><boolProp name="IfController.useExpression">true</boolProp>"#;
    let children = samplers("a") + &element("IfController", "i", never, &samplers("i1"));
    let body = switch("w", "a=3 i=3", &children) + &samplers("z");
    assert_eq!(labels(4, &body), "a z z a z z");
}

#[test]
fn a_chosen_transaction_runs_whole() {
    let children =
        transaction("a", false, &samplers("a1 a2")) + &transaction("b", true, &samplers("b1 b2"));
    assert_eq!(
        labels(6, &switch("w", "a=1 b=2", &children)),
        "b a1 a2 a b b a1 a2 a b"
    );
    let children =
        transaction("a", false, &samplers("a1 a2")) + &transaction("b", false, &samplers("b1 b2"));
    let body = switch("w", "a=1 b=2", &children) + &samplers("z");
    assert_eq!(
        labels(7, &body),
        "b1 b2 b z a1 a2 a z b1 b2 b z b1 b2 b z a1 a2 a z b1 b2 b z b1 b2 b z"
    );
}

#[test]
fn a_switch_in_a_transaction_leaves_no_row_of_the_child_that_is_not_chosen() {
    let table = "a=1 b=1";
    let both = transaction("a", false, &samplers("a1")) + &transaction("b", false, &samplers("b1"));
    let body = transaction("t", true, &(switch("w", table, &both) + &samplers("z")));
    assert_eq!(labels(5, &body), "a t b t a t b t a t");
    let one = transaction("a", false, &samplers("a1")) + &samplers("b");
    let body = transaction("t", false, &(switch("w", table, &one) + &samplers("z")));
    assert_eq!(labels(5, &body), "a1 a z t b z t a1 a z t b z t a1 a z t");
}

/// `resetController` goes through all that is below the children.
#[test]
fn controllers_below_a_chosen_one_begin_anew() {
    let inner = switch("v", "x=1 y=1", &samplers("x y"));
    let first = simple(
        "s",
        &(transaction("t1", true, &(samplers("s1") + &inner)) + &loops("k", 2, &samplers("s2"))),
    );
    let once = element("OnceOnlyController", "o", "", &samplers("o1"));
    let body = switch("w", "s=2 o=1 t=1", &(first + &once + &samplers("t"))) + &samplers("z");
    assert_eq!(labels(5, &body), "t1 s2 s2 z o1 z t z t1 z t1 z");
}

/// `IsRandomChoice`; a row without a weight is never chosen, and one that is disabled does not count.
#[test]
fn choices_may_be_by_chance() {
    let cell =
        |number: u32, text: &str| format!(r#"<stringProp name="{number}">{text}</stringProp>"#);
    let row = |name: &str, weight: &str, enabled: &str| {
        let cells = cell(1, name) + &cell(2, weight) + &cell(3, enabled);
        format!(r#"<collectionProp name="r">{cells}</collectionProp>"#)
    };
    let rows = row("x", "1000", "false") + &row("a", "90", "true") + &row("b", "10", "true");
    let properties = format!(
        r#"<collectionProp name="Weights">{rows}</collectionProp><boolProp name="IsRandomChoice">true</boolProp>"#
    );
    let labels = labels(400, &element(CLASS, "w", &properties, &samplers("a b")));
    // In turn it would be "a a a a b" again and again, with 40 of b.
    let rare = labels.matches('b').count();
    assert!((10..=90).contains(&rare), "{rare}");
    assert_eq!(labels.split(' ').count(), 400);
    let runs = labels.split('b').map(|run| run.matches('a').count());
    assert!(
        runs.collect::<std::collections::BTreeSet<_>>().len() > 4,
        "{labels}"
    );
}
