//! CSV Data Set Config (`CSVDataSet`): each iteration of the controller around it reads a row of a file into variables.
//!
//! Properties: `filename` (as written, or else relative to the plan), `fileEncoding` (UTF-8 if empty), `variableNames`
//! (comma separated; empty: the file's first line), `ignoreFirstLine`, `delimiter` (`\t` is a tab, empty a comma),
//! `quotedData`, `recycle`, `stopThread`, `shareMode` (`shareMode.all`, `.group`, `.thread`, or any other key).
//!
//! All of them are evaluated once per user. A row without fields (the end of the file, a blank line without `quotedData`,
//! a read error) stops the user or gives `<EOF>` (`csvdataset.eofstring`). A missing file ends the user.

use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::config::csv_data_set as facts;
use drumfire_expr::{Slot, Template};
use drumfire_java::values;
use drumfire_jmx::Value;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::config::csv_file::{self, CsvFile, CsvFiles, CsvReadOptions, RowFailure};
use crate::run::context::StateId;
use crate::run::roles::IterationListener;
use crate::run::view::PreProcessorView;

/// Sharing modes as old plans saved them, in JMeter's English texts.
const SHARE_NAMES: [(&str, &str); 3] = [
    ("All threads", "shareMode.all"),
    ("Current thread group", "shareMode.group"),
    ("Current thread", "shareMode.thread"),
];

struct CsvDataSet {
    name: Template,
    file_name: Template,
    encoding: Template,
    variable_names: Template,
    /// The variables, if the plan's names are literal.
    targets: Option<Arc<[ColumnTarget]>>,
    ignores_first_line: Template,
    delimiter: Template,
    quoted: Template,
    recycle: Template,
    stops_thread: Template,
    share_mode: Template,
    end_value: Arc<str>,
    state: StateId,
}

/// A variable that gets a column's value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ColumnTarget {
    Slot(Slot),
    Named(Box<str>),
}

/// One user's evaluated settings and its file.
struct CsvUserState {
    file: Arc<CsvFile>,
    targets: Arc<[ColumnTarget]>,
    reading: CsvReadOptions,
    delimiter: Box<str>,
    quoted: bool,
    /// The log line of the user's stop, if the end of the file stops it.
    stop_reason: Option<Box<str>>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable_names = d.template(facts::VARIABLE_NAMES.name);
    let targets = variable_names
        .literal()
        .filter(|names| !names.is_empty())
        .map(|names| {
            let names = split_names(names);
            names
                .iter()
                .map(|name| ColumnTarget::Slot(d.decoding.compiler.intern(name)))
                .collect()
        });
    let end_value = d
        .settings()
        .properties
        .get("csvdataset.eofstring")
        .unwrap_or_else(|| Arc::from("<EOF>"));
    Roles::each_iteration(CsvDataSet {
        name: d.name(),
        file_name: d.template(facts::FILE.name),
        encoding: d.template(facts::ENCODING.name),
        variable_names,
        targets,
        ignores_first_line: d.template(facts::IGNORE_FIRST_LINE.name),
        delimiter: d.template(facts::DELIMITER.name),
        quoted: d.template(facts::QUOTED.name),
        recycle: d.template(facts::RECYCLE.name),
        stops_thread: d.template(facts::STOP_AT_END.name),
        share_mode: share_mode(d),
        end_value,
        state: d.new_state(),
    })
}

/// `CSVDataSet#setProperty` also accepts the names of the modes.
fn share_mode(d: &mut Decoder) -> Template {
    if let Some(Value::Str(text)) = d.element.props.value(facts::SHARE_MODE.name)
        && let Some((_, mode)) = SHARE_NAMES.iter().find(|(name, _)| name == text)
    {
        return Template::raw(mode);
    }
    d.template(facts::SHARE_MODE.name)
}

impl IterationListener for CsvDataSet {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        if !cx.alive {
            return; // another listener ended the user: JMeter would not have come here
        }
        let Some(bound) = cx.bound_once(self.state, |cx: &mut PreProcessorView| {
            let bound = self.bind(cx);
            bound.map_err(|(RowFailure::Argument(reason) | RowFailure::Io(reason))| reason.into())
        }) else {
            return;
        };
        self.take_row(&bound, cx);
        cx.put_state(self.state, bound);
    }
}

impl CsvDataSet {
    /// `CSVDataSet#initVars`.
    fn bind(&self, cx: &mut PreProcessorView) -> Result<CsvUserState, RowFailure> {
        let written = self.file_name.eval(cx).into_string();
        let file_name = drumfire_java::text::trim(&written);
        let mode = self.share_mode.eval(cx).into_string();
        let alias = match &*mode {
            "" | "shareMode.all" => file_name.to_owned(),
            "shareMode.group" => format!("{file_name}@group {}", cx.group),
            "shareMode.thread" => format!("{file_name}@thread {}-{}", cx.group, cx.number),
            key => format!("{file_name}@{key}"),
        };
        let delimiter = match self.delimiter.eval(cx).into_string() {
            tab if tab == "\\t" => "\t".to_owned(),
            none if none.is_empty() => ",".to_owned(),
            delimiter => delimiter,
        };
        let first = delimiter
            .chars()
            .next()
            .expect("an empty delimiter became a comma");
        let encoding = self.encoding.eval(cx);
        let names = self.variable_names.eval(cx).into_string();
        let ignores_first_line = values::property_bool(&self.ignores_first_line.eval(cx));
        let has_header = names.is_empty() || ignores_first_line;
        let shared = cx.shared().clone();
        let file = shared.statics.of::<CsvFiles>().reserve(
            file_name,
            &encoding,
            &alias,
            has_header,
            &shared.program.base_dir,
            shared.part.sharing().filter(|_| mode != "shareMode.thread"),
        )?;
        let targets = match &self.targets {
            Some(targets) => targets.clone(),
            None if names.is_empty() => {
                let header = csv_file::split_header(&file.header().unwrap_or_default(), first)
                    .map_err(|_| {
                        RowFailure::Argument(format!(
                            "Could not split CSV header line from file:{file_name}"
                        ))
                    })?;
                header
                    .iter()
                    .map(|name| ColumnTarget::Named(drumfire_java::text::trim(name).into()))
                    .collect()
            }
            None => split_names(&names)
                .iter()
                .map(|name| ColumnTarget::Named((*name).into()))
                .collect(),
        };
        let recycle = values::property_bool(&self.recycle.eval(cx));
        let stop_reason = values::property_bool(&self.stops_thread.eval(cx)).then(|| {
            let name = self.name.eval(cx);
            format!("End of file:{written} detected for CSV DataSet:{name} configured with stopThread:true, recycle:{recycle}").into()
        });
        Ok(CsvUserState {
            file,
            targets,
            reading: CsvReadOptions {
                recycle,
                skips_first_line: has_header,
            },
            quoted: values::property_bool(&self.quoted.eval(cx)),
            delimiter: delimiter.into(),
            stop_reason,
        })
    }

    /// `CSVDataSet#iterationStart`.
    fn take_row(&self, bound: &CsvUserState, cx: &mut PreProcessorView) {
        let taken = if bound.quoted {
            bound.take_quoted(cx)
        } else {
            bound.take_plain(cx)
        };
        match taken {
            Ok(true) => {}
            Err(RowFailure::Argument(reason)) => cx.test_failed(&reason),
            end => {
                if let Err(RowFailure::Io(reason)) = end {
                    tracing::error!("{reason}");
                }
                if let Some(reason) = &bound.stop_reason {
                    return cx.stop_thread(reason);
                }
                let value: Rc<str> = Rc::from(&*self.end_value);
                for target in bound.targets.iter() {
                    target.set(cx, value.clone());
                }
            }
        }
    }
}

impl CsvUserState {
    /// Sets the variables from the next line; returns whether the line had a field.
    fn take_plain(&self, cx: &mut PreProcessorView) -> Result<bool, RowFailure> {
        self.file.line(self.reading, |line| match line {
            None | Some("") => false,
            Some(line) => {
                for (target, value) in self.targets.iter().zip(line.split(&*self.delimiter)) {
                    target.set(cx, value.into());
                }
                true
            }
        })
    }

    fn take_quoted(&self, cx: &mut PreProcessorView) -> Result<bool, RowFailure> {
        let delimiter = self
            .delimiter
            .chars()
            .next()
            .expect("an empty delimiter became a comma");
        let fields = self.file.fields(self.reading, delimiter)?;
        for (target, value) in self.targets.iter().zip(&fields) {
            target.set(cx, value.as_str().into());
        }
        Ok(!fields.is_empty())
    }
}

impl ColumnTarget {
    fn set(&self, cx: &mut PreProcessorView, value: Rc<str>) {
        match self {
            ColumnTarget::Slot(slot) => cx.vars_mut().set(*slot, value),
            ColumnTarget::Named(name) => cx.vars_mut().set_named(name, value),
        }
    }
}

/// `JOrphanUtils#split` with its truncation: adjacent commas count as one, leading and trailing ones are ignored.
fn split_names(names: &str) -> Vec<&str> {
    names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(drumfire_java::text::trim)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;

    /// A file in the temporary folder, deleted when the test ends.
    struct Data(std::path::PathBuf);

    impl Data {
        fn new(name: &str, content: &str) -> Data {
            let path =
                std::env::temp_dir().join(format!("drumfire-{}-{name}.csv", std::process::id()));
            std::fs::write(&path, content).expect("the temporary folder can be written");
            Data(path)
        }
    }

    impl Drop for Data {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn xml(file: &str, settings: &[(&str, &str)]) -> String {
        let own: String = settings
            .iter()
            .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
            .collect();
        format!(
            r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="c"><stringProp name="filename"> {file} </stringProp>{own}</CSVDataSet>"#
        )
    }

    /// The variables after each of some iterations; nothing more once the user has ended.
    fn iterations(data: &Data, settings: &[(&str, &str)], count: usize) -> Vec<String> {
        let (roles, mut cx) = fixture::decode(&xml(&data.0.to_string_lossy(), settings), decode);
        let listener = roles.each_iteration.expect("it listens");
        let mut seen = Vec::new();
        for _ in 0..count {
            listener.iteration_start(&mut cx, 1);
            if !cx.alive {
                break;
            }
            seen.push(fixture::variables(&cx, "").join(" "));
        }
        seen
    }

    #[test]
    fn rows_go_round_without_the_header() {
        let data = Data::new("header", "user , pass\nann,1\nbob,2,more\n");
        let settings = [("recycle", "true"), ("delimiter", ",")];
        assert_eq!(
            iterations(&data, &settings, 3),
            ["pass=1 user=ann", "pass=2 user=bob", "pass=1 user=ann"]
        );
        assert_eq!(
            iterations(&data, &[("recycle", "true"), ("quotedData", "true")], 3),
            ["pass=1 user=ann", "pass=2 user=bob", "pass=1 user=ann"]
        );
    }

    #[test]
    fn spelled_names_take_every_line_unless_the_first_is_ignored() {
        let data = Data::new("names", "h1\th2\nann\t1\n");
        let settings = [
            ("variableNames", ",a,, b,"),
            ("delimiter", "\\t"),
            ("recycle", "true"),
        ];
        assert_eq!(
            iterations(&data, &settings, 3),
            ["a=h1 b=h2", "a=ann b=1", "a=h1 b=h2"]
        );
        let settings = [
            ("variableNames", "a"),
            ("delimiter", "\t"),
            ("recycle", "true"),
            ("ignoreFirstLine", "true"),
        ];
        assert_eq!(iterations(&data, &settings, 2), ["a=ann", "a=ann"]);
    }

    #[test]
    fn the_end_gives_a_value_of_its_own_or_stops_the_user() {
        let data = Data::new("end", "1,x\n\n2\n");
        let settings = [("variableNames", "a,b"), ("recycle", "false")];
        // A blank line has no fields, which JMeter takes for the end, but it reads on.
        assert_eq!(
            iterations(&data, &settings, 4),
            [
                "a=1 b=x",
                "a=<EOF> b=<EOF>",
                "a=2 b=<EOF>",
                "a=<EOF> b=<EOF>"
            ]
        );
        let settings = [
            ("variableNames", "a,b"),
            ("recycle", "false"),
            ("stopThread", "true"),
        ];
        assert_eq!(iterations(&data, &settings, 4), ["a=1 b=x"]);
    }

    #[test]
    fn missing_switches_are_off() {
        let data = Data::new("off", "1\n");
        assert_eq!(
            iterations(&data, &[("variableNames", "a")], 2),
            ["a=1", "a=<EOF>"]
        );
    }

    #[test]
    fn a_missing_file_ends_the_user() {
        let data = Data(std::path::PathBuf::from("/nowhere/at/all.csv"));
        assert!(iterations(&data, &[("variableNames", "a")], 1).is_empty());
        assert!(iterations(&data, &[], 1).is_empty());
    }

    #[test]
    fn users_share_a_position_or_have_their_own() {
        let data = Data::new("share", "1\n2\n3\n");
        for (mode, expected) in [
            ("shareMode.all", ["a=1", "a=2"]),
            ("All threads", ["a=1", "a=2"]),
            ("", ["a=1", "a=2"]),
            ("shareMode.group", ["a=1", "a=2"]),
            ("key", ["a=1", "a=2"]),
            ("shareMode.thread", ["a=1", "a=1"]),
            ("Current thread", ["a=1", "a=1"]),
        ] {
            let settings = [("variableNames", "a"), ("shareMode", mode)];
            let (roles, mut cx) =
                fixture::decode(&xml(&data.0.to_string_lossy(), &settings), decode);
            let listener = roles.each_iteration.expect("it listens");
            listener.iteration_start(&mut cx, 1);
            let first = fixture::variables(&cx, "").join(" ");
            let identity = crate::run::context::Identity {
                thread_name: "Thread Group 1-2".into(),
                group_name: "Thread Group".into(),
                group: 0,
                number: 1,
                same_user: true,
                on_error: crate::run::action::OnError::Continue,
                end_ms: None,
                interrupted_at_end: false,
            };
            let mut other = Context::new(&cx.shared, &cx.worker, identity);
            listener.iteration_start(&mut other, 1);
            assert_eq!(
                [first, fixture::variables(&other, "").join(" ")],
                expected,
                "{mode}"
            );
        }
    }

    #[test]
    fn settings_see_only_what_is_known_when_the_user_starts() {
        let data = Data::new("start", "1\n");
        let folder = data
            .0
            .parent()
            .expect("it is in a folder")
            .to_string_lossy()
            .into_owned();
        let (roles, mut cx) = fixture::decode(
            &xml(&format!("{folder}/${{file}}"), &[("variableNames", "a")]),
            decode,
        );
        let name = data
            .0
            .file_name()
            .expect("it has a name")
            .to_string_lossy()
            .into_owned();
        cx.vars.set_named("file", name.into());
        roles
            .each_iteration
            .expect("it listens")
            .iteration_start(&mut cx, 1);
        assert!(!cx.alive);
    }
}
