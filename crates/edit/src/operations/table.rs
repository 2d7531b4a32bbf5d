//! Sets the rows of a table: lists of elements, lists of lists, and lists of texts.

use drumfire_elements::{Item, Kind, Property, Saved, items};
use drumfire_java::text::hash_code;
use drumfire_jmx::{
    Element, Node, Prop, Span, Tree, Value, blanks_before, content_span, line_end, set_attribute,
    write_property,
};

use super::defaults::{ElementType, new_item, new_property, typed};
use super::place::{PropertyPlace, find};
use super::set::{added_whole, field};
use crate::refused::{Refused, no_element};
use crate::tree::markup::{indented, with_line_ends};
use crate::tree::{Id, Model, Piece, Step, step};

/// The column for the name of an item whose class has no property for it.
pub const ITEM_NAME: &str = "TestElement.name";

/// The kind of a table's rows.
#[derive(Debug, Clone, Copy)]
pub enum Rows {
    /// Each row is an element.
    Items(&'static Item),
    /// Each row is a list of texts.
    Lists(&'static [&'static str]),
    /// Each row is a text.
    Texts,
}

impl Rows {
    /// The kind of the rows of a property, and the path of the list itself, which may be within an element.
    pub fn of(property: &Property) -> Option<(Rows, String)> {
        let name = property.name.to_owned();
        match property.kind {
            Kind::Items(item) => Some((Rows::Items(item), name)),
            Kind::Rows(columns) => Some((Rows::Lists(columns), name)),
            Kind::List => Some((Rows::Texts, name)),
            Kind::Element(item) => match item.fields {
                [inner] => {
                    let (rows, path) = Rows::of(inner)?;
                    Some((rows, format!("{name}/{path}")))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The columns that the form shows.
    pub fn columns(&self) -> Vec<RowColumn> {
        match self {
            Rows::Items(item) => {
                let name = is_named_only(item).then(|| RowColumn::text(ITEM_NAME, "Name"));
                // New rows get the defaults of the others.
                let shown = item.fields.iter().filter(|field| !field.label.is_empty());
                let fields = shown.map(|field| RowColumn {
                    property: field.name.to_owned(),
                    label: field.label,
                    kind: field.kind,
                    default: field.default,
                });
                name.into_iter().chain(fields).collect()
            }
            Rows::Lists(columns) => columns
                .iter()
                .enumerate()
                .map(|(at, column)| RowColumn::text(&at.to_string(), column))
                .collect(),
            Rows::Texts => vec![RowColumn::text("", "Value")],
        }
    }

    /// The cells of an item.
    pub fn cells(&self, item: &Prop) -> Vec<String> {
        match (self, &item.value) {
            (Rows::Items(_), Value::Element(element)) => {
                let columns = self.columns();
                columns
                    .iter()
                    .map(|column| match column.property.as_str() {
                        ITEM_NAME => element.name.to_string(),
                        property => element.props.str(property).into_owned(),
                    })
                    .collect()
            }
            (Rows::Lists(_), Value::List(cells)) => cells
                .iter()
                .map(|cell| cell.value.as_str().into_owned())
                .collect(),
            (_, value) => vec![value.as_str().into_owned()],
        }
    }
}

/// A column of a table.
#[derive(Debug)]
pub struct RowColumn {
    /// The property of a row.
    pub property: String,
    /// Its label.
    pub label: &'static str,
    /// The kind of its cells.
    pub kind: Kind,
    /// The value in a new row.
    pub default: &'static str,
}

impl RowColumn {
    fn text(property: &str, label: &'static str) -> RowColumn {
        RowColumn {
            property: property.to_owned(),
            label,
            kind: Kind::Text,
            default: "",
        }
    }
}

/// Cookies have their names as elements.
fn is_named_only(item: &Item) -> bool {
    item.class == items::COOKIE.class
}

/// The rows of a list.
pub fn rows(kind: Rows, list: &[Prop]) -> Vec<Vec<String>> {
    list.iter().map(|item| kind.cells(item)).collect()
}

/// Gives a table other rows. Rows that stay, and cells that stay, keep their text.
///
/// # Errors
/// The element is not there, or the property is no table.
pub fn table(
    model: &Model,
    id: Id,
    property: &str,
    wanted: &[Vec<String>],
) -> Result<Step, Refused> {
    let node = model.node(id).ok_or_else(|| no_element(id))?;
    let pieces = changed(model.tree(), node, property, wanted)
        .map_err(|refused| refused.of(id).at(property))?;
    let label = format!("Set {}", super::set::short(property));
    Ok(step(label, model.text(), pieces))
}

/// The property that a path of a request means, with the path of the list.
fn known(node: &Node, property: &str) -> Option<(&'static Property, Rows, String)> {
    let kind = ElementType::of(node)?;
    let mut properties = kind.facts.properties();
    properties.find_map(|facts| {
        let (rows, path) = Rows::of(facts)?;
        (facts.name == property || path == property).then_some((facts, rows, path))
    })
}

fn changed(
    tree: &Tree,
    node: &Node,
    property: &str,
    wanted: &[Vec<String>],
) -> Result<Vec<Piece>, Refused> {
    let text = tree.source.text.as_str();
    let described = known(node, property);
    let path = described
        .as_ref()
        .map(|(_, _, path)| path.as_str())
        .unwrap_or(property);
    match find(text, node, path) {
        PropertyPlace::Here(prop) => {
            let Value::List(list) = &prop.value else {
                return Err(Refused::unfit("the property is no table"));
            };
            let kind = described
                .as_ref()
                .map(|(_, rows, _)| *rows)
                .unwrap_or_else(|| guessed(list));
            check(kind, list, wanted)?;
            Ok(rewritten(tree, node, (prop, path), (kind, list), wanted))
        }
        _ => {
            let (facts, kind, path) =
                described.ok_or_else(|| Refused::unfit("the element has no such table"))?;
            check(kind, &[], wanted)?;
            missing(tree, node, facts, (kind, &path), wanted)
        }
    }
}

/// The kind of rows of a list without facts.
fn guessed(list: &[Prop]) -> Rows {
    match list.first().map(|item| &item.value) {
        Some(Value::List(_)) => Rows::Lists(&[]),
        _ => Rows::Texts,
    }
}

fn check(kind: Rows, list: &[Prop], wanted: &[Vec<String>]) -> Result<(), Refused> {
    if list
        .iter()
        .any(|item| matches!((kind, &item.value), (Rows::Texts, Value::Element(_))))
    {
        return Err(
            Refused::unfit("the rows of the table are elements of an unknown class")
                .hint("change its XML instead"),
        );
    }
    let columns = kind.columns().len();
    let is_fixed = !matches!(kind, Rows::Lists(_));
    match wanted
        .iter()
        .position(|row| is_fixed && row.len() != columns)
    {
        Some(at) => {
            let given = wanted[at].len();
            let message = format!(
                "row {} has {given} cells, and the table {columns} columns",
                at + 1
            );
            Err(Refused::unfit(message))
        }
        None => Ok(()),
    }
}

/// A table whose property, or the element around it, is not in the file.
fn missing(
    tree: &Tree,
    node: &Node,
    facts: &Property,
    (kind, path): (Rows, &str),
    wanted: &[Vec<String>],
) -> Result<Vec<Piece>, Refused> {
    let none = || Refused::unfit("the element has no such table");
    let list = Value::List(wanted.iter().map(|row| item(kind, row, &[])).collect());
    let text = tree.source.text.as_str();
    if let PropertyPlace::Missing { whole, props, .. } = find(text, node, path) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let prop = Prop::new(name, list);
        return Ok(added_whole(tree, (whole, props), &prop)
            .into_iter()
            .collect());
    }
    let mut prop = new_property(facts).ok_or_else(none)?;
    let (Value::Element(element), Some((_, inner))) = (&mut prop.value, path.split_once('/'))
    else {
        return Err(none());
    };
    if node.props.has(facts.name) {
        return Err(none());
    }
    element.props.put(inner, list);
    Ok(added_whole(tree, (node.whole, &node.props), &prop)
        .into_iter()
        .collect())
}

/// The pieces that change the rows of a list that is in the file.
fn rewritten(
    tree: &Tree,
    node: &Node,
    (prop, path): (&Prop, &str),
    (kind, list): (Rows, &[Prop]),
    wanted: &[Vec<String>],
) -> Vec<Piece> {
    let old = rows(kind, list);
    let same = |pairs: &mut dyn Iterator<Item = (&Vec<String>, &Vec<String>)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let head = same(&mut old.iter().zip(wanted));
    let ends = old[head..].iter().rev().zip(wanted[head..].iter().rev());
    let tail = same(&mut { ends });
    let (old_end, new_end) = (old.len() - tail, wanted.len() - tail);
    let both = (old_end - head).min(new_end - head);
    let mut pieces = Vec::new();
    for at in head..head + both {
        let row = RowPlace {
            path: format!("{path}/{at}"),
            item: &list[at],
            kind,
        };
        pieces.extend(row.set(tree, node, &old[at], &wanted[at]));
    }
    for item in &list[head + both..old_end] {
        pieces.push(super::set::taken_out(&tree.source.text, item.span));
    }
    let added: Vec<Prop> = wanted[head + both..new_end]
        .iter()
        .map(|row| item(kind, row, list))
        .collect();
    if !added.is_empty() {
        let one = |prop: &Prop, indent: &str| indented(&write_property(prop), "\n", indent);
        let xml = |indent: &str| -> String {
            let rows = added
                .iter()
                .map(|prop| format!("{indent}{}", one(prop, indent)));
            rows.collect()
        };
        pieces.push(inserted(tree, prop, list, head + both, &xml));
    }
    let text = tree.source.text.as_str();
    if wanted.is_empty()
        && !list.is_empty()
        && let Some(content) = content_span(text, prop.span)
    {
        // JMeter writes a list without rows as an empty tag.
        let is_bare = text[content.start..list[0].span.start].trim().is_empty()
            && text[list[list.len() - 1].span.end..content.end]
                .trim()
                .is_empty();
        if is_bare {
            return vec![Piece::new(content.start - 1, prop.span.end, "/>")];
        }
    }
    pieces
}

/// A row that is in the file.
struct RowPlace<'t> {
    path: String,
    item: &'t Prop,
    kind: Rows,
}

impl RowPlace<'_> {
    fn set(&self, tree: &Tree, node: &Node, old: &[String], new: &[String]) -> Vec<Piece> {
        match (self.kind, &self.item.value) {
            (Rows::Items(_), Value::Element(element)) => {
                self.set_item(tree, node, element, (old, new))
            }
            (Rows::Lists(_), Value::List(cells)) if cells.len() == new.len() => {
                let cells = cells.iter().zip(new);
                cells
                    .flat_map(|(cell, new)| text_item(tree, cell, new))
                    .collect()
            }
            (Rows::Texts, _) => {
                let new = new.first().map(String::as_str).unwrap_or("");
                text_item(tree, self.item, new)
            }
            _ => {
                let new = item(self.kind, new, std::slice::from_ref(self.item));
                vec![Piece::new(
                    self.item.span.start,
                    self.item.span.end,
                    laid(tree, &new, self.item.span),
                )]
            }
        }
    }

    fn set_item(
        &self,
        tree: &Tree,
        node: &Node,
        element: &Element,
        (old, new): (&[String], &[String]),
    ) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let columns = self.kind.columns();
        let tag = start_tag(&tree.source.text, self.item.span);
        for (at, RowColumn { property, .. }) in columns
            .iter()
            .enumerate()
            .filter(|(at, _)| old[*at] != new[*at])
        {
            let is_name = at == 0;
            // The attribute repeats the name of an argument.
            if is_name && self.item.name == old[0].as_str() {
                pieces.push(set_attribute(tree, tag, "name", &new[0]).into());
            }
            if property == ITEM_NAME {
                if element.name == old[0].as_str() {
                    pieces.push(set_attribute(tree, tag, "testname", &new[0]).into());
                }
                continue;
            }
            let path = format!("{}/{property}", self.path);
            if let Ok(splices) = field(tree, node, &path, Some(&new[at])) {
                pieces.extend(splices);
            }
        }
        pieces
    }
}

fn start_tag(text: &str, whole: Span) -> Span {
    match content_span(text, whole) {
        Some(content) => Span::new(whole.start, content.start),
        None => whole,
    }
}

/// The pieces that give an item of a list of texts another text. JMeter names such an item by the hash code of its text.
fn text_item(tree: &Tree, item: &Prop, new: &str) -> Vec<Piece> {
    let old = item.value.as_str();
    if old == new {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    if item.name == hash_code(&old).to_string().as_str() {
        let tag = start_tag(&tree.source.text, item.span);
        let name = hash_code(new).to_string();
        pieces.push(set_attribute(tree, tag, "name", &name).into());
    }
    let value = Value::Str(new.to_owned());
    pieces.extend(
        drumfire_jmx::set_value(tree, item, &value)
            .into_iter()
            .map(Piece::from),
    );
    pieces
}

/// A new row. `like` are the rows that are there.
fn item(kind: Rows, row: &[String], like: &[Prop]) -> Prop {
    let text = |text: &String| Prop::new(&hash_code(text).to_string(), text.as_str());
    match kind {
        Rows::Texts => text(row.first().unwrap_or(&String::new())),
        Rows::Lists(_) => {
            let cells: Vec<Prop> = row.iter().map(text).collect();
            // All rows of such a table have one name, or a hash code each.
            let name = like
                .first()
                .map(|like| like.name.to_string())
                .unwrap_or_default();
            Prop::new(&name, cells)
        }
        Rows::Items(facts) => {
            let mut element = new_item(facts);
            element.gui_class = "".into();
            element.test_class = "".into();
            element.name = "".into();
            let first = row.first().map(String::as_str).unwrap_or("");
            for (RowColumn { property, .. }, cell) in kind.columns().iter().zip(row) {
                let field = facts.fields.iter().find(|field| field.name == *property);
                match field {
                    // An empty flag or number is the default of a new row.
                    Some(field) if !cell.is_empty() || field.saved == Saved::StringProp => {
                        element.props.put(property, typed(field.saved, cell));
                    }
                    Some(_) => {}
                    None => element.name = first.into(),
                }
            }
            let is_named = match like {
                [] => {
                    facts.class != items::HEADER.class && facts.class != items::AUTHORIZATION.class
                }
                _ => like.iter().any(|like| named_by_first(kind, like)),
            };
            Prop::new(if is_named { first } else { "" }, element)
        }
    }
}

fn named_by_first(kind: Rows, item: &Prop) -> bool {
    let cells = kind.cells(item);
    !item.name.is_empty() && cells.first().is_some_and(|cell| item.name == cell.as_str())
}

/// A property as XML at the place of another one.
fn laid(tree: &Tree, prop: &Prop, at: Span) -> String {
    let text = tree.source.text.as_str();
    let xml = indented(&write_property(prop), "\n", blanks_before(text, at.start));
    with_line_ends(&xml, line_end(text))
}

/// The piece that inserts rows before the row with an index, or behind the last one. `xml` gets the line end and the indentation
/// that each row needs before it.
pub fn inserted(
    tree: &Tree,
    prop: &Prop,
    list: &[Prop],
    index: usize,
    xml: &dyn Fn(&str) -> String,
) -> Piece {
    let text = tree.source.text.as_str();
    let list_indent = blanks_before(text, prop.span.start);
    let indent = match list.first() {
        Some(first) => blanks_before(text, first.span.start).to_owned(),
        None if list_indent.is_empty() => String::new(),
        None => format!("{list_indent}  "),
    };
    let xml = with_line_ends(&xml(&indent), line_end(text));
    if let Some(last) = index.checked_sub(1).and_then(|last| list.get(last)) {
        return Piece::new(last.span.end, last.span.end, xml);
    }
    match content_span(text, prop.span) {
        Some(content) => {
            let has_line = text[content.start..content.end].contains('\n') || !list.is_empty();
            let xml = if has_line {
                xml
            } else {
                format!("{xml}{list_indent}")
            };
            Piece::new(content.start, content.start, xml)
        }
        None => {
            let whole = &text[prop.span.start..prop.span.end];
            let start = prop.span.start + whole.trim_end_matches("/>").trim_end().len();
            let tag = drumfire_jmx::tag_name(text, prop.span);
            Piece::new(start, prop.span.end, format!(">{xml}{list_indent}</{tag}>"))
        }
    }
}
