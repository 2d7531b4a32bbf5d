//! Filters: `[?(@.price < 10 && @.name =~ /a.*/i)]` (`FilterCompiler`, `EvaluatorFactory`).

use std::cmp::Ordering;

use super::cursor::Cursor;
use super::operand::{Literal, Operand};
use super::{Error, ErrorKind, Path, compile as path_compile, eval};
use crate::json::Value;
use crate::nesting;

/// A condition on an item.
#[derive(Debug)]
pub(super) enum Expr {
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Not(Box<Expr>),
    Compare {
        left: Literal,
        operator: Operator,
        right: Literal,
    },
    Exists {
        path: Path,
        wanted: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    GreaterOrEqual,
    LessOrEqual,
    Equal,
    SameTypeEqual,
    NotEqual,
    SameTypeNotEqual,
    Less,
    Greater,
    Regex,
    NotIn,
    In,
    Contains,
    All,
    Size,
    /// It has a syntax, but the parser never produces an operand for it.
    Exists,
    Type,
    Matches,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

impl Operator {
    fn parse(text: &str) -> Result<Operator, Error> {
        Ok(match text.to_uppercase().as_str() {
            ">=" => Operator::GreaterOrEqual,
            "<=" => Operator::LessOrEqual,
            "==" => Operator::Equal,
            "===" => Operator::SameTypeEqual,
            "!=" => Operator::NotEqual,
            "!==" => Operator::SameTypeNotEqual,
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "=~" => Operator::Regex,
            "NIN" => Operator::NotIn,
            "IN" => Operator::In,
            "CONTAINS" => Operator::Contains,
            "ALL" => Operator::All,
            "SIZE" => Operator::Size,
            "EXISTS" => Operator::Exists,
            "TYPE" => Operator::Type,
            "MATCHES" => Operator::Matches,
            "EMPTY" => Operator::Empty,
            "SUBSETOF" => Operator::SubsetOf,
            "ANYOF" => Operator::AnyOf,
            "NONEOF" => Operator::NoneOf,
            _ => {
                return Err(Error::invalid(format!(
                    "Filter operator {text} is not supported!"
                )));
            }
        })
    }
}

/// Compiles `[?(…)]`.
pub(super) fn compile(text: &str) -> Result<Expr, Error> {
    let mut cursor = Cursor::new(text);
    cursor.trim();
    cursor.at += 1;
    cursor.end -= 1;
    cursor.trim();
    cursor.at += 1;
    cursor.trim();
    if !cursor.is('(') || cursor.last() != Some(')') {
        return Err(Error::invalid(format!(
            "Filter must start with '[?(' and end with ')]'. {text}"
        )));
    }
    let mut compiler = FilterCompiler { cursor };
    let compiled = compiler.or().and_then(|expr| {
        compiler.cursor.skip_blanks();
        if compiler.cursor.in_bounds() {
            Err(Error::invalid(format!(
                "Expected end of filter expression instead of: {}",
                compiler
                    .cursor
                    .text(compiler.cursor.at, compiler.cursor.end)
            )))
        } else {
            Ok(expr)
        }
    });
    compiled.map_err(|error| match error.kind {
        ErrorKind::Failed => {
            let at = compiler.cursor.at;
            let c = compiler.cursor.current().unwrap_or(' ');
            Error::invalid(format!(
                "Failed to parse filter: {text}, error on position: {at}, char: {c}"
            ))
        }
        _ => error,
    })
}

struct FilterCompiler {
    cursor: Cursor,
}

impl FilterCompiler {
    fn or(&mut self) -> Result<Expr, Error> {
        let mut parts = vec![self.and()?];
        while self.cursor.take("||") {
            parts.push(self.and()?);
        }
        Ok(if parts.len() > 1 {
            Expr::Or(parts)
        } else {
            parts.remove(0)
        })
    }

    fn and(&mut self) -> Result<Expr, Error> {
        let mut parts = vec![self.operand_of_and()?];
        while self.cursor.take("&&") {
            parts.push(self.operand_of_and()?);
        }
        Ok(if parts.len() > 1 {
            Expr::And(parts)
        } else {
            parts.remove(0)
        })
    }

    fn operand_of_and(&mut self) -> Result<Expr, Error> {
        nesting::deeper(|| self.nested_operand())
            .unwrap_or_else(|| Err(Error::failed("java.lang.StackOverflowError")))
    }

    fn nested_operand(&mut self) -> Result<Expr, Error> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if self.cursor.current()? == '!' {
            self.cursor.at += 1;
            self.cursor.skip_blanks();
            if !matches!(self.cursor.current()?, '$' | '@') {
                return Ok(Expr::Not(Box::new(self.operand_of_and()?)));
            }
            self.cursor.at = start;
        }
        if self.cursor.current()? == '(' {
            self.cursor.at += 1;
            let inner = self.or()?;
            self.cursor.expect(')')?;
            return Ok(inner);
        }
        self.expression()
    }

    fn expression(&mut self) -> Result<Expr, Error> {
        let (left, wanted) = self.value()?;
        let start = self.cursor.at;
        let compared = self
            .operator()
            .and_then(|operator| Ok((operator, self.value()?.0)));
        match compared {
            Ok((operator, right)) => Ok(Expr::Compare {
                left,
                operator,
                right,
            }),
            Err(error) if error.kind == ErrorKind::Failed => Err(error),
            Err(_) => {
                self.cursor.at = start;
                match left {
                    Literal::Path(path) => Ok(Expr::Exists { path, wanted }),
                    _ => Err(Error::invalid("Expected path node")),
                }
            }
        }
    }

    fn operator(&mut self) -> Result<Operator, Error> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let symbol = is_symbol(self.cursor.current()?);
        while self.cursor.in_bounds() {
            let c = self.cursor.current()?;
            if if symbol { !is_symbol(c) } else { c == ' ' } {
                break;
            }
            self.cursor.at += 1;
        }
        Operator::parse(&self.cursor.text(start, self.cursor.at))
    }

    /// Parses an operand; also returns whether it has no `!` before it.
    fn value(&mut self) -> Result<(Literal, bool), Error> {
        self.cursor.skip_blanks();
        match self.cursor.current()? {
            '$' | '@' => self.path(),
            '!' => {
                self.cursor.at += 1;
                self.cursor.skip_blanks();
                match self.cursor.current()? {
                    '$' | '@' => self.path(),
                    _ => Err(Error::invalid("Unexpected character: !")),
                }
            }
            _ => Ok((self.literal()?, true)),
        }
    }

    fn literal(&mut self) -> Result<Literal, Error> {
        let start = self.cursor.at;
        match self.cursor.current()? {
            quote @ ('\'' | '"') => {
                let Some(end) = self.cursor.find_unescaped(start, quote) else {
                    return Err(Error::invalid(format!(
                        "String literal does not have matching quotes. Expected {quote} in {}",
                        self.cursor.whole()
                    )));
                };
                self.cursor.at = end + 1;
                Literal::string(&self.cursor.text(start, end + 1))
            }
            't' | 'f' => match (self.cursor.take("true"), self.cursor.take("false")) {
                (false, false) => Err(Error::invalid("Expected boolean literal")),
                (value, _) => Ok(Literal::Bool(value)),
            },
            'n' => {
                if self.cursor.take("null") {
                    Ok(Literal::Null)
                } else {
                    Err(Error::invalid("Expected <null> value"))
                }
            }
            open @ ('{' | '[') => {
                let close = if open == '{' { '}' } else { ']' };
                let Some(end) = self.cursor.matching_close(start, open, close, false)? else {
                    return Err(Error::invalid(format!(
                        "String not closed. Expected ' in {}",
                        self.cursor.whole()
                    )));
                };
                self.cursor.at = end + 1;
                Ok(Literal::json(&self.cursor.text(start, end + 1)))
            }
            '/' => self.pattern(),
            _ => {
                while self.cursor.in_bounds() && is_of_number(self.cursor.current()?) {
                    self.cursor.at += 1;
                }
                Literal::number(&self.cursor.text(start, self.cursor.at))
            }
        }
    }

    fn pattern(&mut self) -> Result<Literal, Error> {
        let start = self.cursor.at;
        let Some(close) = self.cursor.find_unescaped(start, '/') else {
            return Err(Error::invalid(format!(
                "Pattern not closed. Expected / in {}",
                self.cursor.whole()
            )));
        };
        self.cursor.at = close + 1;
        while self.cursor.in_bounds() && "dixmsuU".contains(self.cursor.current()?) {
            self.cursor.at += 1;
        }
        Literal::pattern(
            &self.cursor.text(start + 1, close),
            &self.cursor.text(close + 1, self.cursor.at),
        )
    }

    fn path(&mut self) -> Result<(Literal, bool), Error> {
        let start = self.cursor.at;
        let before = self.cursor.previous_significant(start);
        let negated = before.is_some_and(|at| self.cursor.char_at(at).is_ok_and(|c| c == '!'));
        self.cursor.at += 1;
        while self.cursor.in_bounds() {
            if self.cursor.is('[') {
                let Some(close) = self
                    .cursor
                    .matching_close(self.cursor.at, '[', ']', false)?
                else {
                    return Err(Error::invalid(format!(
                        "Square brackets does not match in filter {}",
                        self.cursor.whole()
                    )));
                };
                self.cursor.at = close + 1;
            }
            let c = self.cursor.current()?;
            let ends = c == ')' && !self.closes_function(start);
            if !self.cursor.in_bounds() || is_symbol(c) || c == ' ' || ends {
                break;
            }
            self.cursor.at += 1;
        }
        let path = path_compile::compile(&self.cursor.text(start, self.cursor.at))?;
        Ok((Literal::Path(path), !negated))
    }

    /// Whether the `)` at this position closes a parameterless function in the path that began at `start`.
    fn closes_function(&self, start: usize) -> bool {
        let Some(open) = self.cursor.previous_significant(self.cursor.at) else {
            return false;
        };
        self.cursor.char_at(open).is_ok_and(|c| c == '(')
            && (start + 1..open).any(|at| self.cursor.char_at(at).is_ok_and(|c| c == '.'))
    }
}

fn is_symbol(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '~' | '!')
}

fn is_of_number(c: char) -> bool {
    c.is_numeric() || matches!(c, '-' | '.' | 'E' | 'e')
}

impl Expr {
    /// Whether the item satisfies the condition.
    ///
    /// # Errors
    /// `Failed` aborts the whole evaluation; other errors mean that the condition is not satisfied.
    pub(super) fn applies<'j, 't>(
        &'j self,
        item: &'j Value<'t>,
        root: &'j Value<'t>,
    ) -> Result<bool, Error> {
        match self {
            Expr::Or(parts) => {
                for part in parts {
                    if part.applies(item, root)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::And(parts) => {
                for part in parts {
                    if !part.applies(item, root)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Not(inner) => Ok(!inner.applies(item, root)?),
            Expr::Exists { path, wanted } => {
                let exists = match eval::evaluate(path, item, root, true) {
                    Ok(_) => true,
                    Err(Error {
                        kind: ErrorKind::NotFound,
                        ..
                    }) => false,
                    Err(error) => return Err(error),
                };
                Ok(exists == *wanted)
            }
            Expr::Compare {
                left,
                operator,
                right,
            } => compare(
                &left.value(item, root)?,
                *operator,
                &right.value(item, root)?,
            ),
        }
    }
}

fn compare(
    left: &Operand<'_, '_>,
    operator: Operator,
    right: &Operand<'_, '_>,
) -> Result<bool, Error> {
    let ordering = || left.order(right);
    Ok(match operator {
        Operator::Equal => left.equals(right),
        Operator::NotEqual => !left.equals(right),
        Operator::SameTypeEqual => left.same_type(right) && left.equals(right),
        Operator::SameTypeNotEqual => !(left.same_type(right) && left.equals(right)),
        Operator::Less => ordering() == Some(Ordering::Less),
        Operator::LessOrEqual => ordering().is_some_and(Ordering::is_le),
        Operator::Greater => ordering() == Some(Ordering::Greater),
        Operator::GreaterOrEqual => ordering().is_some_and(Ordering::is_ge),
        Operator::Regex => left.matches(right)?,
        Operator::In => right.list()?.is_some_and(|list| left.is_in(&list)),
        Operator::NotIn => !right.list()?.is_some_and(|list| left.is_in(&list)),
        Operator::Contains => left.contains(right)?,
        Operator::Size => left.has_size(right),
        Operator::Empty => left.is_empty(right)?,
        Operator::SubsetOf | Operator::AnyOf | Operator::NoneOf => {
            let Some(right) = right.list()? else {
                return Ok(false);
            };
            let Some(left) = left.list()? else {
                return Ok(false);
            };
            match operator {
                Operator::SubsetOf => left.iter().all(|item| item.is_in(&right)),
                Operator::AnyOf => left.iter().any(|item| item.is_in(&right)),
                _ => !left.iter().any(|item| item.is_in(&right)),
            }
        }
        Operator::All => return Err(Error::invalid("Expected value list node")),
        Operator::Type => return Err(Error::invalid("Expected class node")),
        Operator::Matches => return Err(Error::invalid("Expected predicate node")),
        Operator::Exists => match (left.as_bool(), right.as_bool()) {
            (Some(left), Some(right)) => left == right,
            (None, None) => return Err(Error::failed("Failed to evaluate exists expression")),
            _ => return Err(Error::invalid("Expected boolean node")),
        },
    })
}
