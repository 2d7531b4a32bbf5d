//! Evaluates paths, comparisons and expressions that bind variables.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;

use xpath_eval::Node;

use super::arguments::at_most_one;
use super::arithmetic::{compute, negated};
use super::ast::{
    AtomicType, AxisStep, ComparisonOperator, Expr, Literal, NodeComparison, Operator,
};
use super::cast::{are_of, cast as cast_atom};
use super::compare::{order, truth};
use super::item::{AtomicValue, Item, Items, Number, Outcome, cast, fail};
use super::steps::{along, along_all};
use crate::xpath::NodeRef;

/// Limit of the numbers in a range.
const MAX_RANGE: i64 = 10_000_000;

/// The context in which an expression is evaluated.
#[derive(Clone)]
pub(super) struct Focus<'t> {
    pub(super) item: Item<'t>,
    pub(super) position: usize,
    pub(super) size: usize,
}

/// An evaluation and its bound variables.
#[derive(Default)]
pub(super) struct Evaluation<'t> {
    variables: RefCell<Vec<Items<'t>>>,
}

impl<'t> Evaluation<'t> {
    pub(super) fn run(&self, expr: &Expr, root: NodeRef<'t>) -> Outcome<Items<'t>> {
        let focus = Focus {
            item: Item::Node(root),
            position: 1,
            size: 1,
        };
        self.items(expr, &focus)
    }

    pub(super) fn items(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        Ok(match expr {
            Expr::Literal(literal) => vec![item_of(literal)],
            Expr::Variable(depth) => self.variables.borrow()[*depth].clone(),
            Expr::Context => vec![focus.item.clone()],
            Expr::Sequence(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    items.extend(self.items(part, focus)?);
                }
                items
            }
            Expr::For(..) | Expr::Let(..) | Expr::Some(..) | Expr::Every(..) => {
                self.bound(expr, focus)?
            }
            Expr::If(parts) => {
                let [condition, then, other] = &**parts;
                let chosen = if self.truth(condition, focus)? {
                    then
                } else {
                    other
                };
                self.items(chosen, focus)?
            }
            Expr::Or(a, b) => vec![Item::Bool(self.truth(a, focus)? || self.truth(b, focus)?)],
            Expr::And(a, b) => vec![Item::Bool(self.truth(a, focus)? && self.truth(b, focus)?)],
            Expr::General(how, a, b) => vec![Item::Bool(self.any_pair(a, *how, b, focus)?)],
            Expr::Value(how, a, b) => self.one_pair(a, *how, b, focus)?,
            Expr::Node(how, a, b) => self.two_nodes(a, *how, b, focus)?,
            Expr::Concatenation(a, b) => {
                let operands = [self.items(a, focus)?, self.items(b, focus)?];
                vec![Item::Text(super::function::concat(&operands)?)]
            }
            Expr::Range(a, b) => self.range(a, b, focus)?,
            Expr::Arithmetic(operator, a, b) => self.arithmetic(a, *operator, b, focus)?,
            Expr::Negate(inner) => {
                let operand = self.operand(inner, focus, "first operand of '-'")?;
                operand
                    .into_iter()
                    .map(|number| Item::from(negated(number)))
                    .collect()
            }
            Expr::Plus(inner) => {
                let operand = self.operand(inner, focus, "first operand of '+'")?;
                operand.into_iter().map(Item::from).collect()
            }
            Expr::InstanceOf(inner, wanted) => {
                vec![Item::Bool(are_of(&self.items(inner, focus)?, wanted))]
            }
            Expr::TreatAs(inner, wanted) => {
                let items = self.items(inner, focus)?;
                if !are_of(&items, wanted) {
                    return fail(format!(
                        "The required item type of the value in 'treat as' expression is {}",
                        wanted.text
                    ));
                }
                items
            }
            Expr::Cast(inner, to, optional) => self.cast(inner, *to, *optional, focus)?,
            Expr::Castable(inner, to, optional) => {
                // An error before the cast also fails the expression.
                let items = self.items(inner, focus)?;
                vec![Item::Bool(cast_items(&items, *to, *optional).is_ok())]
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, focus)?,
            path => self.path(path, focus)?,
        })
    }

    /// Evaluates expressions that find nodes, and `!`.
    fn path(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        Ok(match expr {
            Expr::Root => vec![Item::Node(top(context_node(focus)?))],
            Expr::Union(a, b) => {
                let mut nodes = self.nodes(a, focus)?;
                nodes.extend(self.nodes(b, focus)?);
                in_order(nodes)
            }
            Expr::Intersect(a, b) | Expr::Except(a, b) => {
                let keeps_common = matches!(expr, Expr::Intersect(..));
                let (mut nodes, others) = (self.nodes(a, focus)?, self.nodes(b, focus)?);
                let others: HashSet<NodeRef<'t>> = others.into_iter().collect();
                nodes.retain(|node| others.contains(node) == keeps_common);
                in_order(nodes)
            }
            Expr::Map(a, b) => {
                let mut results = Vec::new();
                self.each(self.items(a, focus)?, |focus| {
                    results.extend(self.items(b, focus)?);
                    Ok(())
                })?;
                results
            }
            Expr::Path(a, b) => self.slash(a, b, focus)?,
            Expr::Step(step) => in_order(self.step(step, context_node(focus)?)?),
            Expr::Filter(inner, predicates) => {
                let mut items = self.items(inner, focus)?;
                for predicate in predicates {
                    items = self.keep(items, predicate)?;
                }
                items
            }
            _ => Vec::new(),
        })
    }

    fn each(
        &self,
        items: Items<'t>,
        mut visit: impl FnMut(&Focus<'t>) -> Outcome<()>,
    ) -> Outcome<()> {
        let size = items.len();
        for (index, item) in items.into_iter().enumerate() {
            visit(&Focus {
                item,
                position: index + 1,
                size,
            })?;
        }
        Ok(())
    }

    /// `a/b`: nodes in document order without duplicates, or other items in their order.
    fn slash(&self, a: &Expr, b: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        let start = as_nodes(self.items(a, focus)?)?;
        if let Expr::Step(step) = b {
            if step.predicates.is_empty() {
                return Ok(in_order(along_all(step, start)));
            }
            let mut nodes = Vec::new();
            for node in start {
                nodes.extend(self.step(step, node)?);
            }
            return Ok(in_order(nodes));
        }
        let mut results = Vec::new();
        self.each(start.into_iter().map(Item::Node).collect(), |focus| {
            results.extend(self.items(b, focus)?);
            Ok(())
        })?;
        let nodes = results
            .iter()
            .filter(|item| matches!(item, Item::Node(_)))
            .count();
        match nodes {
            0 => Ok(results),
            nodes if nodes == results.len() => Ok(in_order(as_nodes(results)?)),
            _ => fail("Cannot mix nodes and atomic values in the result of a path expression"),
        }
    }

    /// The nodes that a step finds, nearest first.
    fn step(&self, step: &AxisStep, node: NodeRef<'t>) -> Outcome<Vec<NodeRef<'t>>> {
        // `[3]` needs only three nodes.
        let most = match step.predicates.first() {
            Some(Expr::Literal(Literal::Whole(number))) => usize::try_from(*number).unwrap_or(0),
            _ => usize::MAX,
        };
        let reached = along(step, node, most);
        if step.predicates.is_empty() {
            return Ok(reached);
        }
        let mut items: Items<'t> = reached.into_iter().map(Item::Node).collect();
        for predicate in &step.predicates {
            items = self.keep(items, predicate)?;
        }
        as_nodes(items)
    }

    /// Keeps the items for which a predicate holds.
    fn keep(&self, items: Items<'t>, predicate: &Expr) -> Outcome<Items<'t>> {
        let mut matching = Vec::new();
        self.each(items, |focus| {
            let value = self.items(predicate, focus)?;
            let holds = match &value[..] {
                [Item::Whole(number)] => *number == focus.position as i64,
                [number @ (Item::Decimal(_) | Item::Double(_))] => {
                    super::item::number(&number.atom()) == focus.position as f64
                }
                value => truth(value)?,
            };
            if holds {
                matching.push(focus.item.clone());
            }
            Ok(())
        })?;
        Ok(matching)
    }

    /// Evaluates expressions that bind a variable.
    fn bound(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        let (Expr::For(of, body)
        | Expr::Let(of, body)
        | Expr::Some(of, body)
        | Expr::Every(of, body)) = expr
        else {
            return Ok(Vec::new());
        };
        let items = self.items(of, focus)?;
        let with = |value: Items<'t>| {
            self.variables.borrow_mut().push(value);
            let result = self.items(body, focus);
            self.variables.borrow_mut().pop();
            result
        };
        let mut results = Vec::new();
        match expr {
            Expr::Let(..) => return with(items),
            Expr::For(..) => {
                for item in items {
                    results.extend(with(vec![item])?);
                }
            }
            _ => {
                let decisive = matches!(expr, Expr::Some(..));
                for item in items {
                    if truth(&with(vec![item])?)? == decisive {
                        return Ok(vec![Item::Bool(decisive)]);
                    }
                }
                results.push(Item::Bool(!decisive));
            }
        }
        Ok(results)
    }

    pub(super) fn truth(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<bool> {
        truth(&self.items(expr, focus)?)
    }

    fn nodes(&self, expr: &Expr, focus: &Focus<'t>) -> Outcome<Vec<NodeRef<'t>>> {
        as_nodes(self.items(expr, focus)?)
    }

    /// Whether any pair of items satisfies the comparison.
    fn any_pair(
        &self,
        a: &Expr,
        how: ComparisonOperator,
        b: &Expr,
        focus: &Focus<'t>,
    ) -> Outcome<bool> {
        let atoms =
            |items: Items<'_>| -> Vec<AtomicValue> { items.iter().map(Item::atom).collect() };
        let (a, b) = (atoms(self.items(a, focus)?), atoms(self.items(b, focus)?));
        for one in &a {
            for other in &b {
                if holds(how, order(one, other)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The only item of an operand; a node's text is treated as a string.
    fn only(&self, expr: &Expr, place: &str, focus: &Focus<'t>) -> Outcome<Option<AtomicValue>> {
        let items = self.items(expr, focus)?;
        Ok(at_most_one(&items, place, false)?.map(Item::atom))
    }

    fn one_pair(
        &self,
        a: &Expr,
        how: ComparisonOperator,
        b: &Expr,
        focus: &Focus<'t>,
    ) -> Outcome<Items<'t>> {
        let word = how.word();
        let a = self.only(a, &format!("first operand of '{word}'"), focus)?;
        let b = self.only(b, &format!("second operand of '{word}'"), focus)?;
        let (Some(a), Some(b)) = (a, b) else {
            return Ok(Vec::new());
        };
        let are_comparable = match (&a, &b) {
            (AtomicValue::Untyped(_), other) | (other, AtomicValue::Untyped(_)) => {
                matches!(other, AtomicValue::Untyped(_) | AtomicValue::Text(_))
            }
            _ => true,
        };
        if !are_comparable {
            let (a, b) = (a.type_name(), b.type_name());
            return fail(format!("Cannot compare {a} to {b}"));
        }
        Ok(vec![Item::Bool(holds(how, order(&a, &b)?))])
    }

    fn two_nodes(
        &self,
        a: &Expr,
        how: NodeComparison,
        b: &Expr,
        focus: &Focus<'t>,
    ) -> Outcome<Items<'t>> {
        let (a, b) = (self.nodes(a, focus)?, self.nodes(b, focus)?);
        match (&a[..], &b[..]) {
            ([], _) | (_, []) => Ok(Vec::new()),
            ([a], [b]) => {
                let order = a.document_order(*b);
                Ok(vec![Item::Bool(match how {
                    NodeComparison::Is => order == Ordering::Equal,
                    NodeComparison::Before => order == Ordering::Less,
                    NodeComparison::After => order == Ordering::Greater,
                })])
            }
            _ => fail(
                "A sequence of more than one item is not allowed as an operand of a comparison of nodes",
            ),
        }
    }

    fn range(&self, a: &Expr, b: &Expr, focus: &Focus<'t>) -> Outcome<Items<'t>> {
        let bound = |expr, place| -> Outcome<Option<i64>> {
            match self.only(expr, place, focus)? {
                Some(AtomicValue::Number(Number::Whole(number))) => Ok(Some(number)),
                Some(atom @ AtomicValue::Untyped(_)) => match cast_atom(atom, AtomicType::Whole)? {
                    AtomicValue::Number(Number::Whole(number)) => Ok(Some(number)),
                    _ => Ok(None),
                },
                Some(other) => fail(format!(
                    "The required item type of the {place} is xs:integer. The supplied value is of type {}",
                    other.type_name()
                )),
                None => Ok(None),
            }
        };
        let first = bound(a, "first operand of 'to'")?;
        let last = bound(b, "second operand of 'to'")?;
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(Vec::new());
        };
        if last.saturating_sub(first) >= MAX_RANGE {
            return fail(format!(
                "Drumfire does not support ranges of more than {MAX_RANGE} numbers"
            ));
        }
        Ok((first..=last).map(Item::Whole).collect())
    }

    fn cast(
        &self,
        expr: &Expr,
        to: AtomicType,
        optional: bool,
        focus: &Focus<'t>,
    ) -> Outcome<Items<'t>> {
        cast_items(&self.items(expr, focus)?, to, optional)
    }

    fn operand(&self, expr: &Expr, focus: &Focus<'t>, place: &str) -> Outcome<Option<Number>> {
        match self.only(expr, place, focus)? {
            None => Ok(None),
            Some(AtomicValue::Untyped(text)) => Ok(Some(Number::Double(cast(&text)?))),
            Some(AtomicValue::Number(number)) => Ok(Some(number)),
            Some(other) => fail(format!(
                "Arithmetic operator is not defined for {}",
                other.type_name()
            )),
        }
    }

    fn arithmetic(
        &self,
        a: &Expr,
        operator: Operator,
        b: &Expr,
        focus: &Focus<'t>,
    ) -> Outcome<Items<'t>> {
        let word = operator.word();
        let a = self.operand(a, focus, &format!("first operand of '{word}'"))?;
        let b = self.operand(b, focus, &format!("second operand of '{word}'"))?;
        let (Some(a), Some(b)) = (a, b) else {
            return Ok(Vec::new());
        };
        Ok(vec![Item::from(compute(&a, operator, &b)?)])
    }
}

fn cast_items<'t>(items: &[Item<'t>], to: AtomicType, optional: bool) -> Outcome<Items<'t>> {
    match at_most_one(items, "value in 'cast as' expression", false)? {
        None if optional => Ok(Vec::new()),
        None => fail("An empty sequence is not allowed as the value in 'cast as' expression"),
        Some(item) => Ok(vec![Item::from(cast_atom(item.atom(), to)?)]),
    }
}

fn holds(how: ComparisonOperator, order: Option<Ordering>) -> bool {
    match how {
        ComparisonOperator::Equal => order == Some(Ordering::Equal),
        ComparisonOperator::NotEqual => order != Some(Ordering::Equal),
        ComparisonOperator::Less => order == Some(Ordering::Less),
        ComparisonOperator::Greater => order == Some(Ordering::Greater),
        ComparisonOperator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ComparisonOperator::GreaterOrEqual => {
            matches!(order, Some(Ordering::Greater | Ordering::Equal))
        }
    }
}

fn context_node<'t>(focus: &Focus<'t>) -> Outcome<NodeRef<'t>> {
    match &focus.item {
        Item::Node(node) => Ok(*node),
        _ => fail("The context item for a path is not a node"),
    }
}

fn top(mut node: NodeRef<'_>) -> NodeRef<'_> {
    while let Some(parent) = node.parent() {
        node = parent;
    }
    node
}

fn as_nodes(items: Items<'_>) -> Outcome<Vec<NodeRef<'_>>> {
    items
        .into_iter()
        .map(|item| match item {
            Item::Node(node) => Ok(node),
            other => fail(format!(
                "Required item type is node(); supplied value is {}",
                other.text()
            )),
        })
        .collect()
}

/// Sorts nodes into document order, without duplicates.
fn in_order(mut nodes: Vec<NodeRef<'_>>) -> Items<'_> {
    nodes.sort_by(|a, b| a.document_order(*b));
    nodes.dedup();
    nodes.into_iter().map(Item::Node).collect()
}

fn item_of<'t>(literal: &Literal) -> Item<'t> {
    match literal {
        Literal::Text(text) => Item::Text(text.clone()),
        Literal::Whole(number) => Item::Whole(*number),
        Literal::Decimal(number) => Item::Decimal(number.clone()),
        Literal::Double(number) => Item::Double(*number),
    }
}
