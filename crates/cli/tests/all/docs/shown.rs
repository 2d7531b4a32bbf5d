//! Compares what a command prints with what a page shows. Numbers may differ, and a line of `...`, or the same at the end of a
//! line, stands for anything.

/// Numbers become `N`, blanks one blank.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut in_number = false;
    for character in line.trim().chars() {
        let is_number = character.is_ascii_digit() || in_number && matches!(character, '.' | ',');
        match (is_number, in_number) {
            (true, true) => {}
            (true, false) => plain.push('N'),
            (false, _) if character == ' ' && plain.ends_with(' ') => {}
            (false, _) => plain.push(character),
        }
        in_number = is_number;
    }
    // A time below a millisecond has a unit.
    plain.replace("Nµs", "N")
}

/// Whether the output is what is shown.
pub fn is_shown(shown: &[String], output: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return output.is_empty();
    };
    if first.trim() == "..." {
        return (0..=output.len()).any(|skipped| is_shown(rest, &output[skipped..]));
    }
    let Some((line, others)) = output.split_first() else {
        return false;
    };
    let is_same = match first.trim_end().strip_suffix("...") {
        Some(beginning) => plain(line).starts_with(plain(beginning).trim_end()),
        None => plain(line) == plain(first),
    };
    is_same && is_shown(rest, others)
}

#[test]
fn numbers_differ_and_dots_stand_for_anything() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = ["a 1.25 of 2", "noise", "more", "end  7"];
    assert!(is_shown(&shown("a 9 of 9\n...\nend 8"), &output));
    assert!(is_shown(&shown("a ...\n..."), &output));
    assert!(!is_shown(&shown("a 9 of 9\nend 8"), &output));
    assert!(is_shown(&shown("..."), &[]));
    assert!(!is_shown(&shown("a"), &[]));
}
