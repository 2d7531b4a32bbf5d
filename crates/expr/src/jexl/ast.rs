//! The tree of an expression.

use num_bigint::BigInt;

/// An expression or statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number beyond 64 bits.
    Big(BigInt),
    Double(f64),
    Text(Box<str>),
    Variable(Box<str>),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// `a ? b : c`
    Ternary(Box<[Node; 3]>),
    /// `a ?: b`
    Elvis(Box<Node>, Box<Node>),
    /// `a ?? b`
    NullCoalescing(Box<Node>, Box<Node>),
    /// `var a` and `var a = b`
    Declaration(Box<str>, Option<Box<Node>>),
    /// `a = b`, and `a += b` with an operator.
    Assignment(Box<str>, Option<Binary>, Box<Node>),
    /// `a.b` and `a[b]`
    Property {
        object: Box<Node>,
        name: Box<Node>,
        safe: bool,
    },
    /// `a.b(…)`
    Call {
        object: Box<Node>,
        method: Box<str>,
        args: Vec<Node>,
        safe: bool,
    },
    /// Pairs of condition and statement, and the `else` part.
    If(Vec<(Node, Node)>, Option<Box<Node>>),
    Block(Vec<Node>),
    /// `[a, b]`
    Array(Vec<Node>),
    /// `{a : b}`, of at most one entry: the order of a Java hash map is not known here.
    Map(Option<Box<(Node, Node)>>),
    /// `for (a : b) c`
    For(Box<str>, Box<Node>, Box<Node>),
    /// `while (a) b`
    While(Box<Node>, Box<Node>),
    /// `do b while (a)`
    DoWhile(Box<Node>, Box<Node>),
    Break,
    Continue,
    Return(Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Minus,
    Plus,
    Complement,
    Not,
    Empty,
    Size,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    NotMatches,
    StartsWith,
    NotStartsWith,
    EndsWith,
    NotEndsWith,
}
