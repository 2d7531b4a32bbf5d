//! Compares the program with recorded runs of real JMeter. The `check.py` of a folder runs them and counts the equal ones.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

const FLOOR: &str = "compat/floor.toml";

/// Runs the recorded plans of `folder` and compares the number of equal ones with the floor.
pub fn compare(folder: &Path) -> anyhow::Result<()> {
    let script = folder.join("check.py");
    let floor = floor(&std::fs::read_to_string(xtask::root().join(FLOOR)).context(FLOOR)?)?;
    // Use the same build as the tests, so that nothing is built twice.
    xtask::run(&mut super::test(&["--quiet", "--no-run"]))?;
    let binary = xtask::target().join("debug/drumfire");
    let mut command = Command::new("python3");
    command
        .arg(&script)
        .arg("--bin")
        .arg(&binary)
        .arg("--no-scripts")
        .stderr(Stdio::inherit());
    // Its exit code only says whether all runs are equal, which is not required here.
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    let passed = passed(&said)
        .with_context(|| format!("{} did not report how many passed", script.display()))?;
    match passed {
        _ if passed < floor => {
            bail!("{passed} recorded plans are equal; the floor is {floor} ({FLOOR})")
        }
        _ if passed > floor => println!(
            "note: {passed} recorded plans are equal; raise the floor of {floor} in {FLOOR}"
        ),
        _ => {}
    }
    Ok(())
}

/// The value of `passed = N` in the floor file.
fn floor(text: &str) -> anyhow::Result<u64> {
    let values = text.lines().filter_map(|line| line.split_once('='));
    values
        .filter(|(name, _)| name.trim() == "passed")
        .map(|(_, value)| value.trim())
        .next()
        .and_then(|value| value.parse().ok())
        .with_context(|| format!("{FLOOR} has no number `passed`"))
}

/// The number of passed runs in the last line, `N passed, M failed`.
fn passed(said: &str) -> Option<u64> {
    said.lines()
        .last()?
        .split_once(" passed,")?
        .0
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_a_number_called_passed() {
        assert_eq!(floor("# why\npassed = 12\n").expect("a number"), 12);
        assert!(floor("passed = many").is_err() && floor("").is_err());
    }

    #[test]
    fn the_last_line_says_how_many_passed() {
        assert_eq!(passed("rows equal: 3 of 4\n7 passed, 1 failed\n"), Some(7));
        assert_eq!(passed("port 18080 is in use\n"), None);
    }
}
