//! What can be told of an expression before it runs.

use xpath_eval::{Expr, FilterExpr, LocationPath, NodeTest, PathExpr, PrimaryExpr, Step};

use super::Namespaces;
use super::function::Function;
use crate::xpath::XPathError;

/// What JMeter puts before messages of the compilation.
const EXCEPTION: &str = "net.sf.saxon.s9api.SaxonApiException: ";

type Checked = Result<(), XPathError>;

fn refuse(message: impl Into<String>) -> Checked {
    Err(XPathError::new(message))
}

/// That all of an expression is built, and its prefixes are declared.
pub(super) fn expression(expr: &Expr, namespaces: &Namespaces) -> Checked {
    match expr {
        Expr::Or(a, b) | Expr::And(a, b) | Expr::Union(a, b) => both(a, b, namespaces),
        Expr::Equality(a, _, b) | Expr::Relational(a, _, b) => {
            if is_comparison(a) {
                return refuse("Left operand of a comparison needs parentheses");
            }
            both(a, b, namespaces)
        }
        Expr::Additive(a, _, b) => arithmetic(a, b, namespaces),
        Expr::Multiplicative(_, xpath_eval::MultiplicativeOp::Div, _) => {
            refuse("'div' is not built: decimals are not")
        }
        Expr::Multiplicative(a, _, b) => arithmetic(a, b, namespaces),
        Expr::Negate(a) => expression(a, namespaces),
        Expr::Path(path) => match path {
            PathExpr::Location(location) => steps(location, namespaces),
            PathExpr::Filter(filter) => primary(filter, namespaces),
            PathExpr::FilterLocation(filter, location) => {
                primary(filter, namespaces)?;
                steps(location, namespaces)
            }
        },
    }
}

fn both(a: &Expr, b: &Expr, namespaces: &Namespaces) -> Checked {
    expression(a, namespaces)?;
    expression(b, namespaces)
}

fn arithmetic(a: &Expr, b: &Expr, namespaces: &Namespaces) -> Checked {
    match is_decimal(a) || is_decimal(b) {
        true => refuse("arithmetic with decimals is not built"),
        false => both(a, b, namespaces),
    }
}

fn is_comparison(expr: &Expr) -> bool {
    matches!(expr, Expr::Equality(..) | Expr::Relational(..))
}

/// The operand's own value, without parentheses and signs around it.
fn primary_of(expr: &Expr) -> Option<&PrimaryExpr> {
    match expr {
        Expr::Negate(inner) => primary_of(inner),
        Expr::Path(PathExpr::Filter(FilterExpr {
            primary: PrimaryExpr::Parenthesized(inner),
            ..
        })) => primary_of(inner),
        Expr::Path(PathExpr::Filter(filter)) => Some(&filter.primary),
        _ => None,
    }
}

fn is_decimal(expr: &Expr) -> bool {
    matches!(primary_of(expr), Some(PrimaryExpr::Number(number)) if number.fract() != 0.0)
}

fn primary(filter: &FilterExpr, namespaces: &Namespaces) -> Checked {
    match &filter.primary {
        PrimaryExpr::Variable(name) => {
            return refuse(format!(
                "{EXCEPTION}Undeclared variable in XPath expression: ${}",
                name.local
            ));
        }
        PrimaryExpr::Parenthesized(inner) => expression(inner, namespaces)?,
        PrimaryExpr::Literal(_) | PrimaryExpr::Number(_) => {}
        PrimaryExpr::Function(call) => {
            let name = match &call.name.prefix {
                None => call.name.local.clone(),
                Some(prefix) => format!("{prefix}:{}", call.name.local),
            };
            if Function::find(&name, call.args.len()).is_none() {
                return refuse(format!(
                    "the function {name} with {} arguments is unknown or not built",
                    call.args.len()
                ));
            }
            for argument in &call.args {
                expression(argument, namespaces)?;
            }
        }
    }
    predicates(&filter.predicates, namespaces)
}

fn predicates(predicates: &[Expr], namespaces: &Namespaces) -> Checked {
    predicates
        .iter()
        .try_for_each(|predicate| expression(predicate, namespaces))
}

fn steps(location: &LocationPath, namespaces: &Namespaces) -> Checked {
    for step in &location.steps {
        if let Some(prefix) = prefix(step)
            && namespaces.uri(prefix).is_none()
        {
            return refuse(format!(
                "{EXCEPTION}Namespace prefix '{prefix}' has not been declared"
            ));
        }
        if step.axis == xpath_eval::Axis::Namespace {
            return refuse("the axis 'namespace' is not built");
        }
        predicates(&step.predicates, namespaces)?;
    }
    Ok(())
}

fn prefix(step: &Step) -> Option<&str> {
    match &step.node_test {
        NodeTest::NamespaceWildcard(prefix) => Some(prefix),
        NodeTest::QName(name) => name.prefix.as_deref(),
        _ => None,
    }
}

/// Whether XPath 1.0 gives the expression the type boolean.
pub(super) fn is_boolean(expr: &Expr) -> bool {
    const FUNCTIONS: [&str; 7] = [
        "boolean",
        "not",
        "true",
        "false",
        "contains",
        "starts-with",
        "lang",
    ];
    match expr {
        Expr::Or(..) | Expr::And(..) | Expr::Equality(..) | Expr::Relational(..) => true,
        Expr::Path(PathExpr::Filter(filter)) if filter.predicates.is_empty() => {
            match &filter.primary {
                PrimaryExpr::Parenthesized(inner) => is_boolean(inner),
                PrimaryExpr::Function(call) => FUNCTIONS.contains(&call.name.local.as_str()),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The first function of an expression that XPath 1.0 has not.
pub(super) fn newer_function(expr: &Expr) -> Option<String> {
    let in_predicates = |predicates: &[Expr]| predicates.iter().find_map(newer_function);
    let in_steps = |location: &LocationPath| {
        let mut steps = location.steps.iter();
        steps.find_map(|step| in_predicates(&step.predicates))
    };
    let in_filter = |filter: &FilterExpr| {
        let own = match &filter.primary {
            PrimaryExpr::Parenthesized(inner) => newer_function(inner),
            PrimaryExpr::Function(call) => {
                let found = Function::find(&call.name.local, call.args.len());
                match found.is_some_and(Function::is_newer) {
                    true => Some(call.name.local.clone()),
                    false => in_predicates(&call.args),
                }
            }
            _ => None,
        };
        own.or_else(|| in_predicates(&filter.predicates))
    };
    match expr {
        Expr::Or(a, b) | Expr::And(a, b) | Expr::Union(a, b) => {
            newer_function(a).or_else(|| newer_function(b))
        }
        Expr::Equality(a, _, b) => newer_function(a).or_else(|| newer_function(b)),
        Expr::Relational(a, _, b) => newer_function(a).or_else(|| newer_function(b)),
        Expr::Additive(a, _, b) => newer_function(a).or_else(|| newer_function(b)),
        Expr::Multiplicative(a, _, b) => newer_function(a).or_else(|| newer_function(b)),
        Expr::Negate(inner) => newer_function(inner),
        Expr::Path(PathExpr::Location(location)) => in_steps(location),
        Expr::Path(PathExpr::Filter(filter)) => in_filter(filter),
        Expr::Path(PathExpr::FilterLocation(filter, location)) => {
            in_filter(filter).or_else(|| in_steps(location))
        }
    }
}
