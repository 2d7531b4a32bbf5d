//! Save Responses to a file (`ResultSaver`): writes each response to a file of its own.
//!
//! Properties: `FileSaver.filename` (the name's beginning), `FileSaver.variablename`, `FileSaver.errorsonly`,
//! `FileSaver.successonly`, `FileSaver.skipautonumber`, `FileSaver.skipsuffix`, `FileSaver.ignoreTC` (transactions are not
//! saved, the default), and, evaluated once before the run, `FileSaver.addTimstamp` and `FileSaver.numberPadLen`. Later
//! listeners show the file's name. The worker's thread writes the files, so the other users of the worker wait, as in
//! JMeter the sample's own user does.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drumfire_elements::listeners::save_responses as facts;
use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_platform::files::create_regular;
use drumfire_results::{ExistingFile, ResultFolder, Sample};

use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::needs::Needs;
use crate::run::roles::SampleListener;
use crate::run::view::ListenerView;

const TIME_STAMP: &str = "${__time(yyyyMMdd-HHmm_,)}";
const UNKNOWN: &str = "unknown";

pub struct ResultSaver {
    place: ResultFolder,
    file_name: Template,
    variable: Template,
    errors_only: Template,
    successes_only: Template,
    skip_number: Template,
    skip_suffix: Template,
    ignore_transactions: Option<Template>,
    time_stamp: String,
    pad_length: usize,
    number: AtomicU64,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let time_stamp = if values::property_bool(&d.text_now(facts::TIMESTAMP.name)) {
        time_stamp_now(d)
    } else {
        String::new()
    };
    let pad_length = values::property_int(&d.text_now(facts::NUMBER_LENGTH.name));
    // The formatter's longest number. No file system has names as long as that.
    let pad_length = pad_length.clamp(0, i32::from(u16::MAX)) as usize;
    let base_prefix = d
        .settings()
        .properties
        .get("jmeter.save.saveservice.base_prefix");
    let folder = ResultFolder {
        base_dir: d.settings().base_dir.clone(),
        base_prefix: base_prefix
            .map(|prefix| prefix.to_string())
            .unwrap_or_else(|| "~/".to_owned()),
        existing: ExistingFile::Delete,
    };
    let saver = ResultSaver {
        place: folder,
        file_name: d.template(facts::PREFIX.name),
        variable: d.template(facts::VARIABLE.name),
        errors_only: d.template(facts::ERRORS_ONLY.name),
        successes_only: d.template(facts::SUCCESSES_ONLY.name),
        skip_number: d.template(facts::NO_NUMBER.name),
        skip_suffix: d.template(facts::NO_SUFFIX.name),
        ignore_transactions: d.optional(facts::IGNORE_TRANSACTIONS.name),
        time_stamp,
        pad_length,
        number: AtomicU64::new(0),
    };
    if let Some(name) = saver.variable.literal() {
        d.decoding.compiler.intern(name);
    }
    let listener = d.new_listener(Arc::new(saver));
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

fn time_stamp_now(d: &mut Decoder) -> String {
    match Template::compile(TIME_STAMP, &mut d.decoding.compiler) {
        Ok(template) => d.now(&template),
        Err(_) => String::new(),
    }
}

impl SampleListener for ResultSaver {
    /// Saves a sample and its sub-results (`ResultSaver#sampleOccurred`).
    fn sample_occurred(&self, cx: &mut ListenerView, sample: &mut Sample) {
        let mut count = 0;
        if let Err(problem) = self.save_all(cx, sample, &mut count) {
            // ListenerNotifier: the exception ends this listener's work on the sample.
            tracing::error!("Detected problem in Listener. {problem}");
            tracing::info!("Continuing to process further listeners");
        }
    }

    fn needs(&self) -> Needs {
        Needs::BODY
    }
}

impl ResultSaver {
    fn save_all(
        &self,
        cx: &mut ListenerView,
        sample: &mut Sample,
        count: &mut u32,
    ) -> Result<(), ExceptionText> {
        self.save_one(cx, sample, *count)?;
        *count += 1;
        sample
            .children
            .iter_mut()
            .try_for_each(|child| self.save_all(cx, child, count))
    }

    fn save_one(
        &self,
        cx: &mut ListenerView,
        sample: &mut Sample,
        place: u32,
    ) -> Result<(), ExceptionText> {
        if self.ignores(cx, sample) {
            return Ok(());
        }
        let name = self.make_name(cx, sample.content_type.as_deref())?;
        sample.result_file_name = Some(name.as_str().into());
        let mut variable = self.variable.eval(cx).into_string();
        if !variable.is_empty() {
            if place > 0 {
                variable.push_str(&place.to_string());
            }
            cx.vars_mut().set_named(&variable, name.as_str().into());
        }
        let path = Path::new(&name);
        create_folders(path)?;
        let body = sample.response_data.as_deref().unwrap_or_default();
        let saved = create_regular(path).and_then(|mut file| file.write_all(body));
        if let Err(error) = saved {
            tracing::error!(
                "Error creating sample file for {}: {name}: {error}",
                sample.label
            );
        }
        Ok(())
    }

    fn ignores(&self, cx: &mut ListenerView, sample: &Sample) -> bool {
        let ignore_transactions = self
            .ignore_transactions
            .as_ref()
            .is_none_or(|flag| is_true(flag, cx));
        if ignore_transactions && sample.is_from_transaction() {
            return true;
        }
        is_true(
            if sample.success {
                &self.errors_only
            } else {
                &self.successes_only
            },
            cx,
        )
    }

    /// `ResultSaver#makeFileName`.
    fn make_name(
        &self,
        cx: &mut ListenerView,
        content_type: Option<&str>,
    ) -> Result<String, ExceptionText> {
        let beginning = self.file_name.eval(cx);
        let mut name = self
            .place
            .resolve(&beginning)
            .to_string_lossy()
            .into_owned();
        drop(beginning);
        name.push_str(&self.time_stamp);
        if !is_true(&self.skip_number, cx) {
            let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
            name.push_str(&format!("{number:0width$}", width = self.pad_length));
        }
        if !is_true(&self.skip_suffix, cx) {
            name.push('.');
            name.push_str(suffix(content_type.unwrap_or_default())?);
        }
        Ok(name)
    }
}

fn is_true(flag: &Template, cx: &mut ListenerView) -> bool {
    values::property_bool(&flag.eval(cx))
}

/// The subtype; a parameter before the slash makes Java's `substring` throw.
fn suffix(content_type: &str) -> Result<&str, ExceptionText> {
    let Some(slash) = content_type.find('/') else {
        return Ok(UNKNOWN);
    };
    let end = content_type.find(';').unwrap_or(content_type.len());
    content_type.get(slash + 1..end).ok_or_else(|| {
        format!(
            "java.lang.StringIndexOutOfBoundsException: begin {}, end {end}, length {}",
            slash + 1,
            content_type.len()
        )
        .into()
    })
}

fn create_folders(path: &Path) -> Result<(), ExceptionText> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
    else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error: io::Error| {
        format!(
            "Cannot create path hierarchy for folder {}: {error}",
            folder.display()
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::roles::ListenerRole;
    use crate::run::view::View;

    fn saver(folder: &Path, properties: &str) -> (Arc<dyn ListenerRole>, Context) {
        let xml = format!(
            r#"<ResultSaver guiclass="ResultSaverGui" testclass="ResultSaver" testname="s"><stringProp name="FileSaver.filename">{}/new/${{f}}_</stringProp>{properties}</ResultSaver>"#,
            folder.display()
        );
        let (saver, mut cx) = fixture::decode(&xml, |d| {
            decode(d);
            d.decoding.told.remove(0)
        });
        cx.vars.set_named("f", "r".into());
        (saver, cx)
    }

    fn flag(name: &str) -> String {
        format!(r#"<boolProp name="FileSaver.{name}">true</boolProp>"#)
    }

    fn typed(content_type: &str, body: &str) -> Sample {
        Sample {
            content_type: Some(content_type.into()),
            ..fixture::sample(body)
        }
    }

    /// Names and contents of all files, in order.
    fn files(folder: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(folder.join("new")) else {
            return Vec::new();
        };
        let mut found: Vec<String> = entries
            .map(|entry| {
                let entry = entry.expect("the folder can be read");
                let text = fs::read_to_string(entry.path()).expect("the file can be read");
                format!("{}={text}", entry.file_name().to_string_lossy())
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn files_are_numbered_and_named_after_the_content() {
        let folder = tempfile::tempdir().expect("there is room");
        let (saver, mut cx) = saver(
            folder.path(),
            r#"<stringProp name="FileSaver.numberPadLen">3</stringProp>"#,
        );
        for sample in [
            &mut typed("text/html;charset=utf-8", "a"),
            &mut typed("application/json", "b"),
            &mut fixture::sample("c"),
            &mut typed("x", "d"),
        ] {
            saver.at_once(View::of(&mut cx), sample);
        }
        assert_eq!(
            files(folder.path()),
            [
                "r_001.html=a",
                "r_002.json=b",
                "r_003.unknown=c",
                "r_004.unknown=d"
            ]
        );
    }

    #[test]
    fn the_variable_and_the_sample_know_the_file_and_sub_results_have_their_own() {
        let folder = tempfile::tempdir().expect("there is room");
        let (saver, mut cx) = saver(
            folder.path(),
            r#"<stringProp name="FileSaver.variablename">v</stringProp>"#,
        );
        let mut sample = typed("text/html", "a");
        sample.children = vec![typed("text/css", "b"), typed("image/png", "c")];
        saver.at_once(View::of(&mut cx), &mut sample);
        let name = |end: &str| format!("{}/new/r_{end}", folder.path().display());
        assert_eq!(sample.result_file_name.as_deref(), Some(&*name("1.html")));
        let expected = [
            format!("v={}", name("1.html")),
            format!("v1={}", name("2.css")),
            format!("v2={}", name("3.png")),
        ];
        assert_eq!(fixture::variables(&cx, "v"), expected);
    }

    #[test]
    fn neither_number_nor_suffix_writes_one_file_again_and_again() {
        let folder = tempfile::tempdir().expect("there is room");
        let (saver, mut cx) = saver(
            folder.path(),
            &(flag("skipautonumber") + &flag("skipsuffix")),
        );
        saver.at_once(View::of(&mut cx), &mut typed("text/html", "long"));
        saver.at_once(View::of(&mut cx), &mut typed("text/html", "b"));
        assert_eq!(files(folder.path()), ["r_=b"]);
    }

    #[test]
    fn only_failed_or_only_good_ones() {
        for (property, kept) in [("errorsonly", "r_1.x=bad"), ("successonly", "r_1.x=good")] {
            let folder = tempfile::tempdir().expect("there is room");
            let (saver, mut cx) = saver(folder.path(), &flag(property));
            saver.at_once(View::of(&mut cx), &mut typed("a/x", "good"));
            saver.at_once(
                View::of(&mut cx),
                &mut Sample {
                    success: false,
                    ..typed("a/x", "bad")
                },
            );
            assert_eq!(files(folder.path()), [kept], "{property}");
        }
    }

    #[test]
    fn transactions_are_left_out_unless_asked_for() {
        let transaction = || Sample {
            message: "Number of samples in transaction : 1, number of failing samples : 0".into(),
            ..Sample::default()
        };
        assert!(transaction().is_from_transaction());
        let folder = tempfile::tempdir().expect("there is room");
        let (leaves_out, mut cx) = saver(folder.path(), "");
        leaves_out.at_once(View::of(&mut cx), &mut transaction());
        assert!(files(folder.path()).is_empty());
        let (takes, mut cx) = saver(
            folder.path(),
            r#"<boolProp name="FileSaver.ignoreTC">false</boolProp>"#,
        );
        takes.at_once(View::of(&mut cx), &mut transaction());
        assert_eq!(files(folder.path()), ["r_1.unknown="]);
    }

    #[test]
    fn the_time_stamp_has_minutes() {
        let folder = tempfile::tempdir().expect("there is room");
        let (saver, mut cx) = saver(
            folder.path(),
            &(flag("addTimstamp") + &flag("skipautonumber")),
        );
        saver.at_once(View::of(&mut cx), &mut typed("a/x", ""));
        let shape: String = files(folder.path())
            .concat()
            .chars()
            .map(|c| if c.is_ascii_digit() { '9' } else { c })
            .collect();
        assert_eq!(shape, "r_99999999-9999_.x=");
    }

    #[test]
    fn an_odd_content_type_is_an_error() {
        assert_eq!(suffix("text/html"), Ok("html"));
        assert_eq!(suffix("text/"), Ok(""));
        assert!(suffix("a;b/c").is_err());
    }
}
