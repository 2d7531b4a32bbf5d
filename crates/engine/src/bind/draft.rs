//! Decodes a plan without scripts, key stores and data files, for `check`, `plan` and `doctor` to inspect.

use std::collections::HashMap;
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, full_class_name};

use crate::bind::{classpath, decode, functions, scripts};
use crate::decode::{DecodingContext, NEEDS_JAVA, OutsideAccess};
use crate::elements;
use crate::elements::plugins;
use crate::resolve::Plan;
use crate::run::java::host::{Java, JavaFailure, JavaHost};
use crate::run::java::plan::ClassRoles;
use crate::run::journey::BoundPlan;
use crate::run::settings::RunSettings;

/// A plan that was decoded without touching anything.
pub struct Draft {
    /// Shows the plan and its load; it must not be run. `None` if the plan has errors.
    pub plan: Option<BoundPlan>,
    pub findings: Vec<Diagnostic>,
    /// Something of the plan needs Java.
    needs_java: bool,
    /// The reason why Java runs the JDBC elements, if it does.
    pub jdbc_in_java: Option<String>,
    /// Classes that Java runs, as the plan names them.
    classes: Vec<String>,
}

impl Draft {
    /// The plan with its warnings.
    ///
    /// # Errors
    /// All findings, if one of them is an error.
    pub fn checked(self) -> Result<(BoundPlan, Vec<Diagnostic>), Vec<Diagnostic>> {
        match self.plan {
            Some(plan) => Ok((plan, self.findings)),
            None => Err(self.findings),
        }
    }
}

/// Java's answers about classes, keyed by their names in the plan.
type Answers = HashMap<String, Result<ClassRoles, JavaFailure>>;

/// Decodes a plan in a closed world. Where a value needs a script, it is empty, with a warning.
pub fn draft(plan: &Plan, settings: &Arc<RunSettings>) -> Draft {
    draft_knowing(plan, settings, Answers::new())
}

/// Decodes a plan in a closed world after asking Java, if the plan needs it, which classes and functions the class path has.
pub fn draft_asking_java(plan: &Plan, settings: &Arc<RunSettings>) -> Draft {
    let unasked = draft(plan, settings);
    let Some(root) = &plan.root else {
        return unasked;
    };
    let Java::Host(host) = &settings.java else {
        return unasked;
    };
    if unasked.needs_java
        && host.find().is_ok()
        && let Some(jars) = host.unfetched()
    {
        return draft_knowing_jars(plan, settings, &unasked.classes, &jars);
    }
    let functions = functions::called(root);
    functions::ask(&functions, root, settings);
    if !unasked.needs_java {
        // Functions that Java has found are compiled as such now.
        return if functions.is_empty() {
            unasked
        } else {
            draft(plan, settings)
        };
    }
    match answers(&**host, plan, settings, &unasked.classes) {
        Ok(answers) => draft_knowing(plan, settings, answers),
        Err(why) => {
            let without = RunSettings {
                java: Java::Absent(why.to_string().into()),
                ..RunSettings::clone(settings)
            };
            draft(plan, &Arc::new(without))
        }
    }
}

/// Decodes a plan when Java cannot start because a run would have to fetch jars first. Classes are looked up in the jars that
/// are there.
fn draft_knowing_jars(
    plan: &Plan,
    settings: &Arc<RunSettings>,
    classes: &[String],
    jars: &str,
) -> Draft {
    let absent = absent_among(plan, settings, classes).into_iter();
    let answers = absent.map(|class| {
        let why = plugins::absent(full_class_name(&class));
        (class, Err(why.into()))
    });
    let mut draft = draft_knowing(plan, settings, answers.collect());
    let message = format!("Java is not on this machine completely: a run fetches {jars}");
    let warning = Diagnostic::warning("jars-missing", message);
    let help = "`drumfire jvm install` fetches them now";
    draft.findings.push(warning.help(help));
    draft
}

/// The full names of the classes that the plan needs and that no jar on this machine contains. Does not start Java.
pub fn absent_classes(plan: &Plan, settings: &Arc<RunSettings>) -> Vec<String> {
    let absent = absent_among(plan, settings, &draft(plan, settings).classes);
    let full = absent.iter().map(|class| full_class_name(class).to_owned());
    full.collect()
}

/// Those of the classes that no jar on this machine contains.
fn absent_among(plan: &Plan, settings: &RunSettings, classes: &[String]) -> Vec<String> {
    let (Some(root), Java::Host(host)) = (&plan.root, &settings.java) else {
        return Vec::new();
    };
    let classpath = classpath(root, &settings.base_dir);
    let is_absent = |class: &&String| !host.has_class(full_class_name(class), &classpath);
    classes.iter().filter(is_absent).cloned().collect()
}

fn answers(
    host: &dyn JavaHost,
    plan: &Plan,
    settings: &RunSettings,
    classes: &[String],
) -> Result<Answers, JavaFailure> {
    host.find()?;
    let Some(root) = &plan.root else {
        return Ok(Answers::new());
    };
    let file = settings.base_dir.join(super::script(root));
    let classpath = classpath(root, &settings.base_dir);
    let ask = |class: &String| {
        let traits = host.classify(full_class_name(class), &file, &classpath)?;
        Ok((
            class.clone(),
            traits.ok_or_else(|| plugins::absent(full_class_name(class)).into()),
        ))
    };
    classes.iter().map(ask).collect()
}

fn draft_knowing(plan: &Plan, settings: &Arc<RunSettings>, answers: Answers) -> Draft {
    let mut findings = plan.findings.clone();
    let Some(root) = &plan.root else {
        return Draft {
            plan: None,
            findings,
            needs_java: false,
            jdbc_in_java: None,
            classes: Vec::new(),
        };
    };
    let init_file = scripts::init_file(settings);
    if let (Some(name), Java::Absent(why)) = (init_file, &settings.java) {
        let message = format!("{name} names a script, which needs Java: {why}");
        findings.push(Diagnostic::error(NEEDS_JAVA, message));
    }
    let mut decoding = DecodingContext {
        outside: OutsideAccess::Closed,
        needs_java: init_file.is_some(),
        foreign: answers,
        ..DecodingContext::new(root, settings, findings)
    };
    let groups = decode(root, &mut decoding);
    let (needs_java, jdbc_in_java) = (
        decoding.needs_java,
        elements::jdbc::in_java(&decoding).map(str::to_owned),
    );
    let mut classes = std::mem::take(&mut decoding.unasked);
    let sources = decoding.java.elements.iter();
    classes.extend(sources.map(|source| source.class.clone()));
    classes.sort_unstable();
    classes.dedup();
    if decoding.findings.iter().any(Diagnostic::is_error) {
        return Draft {
            plan: None,
            findings: decoding.findings,
            needs_java,
            jdbc_in_java,
            classes,
        };
    }
    let compiled = decoding.finish(root, groups, settings);
    Draft {
        plan: Some(compiled.plan),
        findings: compiled.warnings,
        needs_java,
        jdbc_in_java,
        classes,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::resolve::resolve;
    use crate::run::control::Control;
    use crate::run::java::host::Apart;
    use crate::run::java::plan::{Ask, JavaCall, JavaEvent};
    use crate::run::java::visit::Visit;
    use crate::run::program::Program;
    use drumfire_expr::{Raised, ScriptCall};

    /// A Java host that has JMeter's classes and counts the calls of its methods.
    #[derive(Default)]
    struct Counting {
        calls: AtomicUsize,
        /// Whether a run has yet to fetch JMeter's jars.
        lacks_jars: bool,
    }

    impl Counting {
        fn note(&self) {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl JavaHost for Counting {
        fn classify(
            &self,
            class: &str,
            _: &Path,
            _: &[std::path::PathBuf],
        ) -> Result<Option<ClassRoles>, JavaFailure> {
            self.note();
            Ok(class.starts_with("org.apache.").then(ClassRoles::default))
        }
        fn functions(
            &self,
            _: &[&str],
            _: &Path,
            _: &[std::path::PathBuf],
        ) -> Result<Vec<String>, JavaFailure> {
            self.note();
            Ok(Vec::new())
        }
        fn prepare(&self, _: &Path, _: &[std::path::PathBuf]) -> Result<(), JavaFailure> {
            self.note();
            Ok(())
        }
        fn find(&self) -> Result<(), JavaFailure> {
            self.note();
            Ok(())
        }
        fn unfetched(&self) -> Option<String> {
            self.lacks_jars.then(|| "164 jars".to_owned())
        }
        fn has_class(&self, class: &str, _: &[std::path::PathBuf]) -> bool {
            class.starts_with("org.apache.")
        }
        fn start(&self, _: &Arc<Program>, _: &Control) -> Result<(), JavaFailure> {
            unreachable!("nothing runs")
        }
        fn test_state(&self, _: &mut Visit<'_>, _: bool) -> Result<(), Raised> {
            unreachable!("nothing runs")
        }
        fn happens(&self, _: &mut Visit<'_>, _: JavaEvent, _: &[u32]) {
            unreachable!("nothing runs")
        }
        fn call(&self, _: &mut Visit<'_>, _: JavaCall) -> Result<i64, Raised> {
            unreachable!("nothing runs")
        }
        fn call_apart<'v>(&'v self, _: &'v mut Visit<'_>, _: JavaCall) -> Apart<'v> {
            unreachable!("nothing runs")
        }
        fn run_group<'v>(&'v self, _: &'v mut Visit<'_>, _: usize) -> Apart<'v> {
            unreachable!("nothing runs")
        }
        fn stop_group(&self, _: usize, _: bool) {
            unreachable!("nothing runs")
        }
        fn drive(&self, _: &mut Visit<'_>, _: u32, _: Ask) -> Result<i32, Raised> {
            unreachable!("nothing runs")
        }
        fn script(&self, _: &mut Visit<'_>, _: &ScriptCall<'_>) -> Result<String, Raised> {
            unreachable!("no script runs")
        }
        fn break_off(&self, _: bool) {}
    }

    fn plan(users: &str, inside: &str) -> Plan {
        let text = drumfire_testkit::plans::plan(&format!(
            r#"
<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp><stringProp name="ThreadGroup.num_threads">{users}</stringProp></ThreadGroup>
<hashTree>{inside}</hashTree>"#
        ));
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let settings = RunSettings::default();
        resolve(read.tree, &settings.properties, &settings.base_dir)
    }

    fn with_java() -> (Arc<Counting>, Arc<RunSettings>) {
        let host = Arc::new(Counting::default());
        let settings = RunSettings {
            java: Java::Host(host.clone()),
            ..RunSettings::default()
        };
        (host, Arc::new(settings))
    }

    const SCRIPT: &str =
        r#"<JSR223Sampler guiclass="g" testclass="JSR223Sampler" testname="S"/><hashTree/>"#;
    const PLUGIN: &str =
        r#"<kg.apc.Thing guiclass="g" testclass="kg.apc.Thing" testname="T"/><hashTree/>"#;

    #[test]
    fn a_draft_asks_nobody_and_runs_no_script() {
        let (host, settings) = with_java();
        let plan = plan("${__groovy(3)}", &format!("{SCRIPT}{PLUGIN}"));
        let draft = draft(&plan, &settings);
        assert_eq!(host.calls.load(Ordering::Relaxed), 0);
        assert!(draft.needs_java && draft.plan.is_some());
        assert_eq!(draft.classes, ["JSR223Sampler", "kg.apc.Thing"]);
        let codes: Vec<_> = draft.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["script-value-unknown"]);
    }

    #[test]
    fn java_is_asked_whether_each_class_is_there() {
        let (host, settings) = with_java();
        assert!(
            draft_asking_java(&plan("1", SCRIPT), &settings)
                .plan
                .is_some()
        );
        assert!(host.calls.load(Ordering::Relaxed) > 0);
        let absent = draft_asking_java(&plan("1", PLUGIN), &settings);
        assert!(absent.plan.is_none());
        let [finding] = &absent.findings[..] else {
            panic!("{:?}", absent.findings)
        };
        assert!(
            finding.message.contains("no jar on the class path"),
            "{finding:?}"
        );
    }

    #[test]
    fn drafts_without_jars_look_up_classes_and_start_no_java() {
        let host = Arc::new(Counting {
            lacks_jars: true,
            ..Counting::default()
        });
        let settings = Arc::new(RunSettings {
            java: Java::Host(host.clone()),
            ..RunSettings::default()
        });
        let script = draft_asking_java(&plan("1", SCRIPT), &settings);
        assert!(script.plan.is_some());
        let codes: Vec<_> = script.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["jars-missing"]);
        let webdriver = "com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler";
        let sampler = PLUGIN.replace("kg.apc.Thing", webdriver);
        let absent = plan("1", &sampler);
        assert_eq!(absent_classes(&absent, &settings), [webdriver]);
        let absent = draft_asking_java(&absent, &settings);
        assert!(absent.plan.is_none());
        let line = "`drumfire jvm install jpgc-webdriver`";
        assert!(
            absent
                .findings
                .iter()
                .any(|finding| finding.message.contains(line))
        );
        // Java was looked for twice, and nothing else was asked.
        assert_eq!(host.calls.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn java_is_asked_for_the_class_that_a_java_request_names() {
        let (_, settings) = with_java();
        let request = |class: &str| {
            let text = format!(
                r#"<JavaSampler guiclass="g" testclass="JavaSampler" testname="J"><stringProp name="classname">{class}</stringProp></JavaSampler><hashTree/>"#
            );
            draft_asking_java(&plan("1", &text), &settings)
        };
        let there = request("org.apache.jmeter.protocol.Client");
        assert!(there.plan.is_some(), "{:?}", there.findings);
        let codes: Vec<_> = there.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [elements::java::IN_JAVA]);
        let absent = request("com.example.Client");
        assert!(absent.plan.is_none());
        let told = |finding: &Diagnostic| {
            finding.is_error()
                && finding
                    .message
                    .contains("it names the class `com.example.Client`")
        };
        assert!(absent.findings.iter().any(told), "{:?}", absent.findings);
    }

    #[test]
    fn java_is_not_asked_about_a_plan_that_does_not_need_it() {
        let (host, settings) = with_java();
        let sampler =
            r#"<DebugSampler guiclass="g" testclass="DebugSampler" testname="D"/><hashTree/>"#;
        assert!(
            draft_asking_java(&plan("1", sampler), &settings)
                .plan
                .is_some()
        );
        assert_eq!(host.calls.load(Ordering::Relaxed), 0);
    }
}
