//! The grammar of expressions, with JavaScript's precedences.

use std::rc::Rc;

use super::ConditionError;
use super::globals::has;
use super::lexer::{ConditionToken, JsLexer};
use super::value::JsValue;

#[derive(Debug)]
pub(super) enum JsNode {
    Literal(JsValue),
    Name(String),
    /// An unknown operand; only in a skeleton.
    Hole,
    Unary(&'static str, Box<JsNode>),
    Binary(&'static str, Box<JsNode>, Box<JsNode>),
    Conditional(Box<[JsNode; 3]>),
    Member(Box<JsNode>, Rc<str>),
    Call(Box<JsNode>, Vec<JsNode>),
}

/// Binary operators by precedence, lowest first; all of them are left-associative.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "===", "!=="],
    &["<", "<=", ">", ">="],
    &["<<", ">>", ">>>"],
    &["+", "-"],
    &["*", "/", "%"],
];
const ASSIGNMENTS: [&str; 12] = [
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=",
];
/// Limits of an expression, so that evaluation cannot exhaust the stack; an engine runs larger ones.
const MAX_NODES: usize = 400;
const MAX_DEPTH: usize = 60;

struct ConditionParser<'a> {
    lexer: JsLexer<'a>,
    /// Names of objects that only an engine knows, separated by spaces.
    objects: &'a str,
    token: ConditionToken,
    after_line_end: bool,
    nodes: usize,
    depth: usize,
}

/// Parses a text that consists of one expression or none. In a `skeleton`, the lexer's hole stands for an
/// unknown operand. `objects` are names, separated by spaces, whose values only an engine knows.
pub(super) fn parse(
    text: &str,
    skeleton: bool,
    objects: &str,
) -> Result<Option<JsNode>, ConditionError> {
    let mut parser = ConditionParser {
        lexer: JsLexer::new(text, skeleton),
        objects,
        token: ConditionToken::End,
        after_line_end: true,
        nodes: 0,
        depth: 0,
    };
    parser.advance()?;
    parser.skip_semicolons()?;
    if parser.token == ConditionToken::End {
        return Ok(None);
    }
    let node = parser.expression()?;
    if parser.is(":") && matches!(node, JsNode::Name(_) | JsNode::Hole) {
        return unsupported("a label");
    }
    if matches!(
        parser.token,
        ConditionToken::End | ConditionToken::Sign(";")
    ) {
        parser.skip_semicolons()?;
        return if parser.token == ConditionToken::End {
            Ok(Some(node))
        } else {
            unsupported("a second statement")
        };
    }
    let starts_statement = !matches!(parser.token, ConditionToken::Sign(")" | ":" | "}" | "]"));
    if parser.after_line_end && starts_statement {
        return unsupported("a second statement");
    }
    match parser.token {
        ConditionToken::Sign("=>") => unsupported("a function"),
        ConditionToken::Keyword(ref word) if matches!(word.as_str(), "in" | "instanceof") => {
            unsupported(format!("'{word}'"))
        }
        _ => syntax("missing ; before statement"),
    }
}

fn syntax<T>(message: &str) -> Result<T, ConditionError> {
    Err(ConditionError::Syntax(message.to_owned()))
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, ConditionError> {
    Err(ConditionError::Unsupported(what.into()))
}

impl ConditionParser<'_> {
    fn advance(&mut self) -> Result<ConditionToken, ConditionError> {
        let next = self.lexer.next()?;
        self.after_line_end = self.lexer.after_line_end;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token, ConditionToken::Sign(found) if found == sign)
    }

    fn accept(&mut self, sign: &str) -> Result<bool, ConditionError> {
        let is_next = self.is(sign);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn skip_semicolons(&mut self) -> Result<(), ConditionError> {
        while self.accept(";")? {}
        Ok(())
    }

    fn node(&mut self, node: JsNode) -> Result<JsNode, ConditionError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            unsupported("an expression of this length")
        } else {
            Ok(node)
        }
    }

    fn deeper(&mut self) -> Result<(), ConditionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            unsupported("an expression of this depth")
        } else {
            Ok(())
        }
    }

    fn expression(&mut self) -> Result<JsNode, ConditionError> {
        let mut left = self.assignment()?;
        while self.accept(",")? {
            let right = self.assignment()?;
            left = self.node(JsNode::Binary(",", left.into(), right.into()))?;
        }
        Ok(left)
    }

    fn assignment(&mut self) -> Result<JsNode, ConditionError> {
        self.deeper()?;
        let mut node = self.binary(0)?;
        if self.accept("?")? {
            let yes = self.assignment()?;
            if !self.accept(":")? {
                return syntax("missing : in conditional expression");
            }
            let no = self.assignment()?;
            node = self.node(JsNode::Conditional(Box::new([node, yes, no])))?;
        }
        if let ConditionToken::Sign(sign) = self.token
            && ASSIGNMENTS.contains(&sign)
        {
            return match node {
                JsNode::Name(_) | JsNode::Hole | JsNode::Member(..) => unsupported("an assignment"),
                _ => syntax("Invalid assignment left-hand side."),
            };
        }
        self.depth -= 1;
        Ok(node)
    }

    fn binary(&mut self, level: usize) -> Result<JsNode, ConditionError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let ConditionToken::Sign(sign) = self.token
            && operators.contains(&sign)
        {
            if matches!(sign, "<<" | ">>" | ">>>") {
                return unsupported(format!("'{sign}'"));
            }
            self.advance()?;
            let right = self.binary(level + 1)?;
            left = self.node(JsNode::Binary(sign, left.into(), right.into()))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<JsNode, ConditionError> {
        match self.token {
            ConditionToken::Sign(sign @ ("!" | "-" | "+" | "++" | "--")) => {
                self.deeper()?;
                self.advance()?;
                let operand = self.unary()?;
                self.depth -= 1;
                match sign {
                    "++" | "--" => change(sign, &operand),
                    _ => self.node(JsNode::Unary(sign, operand.into())),
                }
            }
            _ => {
                let operand = self.postfix()?;
                match self.token {
                    ConditionToken::Sign(sign @ ("++" | "--")) if !self.after_line_end => {
                        change(sign, &operand)
                    }
                    _ => Ok(operand),
                }
            }
        }
    }

    fn postfix(&mut self) -> Result<JsNode, ConditionError> {
        let mut node = self.primary()?;
        loop {
            if self.accept("(")? {
                let arguments = self.arguments()?;
                node = self.node(JsNode::Call(node.into(), arguments))?;
            } else if self.accept(".")? {
                node = match self.advance()? {
                    ConditionToken::Name(name) | ConditionToken::Keyword(name) => {
                        self.node(JsNode::Member(node.into(), name.into()))?
                    }
                    ConditionToken::Hole => self.node(JsNode::Hole)?,
                    ConditionToken::Sign("(" | "@" | "*") => return unsupported("E4X"),
                    _ => return syntax("missing name after . operator"),
                };
            } else if self.is("[") {
                return unsupported("an index");
            } else if self.is("..") || self.is("::") {
                return unsupported("E4X");
            } else {
                return Ok(node);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<JsNode>, ConditionError> {
        let mut arguments = Vec::new();
        if self.accept(")")? {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.assignment()?);
            let more = self.accept(",")?;
            if self.accept(")")? {
                return Ok(arguments);
            }
            if !more {
                return syntax("missing ) after argument list");
            }
        }
    }

    fn primary(&mut self) -> Result<JsNode, ConditionError> {
        if self.is("<")
            && self
                .lexer
                .rest()
                .starts_with(|c: char| c.is_alphabetic() || matches!(c, '>' | '!' | '?' | '_'))
        {
            return unsupported("an XML literal");
        }
        if self.is("/") || self.is("/=") {
            return unsupported("a regular expression");
        }
        let node = match self.advance()? {
            ConditionToken::Number(value) => JsNode::Literal(JsValue::Number(value)),
            ConditionToken::Text(text) => JsNode::Literal(JsValue::text(text)),
            ConditionToken::Name(name) => match name.as_str() {
                "true" => JsNode::Literal(JsValue::Bool(true)),
                "false" => JsNode::Literal(JsValue::Bool(false)),
                "null" => JsNode::Literal(JsValue::Null),
                _ if has(self.objects, &name) => return unsupported(name),
                _ => JsNode::Name(name),
            },
            ConditionToken::Hole => JsNode::Hole,
            ConditionToken::Keyword(word) => return unsupported(format!("'{word}'")),
            ConditionToken::Sign("(") => {
                let inner = self.expression()?;
                if !self.accept(")")? {
                    return syntax("missing ) in parenthetical");
                }
                return Ok(inner);
            }
            ConditionToken::Sign(sign @ ("{" | "[" | "~" | "@")) => {
                return unsupported(format!("'{sign}'"));
            }
            ConditionToken::Sign(_) => return syntax("syntax error"),
            ConditionToken::End => return syntax("Unexpected end of file"),
        };
        self.node(node)
    }
}

/// `++` and `--`.
fn change(sign: &str, operand: &JsNode) -> Result<JsNode, ConditionError> {
    match operand {
        JsNode::Name(_) | JsNode::Hole | JsNode::Member(..) => unsupported(format!("'{sign}'")),
        _ => syntax("Invalid increment operand."),
    }
}
