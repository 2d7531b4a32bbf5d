//! Classes that are not built in: functions, samplers and tests of users' own jars, and JMeter's own elements that Java runs.

use std::path::Path;
use std::process::Command;

use drumfire_testkit::program::{Workshop, jmeter_home};

use super::{debug_sampler, escaped, group, plan, rows, run, workshop};

/// A jar with classes of these sources, compiled against JMeter.
pub fn jar(workshop: &Workshop, name: &str, sources: &[(&str, &str)]) -> String {
    let home = jmeter_home().expect("the workshop has one");
    let folder = workshop.path("sources");
    let classes = workshop.path("classes");
    for (name, text) in sources {
        workshop.write(&format!("sources/{name}"), text);
    }
    let classpath =
        ["lib/*", "lib/ext/*"].map(|part| home.join(part).to_string_lossy().into_owned());
    let files = sources.iter().map(|(name, _)| folder.join(name));
    let mut javac = Command::new("javac");
    javac.arg("-proc:none").arg("-d").arg(&classes);
    javac.arg("-cp").arg(classpath.join(":")).args(files);
    assert!(javac.status().is_ok_and(|status| status.success()));
    let file = workshop.path(name);
    let made = Command::new("jar")
        .arg("cf")
        .arg(&file)
        .arg("-C")
        .arg(&classes)
        .arg(".")
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    file.to_string_lossy().into_owned()
}

const FUNCTION: &str = r#"
package a.functions;
import java.util.*;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.*;
import org.apache.jmeter.samplers.*;
public class Shout extends AbstractFunction {
    private CompoundVariable[] values;
    private int calls;
    public String execute(SampleResult previous, Sampler current) {
        if (values.length > 1) {
            getVariables().put(values[1].execute().trim(), "set");
        }
        return values[0].execute().toUpperCase() + ++calls + (previous == null ? "" : previous.getResponseCode());
    }
    public void setParameters(Collection<CompoundVariable> parameters) throws InvalidVariableException {
        checkParameterCount(parameters, 1, 2);
        values = parameters.toArray(new CompoundVariable[0]);
    }
    public String getReferenceKey() { return "__shout"; }
    public List<String> getArgumentDesc() { return List.of("text", "variable"); }
}
"#;

#[test]
fn functions_of_a_users_jar_run_by_their_own_code() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "f.jar", &[("Shout.java", FUNCTION)]);
    let children = [
        debug_sampler("${__shout(a${__threadNum}:\\,b, v)} ${v} ${__quiet(x)} ${__jm__x__idx}"),
        debug_sampler("${__groovy(sampler.class.simpleName + vars.get('none'),)}"),
    ];
    let plan = plan(&[group("A", 1, 2, &children)]);
    let paths = [
        format!("-Juser.classpath={jar}"),
        format!("-Jsearch_paths={jar}"),
    ];
    let words: Vec<&str> = paths.iter().map(String::as_str).collect();
    let finished = run(&workshop, &plan, &words);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let text = workshop.read("r.jtl");
    let first = r#""A1:,B1 set ${__quiet(x)} ${__jm__x__idx}""#;
    let second = r#""A1:,B2200 set ${__quiet(x)} ${__jm__x__idx}""#;
    assert!(text.contains(first) && text.contains(second), "{text}");
    // Without the jar it is a variable that there is none of.
    let finished = run(&workshop, &plan, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(workshop.read("r.jtl").contains("${__shout("));
}

fn html_assertion(properties: &str) -> String {
    format!(
        r#"<HTMLAssertion guiclass="HTMLAssertionGui" testclass="HTMLAssertion" testname="tidy"><longProp name="html_assertion_error_threshold">0</longProp><longProp name="html_assertion_warning_threshold">0</longProp><stringProp name="html_assertion_doctype">omit</stringProp><boolProp name="html_assertion_errorsonly">false</boolProp><longProp name="html_assertion_format">0</longProp><stringProp name="html_assertion_filename"></stringProp>{properties}</HTMLAssertion><hashTree/>"#
    )
}

/// A sampler that answers with this text.
fn answer(name: &str, text: &str, children: &str) -> String {
    format!(
        r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="{name}"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">{}</stringProp></JSR223Sampler><hashTree>{children}</hashTree>"#,
        escaped(&format!("return '{text}'"))
    )
}

#[test]
fn html_is_judged_by_jtidy() {
    let Some(workshop) = workshop() else { return };
    let good = "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\"><html><head><title>t</title></head><body><p>x</p></body></html>";
    let children = [
        answer("good", good, &html_assertion("")),
        answer("bad", "<p><b>x</p><nonsense>", &html_assertion("")),
    ];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let text = workshop.read("r.jtl");
    let line = |name: &str| {
        text.lines()
            .find(|line| line.contains(name))
            .expect("a row")
            .to_owned()
    };
    assert!(line(",good,").contains(",true,,"), "{text}");
    assert!(
        line(",bad,").contains(",false,Tidy Parser errors:"),
        "{text}"
    );
}

const JUNIT: &str = r#"
import org.junit.Assert;
import org.junit.Test;
public class Own {
    @Test public void passes() { }
    @Test public void fails() { Assert.assertEquals("told", 1, 2); }
}
"#;

fn junit(method: &str) -> String {
    format!(
        r#"<JUnitSampler guiclass="JUnitTestSamplerGui" testclass="JUnitSampler" testname="{method}"><stringProp name="junitSampler.classname">Own</stringProp><stringProp name="junitsampler.constructorstring"></stringProp><stringProp name="junitsampler.method">{method}</stringProp><stringProp name="junitsampler.pkg.filter"></stringProp><stringProp name="junitsampler.success">Test successful</stringProp><stringProp name="junitsampler.success.code">1000</stringProp><stringProp name="junitsampler.failure">Test failed</stringProp><stringProp name="junitsampler.failure.code">0001</stringProp><stringProp name="junitsampler.error">An unexpected error occurred</stringProp><stringProp name="junitsampler.error.code">9999</stringProp><boolProp name="junitsampler.exec.setup">false</boolProp><boolProp name="junitsampler.append.error">true</boolProp><boolProp name="junitsampler.append.exception">false</boolProp><boolProp name="junitsampler.junit4">true</boolProp></JUnitSampler><hashTree/>"#
    )
}

#[test]
fn junit_tests_of_a_users_jar_are_samples() {
    let Some(workshop) = workshop() else { return };
    let jar = jar(&workshop, "t.jar", &[("Own.java", JUNIT)]);
    let path = format!("-Juser.classpath={jar}");
    let children = [junit("passes"), junit("fails")];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &[&path]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let text = workshop.read("r.jtl");
    let has = |row: &str| assert!(text.contains(row), "{text}");
    has(",passes,1000,Test successful,A 1-1,");
    has(",fails,0001,");
    has("told expected:<1> but was:<2>");
}

#[test]
fn init_files_run_before_the_plan() {
    let Some(workshop) = workshop() else { return };
    workshop.write(
        "init.groovy",
        "props.put('from.groovy', 'g' + props.get('given'))",
    );
    workshop.write(
        "init.bsh",
        "org.apache.jmeter.util.JMeterUtils.setProperty(\"from.bsh\", \"b\");\nString shared() { return \"helper\"; }",
    );
    workshop.write(
        "utilities.groovy",
        "String twice(String text) { text + text }",
    );
    let children = [
        debug_sampler("${__P(from.groovy)} ${__P(from.bsh)} ${__groovy(twice('x'),)}"),
        debug_sampler("${__BeanShell(shared())}"),
    ];
    let words = [
        "-Jgiven=1",
        "-Jjsr223.init.file=init.groovy",
        "-Jbeanshell.init.file=init.bsh",
        "-Jbeanshell.function.init=init.bsh",
        "-Jgroovy.utilities=utilities.groovy",
    ];
    let finished = run(&workshop, &plan(&[group("A", 1, 1, &children)]), &words);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let labels: Vec<String> = rows(&workshop)
        .into_iter()
        .map(|[label, ..]| label)
        .collect();
    assert_eq!(labels, ["g1 b xx", "helper"]);
    assert!(Path::new(&workshop.path("run.log")).exists());
}
