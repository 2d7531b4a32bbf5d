//! The syntax tree of an expression, with names resolved.

use bigdecimal::BigDecimal;
use xpath_eval::{Axis, NodeKind};

/// An expression. Variables are numbered by their binding depth.
#[derive(Debug)]
pub(super) enum Expr {
    Literal(Literal),
    Variable(usize),
    Context,
    Root,
    /// Expressions separated by commas.
    Sequence(Vec<Expr>),
    For(Box<Expr>, Box<Expr>),
    Let(Box<Expr>, Box<Expr>),
    Some(Box<Expr>, Box<Expr>),
    Every(Box<Expr>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    /// `=`, `<`, …: true if any pair of items satisfies it.
    General(ComparisonOperator, Box<Expr>, Box<Expr>),
    /// `eq`, `lt`, …: compares single items.
    Value(ComparisonOperator, Box<Expr>, Box<Expr>),
    /// `is`, `<<` and `>>`.
    Node(NodeComparison, Box<Expr>, Box<Expr>),
    Concatenation(Box<Expr>, Box<Expr>),
    Range(Box<Expr>, Box<Expr>),
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    Union(Box<Expr>, Box<Expr>),
    Intersect(Box<Expr>, Box<Expr>),
    Except(Box<Expr>, Box<Expr>),
    InstanceOf(Box<Expr>, SequenceType),
    TreatAs(Box<Expr>, SequenceType),
    Castable(Box<Expr>, AtomicType, Optional),
    Cast(Box<Expr>, AtomicType, Optional),
    Negate(Box<Expr>),
    /// Unary `+`, which only requires a number.
    Plus(Box<Expr>),
    /// `a!b`
    Map(Box<Expr>, Box<Expr>),
    /// `a/b`
    Path(Box<Expr>, Box<Expr>),
    Step(AxisStep),
    Filter(Box<Expr>, Vec<Expr>),
    Call(Function, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(super) enum Literal {
    Text(String),
    Whole(i64),
    Decimal(BigDecimal),
    Double(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl ComparisonOperator {
    /// The corresponding operator on single items.
    pub(super) fn word(self) -> &'static str {
        match self {
            ComparisonOperator::Equal => "eq",
            ComparisonOperator::NotEqual => "ne",
            ComparisonOperator::Less => "lt",
            ComparisonOperator::LessOrEqual => "le",
            ComparisonOperator::Greater => "gt",
            ComparisonOperator::GreaterOrEqual => "ge",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum NodeComparison {
    Is,
    Before,
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    WholeDivide,
    Remainder,
}

impl Operator {
    pub(super) fn word(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "div",
            Operator::WholeDivide => "idiv",
            Operator::Remainder => "mod",
        }
    }
}

#[derive(Debug)]
pub(super) struct AxisStep {
    pub(super) axis: Axis,
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeTest {
    Any,
    /// Nodes of a kind, optionally with a name.
    Kind(NodeKind, NameTest),
    /// Nodes of the axis' principal kind: attributes or elements.
    Principal(NameTest),
    Instruction(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameTest {
    Any,
    /// Any name in a namespace.
    Namespace(String),
    /// A local name in any namespace.
    Local(String),
    /// A namespace, empty for none, and a local name.
    Name(String, String),
}

/// Whether the type includes the empty sequence.
pub(super) type Optional = bool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicType {
    AnyAtomic,
    Untyped,
    Text,
    Bool,
    Whole,
    /// A bounded integer type: its name, minimum and maximum.
    Bounded(&'static str, i64, i64),
    Decimal,
    Double,
    Numeric,
}

#[derive(Clone, Debug)]
pub(super) enum ItemType {
    Item,
    Node(NodeTest),
    Atomic(AtomicType),
}

#[derive(Clone, Debug)]
pub(super) struct SequenceType {
    /// `None` for `empty-sequence()`.
    pub(super) item: Option<ItemType>,
    pub(super) least: usize,
    pub(super) most: usize,
    /// The type as written, for messages.
    pub(super) text: String,
}

/// A function, identified by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Whether XPath 1.0 lacks it.
    pub(super) is_newer: bool,
}
