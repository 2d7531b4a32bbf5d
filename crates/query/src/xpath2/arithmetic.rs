//! Arithmetic operators and the types of their results (`ArithmeticExpression`, `BigDecimalValue`).

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::{BigDecimal, RoundingMode, ToPrimitive, Zero};

use super::ast::Operator;
use super::item::{Number, Outcome, fail};

/// Minimum number of decimal places of a quotient that needs them.
const QUOTIENT_SCALE: i64 = 18;

/// The result for two numbers: whole if both operands and the result are whole, a double if either
/// operand is one, otherwise a decimal.
pub(super) fn compute(a: &Number, operator: Operator, b: &Number) -> Outcome<Number> {
    if let (Number::Whole(a), Number::Whole(b)) = (a, b)
        && operator != Operator::Divide
    {
        return whole(*a, operator, *b);
    }
    match (a.exact(), b.exact()) {
        (Some(exact), Some(by)) => {
            let are_whole = matches!((a, b), (Number::Whole(_), Number::Whole(_)));
            decimal(&exact, operator, &by, are_whole)
        }
        _ => double(a.as_f64(), operator, b.as_f64()),
    }
}

fn whole(a: i64, operator: Operator, b: i64) -> Outcome<Number> {
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        _ if b == 0 => {
            return fail(match operator {
                Operator::Remainder => "Integer modulo zero",
                _ => "Integer division by zero",
            });
        }
        Operator::Remainder => Some(a.wrapping_rem(b)),
        _ => a.checked_div(b),
    };
    match result {
        Some(number) => Ok(Number::Whole(number)),
        None => beyond(),
    }
}

fn beyond<T>() -> Outcome<T> {
    fail("Drumfire does not support whole numbers beyond 64 bits")
}

fn decimal(a: &BigDecimal, operator: Operator, b: &BigDecimal, are_whole: bool) -> Outcome<Number> {
    let divides = matches!(
        operator,
        Operator::Divide | Operator::WholeDivide | Operator::Remainder
    );
    if divides && b.is_zero() {
        return fail(match operator {
            Operator::Divide if are_whole => "Integer division by zero",
            Operator::Remainder => "Decimal modulo zero",
            _ => "Decimal divide by zero",
        });
    }
    Ok(Number::Decimal(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Remainder => a % b,
        Operator::Divide => quotient(a, b),
        Operator::WholeDivide => {
            let whole = (a / b).with_scale_round(0, RoundingMode::Down).to_i64();
            return whole
                .map(|whole| Ok(Number::Whole(whole)))
                .unwrap_or_else(beyond);
        }
    }))
}

/// `BigDecimalValue#divide`: to 18 decimal places, or an operand's number of places if larger; halves
/// round towards zero.
pub(super) fn quotient(a: &BigDecimal, b: &BigDecimal) -> BigDecimal {
    let (numerator, a_scale) = a.as_bigint_and_exponent();
    let (denominator, b_scale) = b.as_bigint_and_exponent();
    let scale = QUOTIENT_SCALE.max(a_scale).max(b_scale);
    let shift = (scale - a_scale + b_scale).max(0);
    let shifted = numerator * BigInt::from(10).pow(shift as u32);
    let (mut whole, rest) = (&shifted / &denominator, &shifted % &denominator);
    if BigInt::from(rest.magnitude().clone()) * 2 > BigInt::from(denominator.magnitude().clone()) {
        let is_negative = (shifted.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
        whole += if is_negative { -1 } else { 1 };
    }
    BigDecimal::new(whole, scale)
}

fn double(a: f64, operator: Operator, b: f64) -> Outcome<Number> {
    Ok(Number::Double(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Remainder => a % b,
        Operator::WholeDivide => {
            if b == 0.0 {
                return fail("Integer division by zero");
            }
            let quotient = (a / b).trunc();
            if !quotient.is_finite() {
                return fail("First operand of idiv is NaN or infinity");
            }
            return if quotient.abs() < 9e18 {
                Ok(Number::Whole(quotient as i64))
            } else {
                beyond()
            };
        }
    }))
}

/// The number with the opposite sign.
pub(super) fn negated(number: Number) -> Number {
    match number {
        Number::Whole(number) => Number::Whole(number.wrapping_neg()),
        Number::Decimal(number) => Number::Decimal(-number),
        Number::Double(number) => Number::Double(-number),
    }
}
