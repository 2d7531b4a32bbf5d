//! Walks the tree: `Interpreter`, strict and silent.

use std::rc::Rc;

use num_bigint::BigInt;

use super::arithmetic::{self, Host, Value};
use super::ast::{Node, Unary};
use super::{Dialect, Failure, methods};
use crate::scope::Scope;
use crate::text::Text;

pub(super) fn run(
    statements: &[Node],
    dialect: Dialect,
    scope: &mut dyn Scope,
) -> Result<String, Failure> {
    let mut interpreter = Interpreter {
        dialect,
        scope,
        locals: Vec::new(),
    };
    let result = match interpreter.statements(statements) {
        Ok(value) | Err(Stop::Return(value)) => value,
        Err(Stop::Failure(failure)) => return Err(failure),
        // The parser lets neither stand outside a loop.
        Err(Stop::Break(value) | Stop::Continue(value)) => value,
    };
    Ok(result.print()?.unwrap_or_default())
}

/// More turns of a loop are taken for one without an end, which would hold up all users of this worker.
const MAX_TURNS: u32 = 10_000_000;

fn count(turns: &mut u32) -> Result<(), Failure> {
    *turns += 1;
    match *turns > MAX_TURNS {
        true => Err(Failure::Jexl("a loop without an end".to_owned())),
        false => Ok(()),
    }
}

/// Why an evaluation ends before its end.
enum Stop<'e> {
    Return(Value<'e>),
    /// With what came before in the loop's body.
    Break(Value<'e>),
    Continue(Value<'e>),
    Failure(Failure),
}

impl From<Failure> for Stop<'_> {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

type Evaluated<'e> = Result<Value<'e>, Stop<'e>>;

struct Interpreter<'s, 'e> {
    dialect: Dialect,
    scope: &'s mut dyn Scope,
    locals: Vec<(&'e str, Value<'e>)>,
}

impl<'e> Interpreter<'_, 'e> {
    fn statements(&mut self, statements: &'e [Node]) -> Evaluated<'e> {
        let mut result = Value::Null;
        for statement in statements {
            result = self.eval(statement)?;
        }
        Ok(result)
    }

    fn eval(&mut self, node: &'e Node) -> Evaluated<'e> {
        Ok(match node {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Int(number) => Value::Int(*number),
            Node::Big(number) => Value::Big(Rc::new(number.clone())),
            Node::Double(number) => Value::Double(*number),
            Node::Text(text) => Value::Text(Text::Literal(text)),
            Node::Variable(name) => self.variable(name)?,
            Node::Unary(operator, operand) => self.unary(*operator, operand)?,
            Node::Binary(operator, left, right) => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                arithmetic::binary(*operator, &left, &right, self.dialect)?
            }
            Node::And(left, right) => {
                Value::Bool(self.eval(left)?.to_bool()? && self.eval(right)?.to_bool()?)
            }
            Node::Or(left, right) => {
                Value::Bool(self.eval(left)?.to_bool()? || self.eval(right)?.to_bool()?)
            }
            Node::Ternary(parts) => {
                let condition = self.lenient(&parts[0])?;
                let yes = !condition.is_null() && condition.to_bool()?;
                let branch = &parts[if yes { 1 } else { 2 }];
                match self.dialect {
                    Dialect::Jexl2 => self.lenient(branch)?,
                    Dialect::Jexl3 => self.eval(branch)?,
                }
            }
            Node::Elvis(value, other) => match self.lenient(value)? {
                value if !value.is_null() && value.to_bool()? => value,
                _ => self.eval(other)?,
            },
            Node::NullCoalescing(value, other) => match self.lenient(value)? {
                Value::Null => self.eval(other)?,
                value => value,
            },
            Node::Declaration(..) | Node::Assignment(..) | Node::If(..) => self.statement(node)?,
            Node::Property { object, name, safe } => self.property(object, name, *safe)?,
            Node::Call {
                object,
                method,
                args,
                safe,
            } => self.call(object, method, args, *safe)?,
            Node::Block(statements) => self.statements(statements)?,
            Node::Array(items) => {
                let items = items.iter().map(|item| self.eval(item));
                Value::List(items.collect::<Result<Rc<[_]>, _>>()?)
            }
            Node::Map(None) => Value::Map(None),
            Node::Map(Some(entry)) => {
                let entry = (self.eval(&entry.0)?, self.eval(&entry.1)?);
                Value::Map(Some(Rc::new(entry)))
            }
            Node::For(..) | Node::While(..) | Node::DoWhile(..) => self.repeat(node)?,
            Node::Break => return Err(Stop::Break(Value::Null)),
            Node::Continue => return Err(Stop::Continue(Value::Null)),
            Node::Return(value) => return Err(Stop::Return(self.eval(value)?)),
        })
    }

    /// A loop: what its body gave last.
    fn repeat(&mut self, node: &'e Node) -> Evaluated<'e> {
        let mut result = Value::Null;
        let mut turns = 0;
        match node {
            Node::For(name, values, body) => {
                for value in arithmetic::items_of(&self.eval(values)?)? {
                    self.assign(name, value);
                    if self.turn(body, &mut result)? {
                        break;
                    }
                }
            }
            Node::While(condition, body) => {
                while self.eval(condition)?.to_bool()? && !self.turn(body, &mut result)? {
                    count(&mut turns)?;
                }
            }
            Node::DoWhile(condition, body) => {
                while !self.turn(body, &mut result)? && self.eval(condition)?.to_bool()? {
                    count(&mut turns)?;
                }
            }
            _ => {}
        }
        Ok(result)
    }

    /// Whether the body ends the loop.
    fn turn(&mut self, body: &'e Node, result: &mut Value<'e>) -> Result<bool, Stop<'e>> {
        match self.eval(body) {
            Ok(value) => *result = value,
            Err(Stop::Continue(_)) => {}
            Err(Stop::Break(_)) => return Ok(true),
            Err(stop) => return Err(stop),
        }
        Ok(false)
    }

    fn statement(&mut self, node: &'e Node) -> Evaluated<'e> {
        Ok(match node {
            Node::Declaration(name, value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => Value::Null,
                };
                self.assign(name, value)
            }
            Node::Assignment(name, operator, value) => {
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
            Node::If(branches, otherwise) => {
                for (condition, branch) in branches {
                    if self.eval(condition)?.to_bool()? {
                        return self.eval(branch);
                    }
                }
                match otherwise {
                    Some(branch) => self.eval(branch)?,
                    None => Value::Null,
                }
            }
            other => self.eval(other)?,
        })
    }

    /// The operand before `?`, `?:` or `??`, which may be undefined.
    fn lenient(&mut self, node: &'e Node) -> Evaluated<'e> {
        match (node, self.eval(node)) {
            (Node::Variable(_) | Node::Property { .. }, Err(Stop::Failure(Failure::Jexl(_)))) => {
                Ok(Value::Null)
            }
            (_, Err(Stop::Failure(Failure::Jexl(message))))
                if message == "null operand" && self.dialect == Dialect::Jexl3 =>
            {
                Ok(Value::Null)
            }
            (_, evaluated) => evaluated,
        }
    }

    fn assign(&mut self, name: &'e str, value: Value<'e>) -> Value<'e> {
        match self.locals.iter_mut().find(|(local, _)| *local == name) {
            Some((_, place)) => *place = value.clone(),
            None => self.locals.push((name, value.clone())),
        }
        value
    }

    fn variable(&mut self, name: &str) -> Result<Value<'e>, Failure> {
        if let Some((_, value)) = self.locals.iter().find(|(local, _)| *local == name) {
            return Ok(value.clone());
        }
        Ok(match name {
            "vars" => Value::Host(Host::Vars),
            "props" => Value::Host(Host::Props),
            "log" => Value::Host(Host::Log),
            "ctx" => Value::Host(Host::Context),
            "NaN" if self.dialect == Dialect::Jexl3 => Value::Double(f64::NAN),
            "OUT" => Value::Host(Host::Out),
            "threadName" => Value::from(self.scope.thread_name().to_owned()),
            "sampler" if self.scope.sampler_name().is_none() => Value::Null,
            "sampler" => Value::Host(Host::Sampler),
            "sampleResult" if self.scope.previous_response().is_none() => Value::Null,
            "sampleResult" => Value::Host(Host::SampleResult),
            _ => return Err(Failure::Jexl(format!("undefined variable {name}"))),
        })
    }

    fn unary(&mut self, operator: Unary, operand: &'e Node) -> Evaluated<'e> {
        let value = match (operator, self.eval(operand)) {
            (_, evaluated) if self.dialect == Dialect::Jexl2 => {
                return Ok(unary_of_jexl2(operator, evaluated?)?);
            }
            // `empty` and `size` are content with what is undefined.
            (Unary::Empty, Err(Stop::Failure(Failure::Jexl(_)))) => return Ok(Value::Bool(true)),
            (Unary::Size, Err(Stop::Failure(Failure::Jexl(_)))) => return Ok(Value::Int(0)),
            (_, evaluated) => evaluated?,
        };
        Ok(match operator {
            Unary::Minus => arithmetic::negate(&value)?,
            Unary::Plus => arithmetic::positivize(value)?,
            Unary::Complement => Value::Int(!value.to_long()?),
            Unary::Not => Value::Bool(!value.to_bool()?),
            Unary::Empty => Value::Bool(match &value {
                Value::Null => true,
                Value::Int(number) => *number == 0,
                Value::Double(number) => number.is_nan() || *number == 0.0,
                Value::Text(text) => text.is_empty(),
                Value::Bool(_) | Value::Char(_) => false,
                Value::Big(number) => **number == BigInt::ZERO,
                Value::List(items) => items.is_empty(),
                Value::Map(entry) => entry.is_none(),
                Value::Host(_) => {
                    return Err(Failure::Unsupported("empty of an object".to_owned()).into());
                }
            }),
            Unary::Size => Value::Int(match &value {
                Value::Null => 0,
                Value::Text(text) => text.encode_utf16().count() as i64,
                Value::List(items) => items.len() as i64,
                Value::Map(entry) => i64::from(entry.is_some()),
                Value::Host(_) => {
                    return Err(Failure::Unsupported("size of an object".to_owned()).into());
                }
                _ => 0,
            }),
        })
    }

    /// The operand before a dot. JEXL 3 is "safe" by default: a member of nothing is `null`.
    fn object(&mut self, node: &'e Node, safe: bool) -> Evaluated<'e> {
        match (node, self.eval(node)) {
            (Node::Variable(_), Err(Stop::Failure(Failure::Jexl(_))))
                if safe || self.dialect == Dialect::Jexl3 =>
            {
                Ok(Value::Null)
            }
            (_, evaluated) => evaluated,
        }
    }

    /// `vars.name`, `props["name"]`.
    fn property(&mut self, object: &'e Node, name: &'e Node, safe: bool) -> Evaluated<'e> {
        let object = self.object(object, safe)?;
        let name = self.eval(name)?;
        match object {
            Value::Null => Ok(Value::Null),
            Value::List(items) if self.dialect == Dialect::Jexl3 => {
                let at = match &name {
                    Value::Int(at) => usize::try_from(*at).ok(),
                    _ => None,
                };
                let item = at.and_then(|at| items.get(at)).cloned();
                item.ok_or_else(|| {
                    Failure::Unsupported("An item that is not there".to_owned()).into()
                })
            }
            Value::Map(entry) => Ok(methods::entry(entry.as_deref(), &name)?),
            Value::Host(host @ (Host::Vars | Host::Props)) => {
                let value = methods::host(host, "get", &[name], self.scope)?;
                if value.is_null() && self.dialect == Dialect::Jexl2 {
                    return Err(Failure::Jexl("unknown property".to_owned()).into());
                }
                Ok(value)
            }
            _ => Err(Failure::Unsupported("A property of an object".to_owned()).into()),
        }
    }

    fn call(
        &mut self,
        object: &'e Node,
        method: &'e str,
        args: &'e [Node],
        safe: bool,
    ) -> Evaluated<'e> {
        let object = self.object(object, safe)?;
        let args = args
            .iter()
            .map(|arg| self.eval(arg))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(match object {
            Value::Null if safe || self.dialect == Dialect::Jexl3 => Value::Null,
            Value::Null => {
                return Err(Failure::Jexl(format!("method {method} of null")).into());
            }
            Value::Host(host) => methods::host(host, method, &args, self.scope)?,
            Value::Text(text) => methods::text(&text, method, &args)?,
            Value::Map(entry) => methods::map(entry.as_deref(), method, &args)?,
            other => methods::scalar(&other, method, &args)?,
        })
    }
}

/// The operators of JEXL 2, which has no unary plus and whose `empty` and `size` are stricter.
fn unary_of_jexl2<'e>(operator: Unary, value: Value<'e>) -> Result<Value<'e>, Failure> {
    let wrong = || Failure::Jexl("unsupported type".to_owned());
    Ok(match operator {
        Unary::Minus => arithmetic::negate(&value)?,
        Unary::Plus => return Err(wrong()),
        Unary::Complement => Value::Int(!value.to_long()?),
        Unary::Not => Value::Bool(!value.to_bool()?),
        Unary::Empty => match &value {
            Value::Null | Value::Map(None) => Value::Bool(true),
            Value::List(items) => Value::Bool(items.is_empty()),
            Value::Text(text) => Value::Bool(text.is_empty()),
            _ => Value::Bool(false),
        },
        Unary::Size => match &value {
            Value::Text(text) => Value::Int(text.encode_utf16().count() as i64),
            Value::List(items) => Value::Int(items.len() as i64),
            Value::Map(entry) => Value::Int(i64::from(entry.is_some())),
            _ => return Err(wrong()),
        },
    })
}
