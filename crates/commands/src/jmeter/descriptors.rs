//! The options of JMeter 5.6.3's own command line: letters, long names and how many arguments each takes
//! (`org.apache.jmeter.JMeter`), and their description in the layout of `CLUtil.describeOptions`.

/// How many arguments an option takes (`CLOptionDescriptor`'s modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// A bare switch.
    None,
    /// Exactly one argument.
    One,
    /// `name=value`; the value may be missing.
    Pair,
}

/// One option.
#[derive(Debug)]
pub struct Descriptor {
    /// The letter, for `-t`.
    pub letter: char,
    /// The long name, for `--testfile`.
    pub name: &'static str,
    /// How many arguments it takes.
    pub arity: Arity,
    /// Letters of the options that may not be combined with it; its own letter forbids a repetition.
    pub incompatible: &'static str,
    /// Its purpose, in one line.
    pub about: &'static str,
}

const fn switch(
    letter: char,
    name: &'static str,
    own: &'static str,
    about: &'static str,
) -> Descriptor {
    Descriptor {
        letter,
        name,
        arity: Arity::None,
        incompatible: own,
        about,
    }
}

const fn one(
    letter: char,
    name: &'static str,
    incompatible: &'static str,
    about: &'static str,
) -> Descriptor {
    Descriptor {
        letter,
        name,
        arity: Arity::One,
        incompatible,
        about,
    }
}

const fn pair(letter: char, name: &'static str, about: &'static str) -> Descriptor {
    Descriptor {
        letter,
        name,
        arity: Arity::Pair,
        incompatible: "",
        about,
    }
}

/// All options in the order in which JMeter lists them.
pub static ALL: [Descriptor; 30] = [
    switch('?', "?", "?", "list the options and exit"),
    switch('h', "help", "h", "show how to use the program and exit"),
    switch('v', "version", "v", "show the version and exit"),
    one(
        'p',
        "propfile",
        "p",
        "read the JMeter properties from this file",
    ),
    one(
        'q',
        "addprop",
        "",
        "read more JMeter properties from this file; may be repeated",
    ),
    one(
        't',
        "testfile",
        "t",
        "the plan (.jmx) to run; LAST is the plan of the last run",
    ),
    one('l', "logfile", "l", "write the samples to this file"),
    one(
        'i',
        "jmeterlogconf",
        "i",
        "Log4j configuration of the program's log",
    ),
    one(
        'j',
        "jmeterlogfile",
        "j",
        "the program's log file (jmeter.log)",
    ),
    switch('n', "nongui", "n", "run without the graphical interface"),
    switch('s', "server", "s", "run as a JMeter server"),
    one('E', "proxyScheme", "E", "the scheme of the proxy server"),
    one('H', "proxyHost", "H", "the host of the proxy server"),
    one('P', "proxyPort", "P", "the port of the proxy server"),
    one(
        'N',
        "nonProxyHosts",
        "N",
        "hosts that are reached without the proxy (*.example.org|localhost)",
    ),
    one('u', "username", "u", "the user name for the proxy server"),
    one('a', "password", "a", "the password for the proxy server"),
    pair(
        'J',
        "jmeterproperty",
        "set a JMeter property; without a value, remove it",
    ),
    pair(
        'G',
        "globalproperty",
        "set a property on the remote servers, or send them a file of properties",
    ),
    pair(
        'D',
        "systemproperty",
        "set a system property; without a value, remove it",
    ),
    one(
        'S',
        "systemPropertyFile",
        "",
        "read system properties from this file; may be repeated",
    ),
    switch(
        'f',
        "forceDeleteResultFile",
        "f",
        "delete result files of earlier runs before the start",
    ),
    pair(
        'L',
        "loglevel",
        "[category=]level of the program's log, as in jmeter.util=DEBUG",
    ),
    switch(
        'r',
        "runremote",
        "r",
        "run on the remote servers of the property remote_hosts",
    ),
    one('R', "remotestart", "R", "run on these remote servers"),
    one('d', "homedir", "d", "the JMeter home directory"),
    switch(
        'X',
        "remoteexit",
        "X",
        "end the remote servers with the test",
    ),
    one(
        'g',
        "reportonly",
        "nrRl",
        "make the report from an existing result file",
    ),
    switch(
        'e',
        "reportatendofloadtests",
        "e",
        "make the report after the run",
    ),
    one('o', "reportoutputfolder", "o", "the folder of the report"),
];

/// The option with this letter.
pub fn by_letter(letter: char) -> Option<&'static Descriptor> {
    ALL.iter().find(|descriptor| descriptor.letter == letter)
}

/// The option with this long name.
pub fn by_name(name: &str) -> Option<&'static Descriptor> {
    ALL.iter().find(|descriptor| descriptor.name == name)
}

/// All options as JMeter prints them after `-?` and after a wrong command line.
pub fn describe() -> String {
    let mut text = String::new();
    for option in &ALL {
        text.push('\t');
        if option.letter.is_alphabetic() {
            text.push('-');
            text.push(option.letter);
            text.push_str(", ");
        }
        text.push_str("--");
        text.push_str(option.name);
        text.push_str(match option.arity {
            Arity::None => "",
            Arity::One => " <argument>",
            Arity::Pair => " <argument>=<value>",
        });
        text.push_str("\n\t\t");
        text.push_str(option.about);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_names_are_unique() {
        for (index, option) in ALL.iter().enumerate() {
            let rest = &ALL[index + 1..];
            assert!(
                rest.iter()
                    .all(|other| other.letter != option.letter && other.name != option.name)
            );
        }
    }

    #[test]
    fn description_has_jmeters_layout() {
        let text = describe();
        assert!(
            text.starts_with("\t--?\n\t\t"),
            "JMeter writes no letter for the question mark"
        );
        assert!(text.contains("\n\t-t, --testfile <argument>\n\t\t"));
        assert!(text.contains("\n\t-J, --jmeterproperty <argument>=<value>\n\t\t"));
        assert!(text.contains("\n\t-n, --nongui\n\t\t"));
    }

    #[test]
    fn the_documentation_names_every_option() {
        let documented = include_str!("../../../../docs/command_line.md");
        for option in &ALL {
            assert!(
                documented.contains(&format!("`-{}`", option.letter)),
                "-{}",
                option.letter
            );
        }
    }
}
