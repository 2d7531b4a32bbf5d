//! Findings as text: equal findings are printed once with their number, each with its remedy.

use drumfire_jmx::{Diagnostic, Severity};

/// How many places of a repeated finding are listed.
const PLACES: usize = 3;

/// Findings that say the same about several elements.
pub struct Group<'f> {
    /// The first of them.
    pub first: &'f Diagnostic,
    /// The others.
    pub others: Vec<&'f Diagnostic>,
}

/// Groups the findings that say the same, in the order in which they first occur.
pub fn grouped(findings: &[Diagnostic]) -> Vec<Group<'_>> {
    let mut groups: Vec<(String, Group<'_>)> = Vec::new();
    for finding in findings {
        let said = said(finding);
        match groups.iter_mut().find(|(known, _)| *known == said) {
            Some((_, group)) => group.others.push(finding),
            None => groups.push((
                said,
                Group {
                    first: finding,
                    others: Vec::new(),
                },
            )),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The text of a finding without its names and numbers, to compare findings by.
fn said(finding: &Diagnostic) -> String {
    let mut said = format!("{:?} {} ", finding.severity, finding.code);
    let mut until = None;
    for c in finding.message.chars() {
        match (until, c) {
            (Some(end), c) if c == end => until = None,
            (Some(_), _) => {}
            (None, '\'' | '`' | '"') => until = Some(c),
            (None, '<') => until = Some('>'),
            (None, c) if c.is_ascii_digit() => {}
            (None, c) => said.push(c),
        }
    }
    said
}

/// How findings are shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    /// Whether to use colours.
    pub is_coloured: bool,
    /// The width of the terminal; `None` elsewhere.
    pub columns: Option<usize>,
}

/// Findings as text for standard error. With `verbose`, each is printed separately.
pub fn render(findings: &[Diagnostic], shown: Shown, verbose: bool) -> String {
    if verbose {
        let each = findings.iter().map(|finding| one(finding, shown));
        return each.collect();
    }
    grouped(findings)
        .iter()
        .map(|group| several(group, shown))
        .collect()
}

fn one(finding: &Diagnostic, shown: Shown) -> String {
    let text = match finding.help {
        Some(_) => finding.render_within(shown.is_coloured, shown.columns),
        None => finding
            .clone()
            .help(remedy(finding))
            .render_within(shown.is_coloured, shown.columns),
    };
    format!("{text}\n")
}

fn several(group: &Group<'_>, shown: Shown) -> String {
    let mut text = one(group.first, shown);
    if group.others.is_empty() {
        return text;
    }
    let places: Vec<String> = group
        .others
        .iter()
        .take(PLACES)
        .map(|other| location(other))
        .filter(|place| !place.is_empty())
        .collect();
    let rest = match group.others.len().saturating_sub(PLACES) {
        0 => "",
        _ => " …",
    };
    text.push_str(&format!(
        "   = {} more like it: {}{rest}\n",
        group.others.len(),
        places.join("; ")
    ));
    text
}

/// The place of a finding, in a few words.
fn location(finding: &Diagnostic) -> String {
    let name = finding.path.last().map(String::as_str).unwrap_or_default();
    match line(finding) {
        Some((line, _)) if name.is_empty() => format!("line {line}"),
        Some((line, _)) => format!("'{name}' in line {line}"),
        // Findings on the command line have no place, so their message tells them apart.
        None if name.is_empty() => finding.message.clone(),
        None => name.to_owned(),
    }
}

/// The line and column of a finding, from 1.
pub fn line(finding: &Diagnostic) -> Option<(usize, usize)> {
    let (source, span) = (finding.source.as_ref()?, finding.span?);
    Some(source.line_column(span.start))
}

/// The remedy of a finding: its own, or else the one for its kind.
pub fn remedy(finding: &Diagnostic) -> String {
    if let Some(help) = &finding.help {
        return help.clone();
    }
    let help = match finding.code {
        "backend-not-sent" => {
            "put the client's jars into lib/ext of JMETER_HOME, or send the numbers with `--out`"
        }
        "element-skipped" => "nothing to do: JMeter ignores it too",
        "element-left-out" => "leave out -Jdrumfire.skip_unsupported to refuse such plans",
        "jmx-removed-element" | "jmx-ignored-value" | "jmx-no-name" => {
            "open the plan in JMeter and save it again, which removes what has no meaning"
        }
        "include-recursion" => "remove the Include Controller from the file that it includes",
        "include-without-fragment" => "put the elements to include below a Test Fragment",
        "keystore-unreadable" => {
            "correct -Djavax.net.ssl.keyStore and -Djavax.net.ssl.keyStorePassword"
        }
        "jdbc-name-twice" => "give each JDBC Connection Configuration a name of its own",
        "needs-java" => "install Java 17 or later and run `drumfire jvm install`",
        "xml-encoding" | "xml-utf16" | "props-charset" => "save the file as UTF-8",
        "save-configuration" => "correct the jmeter.save.saveservice properties",
        _ => match finding.severity {
            Severity::Error => "correct the element in JMeter and save the plan, or disable it",
            Severity::Warning | Severity::Note => {
                "if this is intended, ignore it; otherwise correct the element in JMeter"
            }
        },
    };
    help.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: &'static str, message: &str, name: &str) -> Diagnostic {
        Diagnostic::warning(code, message).within(vec!["Plan".to_owned(), name.to_owned()])
    }

    #[test]
    fn findings_that_say_the_same_are_one_with_a_count() {
        let all = [
            finding("a", "<X> has no 'guiclass'", "one"),
            finding("a", "<Y> has no 'guiclass'", "two"),
            finding("b", "other", "three"),
            finding("a", "<Z> has no 'name'", "four"),
            finding("a", "<Z> lacks something else", "five"),
        ];
        let groups = grouped(&all);
        let sizes: Vec<usize> = groups.iter().map(|group| group.others.len() + 1).collect();
        assert_eq!(sizes, [3, 1, 1]);
        let text = render(&all, Shown::default(), false);
        assert!(text.contains("= 2 more like it: two; four\n"), "{text}");
        assert_eq!(
            render(&all, Shown::default(), true)
                .matches("warning[")
                .count(),
            5
        );
    }

    #[test]
    fn no_finding_is_without_a_remedy() {
        for code in ["element-skipped", "something-new"] {
            let text = render(&[finding(code, "m", "n")], Shown::default(), false);
            assert!(text.contains("= hint: "), "{text}");
        }
        let own = finding("a", "m", "n").help("write digits");
        assert_eq!(remedy(&own), "write digits");
    }
}
