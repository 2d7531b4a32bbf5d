//! Evaluates the syntax tree like `Interpreter`, strict and silent.

use std::rc::Rc;

use num_bigint::BigInt;

use super::arithmetic::{self, Host, JexlValue};
use super::ast::{JexlNode, Unary};
use super::{Dialect, JexlError, methods};
use crate::scope::Scope;
use crate::text::Text;

pub(super) fn run(
    statements: &[JexlNode],
    dialect: Dialect,
    scope: &mut dyn Scope,
) -> Result<String, JexlError> {
    let mut interpreter = Interpreter {
        dialect,
        scope,
        locals: Vec::new(),
    };
    let result = match interpreter.statements(statements) {
        Ok(value) | Err(EarlyExit::Return(value)) => value,
        Err(EarlyExit::Failure(failure)) => return Err(failure),
        // The parser rejects both outside of a loop.
        Err(EarlyExit::Break(value) | EarlyExit::Continue(value)) => value,
    };
    Ok(result.print()?.unwrap_or_default())
}

/// Limit of a loop's iterations. More indicate an endless loop, which would block all users of this
/// worker.
const MAX_TURNS: u32 = 10_000_000;

fn count(turns: &mut u32) -> Result<(), JexlError> {
    *turns += 1;
    if *turns > MAX_TURNS {
        Err(JexlError::Jexl("an endless loop".to_owned()))
    } else {
        Ok(())
    }
}

/// Why an evaluation stops early.
enum EarlyExit<'e> {
    Return(JexlValue<'e>),
    /// Contains the value of the body so far.
    Break(JexlValue<'e>),
    Continue(JexlValue<'e>),
    Failure(JexlError),
}

impl From<JexlError> for EarlyExit<'_> {
    fn from(failure: JexlError) -> Self {
        EarlyExit::Failure(failure)
    }
}

type Evaluated<'e> = Result<JexlValue<'e>, EarlyExit<'e>>;

struct Interpreter<'s, 'e> {
    dialect: Dialect,
    scope: &'s mut dyn Scope,
    locals: Vec<(&'e str, JexlValue<'e>)>,
}

impl<'e> Interpreter<'_, 'e> {
    fn statements(&mut self, statements: &'e [JexlNode]) -> Evaluated<'e> {
        let mut result = JexlValue::Null;
        for statement in statements {
            result = self.eval(statement)?;
        }
        Ok(result)
    }

    fn eval(&mut self, node: &'e JexlNode) -> Evaluated<'e> {
        Ok(match node {
            JexlNode::Null => JexlValue::Null,
            JexlNode::Bool(value) => JexlValue::Bool(*value),
            JexlNode::Int(number) => JexlValue::Int(*number),
            JexlNode::Big(number) => JexlValue::Big(Rc::new(number.clone())),
            JexlNode::Double(number) => JexlValue::Double(*number),
            JexlNode::Text(text) => JexlValue::Text(Text::Literal(text)),
            JexlNode::Variable(name) => self.variable(name)?,
            JexlNode::Unary(operator, operand) => self.unary(*operator, operand)?,
            JexlNode::Binary(operator, left, right) => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                arithmetic::binary(*operator, &left, &right, self.dialect)?
            }
            JexlNode::And(left, right) => {
                JexlValue::Bool(self.eval(left)?.to_bool()? && self.eval(right)?.to_bool()?)
            }
            JexlNode::Or(left, right) => {
                JexlValue::Bool(self.eval(left)?.to_bool()? || self.eval(right)?.to_bool()?)
            }
            JexlNode::Ternary(parts) => {
                let condition = self.lenient(&parts[0])?;
                let yes = !condition.is_null() && condition.to_bool()?;
                let branch = &parts[if yes { 1 } else { 2 }];
                match self.dialect {
                    Dialect::Jexl2 => self.lenient(branch)?,
                    Dialect::Jexl3 => self.eval(branch)?,
                }
            }
            JexlNode::Elvis(value, other) => match self.lenient(value)? {
                value if !value.is_null() && value.to_bool()? => value,
                _ => self.eval(other)?,
            },
            JexlNode::NullCoalescing(value, other) => match self.lenient(value)? {
                JexlValue::Null => self.eval(other)?,
                value => value,
            },
            JexlNode::Declaration(..) | JexlNode::Assignment(..) | JexlNode::If(..) => {
                self.statement(node)?
            }
            JexlNode::Property { object, name, safe } => self.property(object, name, *safe)?,
            JexlNode::Call {
                object,
                method,
                args,
                safe,
            } => self.call(object, method, args, *safe)?,
            JexlNode::Block(statements) => self.statements(statements)?,
            JexlNode::Array(items) => {
                let items = items.iter().map(|item| self.eval(item));
                JexlValue::List(items.collect::<Result<Rc<[_]>, _>>()?)
            }
            JexlNode::Map(None) => JexlValue::Map(None),
            JexlNode::Map(Some(entry)) => {
                let entry = (self.eval(&entry.0)?, self.eval(&entry.1)?);
                JexlValue::Map(Some(Rc::new(entry)))
            }
            JexlNode::For(..) | JexlNode::While(..) | JexlNode::DoWhile(..) => self.repeat(node)?,
            JexlNode::Break => return Err(EarlyExit::Break(JexlValue::Null)),
            JexlNode::Continue => return Err(EarlyExit::Continue(JexlValue::Null)),
            JexlNode::Return(value) => return Err(EarlyExit::Return(self.eval(value)?)),
        })
    }

    /// Runs a loop; returns the last value of its body.
    fn repeat(&mut self, node: &'e JexlNode) -> Evaluated<'e> {
        let mut result = JexlValue::Null;
        let mut turns = 0;
        match node {
            JexlNode::For(name, values, body) => {
                for value in arithmetic::items_of(&self.eval(values)?)? {
                    self.assign(name, value);
                    if self.turn(body, &mut result)? {
                        break;
                    }
                }
            }
            JexlNode::While(condition, body) => {
                while self.eval(condition)?.to_bool()? && !self.turn(body, &mut result)? {
                    count(&mut turns)?;
                }
            }
            JexlNode::DoWhile(condition, body) => {
                while !self.turn(body, &mut result)? && self.eval(condition)?.to_bool()? {
                    count(&mut turns)?;
                }
            }
            _ => {}
        }
        Ok(result)
    }

    /// Runs the body once; returns whether it ends the loop.
    fn turn(
        &mut self,
        body: &'e JexlNode,
        result: &mut JexlValue<'e>,
    ) -> Result<bool, EarlyExit<'e>> {
        match self.eval(body) {
            Ok(value) => *result = value,
            Err(EarlyExit::Continue(_)) => {}
            Err(EarlyExit::Break(_)) => return Ok(true),
            Err(stop) => return Err(stop),
        }
        Ok(false)
    }

    fn statement(&mut self, node: &'e JexlNode) -> Evaluated<'e> {
        Ok(match node {
            JexlNode::Declaration(name, value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => JexlValue::Null,
                };
                self.assign(name, value)
            }
            JexlNode::Assignment(name, operator, value) => {
                let value = self.eval(value)?;
                let value = match operator {
                    Some(operator) => {
                        let former = self.variable(name)?;
                        arithmetic::binary(*operator, &former, &value, self.dialect)?
                    }
                    None => value,
                };
                self.assign(name, value)
            }
            JexlNode::If(branches, otherwise) => {
                for (condition, branch) in branches {
                    if self.eval(condition)?.to_bool()? {
                        return self.eval(branch);
                    }
                }
                match otherwise {
                    Some(branch) => self.eval(branch)?,
                    None => JexlValue::Null,
                }
            }
            other => self.eval(other)?,
        })
    }

    /// Evaluates the operand before `?`, `?:` or `??`, which may be undefined.
    fn lenient(&mut self, node: &'e JexlNode) -> Evaluated<'e> {
        match (node, self.eval(node)) {
            (
                JexlNode::Variable(_) | JexlNode::Property { .. },
                Err(EarlyExit::Failure(JexlError::Jexl(_))),
            ) => Ok(JexlValue::Null),
            (_, Err(EarlyExit::Failure(JexlError::Jexl(message))))
                if message == "null operand" && self.dialect == Dialect::Jexl3 =>
            {
                Ok(JexlValue::Null)
            }
            (_, evaluated) => evaluated,
        }
    }

    fn assign(&mut self, name: &'e str, value: JexlValue<'e>) -> JexlValue<'e> {
        match self.locals.iter_mut().find(|(local, _)| *local == name) {
            Some((_, place)) => *place = value.clone(),
            None => self.locals.push((name, value.clone())),
        }
        value
    }

    fn variable(&mut self, name: &str) -> Result<JexlValue<'e>, JexlError> {
        if let Some((_, value)) = self.locals.iter().find(|(local, _)| *local == name) {
            return Ok(value.clone());
        }
        Ok(match name {
            "vars" => JexlValue::Host(Host::Vars),
            "props" => JexlValue::Host(Host::Props),
            "log" => JexlValue::Host(Host::Log),
            "ctx" => JexlValue::Host(Host::Context),
            "NaN" if self.dialect == Dialect::Jexl3 => JexlValue::Double(f64::NAN),
            "OUT" => JexlValue::Host(Host::Out),
            "threadName" => JexlValue::from(self.scope.thread_name().to_owned()),
            "sampler" if !self.scope.has_sampler() => JexlValue::Null,
            "sampler" => JexlValue::Host(Host::Sampler),
            "sampleResult" if self.scope.previous_response().is_none() => JexlValue::Null,
            "sampleResult" => JexlValue::Host(Host::SampleResult),
            _ => return Err(JexlError::Jexl(format!("undefined variable {name}"))),
        })
    }

    fn unary(&mut self, operator: Unary, operand: &'e JexlNode) -> Evaluated<'e> {
        let value = match (operator, self.eval(operand)) {
            (_, evaluated) if self.dialect == Dialect::Jexl2 => {
                return Ok(unary_of_jexl2(operator, evaluated?)?);
            }
            // `empty` and `size` accept undefined operands.
            (Unary::Empty, Err(EarlyExit::Failure(JexlError::Jexl(_)))) => {
                return Ok(JexlValue::Bool(true));
            }
            (Unary::Size, Err(EarlyExit::Failure(JexlError::Jexl(_)))) => {
                return Ok(JexlValue::Int(0));
            }
            (_, evaluated) => evaluated?,
        };
        Ok(match operator {
            Unary::Minus => arithmetic::negate(&value)?,
            Unary::Plus => arithmetic::positivize(value)?,
            Unary::Complement => JexlValue::Int(!value.to_long()?),
            Unary::Not => JexlValue::Bool(!value.to_bool()?),
            Unary::Empty => JexlValue::Bool(match &value {
                JexlValue::Null => true,
                JexlValue::Int(number) => *number == 0,
                JexlValue::Double(number) => number.is_nan() || *number == 0.0,
                JexlValue::Text(text) => text.is_empty(),
                JexlValue::Bool(_) | JexlValue::Char(_) => false,
                JexlValue::Big(number) => **number == BigInt::ZERO,
                JexlValue::List(items) => items.is_empty(),
                JexlValue::Map(entry) => entry.is_none(),
                JexlValue::Host(_) => {
                    return Err(JexlError::Unsupported("empty of an object".to_owned()).into());
                }
            }),
            Unary::Size => JexlValue::Int(match &value {
                JexlValue::Null => 0,
                JexlValue::Text(text) => text.encode_utf16().count() as i64,
                JexlValue::List(items) => items.len() as i64,
                JexlValue::Map(entry) => i64::from(entry.is_some()),
                JexlValue::Host(_) => {
                    return Err(JexlError::Unsupported("size of an object".to_owned()).into());
                }
                _ => 0,
            }),
        })
    }

    /// The operand before a dot. JEXL 3 is "safe" by default: a member of `null` is `null`.
    fn object(&mut self, node: &'e JexlNode, safe: bool) -> Evaluated<'e> {
        match (node, self.eval(node)) {
            (JexlNode::Variable(_), Err(EarlyExit::Failure(JexlError::Jexl(_))))
                if safe || self.dialect == Dialect::Jexl3 =>
            {
                Ok(JexlValue::Null)
            }
            (_, evaluated) => evaluated,
        }
    }

    /// `vars.name`, `props["name"]`.
    fn property(&mut self, object: &'e JexlNode, name: &'e JexlNode, safe: bool) -> Evaluated<'e> {
        let object = self.object(object, safe)?;
        let name = self.eval(name)?;
        match object {
            JexlValue::Null => Ok(JexlValue::Null),
            JexlValue::List(items) if self.dialect == Dialect::Jexl3 => {
                let at = match &name {
                    JexlValue::Int(at) => usize::try_from(*at).ok(),
                    _ => None,
                };
                let item = at.and_then(|at| items.get(at)).cloned();
                item.ok_or_else(|| JexlError::Unsupported("A missing item".to_owned()).into())
            }
            JexlValue::Map(entry) => Ok(methods::entry(entry.as_deref(), &name)?),
            JexlValue::Host(host @ (Host::Vars | Host::Props)) => {
                let value = methods::host(host, "get", &[name], self.scope)?;
                if value.is_null() && self.dialect == Dialect::Jexl2 {
                    return Err(JexlError::Jexl("unknown property".to_owned()).into());
                }
                Ok(value)
            }
            _ => Err(JexlError::Unsupported("A property of an object".to_owned()).into()),
        }
    }

    fn call(
        &mut self,
        object: &'e JexlNode,
        method: &'e str,
        args: &'e [JexlNode],
        safe: bool,
    ) -> Evaluated<'e> {
        let object = self.object(object, safe)?;
        let args = args
            .iter()
            .map(|arg| self.eval(arg))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(match object {
            JexlValue::Null if safe || self.dialect == Dialect::Jexl3 => JexlValue::Null,
            JexlValue::Null => {
                return Err(JexlError::Jexl(format!("method {method} of null")).into());
            }
            JexlValue::Host(host) => methods::host(host, method, &args, self.scope)?,
            JexlValue::Text(text) => methods::text(&text, method, &args)?,
            JexlValue::Map(entry) => methods::map(entry.as_deref(), method, &args)?,
            other => methods::scalar(&other, method, &args)?,
        })
    }
}

/// The operators of JEXL 2, which has no unary plus and whose `empty` and `size` are stricter.
fn unary_of_jexl2<'e>(operator: Unary, value: JexlValue<'e>) -> Result<JexlValue<'e>, JexlError> {
    let wrong = || JexlError::Jexl("unsupported type".to_owned());
    Ok(match operator {
        Unary::Minus => arithmetic::negate(&value)?,
        Unary::Plus => return Err(wrong()),
        Unary::Complement => JexlValue::Int(!value.to_long()?),
        Unary::Not => JexlValue::Bool(!value.to_bool()?),
        Unary::Empty => match &value {
            JexlValue::Null | JexlValue::Map(None) => JexlValue::Bool(true),
            JexlValue::List(items) => JexlValue::Bool(items.is_empty()),
            JexlValue::Text(text) => JexlValue::Bool(text.is_empty()),
            _ => JexlValue::Bool(false),
        },
        Unary::Size => match &value {
            JexlValue::Text(text) => JexlValue::Int(text.encode_utf16().count() as i64),
            JexlValue::List(items) => JexlValue::Int(items.len() as i64),
            JexlValue::Map(entry) => JexlValue::Int(i64::from(entry.is_some())),
            _ => return Err(wrong()),
        },
    })
}
