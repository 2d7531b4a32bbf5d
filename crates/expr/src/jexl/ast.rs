//! The syntax tree of an expression.

use num_bigint::BigInt;

/// An expression or statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JexlNode {
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number beyond 64 bits.
    Big(BigInt),
    Double(f64),
    Text(Box<str>),
    Variable(Box<str>),
    Unary(Unary, Box<JexlNode>),
    Binary(Binary, Box<JexlNode>, Box<JexlNode>),
    And(Box<JexlNode>, Box<JexlNode>),
    Or(Box<JexlNode>, Box<JexlNode>),
    /// `a ? b : c`
    Ternary(Box<[JexlNode; 3]>),
    /// `a ?: b`
    Elvis(Box<JexlNode>, Box<JexlNode>),
    /// `a ?? b`
    NullCoalescing(Box<JexlNode>, Box<JexlNode>),
    /// `var a` and `var a = b`
    Declaration(Box<str>, Option<Box<JexlNode>>),
    /// `a = b`, and `a += b` with an operator.
    Assignment(Box<str>, Option<Binary>, Box<JexlNode>),
    /// `a.b` and `a[b]`
    Property {
        object: Box<JexlNode>,
        name: Box<JexlNode>,
        safe: bool,
    },
    /// `a.b(…)`
    Call {
        object: Box<JexlNode>,
        method: Box<str>,
        args: Vec<JexlNode>,
        safe: bool,
    },
    /// Pairs of condition and statement, and the `else` part.
    If(Vec<(JexlNode, JexlNode)>, Option<Box<JexlNode>>),
    Block(Vec<JexlNode>),
    /// `[a, b]`
    Array(Vec<JexlNode>),
    /// `{a : b}`, with at most one entry: the order of a larger Java hash map is not
    /// reproduced.
    Map(Option<Box<(JexlNode, JexlNode)>>),
    /// `for (a : b) c`
    For(Box<str>, Box<JexlNode>, Box<JexlNode>),
    /// `while (a) b`
    While(Box<JexlNode>, Box<JexlNode>),
    /// `do b while (a)`
    DoWhile(Box<JexlNode>, Box<JexlNode>),
    Break,
    Continue,
    Return(Box<JexlNode>),
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
