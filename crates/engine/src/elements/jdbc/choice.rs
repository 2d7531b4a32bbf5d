//! Decides whether the JDBC elements of a plan run natively. They share connections, so either all of them do
//! or none.

use std::sync::Arc;

use drumfire_elements::config::jdbc_connection;
use drumfire_elements::post::jdbc_post_processor;
use drumfire_elements::pre::jdbc_pre_processor;
use drumfire_elements::samplers::jdbc_request;
use drumfire_jmx::Value;
use drumfire_sql::DatabaseAddress;

use super::pool::{Pool, Pools};
use super::{arguments, drivers};
use crate::decode::{Decoder, DecodingContext, script_words};
use crate::resolve::Element;

/// The classes of the elements.
pub const CLASSES: &[&str] = &[
    jdbc_connection::CLASS,
    jdbc_request::CLASS,
    jdbc_pre_processor::CLASS,
    jdbc_post_processor::CLASS,
];

/// The choice for a plan.
#[derive(Default)]
struct DriverChoice {
    /// Why their Java classes run them; absent if they run natively.
    java: Option<String>,
    /// No user can hold, between its samples, a connection or lock for which another one waits.
    is_each_alone: bool,
    /// Their connections, if they run natively.
    pools: Arc<Pools>,
}

/// Why Java runs the JDBC elements of the plan; `None` if they run natively.
pub fn in_java<'u>(decoding: &'u DecodingContext<'_>) -> Option<&'u str> {
    decoding.kept.get::<DriverChoice>()?.java.as_deref()
}

/// Whether the JDBC elements of the plan run natively.
pub fn runs_here(decoding: &DecodingContext) -> bool {
    in_java(decoding).is_none()
}

/// Whether no call of a JDBC element can have to wait for another user.
pub fn is_each_alone(decoding: &DecodingContext) -> bool {
    let choice = decoding.kept.get::<DriverChoice>();
    choice.is_some_and(|choice| choice.is_each_alone)
}

/// The connections of the plan's JDBC elements.
pub fn pools(decoding: &mut DecodingContext) -> Arc<Pools> {
    decoding.kept.of::<DriverChoice>().pools.clone()
}

/// Decides by the plan's JDBC elements, and by the scripts that use their connections; makes their pools.
pub fn choose(plan: &Element, decoding: &mut DecodingContext) {
    let java = reason(plan, false, decoding);
    let mut pools = Pools::default();
    if java.is_none() {
        collect(plan, decoding, &mut pools);
    }
    let is_each_alone = java.is_some() && !holds(plan, decoding);
    *decoding.kept.of() = DriverChoice {
        java,
        is_each_alone,
        pools: Arc::new(pools),
    };
}

fn collect(element: &Element, decoding: &mut DecodingContext, pools: &mut Pools) {
    if element.class == jdbc_connection::CLASS {
        let mut d = Decoder::new(element, decoding);
        if let Some(pool) = Pool::decode(&mut d)
            && let Err(pool) = pools.add(pool)
        {
            let message = format!("JDBC data source already defined for: {}", pool.name());
            d.warn("jdbc-name-twice", message);
        }
    }
    for child in &element.children {
        collect(child, decoding, pools);
    }
}

/// `is_sampler_used` says whether a script around the element uses the samplers in its scope.
fn reason(
    element: &Element,
    is_sampler_used: bool,
    decoding: &mut DecodingContext,
) -> Option<String> {
    let mut beside = element.children.iter();
    let is_sampler_used = is_sampler_used
        || beside.any(|child| script_words::uses_sampler(&child.class, &child.props));
    let of_element = match element.class.as_str() {
        jdbc_request::CLASS if is_sampler_used => {
            Some("a script in its scope uses the sampler".to_owned())
        }
        jdbc_connection::CLASS => of_data_source(element, decoding),
        class if CLASSES.contains(&class) => of_statement(element),
        class if drumfire_elements::is_script(class) => of_script(element),
        _ => None,
    };
    of_element.or_else(|| {
        element
            .children
            .iter()
            .find_map(|child| reason(child, is_sampler_used, decoding))
    })
}

/// Whether an element may keep connections or locks from other users for longer than a call.
fn holds(element: &Element, decoding: &mut DecodingContext) -> bool {
    let is_held = match element.class.as_str() {
        jdbc_connection::CLASS => {
            let mut d = Decoder::new(element, decoding);
            let is_shared = d.text_now("poolMax") != "0";
            is_shared || d.text_now("autocommit") != "true" || locks(&d.text_now("initQuery"))
        }
        class if CLASSES.contains(&class) => {
            let text = |name: &str| element.props.str(name);
            let is_plain = matches!(
                &*text("queryType"),
                "" | "Select Statement"
                    | "Update Statement"
                    | "Prepared Select Statement"
                    | "Prepared Update Statement"
            );
            !is_plain || locks(&text("query"))
        }
        _ => of_script(element).is_some(),
    };
    is_held || element.children.iter().any(|child| holds(child, decoding))
}

/// Whether a statement may begin something that only a later one ends, such as a transaction or a lock, or may
/// wait by itself. A statement from a variable may do so.
fn locks(query: &str) -> bool {
    let query = query.trim_start().to_ascii_lowercase();
    query.starts_with("${")
        || ["begin", "start", "lock", "commit", "sleep", "wait", "call"]
            .iter()
            .any(|word| query.contains(word))
}

fn of_data_source(element: &Element, decoding: &mut DecodingContext) -> Option<String> {
    let mut d = Decoder::new(element, decoding);
    let (url, driver) = (d.text_now("dbUrl"), d.text_now("driver"));
    if DatabaseAddress::parse(&url, &driver).is_none() {
        return Some(drivers::needs_driver(&url, &driver));
    }
    let properties = d.text_now("connectionProperties");
    (!properties.is_empty()).then(|| "connection properties need the JDBC driver".to_owned())
}

fn of_statement(element: &Element) -> Option<String> {
    let props = &element.props;
    let text = |name: &str| props.str(name).into_owned();
    let kind = text("queryType");
    if kind == "Callable Statement" || kind.contains("${") {
        return Some(format!(
            "a query of the type '{kind}' needs the JDBC driver"
        ));
    }
    if !text("resultVariable").trim().is_empty() {
        return Some("a result variable holds Java objects".to_owned());
    }
    let types = text("queryArgumentsTypes");
    arguments::needs_driver(&types)
        .then(|| format!("parameters of the types '{types}' need the JDBC driver"))
}

fn of_script(element: &Element) -> Option<String> {
    let is_about_sql = element.props.iter().any(|prop| match &prop.value {
        Value::Str(text) => text.contains("DataSourceElement") || text.contains("java.sql"),
        _ => false,
    });
    is_about_sql.then(|| "a script uses the connections".to_owned())
}
