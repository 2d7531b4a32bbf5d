//! CSV Data Set Config (`CSVDataSet`): each iteration of the controller around it takes a row of a file into variables.
//!
//! Properties: `filename` (as it is, or else beside the plan), `fileEncoding` (UTF-8 where empty), `variableNames` (comma
//! separated; empty: the file's first line), `ignoreFirstLine`, `delimiter` (`\t` is a tab, empty a comma), `quotedData`,
//! `recycle`, `stopThread`, `shareMode` (`shareMode.all`, `.group`, `.thread`, or a key of one's own).
//!
//! All of them are computed once per user. A row without fields (the end, a blank line without `quotedData`, a file that
//! cannot be read on) stops the user or gives `<EOF>` (`csvdataset.eofstring`). A file that is not there ends the user.

use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::{Slot, Template, values};
use drumfire_jmx::Value;

use crate::compile::Decoder;
use crate::context::{Context, StateId};
use crate::elements::config::csv_file::{self, CsvFile, ReadFault, Reading};
use crate::elements::thread_end::{as_at_thread_start, ended_by_exception, stop_thread, test_failed};
use crate::elements::{IterationListener, Roles};

/// Sharing modes as old plans saved them, in JMeter's English texts.
const SHARE_NAMES: [(&str, &str); 3] =
    [("All threads", "shareMode.all"), ("Current thread group", "shareMode.group"), ("Current thread", "shareMode.thread")];

struct CsvDataSet {
    name: Template,
    file_name: Template,
    encoding: Template,
    variable_names: Template,
    /// Where the plan spells the names out.
    targets: Option<Arc<[Target]>>,
    ignores_first_line: Template,
    delimiter: Template,
    quoted: Template,
    recycle: Template,
    stops_thread: Template,
    share_mode: Template,
    end_value: Arc<str>,
    state: StateId,
}

/// A variable to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Slot(Slot),
    Named(Box<str>),
}

/// One user's reading of the file.
struct Bound {
    file: Arc<CsvFile>,
    targets: Arc<[Target]>,
    reading: Reading,
    delimiter: Box<str>,
    quoted: bool,
    /// What the user's stop is logged with, if the end of the file stops it.
    stop_reason: Option<Box<str>>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable_names = d.template("variableNames");
    let targets = variable_names.literal().filter(|names| !names.is_empty()).map(|names| {
        let names = split_names(names);
        names.iter().map(|name| Target::Slot(d.unit.compiler.names_mut().intern(name))).collect()
    });
    let end_value = d.settings().properties.get("csvdataset.eofstring").unwrap_or_else(|| Arc::from("<EOF>"));
    Roles::each_iteration(CsvDataSet {
        name: d.name(),
        file_name: d.template("filename"),
        encoding: d.template("fileEncoding"),
        variable_names,
        targets,
        ignores_first_line: d.template("ignoreFirstLine"),
        delimiter: d.template("delimiter"),
        quoted: d.template("quotedData"),
        recycle: d.template("recycle"),
        stops_thread: d.template("stopThread"),
        share_mode: share_mode(d),
        end_value,
        state: d.new_state(),
    })
}

/// `CSVDataSet#setProperty` understands the names of the modes, too.
fn share_mode(d: &mut Decoder) -> Template {
    if let Some(Value::Str(text)) = d.element.props.value("shareMode")
        && let Some((_, mode)) = SHARE_NAMES.iter().find(|(name, _)| name == text)
    {
        return Template::raw(mode);
    }
    d.template("shareMode")
}

impl IterationListener for CsvDataSet {
    fn iteration_start(&self, cx: &mut Context, _: i32) {
        if !cx.alive {
            return; // another listener ended the user: JMeter would not have come here
        }
        let bound = match cx.take_state::<Bound>(self.state) {
            Some(bound) => bound,
            None => match as_at_thread_start(cx, |cx| self.bind(cx)) {
                Ok(_) if ended_by_exception(cx) => return,
                Ok(bound) => Box::new(bound),
                Err(ReadFault::Argument(reason) | ReadFault::Io(reason)) => return test_failed(cx, &reason),
            },
        };
        self.take_row(&bound, cx);
        cx.put_state(self.state, bound);
    }
}

impl CsvDataSet {
    /// `CSVDataSet#initVars`.
    fn bind(&self, cx: &mut Context) -> Result<Bound, ReadFault> {
        let written = self.file_name.eval(cx).into_string();
        let file_name = values::trim(&written);
        let mode = self.share_mode.eval(cx);
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
        let first = delimiter.chars().next().expect("an empty delimiter became a comma");
        let encoding = self.encoding.eval(cx);
        let names = self.variable_names.eval(cx).into_string();
        let ignores_first_line = values::property_bool(&self.ignores_first_line.eval(cx));
        let has_header = names.is_empty() || ignores_first_line;
        let shared = cx.shared.clone();
        let file = shared.statics.csv_files.reserve(file_name, &encoding, &alias, has_header, &shared.program.base_dir)?;
        let targets = match &self.targets {
            Some(targets) => targets.clone(),
            None if names.is_empty() => {
                let header = csv_file::split_header(&file.header().unwrap_or_default(), first);
                let header = header.map_err(|_| ReadFault::Argument(format!("Could not split CSV header line from file:{file_name}")))?;
                header.iter().map(|name| Target::Named(values::trim(name).into())).collect()
            }
            None => split_names(&names).iter().map(|name| Target::Named((*name).into())).collect(),
        };
        let recycle = values::property_bool(&self.recycle.eval(cx));
        let stop_reason = values::property_bool(&self.stops_thread.eval(cx)).then(|| {
            let name = self.name.eval(cx);
            format!("End of file:{written} detected for CSV DataSet:{name} configured with stopThread:true, recycle:{recycle}").into()
        });
        Ok(Bound {
            file,
            targets,
            reading: Reading { recycle, skips_first_line: has_header },
            quoted: values::property_bool(&self.quoted.eval(cx)),
            delimiter: delimiter.into(),
            stop_reason,
        })
    }

    /// `CSVDataSet#iterationStart`.
    fn take_row(&self, bound: &Bound, cx: &mut Context) {
        let taken = if bound.quoted { bound.take_quoted(cx) } else { bound.take_plain(cx) };
        match taken {
            Ok(true) => {}
            Err(ReadFault::Argument(reason)) => test_failed(cx, &reason),
            end => {
                if let Err(ReadFault::Io(reason)) = end {
                    tracing::error!("{reason}");
                }
                if let Some(reason) = &bound.stop_reason {
                    return stop_thread(cx, reason);
                }
                let value: Rc<str> = Rc::from(&*self.end_value);
                for target in bound.targets.iter() {
                    target.set(cx, value.clone());
                }
            }
        }
    }
}

impl Bound {
    /// Whether there was a row with at least one field.
    fn take_plain(&self, cx: &mut Context) -> Result<bool, ReadFault> {
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

    fn take_quoted(&self, cx: &mut Context) -> Result<bool, ReadFault> {
        let delimiter = self.delimiter.chars().next().expect("an empty delimiter became a comma");
        let fields = self.file.fields(self.reading, delimiter)?;
        for (target, value) in self.targets.iter().zip(&fields) {
            target.set(cx, value.as_str().into());
        }
        Ok(!fields.is_empty())
    }
}

impl Target {
    fn set(&self, cx: &mut Context, value: Rc<str>) {
        match self {
            Target::Slot(slot) => cx.vars.set(*slot, value),
            Target::Named(name) => cx.vars.set_named(name, value),
        }
    }
}

/// `JOrphanUtils#split` with its truncation: commas side by side count as one, those at the ends not at all.
fn split_names(names: &str) -> Vec<&str> {
    names.split(',').filter(|name| !name.is_empty()).map(values::trim).collect()
}
