//! Parses an expression by operator precedence, following the grammar at jmespath.org.

use super::lex::{JmesPathToken, tokens};
use super::{JmesPathError, function};
use crate::json::Value;
use crate::nesting::{self, Nests};

#[derive(Debug)]
pub(super) enum Expr {
    Current,
    Field(String),
    Index(i64),
    Literal(Value<'static>),
    /// Applies the right side to the result of the left one: `a.b`, `a | b`, `a[0]`.
    Then(Box<Expr>, Box<Expr>),
    /// Applies the right side to each item that `over` takes from the left one.
    Project {
        source: Box<Expr>,
        over: ProjectionItems,
        each: Box<Expr>,
    },
    List(Vec<Expr>),
    Hash(Vec<(String, Expr)>),
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Call(function::Function, Vec<Expr>),
    /// `&expression`, an argument of functions.
    Reference(Box<Expr>),
}

/// The items that a projection takes from its source.
#[derive(Debug)]
pub(super) enum ProjectionItems {
    Items,
    Values,
    Flattened,
    Filtered(Box<Expr>),
    Slice(Option<i64>, Option<i64>, i64),
}

pub(super) fn parse(text: &str) -> Result<Expr, JmesPathError> {
    let tokens = tokens(text)?;
    if !nesting::is_flat(tokens.iter().map(nests)) {
        return Err(too_deep());
    }
    let mut parser = JmesPathParser { tokens, at: 0 };
    let expression = parser.expression(0)?;
    match parser.peek() {
        JmesPathToken::End => Ok(expression),
        _ => parser.unexpected(),
    }
}

fn nests(token: &JmesPathToken) -> Nests {
    match token {
        JmesPathToken::Symbol("(" | "[" | "{" | "[?") => Nests::Opens,
        JmesPathToken::Symbol(")" | "]" | "}") => Nests::Closes,
        JmesPathToken::Symbol(",") => Nests::Separates,
        _ => Nests::No,
    }
}

fn too_deep() -> JmesPathError {
    JmesPathError::new("the expression is nested too deeply")
}

/// The binding power of a token towards its left side.
fn power(token: &JmesPathToken) -> u8 {
    let JmesPathToken::Symbol(symbol) = token else {
        return 0;
    };
    match *symbol {
        "|" => 1,
        "||" => 2,
        "&&" => 3,
        "==" | "!=" | "<" | ">" | "<=" | ">=" => 5,
        "[]" => 9,
        "*" => 20,
        "[?" => 21,
        "." => 40,
        "!" => 45,
        "{" => 50,
        "[" => 55,
        "(" => 60,
        _ => 0,
    }
}

/// Tokens with a lower binding power end a projection.
const PROJECTION_ENDS: u8 = 10;

struct JmesPathParser {
    tokens: Vec<JmesPathToken>,
    at: usize,
}

impl JmesPathParser {
    fn peek(&self) -> &JmesPathToken {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> JmesPathToken {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, symbol: &str) -> bool {
        let is_next = self.peek().is(symbol);
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Result<(), JmesPathError> {
        if self.take(symbol) {
            Ok(())
        } else {
            self.unexpected()
        }
    }

    fn unexpected<T>(&self) -> Result<T, JmesPathError> {
        Err(JmesPathError::new(format!("unexpected {:?}", self.peek())))
    }

    fn expression(&mut self, binding: u8) -> Result<Expr, JmesPathError> {
        nesting::deeper(|| {
            let mut left = self.prefix()?;
            while power(self.peek()) > binding {
                left = self.infix(left)?;
            }
            Ok(left)
        })
        .unwrap_or_else(|| Err(too_deep()))
    }

    fn prefix(&mut self) -> Result<Expr, JmesPathError> {
        let start = self.at;
        Ok(match self.next() {
            JmesPathToken::Literal(value) => Expr::Literal(value),
            JmesPathToken::Name(name) => Expr::Field(name),
            JmesPathToken::Quoted(name) if self.peek().is("(") => {
                return Err(JmesPathError::new(format!(
                    "quoted name \"{name}\" cannot be called"
                )));
            }
            JmesPathToken::Quoted(name) => Expr::Field(name),
            JmesPathToken::Symbol("@") => Expr::Current,
            JmesPathToken::Symbol("*") => self.project(Expr::Current, ProjectionItems::Values)?,
            JmesPathToken::Symbol("[]") => {
                self.project(Expr::Current, ProjectionItems::Flattened)?
            }
            JmesPathToken::Symbol("[?") => self.filter(Expr::Current)?,
            JmesPathToken::Symbol("!") => Expr::Not(Box::new(self.expression(45)?)),
            JmesPathToken::Symbol("(") => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                inner
            }
            JmesPathToken::Symbol("{") => self.hash()?,
            JmesPathToken::Symbol("[") => match self.peek() {
                JmesPathToken::Number(_) | JmesPathToken::Symbol(":") => {
                    self.index_or_slice(Expr::Current)?
                }
                JmesPathToken::Symbol("*")
                    if self
                        .tokens
                        .get(self.at + 1)
                        .is_some_and(|token| token.is("]")) =>
                {
                    self.at += 2;
                    self.project(Expr::Current, ProjectionItems::Items)?
                }
                _ => self.list()?,
            },
            _ => {
                self.at = start;
                return self.unexpected();
            }
        })
    }

    fn infix(&mut self, left: Expr) -> Result<Expr, JmesPathError> {
        let JmesPathToken::Symbol(symbol) = self.next() else {
            return self.unexpected();
        };
        let boxed = Box::new(left);
        Ok(match symbol {
            "|" => Expr::Then(boxed, Box::new(self.expression(1)?)),
            "||" => Expr::Or(boxed, Box::new(self.expression(2)?)),
            "&&" => Expr::And(boxed, Box::new(self.expression(3)?)),
            "==" | "!=" | "<" | ">" | "<=" | ">=" => {
                Expr::Compare(symbol, boxed, Box::new(self.expression(5)?))
            }
            "[]" => self.project(*boxed, ProjectionItems::Flattened)?,
            "[?" => self.filter(*boxed)?,
            "." if self.take("*") => self.project(*boxed, ProjectionItems::Values)?,
            "." => {
                let right = self.after_dot(40)?;
                Expr::Then(boxed, Box::new(right))
            }
            "[" => match self.peek() {
                JmesPathToken::Number(_) | JmesPathToken::Symbol(":") => {
                    self.index_or_slice(*boxed)?
                }
                _ => {
                    self.expect("*")?;
                    self.expect("]")?;
                    self.project(*boxed, ProjectionItems::Items)?
                }
            },
            "(" => match *boxed {
                Expr::Field(name) => self.call(&name)?,
                _ => return self.unexpected(),
            },
            _ => return self.unexpected(),
        })
    }

    fn project(&mut self, source: Expr, over: ProjectionItems) -> Result<Expr, JmesPathError> {
        let binding = match over {
            ProjectionItems::Flattened => 9,
            ProjectionItems::Filtered(_) => 21,
            _ => 20,
        };
        let each = self.each(binding)?;
        Ok(Expr::Project {
            source: Box::new(source),
            over,
            each: Box::new(each),
        })
    }

    /// Parses the expression that a projection applies to each item.
    fn each(&mut self, binding: u8) -> Result<Expr, JmesPathError> {
        if power(self.peek()) < PROJECTION_ENDS {
            return Ok(Expr::Current);
        }
        if self.take(".") {
            return self.after_dot(binding);
        }
        match self.peek() {
            JmesPathToken::Symbol("[" | "[?") => self.expression(binding),
            _ => self.unexpected(),
        }
    }

    fn after_dot(&mut self, binding: u8) -> Result<Expr, JmesPathError> {
        match self.peek() {
            JmesPathToken::Name(_) | JmesPathToken::Quoted(_) | JmesPathToken::Symbol("*") => {
                self.expression(binding)
            }
            // Even within a projection, the rest of the expression applies to the list or
            // hash.
            JmesPathToken::Symbol("[" | "{") => {
                let mut left = match self.next() {
                    JmesPathToken::Symbol("[") => self.list()?,
                    _ => self.hash()?,
                };
                while power(self.peek()) > binding {
                    left = self.infix(left)?;
                }
                Ok(left)
            }
            _ => self.unexpected(),
        }
    }

    fn filter(&mut self, source: Expr) -> Result<Expr, JmesPathError> {
        let condition = self.expression(0)?;
        self.expect("]")?;
        self.project(source, ProjectionItems::Filtered(Box::new(condition)))
    }

    /// Parses after `[`: a number, or up to three numbers separated by colons.
    fn index_or_slice(&mut self, source: Expr) -> Result<Expr, JmesPathError> {
        let mut parts = [None; 3];
        let mut colons = 0;
        loop {
            match self.next() {
                JmesPathToken::Number(number) if parts[colons].is_none() => {
                    parts[colons] = Some(number)
                }
                JmesPathToken::Symbol(":") if colons < 2 => colons += 1,
                JmesPathToken::Symbol("]") => break,
                _ => return self.unexpected(),
            }
        }
        match (colons, parts) {
            (0, [Some(index), ..]) => {
                Ok(Expr::Then(Box::new(source), Box::new(Expr::Index(index))))
            }
            (_, [_, _, Some(0)]) => Err(JmesPathError::new("the step of a slice cannot be 0")),
            (_, [from, to, step]) => {
                self.project(source, ProjectionItems::Slice(from, to, step.unwrap_or(1)))
            }
        }
    }

    fn list(&mut self) -> Result<Expr, JmesPathError> {
        let mut items = vec![self.expression(0)?];
        while self.take(",") {
            items.push(self.expression(0)?);
        }
        self.expect("]")?;
        Ok(Expr::List(items))
    }

    fn hash(&mut self) -> Result<Expr, JmesPathError> {
        let mut members = Vec::new();
        loop {
            let (JmesPathToken::Name(name) | JmesPathToken::Quoted(name)) = self.next() else {
                return self.unexpected();
            };
            self.expect(":")?;
            members.push((name, self.expression(0)?));
            if !self.take(",") {
                self.expect("}")?;
                return Ok(Expr::Hash(members));
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, JmesPathError> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(if self.take("&") {
                Expr::Reference(Box::new(self.expression(0)?))
            } else {
                self.expression(0)?
            });
        }
        let function = function::Function::find(name, arguments.len())?;
        Ok(Expr::Call(function, arguments))
    }
}
