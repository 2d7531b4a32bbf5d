//! Reads and merges configurations: `BetterDict.merge` and the overrides of the command line.

use std::path::Path;

use serde_json::Value;

use crate::error::TaurusError;
use crate::files::Files;
use crate::value::{Table, list, text};

/// Configurations that include more files than this include each other in a cycle.
const MAX_INCLUDED: usize = 100;

/// Whether a file name is that of a Taurus configuration.
pub fn is_configuration(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ["yml", "yaml", "json"].contains(&ending.to_ascii_lowercase().as_str())
    })
}

/// Reads a file with everything that it includes, then applies the command line's overrides, each `path=value`.
pub(crate) fn read(file: &Path, overrides: &[String], files: &Files) -> Result<Table, TaurusError> {
    let mut config = Table::new();
    merge_file(&mut config, file)?;
    let mut included: Vec<String> = Vec::new();
    while let Some(more) = config.remove("included-configs") {
        let around: Table = [("included-configs".to_owned(), more)]
            .into_iter()
            .collect();
        for name in list(&around, "included-configs") {
            let name = text(name);
            if included.contains(&name) {
                continue;
            }
            if included.len() >= MAX_INCLUDED {
                return Err(TaurusError::new("`included-configs` has too many files"));
            }
            let path = files.find(&name);
            if !path.is_file() {
                return Err(files.missing(&name).in_file(file));
            }
            merge_file(&mut config, &path)?;
            included.push(name);
        }
    }
    // A single execution may stand for the list of executions, whose indices changes and the messages use.
    if let Some(single @ Value::Object(_)) = config.get_mut("execution")
        && overrides.iter().any(|change| names_an_execution(change))
    {
        *single = Value::Array(vec![single.take()]);
    }
    for change in overrides {
        change_one(&mut config, change)?;
    }
    Ok(config)
}

/// Whether a change leads to an execution by its index: `execution.0.concurrency=5`.
fn names_an_execution(change: &str) -> bool {
    let path = change.split('=').next().unwrap_or("");
    let index = path
        .trim_start_matches('^')
        .strip_prefix("execution.")
        .and_then(|rest| rest.split('.').next());
    index.is_some_and(|index| index.trim_start_matches('^').parse::<i64>().is_ok())
}

fn merge_file(config: &mut Table, file: &Path) -> Result<(), TaurusError> {
    let bytes = drumfire_platform::files::read_regular(file)
        .map_err(|error| TaurusError::unreadable(file, &error))?;
    let content = String::from_utf8(bytes)
        .map_err(|_| TaurusError::new("the file is not UTF-8").in_file(file))?;
    if let Some(span) = drumfire_jmx::conflict(&content) {
        let line = content[..span.start].lines().count() + 1;
        let fault = TaurusError::new(format!("line {line} begins an unresolved conflict of git"));
        return Err(fault.hint(drumfire_jmx::RESOLVE).in_file(file));
    }
    for document in documents(&content).map_err(|fault| fault.in_file(file))? {
        merge(config, document);
    }
    Ok(())
}

/// The documents of a text, without empty ones.
pub(crate) fn documents(content: &str) -> Result<Vec<Table>, TaurusError> {
    let content = content.trim_start_matches('\u{feff}');
    let read = crate::yaml::documents(&tabs_replaced(content));
    let values = match read {
        Ok(values) => values,
        Err(_) if content.trim_start().starts_with('{') => {
            let value = serde_json::from_str(content).map_err(|error: serde_json::Error| {
                let (line, column) = (error.line(), error.column());
                let what = if error.is_eof() {
                    "ends too early"
                } else {
                    "is broken"
                };
                TaurusError::new(format!("the JSON {what} at line {line}, column {column}"))
            })?;
            vec![value]
        }
        Err(error) => return Err(TaurusError::new(format!("the YAML is broken{error}"))),
    };
    let mut tables = Vec::new();
    for value in values {
        match value {
            Value::Object(table) => tables.push(table),
            Value::Null => {}
            _ => {
                let fault = TaurusError::new(
                    "a configuration must be a table, and this document is not one",
                );
                return Err(fault.hint("begin with `execution:`"));
            }
        }
    }
    Ok(tables)
}

/// Replaces tabs at the start of lines with four blanks each.
fn tabs_replaced(content: &str) -> String {
    if !content.contains('\t') {
        return content.to_owned();
    }
    let mut replaced = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        let rest = line.trim_start_matches([' ', '\t']);
        replaced.push_str(&line[..line.len() - rest.len()].replace('\t', "    "));
        replaced.push_str(rest);
    }
    replaced
}

/// Merges tables and concatenates lists. `~key` replaces, `^key` removes, `$key` merges a list item by item.
pub(crate) fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        let (sign, name) = match key.chars().next() {
            Some(sign @ ('^' | '~' | '$')) => (Some(sign), key[1..].to_owned()),
            _ => (None, key),
        };
        match sign {
            Some('^') => {
                into.shift_remove(&name);
                continue;
            }
            Some('~') => drop(into.shift_remove(&name)),
            _ => {}
        }
        match (into.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if sign == Some('$') => {
                merge_items(old, new);
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                old.extend(new);
            }
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

fn merge_items(old: &mut Vec<Value>, new: Vec<Value>) {
    for (at, value) in new.into_iter().enumerate() {
        match (old.get_mut(at), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (Some(old), value) => *old = value,
            (None, value) => old.push(value),
        }
    }
}

/// Applies one override of the command line: `a.b.0.c=value`. A negative number appends; `^` removes, before the last name or
/// before the path; `*` changes all entries with that name.
pub(crate) fn change_one(config: &mut Table, change: &str) -> Result<(), TaurusError> {
    let Some((path, value)) = change.split_once('=') else {
        let fault = TaurusError::new(format!("`-o {change}` is not a change"));
        return Err(fault.hint("write `-o path.to.setting=value`"));
    };
    let (removes, path) = match path.strip_prefix('^') {
        Some(path) => (true, path),
        None => (false, path),
    };
    let parts: Vec<&str> = path.split('.').collect();
    let Some((last, above)) = parts.split_last() else {
        return Ok(());
    };
    let mut root = Value::Object(std::mem::take(config));
    let outcome = (|| {
        let mut here = &mut root;
        for (at, part) in above.iter().enumerate() {
            let next_is_number = parts[at + 1].parse::<i64>().is_ok();
            here = step(here, part, next_is_number)?;
        }
        if let Some(name) = last.strip_prefix('*') {
            change_all(here, name, &Value::from(value));
            return Some(());
        }
        if let Some(name) = last.strip_prefix('^').or(removes.then_some(*last)) {
            match here {
                Value::Object(table) => drop(table.shift_remove(name)),
                Value::Array(items) => {
                    let at: usize = name.parse().ok()?;
                    if at < items.len() {
                        items.remove(at);
                    }
                }
                _ => return None,
            }
            return Some(());
        }
        *step(here, last, false)? = parsed(value);
        Some(())
    })();
    if let Value::Object(table) = root {
        *config = table;
    }
    outcome.ok_or_else(|| {
        let fault = TaurusError::new(format!(
            "`-o {change}` leads through a value that is neither table nor list"
        ));
        fault.hint("check the path: list indexes start at 0")
    })
}

/// The entry of a table or a list; a missing one is created.
fn step<'v>(here: &'v mut Value, part: &str, list_follows: bool) -> Option<&'v mut Value> {
    let fresh = || {
        if list_follows {
            Value::Array(Vec::new())
        } else {
            Value::Object(Table::new())
        }
    };
    match here {
        Value::Object(table) => {
            let entry = table.entry(part.to_owned()).or_insert_with(fresh);
            if entry.is_null() {
                *entry = fresh();
            }
            Some(entry)
        }
        Value::Array(items) => {
            let at: i64 = part.parse().ok()?;
            match usize::try_from(at) {
                Ok(at) if at > 10_000 => None,
                Ok(at) => {
                    while items.len() <= at {
                        items.push(fresh());
                    }
                    items.get_mut(at)
                }
                Err(_) => {
                    items.push(fresh());
                    items.last_mut()
                }
            }
        }
        _ => None,
    }
}

fn change_all(here: &mut Value, name: &str, value: &Value) {
    match here {
        Value::Object(table) => {
            for (key, inner) in table.iter_mut() {
                if key == name {
                    *inner = value.clone()
                } else {
                    change_all(inner, name, value)
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|inner| change_all(inner, name, value)),
        _ => {}
    }
}

/// The value of an override, parsed as YAML; a text if it is not valid YAML.
fn parsed(value: &str) -> Value {
    crate::yaml::documents(value)
        .ok()
        .and_then(|mut values| values.pop())
        .unwrap_or_else(|| Value::from(value))
}

/// Replaces `${NAME}` with the values from `settings.env`.
pub(crate) fn expand(value: &mut Value, variables: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (name, with) in variables {
                let sign = format!("${{{name}}}");
                if text.contains(&sign) {
                    *text = text.replace(&sign, with);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| expand(item, variables)),
        Value::Object(table) => table.values_mut().for_each(|item| expand(item, variables)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(texts: &[&str]) -> Value {
        let mut config = Table::new();
        for text in texts {
            for document in documents(text).expect("YAML") {
                merge(&mut config, document);
            }
        }
        Value::Object(config)
    }

    #[test]
    fn tables_merge_and_lists_join() {
        let both = merged(&["a: {x: 1, y: 2}\nl: [1]", "a: {y: 3}\nl: [2]"]);
        assert_eq!(
            both,
            serde_json::json!({"a": {"x": 1, "y": 3}, "l": [1, 2]})
        );
    }

    #[test]
    fn signs_replace_remove_and_merge_items() {
        let both = merged(&[
            "a: {x: 1}\nb: 1\nl: [{x: 1, y: 2}, 5]",
            "~a: {y: 1}\n^b:\n$l: [{y: 3}]",
        ]);
        assert_eq!(
            both,
            serde_json::json!({"l": [{"x": 1, "y": 3}, 5], "a": {"y": 1}})
        );
    }

    #[test]
    fn documents_words_and_duplicates_are_read_as_pyyaml_does() {
        let both = merged(&["a: yes\nb: off\na: no\n---\nc: 010\n---\n"]);
        assert_eq!(both, serde_json::json!({"a": false, "b": false, "c": 8}));
        assert_eq!(merged(&["{\"a\":\t1}"]), serde_json::json!({"a": 1}));
        assert_eq!(merged(&["a:\n\tb: 1"]), serde_json::json!({"a": {"b": 1}}));
        assert!(documents("- a").is_err() && documents("a: [").is_err());
    }

    #[test]
    fn changes_of_the_command_line() {
        let mut config = match merged(&["execution: [{concurrency: 1}]\nx: {y: 1, z: {y: 2}}"]) {
            Value::Object(table) => table,
            _ => Table::new(),
        };
        for change in [
            "execution.0.concurrency=5",
            "execution.-1.hold-for=10s",
            "a.b.1=[1, two]",
            "x.*y=9",
            "execution.0.^none=",
            "a.c.0=1",
            "a.c.1=2",
            "^a.c.0=x",
            "^gone=",
        ] {
            change_one(&mut config, change).expect("a path");
        }
        assert_eq!(
            Value::Object(config.clone()),
            serde_json::json!({"execution": [{"concurrency": 5}, {"hold-for": "10s"}],
                "x": {"y": "9", "z": {"y": "9"}}, "a": {"b": [{}, [1, "two"]], "c": [2]}})
        );
        assert!(change_one(&mut config, "x.y.z=1").is_err());
        assert!(change_one(&mut config, "nothing").is_err());
    }
}
