//! Compiled scripts load their classes once, whatever the number of their calls.

use super::{LIMIT, WORDS, debug_sampler, escaped, group, jsr223, plan, workshop};

/// Writes down how many classes there are when a user of the group begins its second and its last iteration.
fn counter(last: u32) -> String {
    let script = format!(
        r#"def classes = java.lang.management.ManagementFactory.classLoadingMXBean
if (vars.getIteration() in [200, {last}]) {{ System.gc(); new File('classes.txt') << classes.loadedClassCount + ' ' + classes.totalLoadedClassCount + '\n' }}"#
    );
    jsr223("JSR223Sampler", "classes", &script)
}

/// Loaded classes, and those that ever were, at both times.
fn counts(children: &[String], last: u32, more: &[&str]) -> Option<[i64; 4]> {
    let workshop = workshop()?;
    let loops = i32::try_from(last).expect("it is small");
    let mut children = children.to_vec();
    children.insert(0, counter(last));
    workshop.write("p.jmx", plan(&[group("A", 1, loops, &children)]));
    let words: Vec<&str> = WORDS.iter().chain(more).copied().collect();
    let finished = workshop.run(&words, 2 * LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let text = workshop.read("classes.txt");
    let numbers: Vec<i64> = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    Some(numbers.try_into().expect("it was written twice"))
}

fn beanshell(script: &str) -> String {
    format!(
        r#"<BeanShellPreProcessor guiclass="TestBeanGUI" testclass="BeanShellPreProcessor" testname="b"><stringProp name="script">{}</stringProp></BeanShellPreProcessor><hashTree/>"#,
        escaped(script)
    )
}

#[test]
fn compiled_scripts_leak_no_classes() {
    // Five scripts an iteration, in the whole 100,000 calls where that is asked for.
    let calls: u32 =
        std::env::var("SCRIPT_CALLS").map_or(5_000, |calls| calls.parse().expect("a number"));
    let children = [
        jsr223(
            "JSR223PreProcessor",
            "groovy",
            "def list = [1, 2].collect { it * 2 }; vars.put('n', list.sum() as String)",
        ),
        beanshell("vars.put(\"b\", String.valueOf(vars.getIteration()));"),
        jsr223(
            "JSR223PostProcessor",
            "prev",
            "prev.setResponseMessage(prev.getResponseCode() + vars.get('n'))",
        ),
        debug_sampler("${__groovy(vars.get('n') + 1,)} ${__javaScript([1\\,2].length)}"),
    ];
    let Some([before, ever_before, after, ever_after]) = counts(&children, calls / 5, &[]) else {
        return;
    };
    let report = format!("{before} to {after}, ever {ever_before} to {ever_after}");
    println!("{calls} calls: loaded classes {report}");
    // JMeter's __javaScript compiles its script at each call; what it leaves is collected.
    assert!(
        ever_after - ever_before < i64::from(calls / 5) + 200,
        "{report}"
    );
    assert!(after - before < 200, "{report}");
}

#[test]
fn classes_of_scripts_that_are_not_kept_are_collected() {
    let script = jsr223(
        "JSR223PreProcessor",
        "groovy",
        "vars.put('n', '1' + vars.iteration)",
    );
    let uncached = script.replace(r#""cacheKey">true"#, r#""cacheKey">false"#);
    // Groovy holds them softly: as long as there is room.
    let hurry = "-Jdrumfire.jvm.options=-XX:SoftRefLRUPolicyMSPerMB=0";
    let counted = counts(&[uncached, debug_sampler("d")], 320, &[hurry]);
    let Some([before, ever_before, after, ever_after]) = counted else {
        return;
    };
    // Each call compiles the script, as in JMeter.
    let report = format!("{before} to {after}, ever {ever_before} to {ever_after}");
    let compiled = ever_after - ever_before;
    assert!(compiled >= 115, "{report}");
    assert!(after - before < compiled / 2, "{report}");
}
