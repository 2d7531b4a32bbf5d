//! The files that a plan names, so that they can be copied to other machines.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use drumfire_elements::config::csv_data_set;
use drumfire_elements::controllers::include_controller;
use drumfire_elements::samplers::{grpc_request, old_grpc_request};
use drumfire_elements::shared::http;
use drumfire_elements::{ElementFacts, items};
use drumfire_expr::{Compiler, Template};
use drumfire_java::file_server;
use drumfire_jmx::{Node, Tree, Value, read_file};

use crate::run::program::Program;

/// How many levels of included plans are read.
const DEEPEST: u32 = 8;
/// A longer text is not the name of a file.
const LONGEST: usize = 1_024;

/// How many levels of a folder on the class path are searched.
const DEEPEST_FOLDER: u32 = 16;

/// Finds the files that enabled elements name relative to the plan or to the working folder, also in arguments of functions,
/// and the jars of the plan's class path. Returns the paths as the plan writes them. Names that depend on variables of the run
/// are not found, and neither are names from functions that may have an effect: nothing of the plan happens before the run.
pub fn plan_files(tree: &Tree, program: &Program) -> Vec<PathBuf> {
    find(tree, program, Wanted::All).into_iter().collect()
}

/// The files among [`plan_files`] that elements read by a setting for files or a function, and the plans that they include.
pub fn read_files(tree: &Tree, program: &Program) -> Vec<PathBuf> {
    let found = find(tree, program, Wanted::Read);
    found.into_iter().collect()
}

/// The files among [`plan_files`] that only CSV Data Sets read whose users share the rows. Machines need not have them: rows can be
/// sent as they are used.
pub fn shared_row_files(tree: &Tree, program: &Program) -> Vec<PathBuf> {
    let others = find(tree, program, Wanted::WithoutSharedRows);
    let all = find(tree, program, Wanted::All).into_iter();
    all.filter(|file| !others.contains(file)).collect()
}

/// The files that are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Those that any text names.
    All,
    /// Without those that are named only as the data of CSV Data Sets whose users share the rows.
    WithoutSharedRows,
    /// Those that settings for files and functions name.
    Read,
}

/// The files that a plan names.
fn find(tree: &Tree, program: &Program, wanted: Wanted) -> BTreeSet<PathBuf> {
    let mut compiler = Compiler::new(program.settings.properties.clone());
    compiler.set_plan(&program.script, &program.base_dir);
    for (name, value) in &program.variables {
        compiler.define(name, value.as_str());
    }
    let mut finder = Finder {
        compiler,
        base_dir: &program.base_dir,
        include_prefix: program
            .settings
            .properties
            .get("includecontroller.prefix")
            .map(|prefix| prefix.to_string())
            .unwrap_or_default(),
        found: BTreeSet::new(),
        tried: HashSet::new(),
        depth: 0,
        wanted,
    };
    for root in &*tree.roots {
        finder.node(root);
    }
    if wanted == Wanted::Read {
        return finder.found;
    }
    let jars = program.settings.properties.get("user.classpath");
    let jars = jars.iter().flat_map(|jars| jars.split([';', ':']));
    jars.for_each(|jar| finder.file_or_folder(jar));
    for name in ["javax.net.ssl.keyStore", "javax.net.ssl.trustStore"] {
        let file = program.settings.properties.get_system(name);
        file.iter().for_each(|file| finder.text(file));
    }
    finder.found
}

/// Whether all users of a CSV Data Set share its rows.
fn shares_rows(node: &Node) -> bool {
    let mode = node.props.str(csv_data_set::SHARE_MODE.name);
    let is_own = mode.contains("${") || ["shareMode.thread", "Current thread"].contains(&&*mode);
    node.class == csv_data_set::CLASS && !is_own
}

struct Finder<'a> {
    compiler: Compiler,
    base_dir: &'a Path,
    /// The property `includecontroller.prefix`.
    include_prefix: String,
    found: BTreeSet<PathBuf>,
    /// The texts that were looked at.
    tried: HashSet<String>,
    depth: u32,
    wanted: Wanted,
}

impl Finder<'_> {
    fn node(&mut self, node: &Node) {
        if !node.enabled {
            return;
        }
        for argument in arguments(&node.name) {
            self.text(argument.trim());
        }
        if !self.include_prefix.is_empty() && node.class == include_controller::CLASS {
            let path = node.props.str("IncludeController.includepath");
            self.text(&format!("{}{path}", self.include_prefix));
        }
        if self.wanted == Wanted::Read {
            self.read_by(node);
        } else {
            self.named_by(node);
        }
        node.children.iter().for_each(|child| self.node(child));
    }

    /// Finds the files that any text of the node names.
    fn named_by(&mut self, node: &Node) {
        let skipped = if self.wanted == Wanted::WithoutSharedRows && shares_rows(node) {
            Some(node.props.str(csv_data_set::FILE.name))
        } else {
            None
        };
        for text in node.props.texts() {
            if skipped.as_deref() != Some(text) {
                self.text(text);
            }
        }
        const FOLDERS: [&str; 5] = [
            "TestPlan.user_define_classpath",
            grpc_request::PROTO_FOLDER.name,
            grpc_request::LIB_FOLDER.name,
            old_grpc_request::PROTO_FOLDER.name,
            old_grpc_request::LIB_FOLDER.name,
        ];
        for list in FOLDERS {
            let paths = node.props.str(list);
            paths.split(',').for_each(|path| self.file_or_folder(path));
        }
    }

    /// Finds the files that the node's settings for files and its functions name. To try each text of a large plan would cost the
    /// start of a run a question to the file system for each.
    fn read_by(&mut self, node: &Node) {
        let facts = drumfire_elements::of_class(&node.class);
        for name in facts.into_iter().flat_map(ElementFacts::read_files) {
            self.text(&node.props.str(name));
        }
        if let Some(files) = node.props.element(http::FILES.name) {
            for file in files.props.list(items::FILE_LIST.name) {
                if let Value::Element(file) = &file.value {
                    self.text(&file.props.str(items::FILE_PATH.name));
                }
            }
        }
        for argument in node.props.texts().flat_map(arguments) {
            self.text(argument.trim());
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || text.len() > LONGEST || text.contains('\n') {
            return;
        }
        if !self.tried.insert(text.to_owned()) {
            return;
        }
        for argument in arguments(text) {
            self.text(argument.trim());
        }
        let value = if text.contains("${") {
            match Template::compile(text, &mut self.compiler) {
                Ok(template) if !template.is_stateful() => {
                    template.eval(self.compiler.scope_mut()).into_string()
                }
                _ => return,
            }
        } else {
            text.to_owned()
        };
        let file = Path::new(value.trim());
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if file.as_os_str().is_empty() || !file.components().all(is_inside) {
            return;
        }
        let here = file_server::resolve(file, self.base_dir);
        if !here.is_file() {
            return;
        }
        if self.found.insert(file.to_path_buf())
            && file.extension().is_some_and(|kind| kind == "jmx")
        {
            self.included(&here);
        }
    }

    /// Adds a file, such as a jar of the class path, or all files of a folder.
    fn file_or_folder(&mut self, path: &str) {
        let folder = Path::new(path.trim());
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        let here = file_server::resolve(folder, self.base_dir);
        match folder.components().all(is_inside) && here.is_dir() {
            true if !path.trim().is_empty() => self.folder(folder, &here, 0),
            _ => self.text(path),
        }
    }

    /// Adds the files of the folder `here`, which the plan calls `folder`.
    fn folder(&mut self, folder: &Path, here: &Path, depth: u32) {
        let entries = std::fs::read_dir(here);
        for entry in entries.into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            let here = entry.path();
            if here.is_file() {
                self.found.insert(path);
            } else if here.is_dir() && depth < DEEPEST_FOLDER {
                self.folder(&path, &here, depth + 1);
            }
        }
    }

    fn included(&mut self, file: &Path) {
        if self.depth == DEEPEST {
            return;
        }
        self.depth += 1;
        if let Ok(read) = read_file(file) {
            for root in &*read.tree.roots {
                self.node(root);
            }
        }
        self.depth -= 1;
    }
}

/// The arguments of all function calls in a text. Calls among the arguments are not evaluated.
fn arguments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // Most texts of a large plan call nothing.
    if !text.contains("${") {
        return found;
    }
    // For each open `${`: where its current argument begins, and how many parentheses are open in it.
    let mut open: Vec<(Option<usize>, u32)> = Vec::new();
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let rest = at + char.len_utf8();
        match (char, open.last_mut()) {
            ('{', _) if before == '$' => open.push((None, 0)),
            ('(', Some((start, depth))) => {
                *depth += 1;
                start.get_or_insert(rest);
            }
            (')', Some((start, depth))) => {
                *depth = depth.saturating_sub(1);
                if *depth == 0
                    && let Some(start) = start.take()
                {
                    found.push(&text[start..at]);
                }
            }
            (',', Some((Some(start), 1))) if before != '\\' => {
                found.push(&text[*start..at]);
                *start = rest;
            }
            ('}', Some(_)) => {
                open.pop();
            }
            _ => {}
        }
        before = char;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_taken_apart() {
        let of = |text| -> Vec<&str> { arguments(text) };
        assert_eq!(of("a ${__CSVRead(data/a.csv,0)} b"), ["data/a.csv", "0"]);
        assert_eq!(
            of("${__FileToString(${__P(folder,d)}/b.txt,UTF-8)}"),
            ["folder", "d", "${__P(folder,d)}/b.txt", "UTF-8"]
        );
        assert_eq!(of(r"${__split(a\,b,V)}"), [r"a\,b", "V"]);
        for none in ["f(x,y)", "${name}", "${__UUID}", "${__x(", "", "${(})"] {
            assert_eq!(of(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn files_are_found_wherever_a_plan_names_them() {
        let folder = tempfile::tempdir().expect("there is room");
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
            std::fs::write(path, text).expect("there is room");
        };
        put("data/users.csv", "a\n");
        put("body.json", "{}");
        put("read.csv", "a\n");
        put("lib/one.jar", "");
        put("classes/a/B.class", "");
        put("unused.csv", "a\n");
        let plan = |elements: &str| {
            format!(
                r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="P"><stringProp name="TestPlan.user_define_classpath">lib/one.jar,classes</stringProp></TestPlan><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
            )
        };
        let fragment = r#"<TestFragmentController guiclass="g" testclass="TestFragmentController" testname="f"/><hashTree><CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">body.json</stringProp></CSVDataSet><hashTree/></hashTree>"#;
        put("part.jmx", &plan(fragment));
        let elements = r#"<Arguments guiclass="g" testclass="Arguments" testname="${__CSVRead(${__P(name,read)}.csv,0)}"/><hashTree/>
<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">${__P(folder,data)}/users.csv</stringProp></CSVDataSet><hashTree/>
<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c" enabled="false"><stringProp name="filename">unused.csv</stringProp></CSVDataSet><hashTree/>
<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="../part.jmx"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree><IncludeController guiclass="g" testclass="IncludeController" testname="i"><stringProp name="IncludeController.includepath">part.jmx</stringProp></IncludeController><hashTree/></hashTree>"#;
        let text = plan(elements);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let settings = crate::RunSettings {
            base_dir: folder.path().to_path_buf(),
            ..Default::default()
        };
        let compiled = crate::compile(read.tree.clone(), settings.into());
        let program = match compiled {
            Ok(compiled) => compiled.plan.program,
            Err(faults) => panic!("{faults:?}"),
        };
        let files = plan_files(&read.tree, &program);
        let names: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
        let expected = [
            "body.json",
            "classes/a/B.class",
            "data/users.csv",
            "lib/one.jar",
            "part.jmx",
            "read.csv",
        ];
        assert_eq!(names, expected);
        let read_by_the_run = ["body.json", "data/users.csv", "part.jmx", "read.csv"];
        assert_eq!(
            read_files(&read.tree, &program),
            read_by_the_run.map(PathBuf::from)
        );
    }

    #[test]
    fn rows_can_be_sent_unless_something_else_reads_the_file() {
        let folder = tempfile::tempdir().expect("there is room");
        let names = ["all.csv", "own.csv", "both.csv", "group.csv"];
        for name in names {
            std::fs::write(folder.path().join(name), "a\n").expect("there is room");
        }
        let csv = |file: &str, mode: &str| {
            format!(
                r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">{file}</stringProp><stringProp name="shareMode">{mode}</stringProp></CSVDataSet><hashTree/>"#
            )
        };
        let elements = [
            csv("all.csv", "shareMode.all"),
            csv("own.csv", "shareMode.thread"),
            csv("both.csv", "shareMode.all"),
            csv("both.csv", "shareMode.thread"),
            csv("${__P(name,group)}.csv", "shareMode.group"),
        ];
        let group = drumfire_testkit::plans::group(1, &elements.concat());
        let plan = drumfire_testkit::plans::plan(&group);
        let read = drumfire_jmx::read(plan.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let settings = crate::RunSettings {
            base_dir: folder.path().to_path_buf(),
            ..Default::default()
        };
        let program = match crate::compile(read.tree.clone(), settings.into()) {
            Ok(compiled) => compiled.plan.program,
            Err(faults) => panic!("{faults:?}"),
        };
        let shared = shared_row_files(&read.tree, &program);
        assert_eq!(shared, ["all.csv", "group.csv"].map(PathBuf::from));
        assert_eq!(plan_files(&read.tree, &program).len(), 4);
    }
}
