//! The differences between two plans as one HTML page, which needs no script: the tree with marks, and the values before and after.

use std::fmt::Write as _;

use drumfire_elements::{label, type_name};
use drumfire_jmx::{ComparedElement, Node, SettingChange, above};
use drumfire_platform::secrets::addresses;
use drumfire_platform::words::counted;
use similar::{ChangeTag, TextDiff};

/// Texts that are longer are compared word by word.
const LONG: usize = 80;
/// Lines around a changed line.
const AROUND: usize = 3;
/// More unchanged siblings than these fold into one line.
const MOST_SAME: usize = 3;
/// The most elements that the list above the tree names.
const MOST_LISTED: usize = 200;

/// The page. With `masks`, no address shows a user and a password.
pub fn page(elements: &[ComparedElement<'_>], [old, new]: &[String; 2], masks: bool) -> String {
    let mut page = Page {
        below: vec![Vec::new(); elements.len()],
        differing: vec![0; elements.len()],
        elements,
        masks,
        html: String::new(),
    };
    for (at, element) in elements.iter().enumerate() {
        if let Some(parent) = element.parent {
            page.below[parent].push(at);
        }
    }
    for (at, element) in elements.iter().enumerate().rev() {
        page.differing[at] += usize::from(element.differs());
        if let Some(parent) = element.parent {
            page.differing[parent] += page.differing[at];
        }
    }
    let roots: Vec<usize> = (0..elements.len())
        .filter(|at| elements[*at].parent.is_none())
        .collect();
    page.head(old, new);
    page.list();
    page.push("<h2>Elements</h2><ul class=\"tree\">");
    page.siblings(&roots);
    page.push("</ul></main></body></html>\n");
    page.html
}

struct Page<'e> {
    elements: &'e [ComparedElement<'e>],
    /// The children of each element.
    below: Vec<Vec<usize>>,
    /// How many elements differ, of each element and those below it.
    differing: Vec<usize>,
    masks: bool,
    html: String,
}

impl Page<'_> {
    fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// A text of a plan, which can neither end the tag around it nor turn the text behind it.
    fn text(&self, text: &str) -> String {
        let text = if self.masks {
            addresses(text)
        } else {
            text.into()
        };
        format!("<bdi>{}</bdi>", escaped(&text))
    }

    fn head(&mut self, old: &str, new: &str) {
        let count = |mark: &str| {
            let all = self.elements.iter();
            all.filter(|one| one.marks().contains(&mark)).count() as u64
        };
        let counts: Vec<String> = ["added", "removed", "moved", "changed"]
            .into_iter()
            .map(|mark| (count(mark), mark))
            .filter(|(count, _)| *count > 0)
            .map(|(count, mark)| format!("{} {mark}", counted(count, "element")))
            .collect();
        let counts = if counts.is_empty() {
            "The plans mean the same".to_owned()
        } else {
            counts.join(", ")
        };
        let (old, new) = (self.text(old), self.text(new));
        let head = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\
             <link rel=\"icon\" href=\"data:,\"><title>Changes of a test plan: {counts}</title><style>{}</style></head>\n\
             <body><main><h1>{counts}</h1><p>{new} compared with {old}</p>",
            include_str!("page.css")
        );
        self.push(&head);
    }

    /// The elements that differ, as links to their places in the tree.
    fn list(&mut self) {
        let all = 0..self.elements.len();
        let differing: Vec<usize> = all.filter(|at| self.elements[*at].differs()).collect();
        if differing.len() < 2 {
            return;
        }
        self.push("<nav aria-label=\"Elements that differ\"><h2>Elements that differ</h2><ol>");
        for at in differing.iter().take(MOST_LISTED) {
            let element = &self.elements[*at];
            let link = format!(
                "<li>{}<a href=\"#e{at}\">{}</a></li>",
                marks(element),
                self.text(element.path())
            );
            self.push(&link);
        }
        if let Some(more) = differing
            .len()
            .checked_sub(MOST_LISTED)
            .filter(|more| *more > 0)
        {
            self.push(&format!(
                "<li>and {}</li>",
                counted(more as u64, "more element")
            ));
        }
        self.push("</ol></nav>");
    }

    fn siblings(&mut self, members: &[usize]) {
        let mut rest = members;
        while let Some(first) = rest.first() {
            let same = rest
                .iter()
                .take_while(|at| self.differing[**at] == 0)
                .count();
            if same > MOST_SAME {
                let (group, others) = rest.split_at(same);
                let summary = counted(same as u64, "unchanged element");
                self.push(&format!(
                    "<li class=\"same\"><details><summary>{summary}</summary><ul>"
                ));
                group.iter().for_each(|at| self.element(*at));
                self.push("</ul></details></li>");
                rest = others;
            } else {
                self.element(*first);
                rest = &rest[1..];
            }
        }
    }

    fn element(&mut self, at: usize) {
        let element = &self.elements[at];
        let below = self.below[at].clone();
        let is_same = self.differing[at] == 0;
        let class = match element {
            _ if is_same => "same",
            element if element.is_added() => "added",
            element if element.is_removed() => "removed",
            _ => "kept",
        };
        let node = element.node();
        let mut title = format!(
            "{}<b>{}</b> <small>{}{}</small>",
            marks(element),
            self.text(name(node)),
            escaped(type_name(&node.class, &node.gui_class)),
            if node.enabled { "" } else { ", disabled" }
        );
        if element.is_moved {
            let from = self.text(above(&element.old_path));
            let _ = write!(title, " <small>from {from}</small>");
        }
        let is_bare = below.is_empty() && element.changes.is_empty();
        let is_plain = below.is_empty() && is_same;
        let id = if element.differs() {
            format!(" id=\"e{at}\"")
        } else {
            String::new()
        };
        if is_bare || is_plain {
            self.push(&format!(
                "<li class=\"{class}\"{id}><div class=\"row\">{title}</div></li>"
            ));
            return;
        }
        let open = if is_same { "" } else { " open" };
        self.push(&format!(
            "<li class=\"{class}\"{id}><details{open}><summary>{title}</summary>"
        ));
        self.values(element);
        if !below.is_empty() {
            self.push("<ul>");
            self.siblings(&below);
            self.push("</ul>");
        }
        self.push("</details></li>");
    }

    fn values(&mut self, element: &ComparedElement<'_>) {
        if element.changes.is_empty() {
            return;
        }
        let is_whole = element.is_added() || element.is_removed();
        if is_whole {
            let count = counted(element.changes.len() as u64, "setting");
            self.push(&format!(
                "<details><summary><small>{count}</small></summary>"
            ));
        }
        self.push("<table><thead><tr><th scope=\"col\">Setting</th>");
        self.push("<th scope=\"col\">Before</th><th scope=\"col\">After</th></tr></thead><tbody>");
        for change in &element.changes {
            let row = self.row(element.node(), change, is_whole);
            self.push(&row);
        }
        self.push("</tbody></table>");
        if is_whole {
            self.push("</details>");
        }
    }

    fn row(&self, node: &Node, change: &SettingChange, is_whole: bool) -> String {
        let path = self.text(&change.setting);
        let head = match label(&node.class, &change.top, &change.property) {
            "" => format!("<th scope=\"row\">{path}</th>"),
            label => format!(
                "<th scope=\"row\">{}<small>{path}</small></th>",
                escaped(label)
            ),
        };
        let [from, to] = if is_whole {
            [change.from.as_str(), change.to.as_str()]
        } else {
            change.values()
        };
        if !is_whole && !from.is_empty() && !to.is_empty() && from != to {
            if from.contains('\n') || to.contains('\n') {
                return format!(
                    "<tr>{head}<td colspan=\"2\">{}</td></tr>",
                    self.lines(from, to)
                );
            }
            if is_long_text(from) || is_long_text(to) {
                return format!(
                    "<tr>{head}<td colspan=\"2\">{}</td></tr>",
                    self.words(from, to)
                );
            }
        }
        let cell = |side: &str, tag: &str, value: &str| {
            let shown = match value {
                "" => "<span class=\"none\">(nothing)</span>".to_owned(),
                value => format!("<code><{tag}>{}</{tag}></code>", self.text(value)),
            };
            format!("<td data-side=\"{side}\">{shown}</td>")
        };
        format!(
            "<tr>{head}{}{}</tr>",
            cell("Before", "del", from),
            cell("After", "ins", to)
        )
    }

    /// The lines that differ, with those around them.
    fn lines(&self, from: &str, to: &str) -> String {
        let diff = TextDiff::from_lines(from, to);
        let mut html = "<pre class=\"lines\">".to_owned();
        for (number, group) in diff.grouped_ops(AROUND).iter().enumerate() {
            if number > 0 {
                html.push_str("<span>⋯</span>");
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let tag = tag(change.tag());
                let line = self.text(change.value().trim_end_matches(['\r', '\n']));
                let _ = write!(html, "<{tag}>{line}</{tag}>");
            }
        }
        html + "</pre>"
    }

    /// A long line, with the words that differ.
    fn words(&self, from: &str, to: &str) -> String {
        let diff = TextDiff::from_words(from, to);
        let mut html = "<pre class=\"words\">".to_owned();
        for change in diff.iter_all_changes() {
            let tag = tag(change.tag());
            let _ = write!(html, "<{tag}>{}</{tag}>", self.text(change.value()));
        }
        html + "</pre>"
    }
}

/// Whether a value is shown as a block of text.
fn is_long_text(text: &str) -> bool {
    text.contains('\n') || text.len() > LONG
}

fn tag(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Delete => "del",
        ChangeTag::Insert => "ins",
        ChangeTag::Equal => "span",
    }
}

/// The marks of an element in words.
fn marks(element: &ComparedElement<'_>) -> String {
    let marks = element.marks().into_iter();
    marks
        .map(|word| format!("<span class=\"mark {word}\">{word}</span> "))
        .collect()
}

fn name(node: &Node) -> &str {
    match node.name.as_str() {
        "" => "(no name)",
        name => name,
    }
}

/// A text for HTML. Control characters become visible, since some of them are allowed in no page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(sign),
            sign if sign.is_control() => {
                out.push(
                    char::from_u32(0x2400 + sign as u32)
                        .filter(|_| sign < ' ')
                        .unwrap_or('\u{fffd}'),
                );
            }
            sign => out.push(sign),
        }
    }
    out
}
