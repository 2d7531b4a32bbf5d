//! The files that a plan names, for machines that do not have them yet.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use drumfire_expr::{Compiler, Template};
use drumfire_jmx::{Node, Tree, read_file};

use crate::run::program::Program;

/// Plans that include each other are read this deep.
const DEEPEST: u32 = 8;
/// No name of a file is longer.
const LONGEST: usize = 1_024;

/// Files that enabled elements name relative to the plan or to the working folder, as they name them. A name that only
/// variables of the run know is not found, nor is one that a script makes up.
pub fn plan_files(tree: &Tree, program: &Program) -> Vec<PathBuf> {
    let mut compiler = Compiler::new(program.settings.properties.clone());
    compiler.set_plan(&program.script, &program.base_dir);
    for (name, value) in &program.variables {
        compiler.define(name, value.as_str());
    }
    let mut finder = Finder {
        compiler,
        base_dir: &program.base_dir,
        found: BTreeSet::new(),
        depth: 0,
    };
    for root in &*tree.roots {
        finder.node(root);
    }
    for name in ["javax.net.ssl.keyStore", "javax.net.ssl.trustStore"] {
        let file = program.settings.properties.get_system(name);
        file.iter().for_each(|file| finder.text(file));
    }
    finder.found.into_iter().collect()
}

struct Finder<'a> {
    compiler: Compiler,
    base_dir: &'a Path,
    found: BTreeSet<PathBuf>,
    depth: u32,
}

impl Finder<'_> {
    fn node(&mut self, node: &Node) {
        if !node.enabled {
            return;
        }
        node.props.texts().for_each(|text| self.text(text));
        node.children.iter().for_each(|child| self.node(child));
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || text.len() > LONGEST || text.contains('\n') {
            return;
        }
        let value = match text.contains("${") {
            true => match Template::compile(text, &mut self.compiler) {
                Ok(template) => template.eval(self.compiler.scope_mut()).into_string(),
                Err(_) => return,
            },
            false => text.to_owned(),
        };
        let file = Path::new(value.trim());
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if file.as_os_str().is_empty() || !file.components().all(is_inside) {
            return;
        }
        let Some(here) = self.here(file) else { return };
        if self.found.insert(file.to_path_buf())
            && file.extension().is_some_and(|kind| kind == "jmx")
        {
            self.included(&here);
        }
    }

    /// Where a file is that is named so.
    fn here(&self, file: &Path) -> Option<PathBuf> {
        let places = [self.base_dir.join(file), file.to_path_buf()];
        places.into_iter().find(|place| place.is_file())
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

#[cfg(test)]
mod tests {
    use super::*;

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
        put("unused.csv", "a\n");
        let plan = |elements: &str| {
            format!(
                r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="P"/><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
            )
        };
        let fragment = r#"<TestFragmentController guiclass="g" testclass="TestFragmentController" testname="f"/><hashTree><CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">body.json</stringProp></CSVDataSet><hashTree/></hashTree>"#;
        put("part.jmx", &plan(fragment));
        let elements = r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">${__P(folder,data)}/users.csv</stringProp></CSVDataSet><hashTree/>
<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c" enabled="false"><stringProp name="filename">unused.csv</stringProp></CSVDataSet><hashTree/>
<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="../part.jmx"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree><IncludeController guiclass="g" testclass="IncludeController" testname="i"><stringProp name="IncludeController.includepath">part.jmx</stringProp></IncludeController><hashTree/></hashTree>"#;
        let text = plan(elements);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let settings = crate::Settings {
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
        assert_eq!(names, ["body.json", "data/users.csv", "part.jmx"]);
    }
}
