use std::path::PathBuf;

use crate::check::arguments::CheckFormat;
use crate::settings::options::Change;

use super::*;
use crate::exit_codes::Exit;

fn read_line(line: &str) -> Result<Command, Refusal> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    read(&words)
}

#[test]
fn the_table_of_arguments_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn run_takes_jmeters_letters() {
    let Ok(Command::Run(options)) = read_line(
        "run plan.jmx --demo -l out.jtl -f -Jusers=5 -J host=a -q x.properties -LDEBUG -Ljmeter=WARN",
    ) else {
        panic!("run is understood");
    };
    assert!(options.demo && options.delete_results);
    assert_eq!(
        options.log.levels,
        [
            ("".to_owned(), "DEBUG".to_owned()),
            ("jmeter".to_owned(), "WARN".to_owned())
        ]
    );
    let changes = [
        Change::File(PathBuf::from("x.properties")),
        Change::Property("users".to_owned(), "5".to_owned()),
        Change::Property("host".to_owned(), "a".to_owned()),
    ];
    assert_eq!(options.properties.all_changes(), changes);
    assert_eq!(options.log.file, "jmeter.log");
}

#[test]
fn a_wrong_line_is_a_usage_error() {
    for line in ["run", "rnu plan.jmx", "run plan.jmx --bogus", "run a b", ""] {
        let refusal = read_line(line).expect_err("this line is wrong");
        assert_eq!(refusal.exit, Exit::Usage, "{line}");
        assert!(!refusal.err.is_empty(), "{line}");
    }
    assert!(
        read_line("chekc p")
            .expect_err("misspelt")
            .err
            .contains("check"),
        "the right word is proposed"
    );
}

#[test]
fn an_address_of_the_page_may_be_left_out_anywhere() {
    let free = Some(ListenAddress::default());
    let given = "127.0.0.1:9280".parse().ok();
    for (line, expected) in [
        ("run --ui p.jmx", free),
        ("run p.jmx --ui", free),
        ("run p.jmx --ui --strict", free),
        ("run p.jmx --ui 127.0.0.1:9280", given),
        ("run --ui 9280 p.jmx", given),
        ("run p.jmx --ui=127.0.0.1:9280", given),
        ("run p.jmx", None),
    ] {
        let Ok(Command::Run(options)) = read_line(line) else {
            panic!("{line} is understood")
        };
        assert_eq!(options.ui.address, expected, "{line}");
    }
    assert!(read_line("run p.jmx --ui=there").is_err());
}

#[test]
fn help_of_run_lists_the_exit_codes() {
    let Ok(Command::Print(text)) = read_line("run --help") else {
        panic!("help is no error")
    };
    assert!(
        text.contains("Exit codes:\n    0  the run finished"),
        "{text}"
    );
}

#[test]
fn views_take_properties_and_json() {
    let Ok(Command::Check(options)) = read_line("check p.jmx --json -Ja=1") else {
        panic!("check is understood")
    };
    assert_eq!(options.format(), CheckFormat::Json);
    assert_eq!(
        options.properties.all_changes(),
        [Change::Property("a".to_owned(), "1".to_owned())]
    );
}

/// Values that no number, port, time or rate has.
const NO_NUMBERS: [&str; 5] = ["abc", "-1", "1e999", "99999999999999999999999", "1.5.2"];
/// Texts of the standard library and of clap.
const RAW: [&str; 8] = [
    "invalid digit",
    "invalid float",
    "too large",
    "too small",
    "cannot parse",
    "invalid IP",
    "invalid value",
    "tip:",
];

#[test]
fn every_option_refuses_a_bad_value_in_the_programs_words_with_a_remedy() {
    let mut refused = 0;
    for command in program().get_subcommands() {
        let options = command.get_arguments();
        let options = options.filter(|option| option.get_action().takes_values());
        for option in options.filter_map(clap::Arg::get_long) {
            for value in NO_NUMBERS {
                let line = format!("{} --{option}={value}", command.get_name());
                let Err(refusal) = read_line(&line) else {
                    continue;
                };
                for raw in RAW {
                    assert!(!refusal.err.contains(raw), "{line}: {}", refusal.err);
                }
                assert!(refusal.err.contains("hint: "), "{line}: {}", refusal.err);
                refused += usize::from(
                    refusal
                        .err
                        .contains(&format!("`{value}` is not a value of `--{option}`")),
                );
            }
        }
    }
    assert!(refused > 60, "{refused}");
}
