//! Whether the program, or `cargo xtask`, understands the words of a command.

use drumfire_commands::dispatch::understand;

use super::blocks::root;

/// Splits a text for the shell into its commands and their words. Assignments, redirections and remarks are left out.
pub fn split(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(end), c) if c == end => quote = None,
            (Some('"'), '\\') | (None, '\\') => {
                let escaped = characters.next();
                word.get_or_insert_default().extend(escaped);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => {
                let is_end = |c: &char| *c == '\n';
                while characters.next_if(|c| !is_end(c)).is_some() {}
            }
            (None, '|' | '&' | ';' | '\n' | '(' | ')') => {
                end_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (None, '>' | '<') => {
                // The number in front, as in `2>`, belongs to the redirection, and so does the next word.
                word = None;
                while characters
                    .next_if(|c| matches!(c, '>' | '<' | '&' | ' '))
                    .is_some()
                {}
                while characters
                    .next_if(|c| !c.is_whitespace() && !matches!(c, '|' | ';'))
                    .is_some()
                {}
            }
            (None, c) if c.is_whitespace() => end_word(&mut word, &mut commands),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    end_word(&mut word, &mut commands);
    commands.retain(|words| !words.is_empty());
    commands
}

fn end_word(word: &mut Option<String>, commands: &mut [Vec<String>]) {
    let Some(word) = word.take() else { return };
    let words = commands.last_mut().expect("there is always a command");
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
        !name.is_empty() && name.chars().all(is_name)
    });
    if !(words.is_empty() && is_assignment) {
        words.push(word);
    }
}

/// Checks every command of a text, and returns what is not understood.
pub fn faults(text: &str) -> Vec<String> {
    let commands = split(text);
    commands
        .iter()
        .filter_map(|words| fault(words).map(|why| format!("`{}`: {why}", words.join(" "))))
        .collect()
}

fn fault(words: &[String]) -> Option<String> {
    let (program, words) = words.split_first()?;
    if program == "drumfire" || program.ends_with("/drumfire") {
        // The shell puts the names of files in place of a pattern.
        let count = |word: &String| if word.contains("-*") { 2 } else { 1 };
        let words = words
            .iter()
            .flat_map(|word| std::iter::repeat_n(word.clone(), count(word)));
        let words: Vec<String> = words.collect();
        understand(&words).err().map(|refusal| refusal.err)
    } else if program == "cargo" {
        fault_of_cargo(words)
    } else {
        None
    }
}

/// `cargo xtask` takes the commands and options of its usage, and `cargo run` passes words to the program.
fn fault_of_cargo(words: &[String]) -> Option<String> {
    let command = words.first()?.as_str();
    let end = words.iter().position(|word| word == "--");
    if command == "run"
        && let Some(end) = end
    {
        return understand(&words[end + 1..])
            .err()
            .map(|refusal| refusal.err);
    }
    if command != "xtask" {
        return None;
    }
    let source = root().join("xtask/src/main.rs");
    let source = std::fs::read_to_string(source).expect("xtask has a main file");
    let (_, usage) = source
        .split_once("usage: cargo xtask")
        .expect("it has a usage");
    let (usage, _) = usage.split_once("\";").expect("the usage ends");
    let is_command = |name: &str| {
        let mut lines = usage.lines().map(|line| line.strip_prefix("  "));
        lines.any(|line| line.and_then(|line| line.split(' ').next()) == Some(name))
    };
    let name = words.get(1)?;
    if !is_command(name) {
        return Some(format!("`cargo xtask` has no command `{name}`"));
    }
    let options = words[2..].iter().filter(|word| word.starts_with("--"));
    let unknown = options
        .map(|option| option.split('=').next().unwrap_or(option))
        .find(|option| !usage.contains(*option));
    unknown.map(|option| format!("the usage of `cargo xtask` has no `{option}`"))
}

/// Checks a code span of prose, which may leave out arguments, and the value of its last option.
pub fn faults_of_span(span: &str) -> Vec<String> {
    let lines = variants(span);
    let unknown = lines.iter().filter(|line| {
        let line = line.split(" -- ").next().unwrap_or(line);
        let asks = |value: &str| format!("{line}{value} --help");
        let is_jmeters = line.starts_with("drumfire -");
        !(is_jmeters || faults(&asks("")).is_empty() || faults(&asks(" 1")).is_empty())
    });
    unknown.flat_map(|line| faults(line)).collect()
}

/// The command lines that a code span of prose stands for: with its optional parts, which are in brackets, and without them. Of
/// alternatives it is the first.
fn variants(span: &str) -> [String; 2] {
    let span = span
        .replace("\\|", "|")
        .replace("[options]", "")
        .replace("[COMMAND]", "")
        .replace("run URL", "run http://h/");
    let mut without = String::new();
    let mut depth = 0;
    for character in span.chars() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => without.push(character),
            _ => {}
        }
    }
    [span.replace(['[', ']'], ""), without].map(|line| {
        let words = line.split(' ').filter(|word| *word != "…");
        let first = words.map(|word| {
            if word.contains(['\'', '"']) {
                word
            } else {
                word.split('|').next().unwrap_or(word)
            }
        });
        first.collect::<Vec<_>>().join(" ")
    })
}

/// The command lines in a file for a CI system: a line with the program's name, `set -- run …`, or a list of words for a shell.
pub fn of_ci_file(text: &str) -> Vec<String> {
    let text = text.replace("\\\\\n", " ").replace("\\\n", " ");
    let mut lines = Vec::new();
    let mut rest = text.as_str();
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        let line = line.trim();
        if line.starts_with(['#', '/']) || line.starts_with("if ") || line.contains("install") {
            continue;
        }
        if line == "words=(" {
            let (list, after) = rest.split_once(')').expect("the list ends");
            lines.push(format!("drumfire {}", list.replace('\n', " ")));
            rest = after;
        } else if let Some(words) = line.strip_prefix("set -- run ") {
            lines.push(format!("drumfire run {words}"));
        } else if let Some(words) = added_options(line) {
            lines.push(format!("drumfire run plan.jmx {words}"));
        } else if let Some((_, words)) = line.split_once("bin/drumfire\" ") {
            lines.push(format!("drumfire {words}"));
        } else if let Some((_, words)) = line.split_once("drumfire ")
            && words.starts_with(['r', 'v', '-'])
        {
            lines.push(format!("drumfire {words}"));
        }
    }
    let lines = lines.iter().map(|line| without_lists(line));
    lines.filter(|line| line.trim() != "drumfire").collect()
}

/// The options that a line adds to the words of a command.
fn added_options(line: &str) -> Option<&str> {
    let list = line.split_once("words+=(--").map(|(_, list)| list);
    let list = list.and_then(|list| list.trim_end_matches(" ;;").strip_suffix(')'));
    let words = line.split_once("set -- \"$@\" --").map(|(_, words)| words);
    let options = list.or(words)?;
    // The dashes in front belong to the options.
    line.find(options)
        .map(|start| &line[start - 2..start + options.len()])
}

/// A command line whose variables that may stand for any number of words, or for none, are left out.
fn without_lists(line: &str) -> String {
    let line = line.split("||").next().unwrap_or(line);
    let line = line.trim_end_matches("'''");
    let line = line.split('`').next().unwrap_or(line);
    let is_list =
        |word: &&str| word.starts_with('$') || ["\"$@\"", "\"${words[@]}\""].contains(word);
    let words = line.split(' ').filter(|word| !is_list(word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_text_is_split_as_the_shell_does() {
    let words = |text: &str| {
        let commands = split(text).into_iter();
        commands.map(|words| words.join("|")).collect::<Vec<_>>()
    };
    assert_eq!(
        words("A_B=1 a 'b c' \"d '\"  # no\nb 2> x > y | c \\\n d&"),
        ["a|b c|d '", "b", "c|d"]
    );
}

#[test]
fn words_that_are_not_understood_are_faults() {
    for line in [
        "drumfire run plan.jmx --reprot r.html",
        "drumfire run https://h/ --sav x.jmx",
        "drumfire runz",
        "drumfire -n -l x.jtl",
        "cargo xtask tset",
        "cargo xtask dist --chekc",
        "cargo run --locked -p drumfire -- run --dmeo",
        "a | bin/drumfire run",
    ] {
        assert_eq!(faults(line).len(), 1, "{line}");
    }
    for line in [
        "drumfire run plan.jmx --report r.html",
        "drumfire run https://h/ -c 5 --save x.jmx --strict",
        "drumfire -n -t plan.jmx -l x.jtl",
        "drumfire run test.yml -o a.b=1",
        "cargo xtask dist --check",
        "cargo run --locked -p drumfire -- run --demo",
        "cd drumfire && ls",
    ] {
        assert_eq!(faults(line), [""; 0], "{line}");
    }
}

#[test]
fn a_span_may_leave_out_arguments_and_a_value() {
    for span in [
        "drumfire check",
        "drumfire run --baseline",
        "drumfire run URL [-c 50] [-d 30s]",
        "drumfire capacity plan.jmx … -- --agents 4",
    ] {
        assert_eq!(faults_of_span(span), [""; 0], "{span}");
    }
    for span in [
        "drumfire chek",
        "drumfire run --basline",
        "drumfire runs [list] [--plann NAME]",
    ] {
        assert!(!faults_of_span(span).is_empty(), "{span}");
    }
}

#[test]
fn optional_parts_of_a_span_are_tried_both_ways() {
    assert_eq!(
        variants("drumfire runs [list] [--plan NAME]"),
        ["drumfire runs list --plan NAME", "drumfire runs  "]
    );
    assert_eq!(
        variants("drumfire completions bash|zsh …")[0],
        "drumfire completions bash"
    );
}
