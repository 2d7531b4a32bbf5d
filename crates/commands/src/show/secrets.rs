//! Which settings of a plan are secret: those that the facts about its element say, and those that their names say.

use drumfire_elements::pre::user_parameters;
use drumfire_elements::{Kind, Language, property};
use drumfire_jmx::{Node, Setting};
use drumfire_platform::secrets;

/// A setting as it is shown to people.
pub fn masked(node: &Node, setting: &Setting) -> String {
    let value = setting.value.as_str();
    let facts = property(&node.class, &setting.top, &setting.property);
    let shown = match facts.map(|property| property.kind) {
        Some(Kind::Secret) => secrets::secret(value),
        // The expression finds secrets in responses, and holds none.
        Some(Kind::Code(language)) if !holds_data(language) => secrets::addresses(value),
        _ if setting.top == user_parameters::USER_VALUES.name => {
            secrets::shown(&user_parameter(node, setting), value)
        }
        Some(Kind::Rows(columns)) => {
            let column = last_index(&setting.path).and_then(|index| columns.get(index));
            secrets::shown(column.copied().unwrap_or_default(), value)
        }
        _ => secrets::shown(&setting.path, value),
    };
    shown.into_owned()
}

/// Whether a text in this language is a document that is sent.
fn holds_data(language: Language) -> bool {
    use Language as L;
    matches!(language, L::GraphQl | L::Json | L::Sql | L::Xml)
}

/// The name of the User Parameter that a value is for.
fn user_parameter(node: &Node, setting: &Setting) -> String {
    let names = node.props.list(user_parameters::NAMES.name);
    let name = last_index(&setting.path).and_then(|index| names.get(index));
    name.map(|name| name.value.as_str().into_owned())
        .unwrap_or_default()
}

/// The place in a list with which a path ends, from 0.
fn last_index(path: &str) -> Option<usize> {
    let number = path.strip_suffix(']')?.rsplit('[').next()?;
    number.parse::<usize>().ok()?.checked_sub(1)
}
