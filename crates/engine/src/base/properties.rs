//! Properties in the form in which the results crate asks for them.

use drumfire_expr::Properties;

/// Looks a property up by its name.
pub fn lookup(properties: &Properties) -> impl Fn(&str) -> Option<String> + use<> {
    let properties = properties.clone();
    move |name| properties.get(name).map(|value| value.to_string())
}
