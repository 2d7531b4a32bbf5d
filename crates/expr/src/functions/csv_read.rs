//! `CSVRead`, with its `FileWrapper` and `FileRowColContainer`.

use std::sync::Arc;

use drumfire_java::JvmDefaults;
use drumfire_java::file_server;
use drumfire_java::values::parse_int;

use super::files;
use crate::call::{Args, CallError, CallResult, Stateful};
use crate::scope::{Level, Scope};
use crate::shared::csv_files::{CsvCursor, CsvFile, OpenFiles};
use crate::text::Text;

/// Parses the rows up to the first empty line, so a file may end with comments.
fn parse(text: &str, delimiter: &str) -> CsvFile {
    let lines = files::lines(text).take_while(|line| !line.is_empty());
    CsvFile::new(lines.map(|line| split_line(line, delimiter)).collect())
}

/// `FileRowColContainer.splitLine`: does not support quoting.
fn split_line(line: &str, delimiter: &str) -> Vec<String> {
    match delimiter {
        "" => vec![line.to_owned()],
        _ => line.split(delimiter).map(str::to_owned).collect(),
    }
}

#[derive(Debug)]
struct CsvRead;

/// `CSVRead.setParameters` closes all files, "the only way to detect that a run is starting".
pub(super) fn prepare(_: Args<'_>, scope: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
    *scope.properties().csv_files().lock() = OpenFiles::default();
    Ok(Box::new(CsvRead))
}

impl Stateful for CsvRead {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let file = args.text(0, scope)?;
        let column = args.text(1, scope)?;
        if column.starts_with('*') {
            open(&file, &column, scope);
        } else if matches!(&*column, "next" | "next()") {
            end_row(&file, scope);
        } else if let Some(index) = parse_int(&column) {
            return Ok(read_column(&file, index, scope));
        } else {
            let message = format!(
                "{} - can't parse column number: {column} java.lang.NumberFormatException: For input string: \"{column}\"",
                scope.thread_name()
            );
            scope.log_failure(Level::Warn, &message);
        }
        Ok(Text::Literal(""))
    }
}

/// `FileWrapper.checkDefault`: an empty file name means the only open file.
fn or_default(file: &str, scope: &mut dyn Scope) -> String {
    if !file.is_empty() {
        return file.to_owned();
    }
    let default = {
        let open = scope.properties().csv_files().lock();
        (open.by_alias.len() == 1 && !open.default.is_empty()).then(|| open.default.clone())
    };
    match default {
        Some(default) => {
            scope.log(Level::Warn, &format!("Using default: {default}"));
            default
        }
        None => {
            scope.log_failure(Level::Error, "Cannot determine default file name");
            String::new()
        }
    }
}

/// `FileWrapper.open`.
fn open(file: &str, alias: &str, scope: &mut dyn Scope) {
    let file = or_default(file, scope);
    if alias.is_empty() {
        return scope.log_failure(Level::Error, "Alias cannot be empty");
    }
    if scope.vars_mut().locals().csv.0.contains_key(alias) {
        return;
    }
    match shared_file(&file, alias, scope) {
        Ok(file) => {
            let cursors = &mut scope.vars_mut().locals().csv.0;
            cursors.insert(alias.to_owned(), CsvCursor { file, row: None });
        }
        Err(error) => scope.log_failure(Level::Warn, &format!("{file}: {error}")),
    }
}

/// `FileWrapper.getFile`: the container of an alias, which its first use by any user loads.
fn shared_file(file: &str, alias: &str, scope: &dyn Scope) -> std::io::Result<Arc<CsvFile>> {
    let properties = scope.properties();
    let mut open = properties.csv_files().lock();
    if let Some(file) = open.by_alias.get(alias) {
        return Ok(file.clone());
    }
    let text =
        drumfire_platform::files::read_regular(&file_server::resolve(file, scope.base_dir()))?;
    let delimiter = properties.get_trimmed("csvread.delimiter");
    let parsed = Arc::new(parse(
        &JvmDefaults::of_process().charset.decode(&text),
        delimiter.as_deref().unwrap_or(","),
    ));
    open.by_alias.insert(alias.to_owned(), parsed.clone());
    if open.default.is_empty() {
        file.clone_into(&mut open.default);
    }
    Ok(parsed)
}

/// `FileWrapper.endRow`: the next column is read from another row.
fn end_row(file: &str, scope: &mut dyn Scope) {
    let file = or_default(file, scope);
    let former = match scope.vars_mut().locals().csv.0.get_mut(&file) {
        Some(cursor) => cursor.row.take(),
        None => return scope.log_failure(Level::Warn, &format!("endRow(): no entry for {file}")),
    };
    if former.is_none() {
        scope.log(Level::Warn, "endRow() called twice in succession");
    }
}

/// `FileWrapper.getColumn`: opens the file under its own name if necessary.
fn read_column(file: &str, column: i32, scope: &mut dyn Scope) -> Text<'static> {
    let mut file = file.to_owned();
    if !scope.vars_mut().locals().csv.0.contains_key(&file) {
        if file.starts_with('*') {
            let message = format!("Cannot perform initial open using alias {file}");
            scope.log_failure(Level::Warn, &message);
            return Text::Literal("");
        }
        file = or_default(&file, scope);
        let alias = file.clone();
        open(&file, &alias, scope);
    }
    let Some(cursor) = scope.vars_mut().locals().csv.0.get_mut(&file) else {
        return Text::Literal("");
    };
    let row = *cursor.row.get_or_insert_with(|| cursor.file.take_row());
    let value = usize::try_from(column)
        .ok()
        .and_then(|column| cursor.file.field(row, column).map(str::to_owned));
    match value {
        Some(value) => Text::Owned(value),
        None => {
            let message = format!(
                "{} - invalid column number: {column} at row {row}",
                scope.thread_name()
            );
            scope.log_failure(Level::Warn, &message);
            Text::Literal("")
        }
    }
}
