//! The options of JMeter's command line that `modules.jmeter.cmdline` adds.

/// The options that a run here takes over, each with its value, and those that it does not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JmeterOptions {
    pub taken: Vec<String>,
    pub others: Vec<String>,
}

/// The letters and names of the options with which properties are set and the log is made more or less chatty.
const TAKEN: [(&str, &str); 5] = [
    ("-J", "--jmeterproperty"),
    ("-D", "--systemproperty"),
    ("-q", "--addprop"),
    ("-S", "--systemPropertyFile"),
    ("-L", "--loglevel"),
];

/// Reads the line as a shell would split it.
pub(crate) fn read(line: &str) -> JmeterOptions {
    let mut options = JmeterOptions::default();
    let mut words = words(line).into_iter();
    while let Some(word) = words.next() {
        let option = TAKEN.iter().find_map(|(letter, name)| {
            let long = word.strip_prefix(name).and_then(|rest| match rest {
                "" => Some(""),
                rest => rest.strip_prefix('='),
            });
            let value = long.or_else(|| word.strip_prefix(letter))?;
            Some((letter, value.to_owned()))
        });
        match option {
            Some((letter, value)) => {
                let value = if value.is_empty() {
                    words.next().unwrap_or_default()
                } else {
                    value
                };
                options.taken.push(format!("{letter}{value}"));
            }
            None => options.others.push(word),
        }
    }
    options
}

/// The words of a line: quotes of both kinds join, and a backslash takes the next character as it is.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if open == sign => quote = None,
            (Some('\''), sign) => word.get_or_insert_default().push(sign),
            (_, '\\') => word.get_or_insert_default().extend(signs.next()),
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_taken_over_and_the_rest_is_named() {
        let read = read(
            "-Ja=1 -J 'b=two words' --systemproperty=c=\"d e\" -q more.properties -X -LDEBUG \\'",
        );
        assert_eq!(
            read.taken,
            [
                "-Ja=1",
                "-Jb=two words",
                "-Dc=d e",
                "-qmore.properties",
                "-LDEBUG"
            ]
        );
        assert_eq!(read.others, ["-X", "'"]);
        assert_eq!(super::read(" \t"), JmeterOptions::default());
    }
}
