//! Checks the files that the plan reads. Each must exist before the first request, unless something may write it first.

use std::path::{Path, PathBuf};

use drumfire_elements::config::{csv_data_set, keystore_configuration};
use drumfire_elements::samplers::{ftp_request, os_process_sampler};
use drumfire_elements::shared::{ftp, group as group_fields, http};
use drumfire_elements::thread_groups::setup_thread_group;
use drumfire_elements::{May, Role, is_script, items};
use drumfire_java::file_server;
use drumfire_jmx::{Diagnostic, RESOLVE, Value, conflict};
use drumfire_platform::spelling::near_file;

use super::is_as_jmeter;
use super::provenance::Definitions;
use crate::elements::is_thread_group;
use crate::inspect::advice::AdvisedPlan;
use crate::resolve::Element;
use crate::run::settings::RunSettings;

/// The property that asks for JMeter's behaviour where a file is missing.
pub(super) const PROPERTY: &str = "drumfire.missing_files";
/// How many bytes of a data file are read.
const LOOK: usize = 1 << 16;

/// Words of scripts that may write files.
const WRITES: [&str; 8] = [
    "File", "Path", "write", "Writer", "Stream", "exec", "Process", "<<",
];

/// A file that an element reads.
struct Needed<'p> {
    element: &'p Element,
    /// As the plan spells it.
    text: String,
    /// The property that names it.
    property: &'static str,
    kind: FileKind,
}

impl Needed<'_> {
    fn finding(&self, finding: Diagnostic) -> Diagnostic {
        finding.about(self.property)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Data,
    Upload,
    Script,
}

impl FileKind {
    fn noun(self) -> &'static str {
        match self {
            FileKind::Data => "data file",
            FileKind::Upload => "file to upload",
            FileKind::Script => "script file",
        }
    }

    /// The folder in which a relative name is also looked up. Scripts are looked up in the working folder only
    /// (`JSR223TestElement#processFileOrScript`, `BeanShellTestElement#processFileOrScript`).
    fn plan_folder(self, settings: &RunSettings) -> &Path {
        match self {
            FileKind::Data | FileKind::Upload => &settings.base_dir,
            FileKind::Script => Path::new(""),
        }
    }
}

/// Reports missing files, and data files without a row.
pub fn missing(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    let settings = sight.settings;
    let is_refused = !is_as_jmeter(settings, PROPERTY);
    let mut findings: Vec<Diagnostic> =
        keystore(sight).into_iter().filter(|_| is_refused).collect();
    for needed in needed(sight) {
        // A name that depends on variables or functions of the run can only be checked on its first use.
        let Some((name, _)) = definitions.value(&needed.text) else {
            continue;
        };
        let name = name.trim();
        if name.is_empty() {
            continue;
        }
        let file = file_server::resolve(name, needed.kind.plan_folder(settings));
        match Some(file).filter(|file| is_readable(file)) {
            Some(file) if needed.kind == FileKind::Data => {
                findings.extend(bad_content(&needed, name, &file));
            }
            Some(_) => {}
            None if is_refused
                && !may_be_written(sight, name)
                && !is_of_nobody(needed.element, sight, definitions) =>
            {
                findings.push(not_found(&needed, name, settings));
            }
            None => {}
        }
    }
    findings
}

/// Whether an element is in a thread group without users, which reads nothing.
fn is_of_nobody(element: &Element, sight: &AdvisedPlan, definitions: &mut Definitions) -> bool {
    let is_it = |other: &Element| std::ptr::eq(element, other);
    let group = sight.groups.iter().find(|group| any(group, &is_it));
    group.is_some_and(|group| {
        let users = group.props.str(group_fields::USERS.name);
        let users = definitions.value(&users);
        users.is_some_and(|(users, _)| users.trim() == "0")
    })
}

fn needed<'p>(sight: &AdvisedPlan<'p>) -> Vec<Needed<'p>> {
    let mut all = Vec::new();
    for element in sight.all.iter().copied() {
        let Some(facts) = drumfire_elements::of_class(&element.class) else {
            continue;
        };
        let mut add = |property, text: String, kind| {
            if !text.trim().is_empty() {
                all.push(Needed {
                    element,
                    text,
                    property,
                    kind,
                });
            }
        };
        if let Some(name) = facts.data_file() {
            add(name, element.props.str(name).into_owned(), FileKind::Data);
        }
        for name in facts.script_files() {
            add(name, element.props.str(name).into_owned(), FileKind::Script);
        }
        if stores_a_file(element) {
            let name = ftp::LOCAL_FILE.name;
            add(name, element.props.str(name).into_owned(), FileKind::Upload);
        }
        if let Some(files) = element.props.element(http::FILES.name) {
            for file in files.props.list(items::FILE_LIST.name) {
                if let Value::Element(file) = &file.value {
                    let path = file.props.str(items::FILE_PATH.name);
                    add(items::FILE_PATH.name, path.into_owned(), FileKind::Upload);
                }
            }
        }
    }
    all
}

/// Whether it is an FTP Request that stores a local file on the server.
fn stores_a_file(element: &Element) -> bool {
    element.class == ftp_request::CLASS
        && element.props.bool(ftp::UPLOAD.name, false)
        && element.props.str(ftp::INPUTDATA.name).is_empty()
}

/// Whether there is a file, a pipe or a device.
fn is_readable(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

fn not_found(needed: &Needed, name: &str, settings: &RunSettings) -> Diagnostic {
    let places: Vec<String> = file_server::candidates(name, needed.kind.plan_folder(settings))
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    let message = format!(
        "the {} `{name}` of '{}' does not exist; looked for {}",
        needed.kind.noun(),
        needed.element.name,
        places.join(" and ")
    );
    let plan_folder = needed.kind.plan_folder(settings);
    let folders = [PathBuf::new(), plan_folder.to_path_buf()];
    // A script beside the plan is found by a path from the working folder only.
    let beside_plan = Some(settings.base_dir.join(name)).filter(|file| file.is_file());
    let near = beside_plan.or_else(|| near_file(Path::new(name), &folders));
    let help = match near {
        Some(near) => format!("write `{}`, which exists", near.display()),
        None => {
            format!("put the file there, or run as JMeter does without it: `-J{PROPERTY}=jmeter`")
        }
    };
    needed
        .finding(needed.element.error("file-missing", message))
        .help(help)
}

/// A finding about a data file that gives no row, or has the marks of a conflict between its rows.
fn bad_content(needed: &Needed, name: &str, file: &Path) -> Option<Diagnostic> {
    use std::io::Read as _;

    if !file.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let opened = drumfire_platform::files::open_regular(file).ok()?;
    opened.take(LOOK as u64).read_to_end(&mut start).ok()?;
    if conflict(&String::from_utf8_lossy(&start)).is_some() {
        let message = format!(
            "the data file `{name}` of '{}' has unresolved conflicts of git",
            needed.element.name
        );
        let finding = needed.finding(needed.element.error("git-conflict", message));
        return Some(finding.help(RESOLVE));
    }
    let props = &needed.element.props;
    let facts = drumfire_elements::of_class(&needed.element.class)?;
    let has_header = facts.header_file(props).is_some()
        || props.bool(csv_data_set::IGNORE_FIRST_LINE.name, false);
    let lines = start
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .filter(|line| !line.trim_ascii().is_empty());
    let rows = lines.count().saturating_sub(usize::from(has_header));
    (rows == 0 && start.len() < LOOK).then(|| {
        let message = format!(
            "the data file `{name}` of '{}' has no rows",
            needed.element.name
        );
        let finding = needed.finding(needed.element.warning("file-empty", message));
        finding.help(format!("write rows to {}", file.display()))
    })
}

/// Reports a missing key store that the system properties name.
fn keystore(sight: &AdvisedPlan) -> Option<Diagnostic> {
    const STORE: &str = "javax.net.ssl.keyStore";
    let file = sight.settings.properties.get_system(STORE)?;
    if file.is_empty() || Path::new(&*file).exists() {
        return None;
    }
    let element = sight.of(&[keystore_configuration::CLASS]).next();
    let element = element.or_else(|| sight.all.first().copied())?;
    let place = std::path::absolute(&*file).unwrap_or_else(|_| PathBuf::from(&*file));
    let message = format!(
        "the key store `{file}` does not exist; looked for {}",
        place.display()
    );
    let help = format!(
        "correct -D{STORE}, or run without client certificates as JMeter does: `-J{PROPERTY}=jmeter`"
    );
    Some(element.error("file-missing", message).help(help))
}

/// Whether something in the plan may write the file before it is read. An element is ruled out only if it certainly does not.
fn may_be_written(sight: &AdvisedPlan, name: &str) -> bool {
    let base = Path::new(name).file_name().unwrap_or_default();
    let base = base.to_string_lossy();
    let set_up = sight
        .groups
        .iter()
        .filter(|group| group.class == setup_thread_group::CLASS);
    set_up
        .into_iter()
        .any(|group| any(group, &writes_by_itself))
        || sight.all.iter().any(|element| {
            is_writer_of(element, &base)
                || element.class == os_process_sampler::CLASS
                || (is_script(&element.class) && script_writes(element, sight.settings))
                || element
                    .props
                    .texts()
                    .any(|text| text.contains("${__") && calls_a_writer(text))
        })
}

/// Whether an element may write a file by other means than a script.
fn writes_by_itself(element: &Element) -> bool {
    !is_thread_group(element)
        && drumfire_elements::of_class(&element.class)
            .is_none_or(|facts| facts.may.contains(&May::WriteFiles))
}

/// Whether it is a listener, or an FTP Request that fetches, and names the file.
fn is_writer_of(element: &Element, base: &str) -> bool {
    let facts = drumfire_elements::of_class(&element.class);
    let is_writer = facts.is_some_and(|facts| facts.role == Role::Listener)
        || (element.class == ftp_request::CLASS && !stores_a_file(element));
    is_writer && element.props.texts().any(|text| text.contains(base))
}

fn script_writes(element: &Element, settings: &RunSettings) -> bool {
    let has_file = |text: &str| {
        let file = file_server::resolve(text.trim(), &settings.base_dir);
        drumfire_platform::files::read_regular_text(&file)
            .is_ok_and(|script| has_word_of_writing(&script))
    };
    element.props.iter().any(|prop| {
        let Value::Str(text) = &prop.value else {
            return false;
        };
        if prop.name.to_ascii_lowercase().ends_with("filename") {
            text.contains("${") || has_file(text)
        } else {
            has_word_of_writing(text)
        }
    })
}

fn calls_a_writer(text: &str) -> bool {
    const CALLS: [&str; 5] = [
        "__groovy(",
        "__BeanShell(",
        "__javaScript(",
        "__jexl",
        "__StringToFile(",
    ];
    text.contains("__StringToFile(")
        || (CALLS.iter().any(|call| text.contains(call)) && has_word_of_writing(text))
}

fn has_word_of_writing(script: &str) -> bool {
    WRITES.iter().any(|word| script.contains(word))
}

fn any(element: &Element, is_so: &dyn Fn(&Element) -> bool) -> bool {
    is_so(element) || element.children.iter().any(|child| any(child, is_so))
}

#[cfg(test)]
mod tests {
    use drumfire_jmx::Diagnostic;

    use super::super::tests::{codes, findings, group};

    const DATA: &str = r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="Accounts"><stringProp name="filename">NAME</stringProp><stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#;

    fn data(name: &str) -> String {
        DATA.replace("NAME", name)
    }

    #[test]
    fn a_missing_data_file_is_refused_with_the_places_it_was_looked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = group("1", "1", &data("no.csv"));
        let found = findings(&plan, &[], folder.path());
        assert_eq!(codes(&found), ["file-missing"]);
        assert!(found[0].is_error());
        let told = found[0].render(false);
        let beside_plan = folder.path().join("no.csv").display().to_string();
        assert!(
            told.contains("`no.csv` of 'Accounts'") && told.contains(&beside_plan),
            "{told}"
        );
        let as_jmeter = [("drumfire.missing_files", "jmeter")];
        assert!(findings(&plan, &as_jmeter, folder.path()).is_empty());
    }

    #[test]
    fn a_script_file_beside_the_plan_is_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("s.groovy"), "1").expect("written");
        let script = |name: &str| {
            format!(
                r#"<JSR223Sampler guiclass="g" testclass="JSR223Sampler" testname="S"><stringProp name="filename">{name}</stringProp></JSR223Sampler><hashTree/>"#
            )
        };
        let missing = |name: &str| {
            let found = findings(&group("1", "1", &script(name)), &[], folder.path());
            let is_missing = |finding: &Diagnostic| finding.code == "file-missing";
            found.into_iter().find(is_missing)
        };
        let told = missing("s.groovy").expect("it is missing").render(false);
        assert!(!told.contains(" and "), "{told}");
        let beside_plan = folder.path().join("s.groovy").display().to_string();
        assert!(
            told.contains(&format!("hint: write `{beside_plan}`")),
            "{told}"
        );
        // The working folder of a test is the folder of its crate.
        assert!(missing("Cargo.toml").is_none());
    }

    #[test]
    fn a_missing_file_that_exists_under_another_spelling_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("data")).expect("a folder");
        std::fs::write(folder.path().join("data/users.csv"), "a\n").expect("written");
        for name in [
            "data\\users.csv",
            "Data/users.CSV",
            "users.csv",
            "data/user.csv",
        ] {
            let found = findings(&group("1", "1", &data(name)), &[], folder.path());
            assert_eq!(codes(&found), ["file-missing"], "{name}");
            let help = found[0].help.as_deref();
            assert_eq!(help, Some("write `data/users.csv`, which exists"), "{name}");
        }
        assert!(
            findings(
                &group("1", "1", &data("data/users.csv")),
                &[],
                folder.path()
            )
            .is_empty()
        );
    }

    #[test]
    fn a_data_file_with_conflicts_of_git_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> theirs\n";
        std::fs::write(folder.path().join("e.csv"), rows).expect("written");
        let found = findings(&group("1", "1", &data("e.csv")), &[], folder.path());
        assert_eq!(codes(&found), ["git-conflict"]);
        assert!(found[0].is_error());
    }

    #[test]
    fn a_name_that_the_run_decides_is_not_looked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["${folder}/no.csv", "${__time()}.csv"] {
            let found = findings(&group("1", "1", &data(name)), &[], folder.path());
            assert!(found.is_empty(), "{name}: {found:?}");
        }
        let by_property = findings(
            &group("1", "1", &data("${__P(file,no.csv)}")),
            &[],
            folder.path(),
        );
        assert_eq!(codes(&by_property), ["file-missing"]);
    }

    #[test]
    fn a_group_without_users_needs_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = group("${__P(readers,0)}", "1", &data("no.csv"));
        let plan = plan + &group("1", "1", "");
        assert!(findings(&plan, &[], folder.path()).is_empty());
        let found = findings(&plan, &[("readers", "1")], folder.path());
        assert_eq!(codes(&found), ["file-missing"]);
    }

    #[test]
    fn an_empty_data_file_draws_a_warning() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("e.csv"), "\n").expect("written");
        std::fs::write(folder.path().join("f.csv"), "row\n").expect("written");
        let found = findings(&group("1", "1", &data("e.csv")), &[], folder.path());
        assert_eq!(codes(&found), ["file-empty"]);
        assert!(!found[0].is_error() && found[0].message.contains("`e.csv`"));
        let full = group("1", "1", &data("f.csv"));
        assert!(findings(&full, &[], folder.path()).is_empty());
        let header_only = full.replace(">a<", "><");
        assert_eq!(
            codes(&findings(&header_only, &[], folder.path())),
            ["file-empty"]
        );
    }

    #[test]
    fn a_file_to_upload_must_be_there() {
        let upload = r#"<HTTPSamplerProxy guiclass="g" testclass="HTTPSamplerProxy" testname="Send"><elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
            <elementProp name="a" elementType="HTTPFileArg"><stringProp name="File.path">no.pdf</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>"#;
        let folder = tempfile::tempdir().expect("a folder");
        let found = findings(&group("1", "1", upload), &[], folder.path());
        assert_eq!(codes(&found), ["file-missing"]);
        assert!(
            found[0]
                .message
                .contains("file to upload `no.pdf` of 'Send'")
        );
        let saved = r#"<ResultSaver guiclass="g" testclass="ResultSaver" testname="r"><stringProp name="FileSaver.filename">no</stringProp></ResultSaver><hashTree/>"#;
        let set_up =
            group("1", "1", saved).replace("ThreadGroup\" testname", "SetupThreadGroup\" testname");
        let set_up = set_up.replacen("<ThreadGroup", "<SetupThreadGroup", 1);
        let set_up = set_up.replacen("</ThreadGroup", "</SetupThreadGroup", 1);
        let both = [set_up, group("1", "1", upload)].concat();
        assert!(findings(&both, &[], folder.path()).is_empty());
    }

    #[test]
    fn a_file_that_an_ftp_request_stores_must_be_there_or_be_fetched() {
        let request = |upload: bool, text: &str| {
            format!(
                r#"<FTPSampler guiclass="g" testclass="FTPSampler" testname="s"><stringProp name="FTPSampler.localfilename">no.txt</stringProp><stringProp name="FTPSampler.inputdata">{text}</stringProp><boolProp name="FTPSampler.upload">{upload}</boolProp></FTPSampler><hashTree/>"#
            )
        };
        let missing = |requests: &[String]| {
            let folder = tempfile::tempdir().expect("a folder");
            let all = findings(&group("1", "1", &requests.concat()), &[], folder.path());
            codes(&all).contains(&"file-missing")
        };
        assert!(missing(&[request(true, "")]));
        assert!(!missing(&[request(true, "text")]));
        assert!(!missing(&[request(false, "")]));
        assert!(!missing(&[request(false, ""), request(true, "")]));
    }
}
