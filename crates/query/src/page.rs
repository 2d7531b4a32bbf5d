//! The elements of a page in document order, for samplers that follow its links and forms.

use crate::html::{HtmlNode, HtmlNodeKind, Page};

/// An element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The name, in lower case.
    pub name: String,
    /// Names, in lower case, and values.
    pub attributes: Vec<(String, String)>,
    /// The text at the start of the element.
    pub text: Option<String>,
    /// The number of ancestor elements.
    pub depth: usize,
}

impl Tag {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// All elements of a page, parsed by the HTML standard; JMeter uses JTidy.
pub fn tags(html: &str) -> Vec<Tag> {
    let page = Page::parse(html);
    let mut tags = Vec::new();
    // The nodes around the one at hand. Counting them anew for each would take the square of a deep page's time.
    let mut around: Vec<HtmlNode<'_>> = Vec::new();
    let elements = page.root().descendants();
    for node in elements.filter(|node| node.kind() == HtmlNodeKind::Element) {
        while around
            .last()
            .is_some_and(|last| Some(*last) != node.parent())
        {
            around.pop();
        }
        let first = node
            .first_child()
            .filter(|child| child.kind() == HtmlNodeKind::Text);
        tags.push(Tag {
            name: node.name().to_owned(),
            attributes: node
                .attributes()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            text: first.map(|child| child.text().to_owned()),
            depth: around.len(),
        });
        around.push(node);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_the_order_of_the_document() {
        let found = tags(
            "<FORM Action='a&amp;b'><select name=s><option>1<option value=2></select></form><textarea>x</textarea>",
        );
        let names: Vec<&str> = found.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "html", "head", "body", "form", "select", "option", "option", "textarea"
            ]
        );
        assert_eq!(found[3].attribute("action"), Some("a&b"));
        assert_eq!(found[5].text.as_deref(), Some("1"));
        assert_eq!(
            (found[4].depth + 1, found[6].text.clone()),
            (found[5].depth, None)
        );
        let depths: Vec<usize> = found.iter().map(|tag| tag.depth).collect();
        assert_eq!(depths, [0, 1, 1, 2, 3, 4, 4, 2]);
    }

    #[test]
    fn deep_pages_take_linear_time() {
        let found = tags(&"<div>".repeat(50_000));
        assert_eq!(found.last().map(|tag| tag.depth), Some(50_001));
    }
}
