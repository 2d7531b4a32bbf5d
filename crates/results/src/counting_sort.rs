//! Sorts numbers of two bytes without comparing them.

/// Fewer values are sorted sooner by comparing them.
const FEW: usize = 64;
/// The most values that are sorted by counting, which needs as much room beside them.
const MOST: usize = 512;

/// Sorts by the lower and then by the upper byte. For hundreds of values this is a fifth of the work of comparing them.
pub(crate) fn counting_sort(values: &mut [u16]) {
    if !(FEW..=MOST).contains(&values.len()) {
        return values.sort_unstable();
    }
    let mut half_sorted = [0; MOST];
    let half_sorted = &mut half_sorted[..values.len()];
    distribute(values, half_sorted, |value| value & 0xFF);
    distribute(half_sorted, values, |value| value >> 8);
}

/// Copies the values in the order of their keys, which are below 256. Equal keys keep their order.
fn distribute(from: &[u16], to: &mut [u16], key: impl Fn(u16) -> u16) {
    let mut places = [0_usize; 257];
    for value in from {
        places[usize::from(key(*value)) + 1] += 1;
    }
    for at in 1..places.len() {
        places[at] += places[at - 1];
    }
    for value in from {
        let next = &mut places[usize::from(key(*value))];
        to[*next] = *value;
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_are_sorted_however_many_there_are(mut values in prop::collection::vec(any::<u16>(), 0..600)) {
            let mut expected = values.clone();
            expected.sort_unstable();
            counting_sort(&mut values);
            prop_assert_eq!(values, expected);
        }
    }
}
