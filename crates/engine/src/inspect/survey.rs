//! The findings of `drumfire check`: how every element and function of a plan is run, and whether the plan runs at all.

use std::collections::HashSet;
use std::sync::Arc;

use drumfire_expr::{Compiler, FunctionSpec, Template, function_rung};
use drumfire_jmx::{Diagnostic, Node, Props, SourceFile, Span, Tree};
use serde::Serialize;

use crate::bind::Draft;
use crate::decode::LEFT_OUT;
use crate::elements::{self, Role, Rung};
use crate::inspect::advice::{Advice, advise};
use crate::inspect::preflight::{draft, draft_asking_java};
use crate::resolve::{Element, Plan, resolve};
use crate::run::settings::RunSettings;

/// A plan, inspected without sending anything.
pub struct Survey {
    /// One row per element in the order of the file, then those of included files, then one per function.
    pub rows: Vec<SurveyRow>,
    /// Everything that compiling reports.
    pub findings: Vec<Diagnostic>,
    /// Whether the plan compiles.
    pub runs: bool,
    /// Elements that cost time or mislead.
    pub advice: Vec<Advice>,
}

/// One element or function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SurveyRow {
    /// Names from the Test Plan down; for a function, those of the first element that calls it with this rung.
    pub path: Vec<String>,
    /// The element's class, or the function as `__name`.
    pub class: String,
    pub rung: Rung,
    /// Why it is not native; empty if it is.
    pub why: String,
}

/// Codes of the findings that say that an element needs a JVM.
const JVM_CODES: &[&str] = &[crate::decode::NEEDS_JAVA];
const DISABLED: &str = "disabled";
const NOT_REACHED: &str = "no thread group runs it";

/// Surveys a plan without running anything. Java is started only to ask for classes that the plan needs. Binding decides: an
/// element with an error never counts as native.
pub fn survey(tree: &Tree, settings: &Arc<RunSettings>) -> Survey {
    let plan = resolve(tree.clone(), &settings.properties, &settings.base_dir);
    let draft = draft_asking_java(&plan, settings);
    surveyed(tree, settings, plan, draft)
}

fn surveyed(tree: &Tree, settings: &Arc<RunSettings>, plan: Plan, draft: Draft) -> Survey {
    let runs = draft.plan.is_some();
    let rows = rows(tree, settings, plan.root.as_ref(), &draft);
    Survey {
        rows,
        findings: draft.findings,
        runs,
        advice: plan
            .root
            .map_or_else(Vec::new, |plan| advise(&plan, settings)),
    }
}

/// The rows of all elements and functions.
fn rows(
    tree: &Tree,
    settings: &Arc<RunSettings>,
    plan: Option<&Element>,
    draft: &Draft,
) -> Vec<SurveyRow> {
    let runs = draft.plan.is_some();
    let mut surveyor = Surveyor {
        source: &tree.source,
        findings: &draft.findings,
        jdbc_in_java: draft.jdbc_in_java.clone().filter(|_| runs),
        reached: HashSet::new(),
        compiler: Compiler::new(settings.properties.clone()),
        rows: Vec::new(),
        functions: Vec::new(),
        seen: HashSet::new(),
    };
    surveyor
        .compiler
        .set_plan(plan.map_or("", |plan| &plan.name), &settings.base_dir);
    if let Some(plan) = plan {
        surveyor.reach_plan(plan);
    }
    for root in &*tree.roots {
        surveyor.node(root, &[], true);
    }
    if let Some(plan) = plan {
        surveyor.included(plan);
    }
    let Surveyor {
        mut rows,
        functions,
        ..
    } = surveyor;
    rows.extend(functions);
    rows
}

/// The findings of a plan that an editor shows.
#[derive(Debug, Default)]
pub struct Glance {
    /// Errors and warnings.
    pub findings: Vec<Diagnostic>,
    /// The advice.
    pub advice: Vec<Advice>,
    /// How each element of the file runs, in its order; empty unless that was asked for.
    pub rungs: Vec<Rung>,
}

/// Inspects a plan for editors that ask after every change. Does not start Java, so a class that no jar has is not noticed.
pub fn glance(tree: &Tree, settings: &Arc<RunSettings>, with_rungs: bool) -> Glance {
    fn count(nodes: &[Node]) -> usize {
        nodes.iter().map(|node| 1 + count(&node.children)).sum()
    }
    let plan = resolve(tree.clone(), &settings.properties, &settings.base_dir);
    let root = plan.root.as_ref();
    // Advice and findings take about the same time, so they are computed in parallel.
    std::thread::scope(|scope| {
        let advice = scope.spawn(|| root.map(|root| advise(root, settings)).unwrap_or_default());
        let draft = draft(&plan, settings);
        let rungs = with_rungs.then(|| {
            let rows = rows(tree, settings, root, &draft).into_iter();
            let rungs = rows.take(count(&tree.roots)).map(|row| row.rung);
            rungs.collect()
        });
        let advice = advice.join();
        Glance {
            findings: draft.findings,
            advice: advice.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            rungs: rungs.unwrap_or_default(),
        }
    })
}

struct Surveyor<'a> {
    source: &'a Arc<SourceFile>,
    findings: &'a [Diagnostic],
    /// Why Java runs the JDBC elements.
    jdbc_in_java: Option<String>,
    /// Start tags of the elements that compiling reaches.
    reached: HashSet<Span>,
    compiler: Compiler,
    rows: Vec<SurveyRow>,
    functions: Vec<SurveyRow>,
    /// Elements of included files that have their row.
    seen: HashSet<(usize, Span)>,
}

impl Surveyor<'_> {
    /// Marks thread groups with everything below them, and the elements beside them, which JMeter takes without their children.
    fn reach_plan(&mut self, plan: &Element) {
        self.reached.insert(plan.span);
        for child in &plan.children {
            if elements::is_thread_group(child) {
                self.reach(child);
            } else if self.is_in_plan(child) {
                self.reached.insert(child.span);
            }
        }
    }

    fn reach(&mut self, element: &Element) {
        if self.is_in_plan(element) {
            self.reached.insert(element.span);
        }
        element.children.iter().for_each(|child| self.reach(child));
    }

    fn is_in_plan(&self, element: &Element) -> bool {
        Arc::ptr_eq(&element.source, self.source)
    }

    fn node(&mut self, node: &Node, above: &[String], enabled: bool) {
        let mut path = above.to_vec();
        path.push(node.name.to_string());
        let enabled = enabled && node.enabled;
        let row = |rung, why: &str| SurveyRow {
            path: path.clone(),
            class: node.class.to_string(),
            rung,
            why: why.to_owned(),
        };
        if !enabled {
            self.rows.push(row(Rung::Skipped, DISABLED));
        } else if self.reached.contains(&node.span) {
            let (rung, why) = self.judge(&node.class, node.span, self.source);
            self.rows.push(row(rung, &why));
            self.calls(&node.name, &node.props, &path);
        } else {
            let why = elements::entry(&node.class)
                .filter(|entry| entry.role == Role::Ignored)
                .map_or(NOT_REACHED, |entry| entry.why);
            self.rows.push(row(Rung::Skipped, why));
        }
        for child in &node.children {
            self.node(child, &path, enabled);
        }
    }

    /// Adds rows for the elements that Include Controllers bring in from other files.
    fn included(&mut self, element: &Element) {
        if !self.is_in_plan(element)
            && self
                .seen
                .insert((Arc::as_ptr(&element.source) as usize, element.span))
        {
            let (rung, why) = self.judge(&element.class, element.span, &element.source);
            self.rows.push(SurveyRow {
                path: element.path(),
                class: element.class.to_string(),
                rung,
                why,
            });
            self.calls(&element.name, &element.props, &element.path());
        }
        element
            .children
            .iter()
            .for_each(|child| self.included(child));
    }

    /// The catalogue's rung for the class, unless compiling refused the element or left it out.
    fn judge(&self, class: &str, span: Span, source: &Arc<SourceFile>) -> (Rung, String) {
        let (rung, why) = match elements::entry(class) {
            Some(entry) => (entry.rung, entry.why),
            None => (Rung::Jvm, elements::UNKNOWN_CLASS),
        };
        let mut here = self.findings.iter().filter(|finding| {
            finding.span == Some(span)
                && finding
                    .source
                    .as_ref()
                    .is_some_and(|at| Arc::ptr_eq(at, source))
        });
        if here.clone().any(|finding| finding.code == LEFT_OUT) {
            return (Rung::Skipped, format!("left out: {why}"));
        }
        if rung == Rung::Refused {
            return (rung, why.to_owned());
        }
        // The class that a Backend Listener names decides whether it runs.
        if let Some(finding) = here
            .clone()
            .find(|finding| finding.code == elements::listeners::NOT_SENT)
        {
            return (Rung::Skipped, finding.message.clone());
        }
        let in_java = here
            .clone()
            .find(|finding| finding.code == elements::java::IN_JAVA);
        match here.find(|finding| finding.is_error()) {
            Some(finding) if rung == Rung::Jvm || JVM_CODES.contains(&finding.code) => {
                (Rung::Jvm, finding.message.clone())
            }
            Some(finding) => (Rung::Refused, finding.message.clone()),
            None => match &self.jdbc_in_java {
                Some(why) if elements::jdbc::CLASSES.contains(&class) => (Rung::Jvm, why.clone()),
                _ => match in_java {
                    Some(finding) => (Rung::Jvm, finding.message.clone()),
                    None => (rung, why.to_owned()),
                },
            },
        }
    }

    /// Adds rows for the functions that an element calls, one per function in the plan.
    fn calls(&mut self, name: &str, props: &Props, path: &[String]) {
        self.text(name, path);
        props.texts().for_each(|text| self.text(text, path));
    }

    fn text(&mut self, text: &str, path: &[String]) {
        if !text.contains("${__") {
            return;
        }
        // Compiling the plan reports a text that does not compile.
        let Ok(template) = Template::compile(text, &mut self.compiler) else {
            return;
        };
        let specs = template.functions();
        for spec in &specs {
            let (rung, why) = judge_function(spec, &template, &specs);
            self.function(spec.name, rung, why, path);
        }
        for fault in self.compiler.take_warnings() {
            if fault.code == "unknown-function"
                && let Some(name) = text.get(fault.span).and_then(called_name)
            {
                self.function(name, Rung::Skipped, UNKNOWN_FUNCTION, path);
            }
        }
    }

    fn function(&mut self, name: &str, rung: Rung, why: &str, path: &[String]) {
        match self.functions.iter_mut().find(|row| row.class == name) {
            Some(row) if row.rung >= rung => {}
            Some(row) => (row.rung, row.why, row.path) = (rung, why.to_owned(), path.to_vec()),
            None => self.functions.push(SurveyRow {
                path: path.to_vec(),
                class: name.to_owned(),
                rung,
                why: why.to_owned(),
            }),
        }
    }
}

const UNKNOWN_FUNCTION: &str = "JMeter 5.6.3 has no such function and takes it for a variable; no jar on the class path contains it, or there is no Java to look it up";
const FOREIGN_FUNCTION: &str = "it is a plugin's function, which the plugin's own code runs";
const SCRIPT_FUNCTION: &str = "it is a script, which needs a JVM";
const JAVA_EXPRESSION: &str = "its expression uses Java classes, which needs a JVM";

/// A JEXL expression or a script in JavaScript may need a JVM although the function is native.
fn judge_function(
    spec: &FunctionSpec,
    template: &Template,
    specs: &[&'static FunctionSpec],
) -> (Rung, &'static str) {
    if spec.is_foreign() {
        return (Rung::Jvm, FOREIGN_FUNCTION);
    }
    if is_script(spec) {
        return (Rung::Jvm, SCRIPT_FUNCTION);
    }
    if template.needs_jvm() && !specs.iter().any(|spec| is_script(spec)) {
        match spec.name {
            "__jexl2" | "__jexl3" => return (Rung::Jvm, JAVA_EXPRESSION),
            "__javaScript" => return (Rung::Jvm, SCRIPT_FUNCTION),
            _ => {}
        }
    }
    (Rung::Native, "")
}

fn is_script(spec: &FunctionSpec) -> bool {
    function_rung(spec.name) == drumfire_expr::FunctionRung::Jvm
}

/// The function's name in `${__name(…)}`.
fn called_name(reference: &str) -> Option<&str> {
    let name = reference.strip_prefix("${")?;
    Some(name.split(['(', '}']).next().unwrap_or(name).trim())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use drumfire_expr::Properties;

    use super::*;

    /// A plan with one thread group that holds `inside`; `beside` stands beside the group.
    fn look(inside: &str, beside: &str, properties: &[(&str, &str)]) -> Survey {
        let elements = format!(
            r#"
            <ThreadGroup testname="G"><elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <stringProp name="LoopController.loops">1</stringProp></elementProp>
            <stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup>
            <hashTree>{inside}</hashTree>{beside}"#
        );
        let elements = elements.replace(" testname=", r#" guiclass="Gui" testname="#);
        let text = drumfire_testkit::plans::plan(&elements);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let known = Properties::new();
        for (name, value) in properties {
            known.set(name, *value);
        }
        survey(
            &read.tree,
            &Arc::new(RunSettings {
                properties: known,
                ..RunSettings::default()
            }),
        )
    }

    fn row<'s>(survey: &'s Survey, class: &str) -> &'s SurveyRow {
        let found = survey.rows.iter().find(|row| row.class == class);
        found.unwrap_or_else(|| panic!("{class} has no row: {:?}", survey.rows))
    }

    const SCRIPT: &str = r#"<JSR223Sampler testname="S"/><hashTree/>"#;

    #[test]
    fn native_elements_run() {
        let survey = look(r#"<TestAction testname="Wait"/><hashTree/>"#, "", &[]);
        assert!(survey.runs, "{:?}", survey.findings);
        assert_eq!(row(&survey, "TestAction").rung, Rung::Native);
        assert_eq!(row(&survey, "TestAction").path, ["plan", "G", "Wait"]);
    }

    #[test]
    fn scripts_and_unknown_classes_need_a_jvm() {
        for inside in [SCRIPT, r#"<kg.apc.Thing testname="T"/><hashTree/>"#] {
            let survey = look(inside, "", &[]);
            assert!(!survey.runs);
            let last = survey.rows.last().expect("a row");
            assert_eq!(last.rung, Rung::Jvm, "{inside}");
            assert!(last.why.contains("needs") && survey.findings.iter().any(Diagnostic::is_error));
        }
    }

    #[test]
    fn a_java_request_is_native_only_with_a_class_that_is_built_in() {
        let request = |class: &str| {
            let text = format!(
                r#"<JavaSampler testname="J"><stringProp name="classname">{class}</stringProp></JavaSampler><hashTree/>"#
            );
            look(&text, "", &[])
        };
        let built_in = request("org.apache.jmeter.protocol.java.test.SleepTest");
        assert_eq!(row(&built_in, "JavaSampler").rung, Rung::Native);
        let own = request("com.example.Client");
        assert_eq!(row(&own, "JavaSampler").rung, Rung::Jvm);
        assert!(!own.runs, "there is no Java here");
    }

    #[test]
    fn what_no_user_reaches_is_skipped_and_harmless() {
        let disabled = SCRIPT.replace("testname", r#"enabled="false" testname"#);
        let survey = look(&disabled, "", &[]);
        assert!(survey.runs);
        assert_eq!(
            (
                row(&survey, "JSR223Sampler").rung,
                row(&survey, "JSR223Sampler").why.as_str()
            ),
            (Rung::Skipped, DISABLED)
        );
        let fragment =
            format!(r#"<TestFragmentController testname="F"/><hashTree>{SCRIPT}</hashTree>"#);
        let survey = look("", &fragment, &[]);
        assert!(survey.runs);
        assert_eq!(
            (
                row(&survey, "JSR223Sampler").rung,
                row(&survey, "JSR223Sampler").why.as_str()
            ),
            (Rung::Skipped, NOT_REACHED)
        );
    }

    #[test]
    fn a_module_controller_reaches_a_fragment() {
        let fragment =
            format!(r#"<TestFragmentController testname="F"/><hashTree>{SCRIPT}</hashTree>"#);
        let module = r#"<ModuleController testname="M"><collectionProp name="ModuleController.node_path">
            <stringProp name="0">Test Plan</stringProp><stringProp name="1">plan</stringProp><stringProp name="2">F</stringProp>
            </collectionProp></ModuleController><hashTree/>"#;
        let survey = look(module, &fragment, &[]);
        assert!(!survey.runs);
        assert_eq!(row(&survey, "JSR223Sampler").rung, Rung::Jvm);
    }

    #[test]
    fn an_element_that_compile_refuses_is_not_native() {
        let condition = r#"<IfController testname="I"><stringProp name="IfController.condition">new java.util.Date() != null</stringProp></IfController><hashTree/>"#;
        let survey = look(condition, "", &[]);
        assert!(!survey.runs);
        assert_eq!(row(&survey, "IfController").rung, Rung::Jvm);
    }

    #[test]
    fn javascript_is_native_as_far_as_it_is_an_expression() {
        let plan = |condition: &str| {
            let text = format!(
                r#"<IfController testname="I"><stringProp name="IfController.condition">{condition}</stringProp></IfController><hashTree/>"#
            );
            look(&text, "", &[])
        };
        let survey = plan("${__javaScript(1 + ${a})} == 2");
        assert!(survey.runs, "{:?}", survey.findings);
        assert_eq!(row(&survey, "IfController").rung, Rung::Native);
        assert_eq!(row(&survey, "__javaScript").rung, Rung::Native);
        let survey = plan("${__javaScript(vars.get(1))} == 2");
        assert!(!survey.runs);
        assert_eq!(row(&survey, "__javaScript").rung, Rung::Jvm);
    }

    #[test]
    fn elements_that_the_user_leaves_out_are_skipped() {
        let survey = look(SCRIPT, "", &[("drumfire.skip_unsupported", "true")]);
        assert!(survey.runs, "{:?}", survey.findings);
        let row = row(&survey, "JSR223Sampler");
        assert_eq!(row.rung, Rung::Skipped);
        assert!(row.why.starts_with("left out: "), "{}", row.why);
    }

    #[test]
    fn functions_have_one_row_each() {
        let wait = |value: &str| {
            format!(
                r#"<TestAction testname="Wait"><stringProp name="ActionProcessor.duration">{value}</stringProp></TestAction><hashTree/>"#
            )
        };
        let survey = look(
            &[wait("${__P(a)}"), wait("${__P(b)}${__noSuch(1)}")].concat(),
            "",
            &[],
        );
        assert!(survey.runs, "{:?}", survey.findings);
        assert_eq!(
            survey.rows.iter().filter(|row| row.class == "__P").count(),
            1
        );
        assert_eq!(
            (row(&survey, "__P").rung, row(&survey, "__noSuch").rung),
            (Rung::Native, Rung::Skipped)
        );
        let survey = look(&wait("${__groovy(1)}"), "", &[]);
        assert!(!survey.runs);
        assert_eq!(
            (
                row(&survey, "__groovy").rung,
                row(&survey, "TestAction").rung
            ),
            (Rung::Jvm, Rung::Jvm)
        );
        let survey = look(&wait(r#"${__jexl3(new("java.util.Date"),)}"#), "", &[]);
        assert_eq!(
            (row(&survey, "__jexl3").rung, survey.runs),
            (Rung::Jvm, false)
        );
    }
}
