//! The entry point of the fuzz target `csv`; built only with `--cfg fuzzing`.

use std::path::Path;

use crate::elements::config::csv_file::{CsvFiles, CsvReadOptions, RowFailure};

/// Reads all rows of a file as a CSV Data Set without recycling does. Skips rows that cannot be parsed.
pub fn csv_rows(
    file: &Path,
    encoding: &str,
    delimiter: char,
    has_header: bool,
) -> Vec<Vec<String>> {
    let name = file.to_string_lossy();
    let reading = CsvReadOptions {
        recycle: false,
        skips_first_line: has_header,
    };
    let files = CsvFiles::default();
    let reserved = files.reserve(&name, encoding, &name, has_header, Path::new(""), None);
    let Ok(file) = reserved else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    loop {
        match file.fields(reading, delimiter) {
            Ok(row) if row.is_empty() => return rows,
            Ok(row) => rows.push(row),
            Err(RowFailure::Io(_)) => return rows,
            Err(RowFailure::Argument(_)) => {}
        }
    }
}
