//! Scripts and Java classes in a run: they need Java and a JMeter on this machine, and are not tested where there is none.

mod archive;
mod backend_clients;
mod classes;
mod forms;
mod growth;
mod jars;
mod kerberos;
mod mail;
mod mongo;
mod objects;
mod own_classes;
mod own_groups;
mod properties;
mod shell;

use std::time::{Duration, Instant};

use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish, jmeter_home};

/// A folder to run in with a Java and a JMeter at hand; `None` where there is none.
fn workshop() -> Option<Workshop> {
    let home = jmeter_home()?;
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    // Java's classes are prepared once for all tests.
    let workshop = workshop.variable("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    Some(workshop.variable("JMETER_HOME", &home.to_string_lossy()))
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

fn plan(groups: &[String]) -> String {
    drumfire_testkit::plans::plan(&groups.concat())
}

fn group(name: &str, users: u32, loops: i32, children: &[String]) -> String {
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="{name}"><stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp></ThreadGroup><hashTree>{}</hashTree>"#,
        children.concat()
    )
}

fn jsr223(class: &str, name: &str, script: &str) -> String {
    format!(
        r#"<{class} guiclass="TestBeanGUI" testclass="{class}" testname="{name}"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">{}</stringProp></{class}><hashTree/>"#,
        escaped(script)
    )
}

fn beanshell_sampler(name: &str, script: &str) -> String {
    format!(
        r#"<BeanShellSampler guiclass="BeanShellSamplerGui" testclass="BeanShellSampler" testname="{name}"><stringProp name="BeanShellSampler.query">{}</stringProp></BeanShellSampler><hashTree/>"#,
        escaped(script)
    )
}

fn debug_sampler(name: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{}"/><hashTree/>"#,
        escaped(name)
    )
}

const WORDS: [&str; 8] = ["-n", "-t", "p.jmx", "-l", "r.jtl", "-j", "run.log", "-f"];

fn run(workshop: &Workshop, plan: &str, more: &[&str]) -> Finished {
    workshop.write("p.jmx", plan);
    let words: Vec<&str> = WORDS.iter().chain(more).copied().collect();
    workshop.run(&words, LIMIT)
}

/// Labels, codes and messages of the results file.
fn rows(workshop: &Workshop) -> Vec<[String; 3]> {
    let text = workshop.read("r.jtl");
    let rows = text.lines().skip(1).map(|line| {
        let mut columns = line.split(',').skip(2).map(str::to_owned);
        std::array::from_fn(|_| columns.next().expect("a row has that many columns"))
    });
    rows.collect()
}

fn count(workshop: &Workshop, label: &str) -> usize {
    let rows = rows(workshop);
    rows.iter().filter(|row| row[0] == label).count()
}

#[test]
fn scripts_that_wait_hold_up_nobody() {
    let Some(workshop) = workshop() else { return };
    // They wait for what the other group does in the end: if they held it up, the run would not end.
    let wait = "while (props.get(\"done\") == null) { Thread.sleep(5); }";
    let waiting = [
        jsr223("JSR223Sampler", "groovy", wait),
        beanshell_sampler("beanshell", wait),
        jsr223("JSR223PostProcessor", "after", wait),
        jsr223("JSR223Timer", "timer", &format!("{wait}\nreturn 0")),
    ];
    let busy = [
        jsr223("JSR223Sampler", "busy", "vars.put(\"n\", \"1\")"),
        jsr223(
            "JSR223Sampler",
            "last",
            "if (vars.getIteration() == 200) props.put(\"done\", \"yes\")",
        ),
    ];
    let plan = plan(&[group("A", 8, 1, &waiting), group("B", 2, 200, &busy)]);
    let finished = run(&workshop, &plan, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(count(&workshop, "busy"), 400);
    assert_eq!(count(&workshop, "groovy"), 8);
    assert_eq!(count(&workshop, "beanshell"), 8);
}

#[test]
fn a_script_that_goes_on_for_ever_is_broken_off() {
    let Some(workshop) = workshop() else { return };
    // It behaves at first, and then runs on the thread of its user.
    let forever =
        "if (vars.getIteration() > 10) { props.put(\"stuck\", \"yes\"); while (true) { } }";
    let children = [
        debug_sampler("before"),
        jsr223("JSR223Sampler", "forever", forever),
    ];
    let stop =
        "while (props.get(\"stuck\") == null) { Thread.sleep(5); }; ctx.getEngine().stopTest(true)";
    let stopper = [jsr223("JSR223Sampler", "stopper", stop)];
    let plan = plan(&[group("A", 1, 100, &children), group("B", 1, 1, &stopper)]);
    let began = Instant::now();
    let finished = run(&workshop, &plan, &["-Jjmeterengine.threadstop.wait=1000"]);
    // As JMeter does where threads do not stop.
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(began.elapsed() < LIMIT / 2);
    assert_eq!(count(&workshop, "before"), 11);
    assert_eq!(count(&workshop, "forever"), 10);
    let log = workshop.read("run.log");
    assert!(log.contains("the run was told to stop now"), "{log}");
}

/// A run whose element calls `System.exit` ends in good order, with exit code 1, and names the call.
fn exits(workshop: &Workshop, group: String, named: &str) {
    let tear_down = jsr223("JSR223Sampler", "after", "return 'x'");
    let last = self::group("T", 1, 1, &[tear_down]).replace("ThreadGroupGui", "PostThreadGroupGui");
    let last = last.replace("\"ThreadGroup\" testname", "\"PostThreadGroup\" testname");
    let last = last.replace("<ThreadGroup ", "<PostThreadGroup ");
    let last = last.replace("</ThreadGroup>", "</PostThreadGroup>");
    let finished = run(workshop, &plan(&[group, last]), &[]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.out.contains("... end of run"), "{finished:?}");
    assert!(finished.err.contains(named), "{finished:?}");
    assert_eq!(count(workshop, "after"), 1, "{finished:?}");
}

#[test]
fn a_script_that_exits_ends_the_run_with_whole_results() {
    let Some(workshop) = workshop() else { return };
    let exit = "if (vars.getIteration() == 3) System.exit(7)";
    let children = [
        debug_sampler("before"),
        jsr223("JSR223Sampler", "exit", exit),
    ];
    exits(
        &workshop,
        group("A", 1, 100, &children),
        "`System.exit(7)` in JSR223Sampler 'exit' ended the run",
    );
    assert_eq!(count(&workshop, "before"), 3);
    assert_eq!(count(&workshop, "exit"), 2);
}

#[test]
fn an_exit_is_named_wherever_it_is_called() {
    let Some(workshop) = workshop() else { return };
    let bean = beanshell_sampler("bean", "System.exit(0);");
    let named = "`System.exit(0)` in BeanShellSampler 'bean' ended the run";
    exits(&workshop, group("A", 3, 50, &[bean]), named);
    let function = debug_sampler("${__groovy(System.exit(4))}");
    let named = "`System.exit(4)` in a function";
    exits(&workshop, group("A", 1, 50, &[function]), named);
    let thread = "Thread.start { System.exit(5) }; Thread.sleep(60000)";
    let thread = jsr223("JSR223Sampler", "thread", thread);
    let named = "`System.exit(5)` in a thread of a script ended the run";
    exits(&workshop, group("A", 1, 50, &[thread]), named);
    let halt = jsr223("JSR223PostProcessor", "halt", "Runtime.runtime.halt(6)");
    let named = "`System.exit(6)` in JSR223PostProcessor 'halt' ended the run";
    exits(
        &workshop,
        group("A", 1, 50, &[debug_sampler("s"), halt]),
        named,
    );
}

#[test]
fn a_script_that_exhausts_the_heap_ends_its_user() {
    let Some(workshop) = workshop() else { return };
    // When there is no room left, scripts of others fail, too: they run before.
    let hoard = "while (props.get('done') == null) Thread.sleep(5); def all = []; while (true) all.add(new byte[10000000])";
    let hoarder = [jsr223("JSR223Sampler", "hoard", hoard)];
    let other = "if (vars.getIteration() == 50) props.put('done', 'yes')";
    let others = [jsr223("JSR223Sampler", "other", other)];
    let plan = plan(&[group("A", 1, 3, &hoarder), group("B", 1, 50, &others)]);
    let finished = run(&workshop, &plan, &["-Jdrumfire.jvm.options=-Xmx128m"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(count(&workshop, "other"), 50);
    assert_eq!(count(&workshop, "hoard"), 0);
    let log = workshop.read("run.log");
    assert!(log.contains("java.lang.OutOfMemoryError"), "{log}");
}

#[test]
fn a_script_that_throws_and_threads_that_stay_do_no_harm() {
    let Some(workshop) = workshop() else { return };
    let children = [
        jsr223(
            "JSR223Sampler",
            "throws",
            "throw new IllegalStateException('no')",
        ),
        jsr223(
            "JSR223Sampler",
            "leaks",
            "Thread.startDaemon { Thread.sleep(1000000) }",
        ),
    ];
    let finished = run(&workshop, &plan(&[group("A", 1, 5, &children)]), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let failure = "javax.script.ScriptException: java.lang.IllegalStateException: no";
    let rows = rows(&workshop);
    assert_eq!(rows[0], ["throws", "500", failure]);
    assert_eq!((rows.len(), count(&workshop, "leaks")), (10, 5));
}

// JMeter's JVM does not end before its last thread that is no daemon.
#[test]
fn the_program_waits_for_threads_that_outlive_the_test() {
    let Some(workshop) = workshop() else { return };
    let script = "Thread.start { Thread.sleep(1000); new File('late.txt').text = 'written' }";
    let children = [jsr223("JSR223Sampler", "starts", script)];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(workshop.read("late.txt"), "written");
}

#[test]
fn texts_of_all_kinds_and_lengths_are_whole_on_both_sides() {
    let Some(workshop) = workshop() else { return };
    let script = r#"def texts = ['', 'a', 'x' * 256, 'x' * 257, 'é', 'x' * 255 + 'é', '\u0000', '\u007f', '\u0080', '\ud83d\ude00']
def name = vars.get('none') == null ? 'v' : 'w'
texts.eachWithIndex { text, i -> vars.put(name + i + text, text) }
def other = texts.withIndex().findAll { text, i -> vars.get(name + i + text) != text }
return other.isEmpty() ? texts.size() + ' whole' : other.toString()"#;
    let children = [
        jsr223(
            "JSR223Sampler",
            "texts",
            &format!("SampleResult.responseMessage = {{ {script} }}()"),
        ),
        debug_sampler("${__groovy('é' + '${__time(,)}'.isEmpty() + 'x' * 3,)}"),
    ];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let rows = rows(&workshop);
    assert_eq!(rows[0], ["texts", "200", "10 whole"]);
    assert_eq!(rows[1][0], "éfalsexxx");
}

#[test]
fn an_object_that_is_used_as_a_text_does_no_harm() {
    let Some(workshop) = workshop() else { return };
    let children = [
        jsr223("JSR223Sampler", "puts", "vars.putObject('o', [1, 2])"),
        debug_sampler("as text ${o}"),
        jsr223("JSR223Sampler", "casts", "int n = vars.getObject('o')"),
        jsr223(
            "JSR223Sampler",
            "as string",
            "SampleResult.sampleLabel = vars.get('o') + vars.get('o').length()",
        ),
        jsr223("JSR223Sampler", "null", "vars.putObject('o', null)"),
        debug_sampler("gone ${o}"),
    ];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let rows = rows(&workshop);
    let codes: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(codes.len(), 6);
    assert_eq!((codes[0], codes[2]), ("200", "500"));
    let text = workshop.read("r.jtl");
    for label in ["\"as text [1, 2]\"", "\"[1, 2]6\"", ",gone ${o},"] {
        assert!(text.contains(label), "{label}: {text}");
    }
}

#[test]
fn scripts_send_their_user_on() {
    let Some(workshop) = workshop() else { return };
    let action = |name: &str| {
        format!(
            "if (vars.getIteration() == 2) ctx.setTestLogicalAction(org.apache.jmeter.threads.JMeterContext.TestLogicalAction.{name})"
        )
    };
    let children = [
        jsr223(
            "JSR223Sampler",
            "next",
            &action("START_NEXT_ITERATION_OF_THREAD"),
        ),
        debug_sampler("after"),
        jsr223(
            "JSR223Sampler",
            "stop",
            "if (vars.getIteration() == 4) SampleResult.setStopThread(true)",
        ),
        debug_sampler("last"),
    ];
    let stop = "SampleResult.setStopTest(vars.getIteration() == 3)";
    let others = [jsr223("JSR223Sampler", "ends the test", stop)];
    let groups = [group("A", 1, 9, &children), group("B", 1, 9, &others)];
    let mut plan = plan(&groups);
    // One group after the other.
    plan = plan.replace(
        r#"testname="plan"/>"#,
        r#"testname="plan"><boolProp name="TestPlan.serialize_threadgroups">true</boolProp></TestPlan>"#,
    );
    let finished = run(&workshop, &plan, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let counts =
        ["next", "after", "stop", "last", "ends the test"].map(|label| count(&workshop, label));
    assert_eq!(counts, [4, 3, 3, 2, 3], "{}", workshop.read("r.jtl"));
}

#[test]
fn texts_that_are_computed_before_the_run_may_have_scripts() {
    let Some(workshop) = workshop() else { return };
    let children = [debug_sampler(
        "${__groovy(1+41)} ${__BeanShell(\"b\"+1)} ${__javaScript([1\\,2].length)}",
    )];
    let mut plan = plan(&[group("A", 1, 1, &children)]);
    let users = r#"num_threads">1<"#;
    assert!(plan.contains(users));
    plan = plan.replace(users, r#"num_threads">${__groovy(1+1)}<"#);
    let finished = run(&workshop, &plan, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(count(&workshop, "42 b1 2"), 2);
}

#[test]
fn java_starts_late_for_texts_that_turn_out_to_need_it() {
    let Some(workshop) = workshop() else { return };
    // Only the user that runs it knows the text that JEXL is given.
    let children = [
        debug_sampler("${__V(x,first)}"),
        debug_sampler("${__jexl3(${__property(code)})}"),
    ];
    let more = ["-Jcode=var x = []; for (i : [1, 2]) { x.add(i) }; x.size()"];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &more);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let log = workshop.read("run.log");
    assert!(
        log.contains("a text has a script in it: Java starts"),
        "{log}"
    );
    assert_eq!(rows(&workshop).len(), 2);
}

#[test]
fn ctrl_c_twice_ends_scripts_that_sleep() {
    let Some(workshop) = workshop() else { return };
    let children = [jsr223(
        "JSR223Sampler",
        "sleeps",
        "new File('asleep').createNewFile(); Thread.sleep(1000000)",
    )];
    workshop.write("p.jmx", plan(&[group("A", 2, 1, &children)]));
    let child = workshop.start(&WORDS);
    let deadline = Instant::now() + LIMIT;
    while !workshop.path("asleep").exists() {
        assert!(Instant::now() < deadline, "the script does not run");
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..2 {
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(kill.is_ok_and(|status| status.success()));
        std::thread::sleep(Duration::from_millis(300));
    }
    let finished = finish(child, LIMIT);
    assert!(finished.out.contains("... end of run"), "{finished:?}");
    // As in JMeter, the interrupted script is a failed sample.
    assert_eq!(count(&workshop, "sleeps"), 2);
}

#[test]
fn a_function_without_an_end_holds_up_no_other_user_and_ends_with_the_run() {
    let Some(workshop) = workshop() else { return };
    let forever = [
        debug_sampler("before"),
        debug_sampler("${__javaScript(while(true){})}"),
    ];
    let others = [debug_sampler("other")];
    let stop = [jsr223(
        "JSR223Sampler",
        "stopper",
        "while (props.get(\"done\") == null) { Thread.sleep(5); }; ctx.getEngine().stopTest(true)",
    )];
    let last = [jsr223(
        "JSR223Sampler",
        "last",
        "if (vars.getIteration() == 50 && ctx.getThreadNum() == 0) props.put(\"done\", \"yes\")",
    )];
    let plan = plan(&[
        group("A", 2, 1, &forever),
        group("B", 4, 50, &others),
        group("C", 1, 50, &last),
        group("D", 1, 1, &stop),
    ]);
    // As JMeter does where threads do not stop.
    let finished = run(&workshop, &plan, &["-Jjmeterengine.threadstop.wait=1000"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert_eq!(count(&workshop, "before"), 2);
    assert_eq!(count(&workshop, "other"), 200);
    assert_eq!(count(&workshop, "last"), 50);
}

#[test]
fn code_that_does_not_heed_the_stop_is_ended_by_force_and_the_run_fails() {
    let Some(workshop) = workshop() else { return };
    let stuck = "props.put('in', '1'); long end = System.currentTimeMillis() + 120000; \
                 while (System.currentTimeMillis() < end) { try { Thread.sleep(20) } catch (InterruptedException e) { } }";
    let stops =
        "while (props.get('in') == null) { Thread.sleep(20) }; SampleResult.setStopTestNow(true)";
    let groups = [
        group("g", 1, 1, &[jsr223("JSR223Sampler", "stuck", stuck)]),
        group("h", 1, 1, &[jsr223("JSR223Sampler", "stops", stops)]),
    ];
    workshop.write("p.jmx", plan(&groups));
    let wait = "-Jjmeterengine.threadstop.wait=200";
    let finished = workshop.run(&["-n", "-t", "p.jmx", wait], LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let said = "some users did not stop within 200 ms";
    assert!(finished.err.contains(said), "{finished:?}");
    let keeps = "-Jjmeterengine.stopfail.system.exit=false";
    let finished = workshop.run(&["-n", "-t", "p.jmx", wait, keeps], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
}
