//! Evaluation of paths, comparisons and arithmetic.

use std::cmp::Ordering;

use xpath_eval as axes;
use xpath_eval::{
    AdditiveOp, Axis, EqualityOp, Expr, FilterExpr, LocationPath, MultiplicativeOp, Node, NodeKind,
    NodeTest, PathExpr, PrimaryExpr, RelationalOp, Step,
};

use super::Namespaces;
use super::function::Function;
use super::item::{Atom, Item, Number, cast};
use crate::xpath::{NodeRef, XPathError};

pub(super) type Items<'t> = Vec<Item<'t>>;
pub(super) type Outcome<T> = Result<T, XPathError>;

/// Where an expression is evaluated.
#[derive(Clone)]
pub(super) struct Focus<'t> {
    pub(super) item: Item<'t>,
    pub(super) position: usize,
    pub(super) size: usize,
}

pub(super) struct Evaluation<'n> {
    namespaces: &'n Namespaces,
}

pub(super) fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(XPathError::new(message))
}

impl<'n> Evaluation<'n> {
    pub(super) fn new(namespaces: &'n Namespaces) -> Evaluation<'n> {
        Evaluation { namespaces }
    }

    pub(super) fn run<'t>(&self, expr: &Expr, root: NodeRef<'t>) -> Outcome<Items<'t>> {
        let focus = Focus {
            item: Item::Node(root),
            position: 1,
            size: 1,
        };
        self.items(expr, &focus)
    }

    pub(super) fn items<'t>(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        Ok(match expr {
            Expr::Or(a, b) => vec![Item::Bool(self.truth(a, focus)? || self.truth(b, focus)?)],
            Expr::And(a, b) => vec![Item::Bool(self.truth(a, focus)? && self.truth(b, focus)?)],
            Expr::Equality(a, op, b) => vec![Item::Bool(self.compare(a, b, focus, |order| {
                (order == Some(Ordering::Equal)) == (*op == EqualityOp::Eq)
            })?)],
            Expr::Relational(a, op, b) => {
                vec![Item::Bool(self.compare(a, b, focus, |order| match op {
                    RelationalOp::Lt => order == Some(Ordering::Less),
                    RelationalOp::Gt => order == Some(Ordering::Greater),
                    RelationalOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    RelationalOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                })?)]
            }
            Expr::Additive(a, op, b) => match op {
                AdditiveOp::Add => self.arithmetic(a, b, focus, "+")?,
                AdditiveOp::Sub => self.arithmetic(a, b, focus, "-")?,
            },
            Expr::Multiplicative(a, op, b) => match op {
                MultiplicativeOp::Mul => self.arithmetic(a, b, focus, "*")?,
                MultiplicativeOp::Div => self.arithmetic(a, b, focus, "div")?,
                MultiplicativeOp::Mod => self.arithmetic(a, b, focus, "mod")?,
            },
            Expr::Negate(inner) => {
                let operand = self.operand(inner, focus, "first operand of '-'")?;
                operand.map_or_else(Vec::new, |number| {
                    vec![Item::from(match number {
                        Number::Whole(number) => Number::Whole(-number),
                        Number::Decimal(number) => Number::Decimal(-number),
                        Number::Double(number) => Number::Double(-number),
                    })]
                })
            }
            Expr::Union(a, b) => {
                let mut nodes = self.nodes(a, focus)?;
                nodes.extend(self.nodes(b, focus)?);
                in_order(nodes)
            }
            Expr::Path(PathExpr::Location(path)) => {
                let Item::Node(node) = &focus.item else {
                    return fail("The context item for a path is not a node");
                };
                self.walk(path, vec![*node])?
            }
            Expr::Path(PathExpr::Filter(filter)) => self.filter(filter, focus)?,
            Expr::Path(PathExpr::FilterLocation(filter, path)) => {
                let start = as_nodes(self.filter(filter, focus)?)?;
                self.walk(path, start)?
            }
        })
    }

    fn filter<'t>(&self, filter: &FilterExpr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        let mut items = match &filter.primary {
            PrimaryExpr::Variable(name) => {
                return fail(format!("Undeclared variable: ${}", name.local));
            }
            PrimaryExpr::Parenthesized(inner) => self.items(inner, focus)?,
            PrimaryExpr::Literal(text) => vec![Item::Text(text.clone())],
            PrimaryExpr::Number(number) if number.fract() == 0.0 => {
                vec![Item::Whole(*number as i64)]
            }
            PrimaryExpr::Number(number) => vec![Item::Decimal(*number)],
            PrimaryExpr::Function(call) => {
                let name = &call.name.local;
                match Function::find(name, call.args.len()) {
                    Some(function) => self.call(function, &call.args, focus)?,
                    None => return fail(format!("the function {name} is not built")),
                }
            }
        };
        for predicate in &filter.predicates {
            items = self.keep(items, predicate)?;
        }
        Ok(items)
    }

    fn walk<'t>(&self, path: &LocationPath, start: Vec<NodeRef<'t>>) -> Outcome<Items<'t>> {
        let mut nodes = start;
        if path.is_absolute {
            for node in &mut nodes {
                while let Some(parent) = node.parent() {
                    *node = parent;
                }
            }
        }
        let mut items = in_order(nodes);
        for step in &path.steps {
            let mut found = Vec::new();
            for node in as_nodes(items)? {
                let mut reached: Items<'t> =
                    self.axis(step, node).into_iter().map(Item::Node).collect();
                for predicate in &step.predicates {
                    reached = self.keep(reached, predicate)?;
                }
                found.extend(as_nodes(reached)?);
            }
            items = in_order(found);
        }
        Ok(items)
    }

    /// Nodes of an axis that pass the node test, the nearest first.
    fn axis<'t>(&self, step: &Step, node: NodeRef<'t>) -> Vec<NodeRef<'t>> {
        let passes = |found: &NodeRef<'t>| self.passes(step, *found);
        match step.axis {
            Axis::Child => axes::child(node).filter(passes).collect(),
            Axis::Descendant => axes::descendant(node).filter(passes).collect(),
            Axis::DescendantOrSelf => axes::descendant_or_self(node).filter(passes).collect(),
            Axis::Parent => axes::parent(node).filter(passes).collect(),
            Axis::Ancestor => axes::ancestor(node).filter(passes).collect(),
            Axis::AncestorOrSelf => axes::ancestor_or_self(node).filter(passes).collect(),
            Axis::FollowingSibling => axes::following_sibling(node).filter(passes).collect(),
            Axis::PrecedingSibling => axes::preceding_sibling(node).filter(passes).collect(),
            Axis::Following => axes::following(node).filter(passes).collect(),
            Axis::Preceding => axes::preceding(node).filter(passes).collect(),
            Axis::Attribute => axes::attribute(node).filter(passes).collect(),
            Axis::Namespace => Vec::new(),
            Axis::SelfAxis => axes::self_axis(node).filter(passes).collect(),
        }
    }

    fn passes(&self, step: &Step, node: NodeRef<'_>) -> bool {
        let principal = match step.axis {
            Axis::Attribute => NodeKind::Attribute,
            _ => NodeKind::Element,
        };
        let kind = node.kind();
        match &step.node_test {
            NodeTest::Node => true,
            NodeTest::Text => kind == NodeKind::Text,
            NodeTest::Comment => kind == NodeKind::Comment,
            NodeTest::ProcessingInstruction(target) => {
                let name = || node.expanded_name().map(|name| name.local_name);
                kind == NodeKind::ProcessingInstruction
                    && target
                        .as_ref()
                        .is_none_or(|target| name().as_ref() == Some(target))
            }
            NodeTest::AnyName => kind == principal,
            NodeTest::NamespaceWildcard(prefix) => {
                let uri = node.expanded_name().and_then(|name| name.namespace_uri);
                kind == principal && uri.as_deref() == self.namespaces.uri(prefix)
            }
            NodeTest::QName(name) => {
                let uri = match &name.prefix {
                    Some(prefix) => self.namespaces.uri(prefix),
                    None if kind == NodeKind::Element => self.namespaces.uri(""),
                    None => None,
                };
                kind == principal
                    && node.has_expanded_name(uri.filter(|uri| !uri.is_empty()), &name.local)
            }
        }
    }

    /// The items for which a predicate holds.
    fn keep<'t>(&self, items: Items<'t>, predicate: &Expr) -> Outcome<Items<'t>> {
        let size = items.len();
        let mut kept = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let focus = Focus {
                item,
                position: index + 1,
                size,
            };
            let value = self.items(predicate, &focus)?;
            let holds = match &value[..] {
                [Item::Whole(number)] => *number == focus.position as i64,
                [Item::Decimal(number) | Item::Double(number)] => *number == focus.position as f64,
                value => truth(value)?,
            };
            if holds {
                kept.push(focus.item);
            }
        }
        Ok(kept)
    }

    pub(super) fn truth(&self, expr: &Expr, focus: &Focus<'_>) -> Outcome<bool> {
        truth(&self.items(expr, focus)?)
    }

    pub(super) fn nodes<'t>(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Vec<NodeRef<'t>>> {
        as_nodes(self.items(expr, focus)?)
    }

    /// Whether any pair of items compares so.
    fn compare(
        &self,
        a: &Expr,
        b: &Expr,
        focus: &Focus<'_>,
        holds: impl Fn(Option<Ordering>) -> bool,
    ) -> Outcome<bool> {
        let atoms = |items: Items<'_>| -> Vec<Atom> { items.iter().map(Item::atom).collect() };
        let (a, b) = (atoms(self.items(a, focus)?), atoms(self.items(b, focus)?));
        for one in &a {
            for other in &b {
                if holds(order(one, other)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn operand(&self, expr: &Expr, focus: &Focus<'_>, place: &str) -> Outcome<Option<Number>> {
        let items = self.items(expr, focus)?;
        let Some(item) = super::arguments::at_most_one(&items, place, false)? else {
            return Ok(None);
        };
        match item.atom() {
            Atom::Untyped(text) => Ok(Some(Number::Double(cast(&text)?))),
            Atom::Number(number) => Ok(Some(number)),
            other => fail(format!(
                "Arithmetic operator is not defined for {}",
                other.type_name()
            )),
        }
    }

    fn arithmetic<'t>(
        &self,
        a: &Expr,
        b: &Expr,
        focus: &Focus<'t>,
        operator: &str,
    ) -> Outcome<Items<'t>> {
        let a = self.operand(a, focus, &format!("first operand of '{operator}'"))?;
        let b = self.operand(b, focus, &format!("second operand of '{operator}'"))?;
        let (Some(a), Some(b)) = (a, b) else {
            return Ok(Vec::new());
        };
        if let (Number::Whole(a), Number::Whole(b)) = (a, b) {
            let result = match operator {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                _ if b == 0 => return fail("Integer division by zero"),
                _ => a.checked_rem(b),
            };
            return match result {
                Some(number) => Ok(vec![Item::Whole(number)]),
                None => fail("whole numbers beyond 64 bits are not built"),
            };
        }
        let (a, b) = (a.as_f64(), b.as_f64());
        Ok(vec![Item::Double(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            _ => a % b,
        })])
    }
}

/// The effective boolean value.
pub(super) fn truth(items: &[Item<'_>]) -> Outcome<bool> {
    match items {
        [] => Ok(false),
        [Item::Node(_), ..] => Ok(true),
        [Item::Bool(value)] => Ok(*value),
        [Item::Text(text)] => Ok(!text.is_empty()),
        [Item::Whole(number)] => Ok(*number != 0),
        [Item::Decimal(number) | Item::Double(number)] => Ok(*number != 0.0 && !number.is_nan()),
        _ => fail("Effective boolean value is not defined for a sequence of two or more items"),
    }
}

pub(super) fn order(a: &Atom, b: &Atom) -> Outcome<Option<Ordering>> {
    Ok(match (a, b) {
        (Atom::Untyped(a) | Atom::Text(a), Atom::Untyped(b) | Atom::Text(b)) => Some(a.cmp(b)),
        (Atom::Number(Number::Whole(a)), Atom::Number(Number::Whole(b))) => Some(a.cmp(b)),
        (Atom::Number(a), Atom::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        (Atom::Untyped(a), Atom::Number(b)) => cast(a)?.partial_cmp(&b.as_f64()),
        (Atom::Number(a), Atom::Untyped(b)) => a.as_f64().partial_cmp(&cast(b)?),
        (Atom::Bool(a), Atom::Bool(b)) => Some(a.cmp(b)),
        (Atom::Untyped(a), Atom::Bool(b)) => Some(cast_bool(a)?.cmp(b)),
        (Atom::Bool(a), Atom::Untyped(b)) => Some(a.cmp(&cast_bool(b)?)),
        (a, b) => {
            return fail(format!(
                "cannot compare {} to {}",
                a.type_name(),
                b.type_name()
            ));
        }
    })
}

fn cast_bool(text: &str) -> Outcome<bool> {
    match text.trim_matches([' ', '\t', '\r', '\n']) {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => fail(format!("The string \"{text}\" cannot be cast to a boolean")),
    }
}

fn as_nodes(items: Items<'_>) -> Outcome<Vec<NodeRef<'_>>> {
    let node = |item| match item {
        Item::Node(node) => Ok(node),
        other => fail(format!(
            "Required item type is node(); supplied value is {}",
            other.text()
        )),
    };
    items.into_iter().map(node).collect()
}

/// Nodes in the order of the document, each once.
fn in_order(mut nodes: Vec<NodeRef<'_>>) -> Items<'_> {
    nodes.sort_by(|a, b| a.document_order(*b));
    nodes.dedup();
    nodes.into_iter().map(Item::Node).collect()
}
