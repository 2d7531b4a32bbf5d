//! Random CSV Data Set of BlazeMeter (`com.blazemeter.jmeter.RandomCSVDataSetConfig`): each iteration of the controller around it
//! reads a row of a file into variables, in random order without repetition or in the order of the file.
//!
//! Properties, all evaluated before the run: `filename` (as written, or else relative to the plan), `fileEncoding`, `delimiter`
//! (its first character; `\t` is a tab, empty a comma), `variableNames` (comma separated, not trimmed; empty: the file's first
//! line), `ignoreFirstLine`, `randomOrder`, `rewindOnTheEndOfList` (otherwise the end of the file ends each user). As in the
//! plugin, all users take rows from one list, whatever `independentListPerThread` says.
//!
//! Differences: the text of the file stays in memory; a file that cannot be read ends the users that reach the element, while the
//! plugin prevents the whole test from starting.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use drumfire_elements::config::random_csv_data_set as facts;
use drumfire_expr::Random;
use drumfire_java::charset::Charset;
use drumfire_java::values;

use super::csv_file::{Records, RowFailure};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::StateId;
use crate::run::fleet::{LeaseError, LeaseRequest, Leased};
use crate::run::roles::IterationListener;
use crate::run::view::PreProcessorView;

struct RandomCsvDataSet {
    file_name: String,
    base_dir: PathBuf,
    encoding: String,
    delimiter: char,
    /// If empty, the file's first line has the names.
    names: Vec<String>,
    skips_first_line: bool,
    is_random: bool,
    rewinds: bool,
    id: StateId,
    /// The rows leased to this machine if several machines run the plan.
    leased: Leased,
    /// The file, read by the first user.
    list: OnceLock<Result<List, String>>,
}

struct List {
    records: Records,
    names: Vec<String>,
    position: Mutex<Position>,
}

struct Position {
    /// Numbers of records; those before `at` have been taken.
    order: Vec<u32>,
    at: usize,
    /// The pass through the file to which `order` belongs, if several machines run the plan.
    pass: Option<u64>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let mut flag = |name: &str| values::property_bool(&d.text_now(name));
    let [ignores_first_line, is_random, rewinds] = [
        facts::IGNORE_FIRST_LINE.name,
        facts::RANDOM_ORDER.name,
        facts::REWIND.name,
    ]
    .map(&mut flag);
    let names: Vec<String> = d
        .text_now(facts::VARIABLE_NAMES.name)
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    for name in &names {
        d.decoding.compiler.intern(name);
    }
    let delimiter = match d.text_now(facts::DELIMITER.name) {
        tab if tab == "\\t" => '\t',
        delimiter => delimiter.chars().next().unwrap_or(','),
    };
    Roles::each_iteration(RandomCsvDataSet {
        file_name: d.text_now(facts::FILE.name),
        base_dir: d.settings().base_dir.clone(),
        encoding: d.text_now(facts::ENCODING.name),
        delimiter,
        skips_first_line: ignores_first_line || names.is_empty(),
        names,
        is_random,
        rewinds,
        id: d.new_state(),
        leased: Leased::default(),
        list: OnceLock::new(),
    })
}

impl RandomCsvDataSet {
    fn read(&self) -> Result<List, String> {
        let fault = |fault| match fault {
            RowFailure::Argument(fault) | RowFailure::Io(fault) => {
                format!("Cannot initialize RandomCSVReader, because of error: {fault}")
            }
        };
        let charset = Charset::find(&self.encoding).ok_or_else(|| {
            let exception = format!("java.io.UnsupportedEncodingException: {}", self.encoding);
            fault(RowFailure::Io(exception))
        })?;
        let mut records = Records::read(&self.file_name, &self.base_dir, &charset, self.delimiter)
            .map_err(fault)?;
        let mut names = self.names.clone();
        if names.is_empty() {
            names = records.fields(0, self.delimiter).map_err(fault)?;
        }
        if self.skips_first_line {
            records.forget_first();
        }
        let order = (0..records.count() as u32).collect();
        Ok(List {
            records,
            names,
            position: Mutex::new(Position {
                order,
                at: 0,
                pass: None,
            }),
        })
    }

    /// The number of this machine's next record; `None` at the end. All machines shuffle each pass in the same way.
    fn next_leased(&self, list: &List, cx: &PreProcessorView) -> Result<Option<u32>, LeaseError> {
        let Some(fleet) = cx.shared().part.shared_with() else {
            return Ok(None);
        };
        let mut position = list.position.lock().unwrap_or_else(PoisonError::into_inner);
        let count = position.order.len() as u64;
        let request = LeaseRequest {
            element: &format!("random CSV {}", self.id.0),
            length: Some(count),
            is_recycled: self.rewinds && count > 0,
        };
        let Some(number) = self.leased.next(fleet, &request)? else {
            return Ok(None);
        };
        let pass = number / count.max(1);
        if self.is_random && position.pass.replace(pass) != Some(pass) {
            let seed = cx.shared().part.share.seed.unwrap_or_default();
            let mut random = Random::from_seed(seed.wrapping_add(pass).wrapping_add(1));
            position.order.sort_unstable();
            for at in 0..position.order.len() {
                let chosen = at + random.index(position.order.len() - at);
                position.order.swap(at, chosen);
            }
        }
        Ok(position
            .order
            .get((number % count.max(1)) as usize)
            .copied())
    }

    /// The number of the next record; `None` at the end.
    fn next(&self, list: &List, cx: &mut PreProcessorView) -> Option<u32> {
        let mut position = list.position.lock().unwrap_or_else(PoisonError::into_inner);
        let count = position.order.len();
        if position.at >= count {
            if !self.rewinds || count == 0 {
                return None;
            }
            position.at = 0;
        }
        let at = position.at;
        position.at += 1;
        if self.is_random {
            let chosen = at + cx.random().index(count - at);
            position.order.swap(at, chosen);
        }
        Some(position.order[at])
    }
}

impl IterationListener for RandomCsvDataSet {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        if !cx.alive {
            return;
        }
        let list = match self.list.get_or_init(|| self.read()) {
            Ok(list) => list,
            Err(reason) => return cx.test_failed(reason),
        };
        let next = match cx.shared().part.shared_with() {
            Some(_) => self.next_leased(list, cx),
            None => Ok(self.next(list, cx)),
        };
        let next = match next {
            Ok(next) => next,
            Err(reason) => return cx.test_failed(&reason.to_string()),
        };
        let Some(number) = next else {
            return cx.stop_thread("All records in the CSV file have been passed.");
        };
        match list.records.fields(number as usize, self.delimiter) {
            Ok(fields) => {
                for (name, field) in list.names.iter().zip(fields) {
                    cx.vars_mut().set_named(name, field.into());
                }
            }
            Err(RowFailure::Argument(reason) | RowFailure::Io(reason)) => cx.test_failed(&reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const ROWS: &str = "h1,h2\n1,x\n\"2,\"\"q\",y\n\n3,z,more\n4\n";

    /// The values of `h1`, `h2`, `a` and `b` after each of some iterations; nothing more once the user has ended.
    fn iterations(content: &str, settings: &[(&str, &str)], count: usize) -> Vec<String> {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, content).expect("the folder can be written");
        let class = "com.blazemeter.jmeter.RandomCSVDataSetConfig";
        let settings: String = settings
            .iter()
            .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
            .collect();
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="r"><stringProp name="filename">{}</stringProp><stringProp name="fileEncoding">UTF-8</stringProp>{settings}</{class}>"#,
            path.display()
        );
        let (roles, mut cx) = fixture::decode(&xml, decode);
        let listener = roles.each_iteration.expect("it listens");
        let mut seen = Vec::new();
        for _ in 0..count {
            listener.iteration_start(&mut cx, 1);
            if !cx.alive {
                break;
            }
            let value = |name| cx.vars.get_named(name).map_or("-", |value| value);
            seen.push(["h1", "h2", "a", "b"].map(value).join("/"));
        }
        seen
    }

    // Recorded from jmeter-plugins-random-csv-data-set 0.8.

    #[test]
    fn rows_come_in_their_order() {
        let rows = ["1/x/-/-", "2,\"q/y/-/-", "/y/-/-", "3/z/-/-", "4/z/-/-"];
        assert_eq!(iterations(ROWS, &[], 8), rows);
        let again = iterations(ROWS, &[("rewindOnTheEndOfList", "true")], 8);
        assert_eq!(again[..5], rows);
        assert_eq!(again[5..], rows[..3]);
        assert_eq!(
            iterations("h1,h2\r\n1,ab\r\n2,c\r\n", &[], 3),
            ["1/ab/-/-", "2/c/-/-"]
        );
        assert!(iterations("h1,h2\n", &[], 3).is_empty());
    }

    #[test]
    fn spelled_names_take_the_first_line_too_unless_it_is_ignored() {
        let names = ("variableNames", "a,b");
        assert_eq!(iterations("h,g\n1,x", &[names], 3), ["-/-/h/g", "-/-/1/x"]);
        let ignores = ("ignoreFirstLine", "true");
        assert_eq!(iterations("h,g\n1,x", &[names, ignores], 3), ["-/-/1/x"]);
        let settings = [("variableNames", "a, b"), ignores, ("delimiter", "\\t")];
        assert_eq!(
            iterations("h\tg\n1\t2\n3\t4", &settings, 3),
            ["-/-/1/-", "-/-/3/-"]
        );
        assert_eq!(iterations("", &[names], 3), ["-/-/-/-"]);
    }

    #[test]
    fn a_random_order_has_each_row_once() {
        let content: String = (0..50).map(|row| format!("{row}\n")).collect();
        let settings = [
            ("variableNames", "a"),
            ("randomOrder", "true"),
            ("rewindOnTheEndOfList", "true"),
        ];
        let seen = iterations(&content, &settings, 100);
        for round in seen.chunks(50) {
            let mut rows: Vec<u32> = round
                .iter()
                .map(|row| row.split('/').nth(2).expect("a").parse().expect("a number"))
                .collect();
            assert!(!rows.is_sorted());
            rows.sort_unstable();
            assert_eq!(rows, (0..50).collect::<Vec<u32>>());
        }
        assert_eq!(iterations(&content, &settings[..2], 100).len(), 50);
    }

    #[test]
    fn a_file_that_cannot_be_read_ends_the_user() {
        assert!(iterations("h1,h2\n1,a\"b\n2,c\n", &[], 3).is_empty());
        assert!(iterations("a\n1\n", &[("filename", "/nowhere/at/all.csv")], 1).is_empty());
    }
}
