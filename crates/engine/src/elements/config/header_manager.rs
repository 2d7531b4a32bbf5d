//! HTTP Header Manager (`HeaderManager`): header lines for the HTTP Requests in its scope. The nearest manager wins for each
//! name.
//!
//! Property: `HeaderManager.headers`, with `Header.name` and `Header.value`.
//!
//! If a request has one manager, a script's change to it persists for the user's later requests. If it has several, it gets a
//! merged copy, which lasts for one sample. Difference: JMeter's merged copy contains the outermost manager's own header objects,
//! so a value that a script sets in one of these persists.

use std::borrow::Cow;
use std::rc::Rc;

use drumfire_elements::config::header_manager;
use drumfire_expr::{Template, Text};
use drumfire_jmx::Value;
use drumfire_web::headers::{self, Header};
use drumfire_web::property::Property;

use crate::decode::Decoder;
use crate::resolve::Element;
use crate::run::request::is_unread;

pub struct HeaderManager {
    /// The element's id in the tree.
    id: usize,
    rows: Vec<(Template, Template)>,
}

/// The managers among a sampler's configuration, in its order.
pub fn decode(d: &mut Decoder, configs: &[&Element]) -> Vec<HeaderManager> {
    let managers = configs
        .iter()
        .filter(|one| one.class == header_manager::CLASS);
    managers
        .map(|config| HeaderManager::new(d, config))
        .collect()
}

/// Evaluates the template of a name or a value.
type Read<'r, 's> = &'r mut dyn FnMut(Property, &'s Template) -> Text<'s>;

/// The headers of all managers, the innermost first (`HeaderManager#merge`).
pub fn merged<'s>(
    managers: &'s [HeaderManager],
    changed: &ChangedHeaders,
    read: Read<'_, 's>,
) -> Vec<Header<'s>> {
    let mut merged = Vec::new();
    for manager in managers {
        let rows = manager.evaluate(changed, read);
        if merged.is_empty() {
            merged = rows;
        } else {
            headers::merge(&mut merged, &rows);
        }
    }
    merged
}

impl HeaderManager {
    fn new(d: &mut Decoder, element: &Element) -> HeaderManager {
        let mut rows = Vec::new();
        for prop in element.props.list("HeaderManager.headers") {
            let Value::Element(header) = &prop.value else {
                continue;
            };
            rows.push((
                d.compile(&header.props.str("Header.name")),
                d.compile(&header.props.str("Header.value")),
            ));
        }
        HeaderManager {
            id: element.id,
            rows,
        }
    }

    /// The names and values of its headers.
    pub fn rows(&self) -> impl Iterator<Item = &(Template, Template)> {
        self.rows.iter()
    }

    /// The templates of its headers.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.rows.iter().flat_map(|(name, value)| [name, value])
    }

    fn evaluate<'s>(&'s self, changed: &ChangedHeaders, read: Read<'_, 's>) -> Vec<Header<'s>> {
        let Some(changed) = changed.of(self.id) else {
            let rows = self.rows.iter();
            return rows.map(|row| planned(row, read)).collect();
        };
        let rows = changed.iter().map(|row| match row {
            HeaderRow::Planned(place) => planned(&self.rows[*place], read),
            HeaderRow::Renamed(name, place) => {
                let (_, value) = &self.rows[*place];
                Header::new(name.to_string(), cow(read(Property::HeaderValue, value)))
            }
            HeaderRow::Given(name, value) => Header::new(name.to_string(), value.to_string()),
        });
        rows.collect()
    }
}

fn planned<'s>((name, value): &'s (Template, Template), read: Read<'_, 's>) -> Header<'s> {
    let name = cow(read(Property::HeaderName, name));
    Header::new(name, cow(read(Property::HeaderValue, value)))
}

fn cow(text: Text<'_>) -> Cow<'_, str> {
    match text {
        Text::Literal(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.into_string()),
    }
}

/// The headers that scripts have changed for one user, by manager. A manager does not restore them after a sample
/// (`HeaderManager#recoverRunningVersion`).
#[derive(Clone, Default)]
pub struct ChangedHeaders(Vec<(usize, Rc<[HeaderRow]>)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum HeaderRow {
    /// As the plan has it, with its variables.
    Planned(usize),
    /// With another name, and the value that the plan has.
    Renamed(Rc<str>, usize),
    Given(Rc<str>, Rc<str>),
}

impl ChangedHeaders {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, manager: usize) -> Option<Rc<[HeaderRow]>> {
        let mut managers = self.0.iter();
        managers
            .find(|(id, _)| *id == manager)
            .map(|(_, rows)| rows.clone())
    }

    /// Records a script's changes to a manager's headers, given the rows before and after the script.
    pub fn change(
        &mut self,
        manager: &HeaderManager,
        before: &[(String, String)],
        after: &[(String, String)],
    ) {
        let rows = match self.of(manager.id) {
            Some(rows) => rows.to_vec(),
            None => (0..manager.rows.len()).map(HeaderRow::Planned).collect(),
        };
        let unread: Vec<_> = before
            .iter()
            .zip(rows.clone())
            .filter(|((_, value), _)| is_unread(value))
            .collect();
        let mut unmatched: Vec<_> = before.iter().zip(rows).map(Some).collect();
        let rows = after.iter().map(|header| {
            let is_same = |place: &&mut Option<(&(String, String), HeaderRow)>| {
                place.as_ref().is_some_and(|(was, _)| *was == header)
            };
            match unmatched.iter_mut().find(is_same).and_then(Option::take) {
                Some((_, row)) => row,
                None => {
                    let name = header.0.as_str().into();
                    let renamed = unread.iter().find(|((_, value), _)| *value == header.1);
                    match renamed {
                        Some((_, HeaderRow::Planned(place) | HeaderRow::Renamed(_, place))) => {
                            HeaderRow::Renamed(name, *place)
                        }
                        _ => HeaderRow::Given(name, header.1.as_str().into()),
                    }
                }
            }
        });
        let rows = rows.collect();
        self.0.retain(|(id, _)| *id != manager.id);
        self.0.push((manager.id, rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::request::UnreadText;

    const XML: &str = r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="h"><collectionProp name="HeaderManager.headers">
        <elementProp name="" elementType="Header"><stringProp name="Header.name">A</stringProp><stringProp name="Header.value">${a}</stringProp></elementProp>
        <elementProp name="" elementType="Header"><stringProp name="Header.name">B</stringProp><stringProp name="Header.value">b</stringProp></elementProp>
        <elementProp name="" elementType="Header"><stringProp name="Header.name">C</stringProp><stringProp name="Header.value">${c}</stringProp></elementProp>
        </collectionProp></HeaderManager>"#;

    fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        let rows = rows.iter();
        rows.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn headers_that_a_script_did_not_touch_keep_their_variables() {
        let ((manager, id), _) = fixture::decode(XML, |d| {
            let element = d.element;
            let managers = decode(d, &[element]);
            (
                managers.into_iter().next().expect("there is one"),
                element.id,
            )
        });
        let mut changed = ChangedHeaders::default();
        let before = pairs(&[("A", "1"), ("B", "b"), ("C", "3")]);
        let after = pairs(&[("A", "1"), ("C", "3"), ("B", "2"), ("A", "1")]);
        changed.change(&manager, &before, &after);
        let given = |name: &str, value: &str| HeaderRow::Given(name.into(), value.into());
        let expected = [
            HeaderRow::Planned(0),
            HeaderRow::Planned(2),
            given("B", "2"),
            given("A", "1"),
        ];
        assert_eq!(*changed.of(id).expect("they are changed"), expected);
        assert!(changed.of(id + 1).is_none());
        changed.change(&manager, &after, &after[1..3]);
        let expected = [HeaderRow::Planned(2), given("B", "2")];
        assert_eq!(*changed.of(id).expect("they are changed"), expected);
        let unread = UnreadText {
            sampler: 3,
            place: 7,
        };
        let unread = unread.stand_in().expect("it has a number");
        let (before, after) = (
            pairs(&[("C", &unread), ("B", "2")]),
            pairs(&[("D", &unread)]),
        );
        changed.change(&manager, &before, &after);
        let expected = [HeaderRow::Renamed("D".into(), 2)];
        assert_eq!(*changed.of(id).expect("they are changed"), expected);
    }
}
