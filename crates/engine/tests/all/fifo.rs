//! Queues of jmeter-plugins-fifo between thread groups.

use crate::support::{group, run_plan};

fn thread_group(name: &str, loops: u32, body: &str) -> String {
    let settings = group(1, loops, true);
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="{name}">{settings}</ThreadGroup><hashTree>{body}</hashTree>"#
    )
}

fn plan(groups: &[String]) -> String {
    drumfire_testkit::plans::plan(&groups.concat())
}

fn debug(name: &str, children: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}"/><hashTree>{children}</hashTree>"#
    )
}

fn pop(timeout: &str) -> String {
    let class = "kg.apc.jmeter.modifiers.FifoPopPreProcessor";
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="pop"><stringProp name="FifoName">q</stringProp><stringProp name="Variable">v</stringProp>{timeout}</{class}><hashTree/>"#
    )
}

fn seconds(timeout: &str) -> String {
    pop(&format!(
        r#"<stringProp name="Timeout">{timeout}</stringProp>"#
    ))
}

/// Puts how often it has run into the queue, after a while.
fn put() -> String {
    let class = "kg.apc.jmeter.modifiers.FifoPutPostProcessor";
    let post = format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="put"><stringProp name="FifoName">q</stringProp><stringProp name="Value">${{__counter(false,)}}</stringProp></{class}><hashTree/>"#
    );
    let timer = r#"<ConstantTimer guiclass="g" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">50</stringProp></ConstantTimer><hashTree/>"#;
    debug("put", &(post + timer))
}

#[test]
fn a_user_waits_for_what_another_puts() {
    for timeout in ["600", ""] {
        let taker = thread_group("takes", 3, &debug("got ${v}", &seconds(timeout)));
        let giver = thread_group("gives", 3, &put());
        let ran = run_plan(&plan(&[taker, giver]), &[]);
        let mut got = ran.column("label");
        got.retain(|label| *label != "put");
        assert_eq!(got, ["got 1", "got 2", "got 3"], "timeout '{timeout}'");
    }
}

#[test]
fn a_wait_ends_without_a_value() {
    for (pop, properties) in [
        (seconds("0"), &[][..]),
        (seconds("-1"), &[]),
        (pop(""), &[("kg.apc.jmeter.functions.FifoTimeout", "0")]),
    ] {
        let taker = thread_group("takes", 1, &debug("got ${v}", &pop));
        let ran = run_plan(&plan(&[taker]), properties);
        assert_eq!(ran.column("label"), ["got ${v}"]);
    }
}

/// `Long.parseLong` throws: the sample is lost, the user goes on.
#[test]
fn a_timeout_that_is_no_number_loses_the_sample() {
    let body = debug("lost", &seconds("1s")) + &debug("next", "");
    let ran = run_plan(&plan(&[thread_group("g", 1, &body)]), &[]);
    assert_eq!(ran.column("label"), ["next"]);
}

/// Puts numbers with this function, each after a pause.
fn putting() -> String {
    let timer = r#"<ConstantTimer guiclass="g" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">30</stringProp></ConstantTimer><hashTree/>"#;
    debug("put ${__fifoPut(q,${__counter(false,)})}", timer)
}

#[test]
fn a_function_waits_and_its_worker_goes_on() {
    // Takers come first, so that those who put are on workers whose other users wait.
    let takers = group(6, 2, true);
    let taker = format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="takes">{takers}</ThreadGroup><hashTree>{}</hashTree>"#,
        debug("got ${__fifoPop(q,v)} ${v}", "") + &debug("after ${v}", "")
    );
    let giver = thread_group("gives", 12, &putting());
    let ran = run_plan(&plan(&[taker, giver]), &[]);
    let labels = |prefix: &str| {
        let mut found = ran.column("label");
        found.retain(|label| label.starts_with(prefix));
        found.sort_unstable();
        found
    };
    let mut expected: Vec<String> = (1..=12).map(|n| format!("got {n} {n}")).collect();
    expected.sort_unstable();
    assert_eq!(labels("got"), expected);
    assert_eq!(labels("after").len(), 12);
    assert_eq!(labels("put").len(), 12);
}

/// A condition waits, too, and so does a child of a Parallel Controller beside the one that gives.
#[test]
fn controllers_wait_in_functions() {
    let class = "com.blazemeter.jmeter.controller.ParallelSampler";
    let condition = r#"${__jexl3("${__fifoPop(q)}"=="1")}"#.replace('"', "&quot;");
    let body = format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="all"/><hashTree><IfController guiclass="g" testclass="IfController" testname="if"><boolProp name="IfController.useExpression">true</boolProp><stringProp name="IfController.condition">{condition}</stringProp></IfController><hashTree>{}</hashTree>{}</hashTree>"#,
        debug("came", ""),
        putting()
    );
    let ran = run_plan(&plan(&[thread_group("g", 1, &body)]), &[]);
    let mut labels = ran.column("label");
    labels.retain(|label| *label == "came");
    assert_eq!(labels, ["came"]);
}

/// `FifoPop` gives null when the time is over; the property is in seconds.
#[test]
fn a_wait_of_a_function_ends() {
    let body = debug("got ${__fifoPop(q,v)} ${v}", "");
    let properties = [("kg.apc.jmeter.functions.FifoTimeout", "0")];
    let ran = run_plan(&plan(&[thread_group("g", 1, &body)]), &properties);
    assert_eq!(ran.column("label"), ["got null ${v}"]);
}

/// Users of one User Parameters set their values in turn, and the one whose turn it is waits.
#[test]
fn parameters_wait_in_functions() {
    let texts = |name: &str, text: &str| {
        format!(
            r#"<collectionProp name="{name}"><stringProp name="1">{text}</stringProp></collectionProp>"#
        )
    };
    let parameters = format!(
        r#"<UserParameters guiclass="g" testclass="UserParameters" testname="u">{}<collectionProp name="UserParameters.thread_values">{}</collectionProp><boolProp name="UserParameters.per_iteration">false</boolProp></UserParameters><hashTree/>"#,
        texts("UserParameters.names", "u"),
        texts("list", "${__fifoPop(q)}")
    );
    let takers = format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="takes">{}</ThreadGroup><hashTree>{}</hashTree>"#,
        group(4, 1, true),
        debug("got ${u}", &parameters)
    );
    let giver = thread_group("gives", 4, &putting());
    let ran = run_plan(&plan(&[takers, giver]), &[]);
    let mut got = ran.column("label");
    got.retain(|label| label.starts_with("got"));
    got.sort_unstable();
    assert_eq!(got, ["got 1", "got 2", "got 3", "got 4"]);
}
