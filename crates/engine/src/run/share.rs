//! The part of a plan's load that this process generates when several machines run one plan. All machines compute the same
//! split without talking to each other: slot `j modulo period` determines the machine that user, arrival or place `j` belongs
//! to.

use std::fmt;
use std::sync::Arc;

/// The highest weight of a machine.
pub const MOST_WEIGHT: u32 = 1_000;
/// The most rounds of the weights in one period.
const MOST_ROUNDS: u32 = 16;
/// How many slots there are for each machine if machines may join, so that shares of any number of machines are nearly equal, and
/// the most in total.
const SLOTS_EACH: u32 = 120;
const MOST_SLOTS: u32 = 20_000;

/// A part of the numbers 0, 1, 2 and so on: those whose remainder by the period is in a set. The parts of all machines are
/// disjoint and together contain all numbers.
#[derive(Clone, PartialEq, Eq)]
pub struct Slots {
    /// By remainder: its rank in the set, if it is in the set.
    ranks: Arc<[Option<u32>]>,
    /// The set, ascending.
    mine: Arc<[u32]>,
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.mine, self.period())
    }
}

impl Default for Slots {
    /// All numbers.
    fn default() -> Slots {
        Slots::new(1, vec![0])
    }
}

impl Slots {
    /// The numbers with one of these remainders by `period`. Remainders out of range are left out.
    pub fn new(period: u32, mut mine: Vec<u32>) -> Slots {
        mine.retain(|remainder| *remainder < period);
        mine.sort_unstable();
        mine.dedup();
        let mut ranks = vec![None; period.max(1) as usize];
        for (rank, remainder) in (0..).zip(&mine) {
            ranks[*remainder as usize] = Some(rank);
        }
        Slots {
            ranks: ranks.into(),
            mine: mine.into(),
        }
    }

    /// How many numbers one round has.
    pub fn period(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The remainders that are in the part, ascending.
    pub fn remainders(&self) -> &[u32] {
        &self.mine
    }

    /// Whether no number is in the part.
    pub fn is_empty(&self) -> bool {
        self.mine.is_empty()
    }

    /// The fraction of all numbers that is in the part, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.mine.len() as f64 / f64::from(self.period())
    }

    /// How many numbers of the part are below this one, if it belongs to the part.
    pub fn rank(&self, number: u64) -> Option<u64> {
        let period = u64::from(self.period());
        let rank = self.ranks[(number % period) as usize]?;
        Some(number / period * self.mine.len() as u64 + u64::from(rank))
    }

    /// Whether a number belongs to the part, and within it to this one of `workers` workers.
    pub fn falls_to(&self, number: u64, worker: usize, workers: usize) -> bool {
        self.rank(number)
            .is_some_and(|rank| rank % workers as u64 == worker as u64)
    }

    /// The number with this rank in the part. The part must not be empty.
    pub fn nth(&self, rank: u64) -> u64 {
        let size = self.mine.len().max(1) as u64;
        let remainder = self.mine.get((rank % size) as usize).copied();
        rank / size * u64::from(self.period()) + u64::from(remainder.unwrap_or(0))
    }

    /// How many of the numbers below `total` belong to the part.
    pub fn count_of(&self, total: u64) -> u64 {
        let period = u64::from(self.period());
        let rest = (total % period) as u32;
        let in_rest = self.mine.partition_point(|remainder| *remainder < rest);
        total / period * self.mine.len() as u64 + in_rest as u64
    }

    /// [`Slots::count_of`] for a number of users.
    pub fn users_of(&self, total: u32) -> u32 {
        self.count_of(total.into()) as u32
    }

    /// The numbers of both parts; both have the same period.
    pub fn with(&self, other: &Slots) -> Slots {
        let all = self.mine.iter().chain(other.mine.iter()).copied();
        Slots::new(self.period(), all.collect())
    }

    /// The numbers that are in both parts.
    pub fn shared_with(&self, other: &Slots) -> Slots {
        let mine = self.mine.iter().copied();
        let shared = mine.filter(|remainder| other.rank((*remainder).into()).is_some());
        Slots::new(self.period(), shared.collect())
    }

    /// The numbers that are not in the other part.
    pub fn without(&self, other: &Slots) -> Slots {
        let mine = self.mine.iter().copied();
        let rest = mine.filter(|remainder| other.rank((*remainder).into()).is_none());
        Slots::new(self.period(), rest.collect())
    }
}

/// The part of one machine of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this machine, from 0.
    pub index: u32,
    /// How many machines there are.
    pub count: u32,
    /// Its users, arrivals and places.
    pub slots: Slots,
    /// The seed of random arrivals, the same on all machines; `None` if this machine runs alone.
    pub seed: Option<u64>,
    /// Every machine runs the whole plan, as JMeter's remote engines do.
    pub is_each: bool,
}

impl Default for Share {
    /// Everything.
    fn default() -> Share {
        Share {
            index: 0,
            count: 1,
            slots: Slots::default(),
            seed: None,
            is_each: false,
        }
    }
}

impl Share {
    /// The shares of machines with these weights, of which none is 0.
    pub fn of_weights(weights: &[u32], seed: u64) -> Vec<Share> {
        Share::of_growing(weights, seed, 0)
    }

    /// The shares of machines with these weights, if others may join until there are `most`.
    pub fn of_growing(weights: &[u32], seed: u64, most: u32) -> Vec<Share> {
        let slots = most.saturating_mul(SLOTS_EACH).min(MOST_SLOTS);
        let slots = if most > weights.len() as u32 {
            slots
        } else {
            0
        };
        let parts = parts(weights, slots);
        let share = |(index, slots)| Share {
            index,
            count: most.max(weights.len() as u32),
            slots,
            seed: Some(seed),
            is_each: false,
        };
        (0..).zip(parts).map(share).collect()
    }

    /// The whole plan for each of `count` machines.
    pub fn of_each(count: u32) -> Vec<Share> {
        let share = |index| Share {
            index,
            count,
            is_each: true,
            ..Share::default()
        };
        (0..count).map(share).collect()
    }

    /// Whether this machine runs setUp and tearDown thread groups.
    pub fn leads(&self) -> bool {
        self.is_each || self.index == 0
    }

    /// Whether other machines run other parts of the plan.
    pub fn is_part(&self) -> bool {
        self.count > 1 && !self.is_each
    }

    /// The seed of a thread group's random arrivals, if all machines must have the same.
    pub fn group_seed(&self, group: usize) -> Option<i64> {
        let seed = self.seed.filter(|_| self.is_part())?;
        // The finalizer of SplitMix64 gives the groups unrelated seeds.
        let mut mixed = seed.wrapping_add((group as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some((mixed ^ (mixed >> 31)) as i64)
    }
}

/// The parts of machines with these weights, by smooth weighted round robin: machines of equal weight take turns. There are at
/// least as many slots as `least`.
fn parts(weights: &[u32], least: u32) -> Vec<Slots> {
    let weights: Vec<i64> = weights
        .iter()
        .map(|weight| i64::from((*weight).clamp(1, MOST_WEIGHT)))
        .collect();
    let divisor = weights.iter().copied().fold(0, greatest_common_divisor);
    let weights: Vec<i64> = weights.iter().map(|weight| weight / divisor).collect();
    let period: i64 = weights.iter().sum();
    let mut credit = vec![0; weights.len()];
    let mut mine = vec![Vec::new(); weights.len()];
    for remainder in 0..period {
        credit
            .iter_mut()
            .zip(&weights)
            .for_each(|(credit, weight)| *credit += weight);
        // Among equal credits, the first machine wins.
        let most = (0..weights.len())
            .rev()
            .max_by_key(|machine| credit[*machine]);
        let Some(owner) = most else { break };
        credit[owner] -= period;
        mine[owner].push(remainder as u32);
    }
    // Rounds are repeated, so that each machine has enough slots for its users to be divided among all others if it is lost.
    let rounds = (weights.len() as u32)
        .saturating_sub(1)
        .clamp(1, MOST_ROUNDS)
        .max(least.div_ceil(period.max(1) as u32));
    let repeated = |mine: Vec<u32>| {
        let round = |round: u32| {
            mine.iter()
                .map(move |remainder| remainder + round * period as u32)
        };
        (0..rounds).flat_map(round).collect()
    };
    mine.into_iter()
        .map(|mine| Slots::new(period as u32 * rounds, repeated(mine)))
        .collect()
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights from a simple generator: enough variety for properties that hold for all.
    fn fleets() -> Vec<Vec<u32>> {
        let mut random = 7_u32;
        let mut next = |most: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % most + 1
        };
        let mut fleets = vec![vec![1], vec![1, 1], vec![2, 2, 4], vec![1; 1_000]];
        for _ in 0..60 {
            let machines = next(9);
            fleets.push((0..machines).map(|_| next(6)).collect());
        }
        fleets
    }

    fn shares(weights: &[u32]) -> Vec<Slots> {
        let shares = Share::of_weights(weights, 1);
        shares.into_iter().map(|share| share.slots).collect()
    }

    #[test]
    fn every_number_has_one_owner_and_totals_are_kept() {
        for weights in fleets() {
            let shares = shares(&weights);
            for total in [0, 1, 2, 7, 64, 1_000, 4_321] {
                let counts = shares.iter().map(|slots| slots.count_of(total));
                assert_eq!(counts.sum::<u64>(), total, "{weights:?}");
            }
            for number in 0..500 {
                let owners = shares.iter().filter(|slots| slots.rank(number).is_some());
                assert_eq!(owners.count(), 1, "{weights:?} {number}");
            }
        }
    }

    #[test]
    fn ranks_and_numbers_are_inverse_and_counts_agree_with_them() {
        for weights in fleets() {
            for slots in shares(&weights) {
                for rank in 0..200 {
                    let number = slots.nth(rank);
                    assert_eq!(slots.rank(number), Some(rank));
                    assert_eq!(slots.count_of(number), rank);
                    assert_eq!(slots.count_of(number + 1), rank + 1);
                    let workers = (0..3).filter(|worker| slots.falls_to(number, *worker, 3));
                    assert_eq!(workers.count(), 1);
                }
            }
        }
    }

    #[test]
    fn no_machine_is_more_than_a_number_away_from_its_weight() {
        for weights in fleets() {
            let sum: u32 = weights.iter().sum();
            for (slots, weight) in shares(&weights).iter().zip(&weights) {
                for total in 0..300_u64 {
                    let exact = total as f64 * f64::from(*weight) / f64::from(sum);
                    let count = slots.count_of(total) as f64;
                    assert!(
                        (count - exact).abs() < weights.len() as f64,
                        "{weights:?} {total}"
                    );
                }
                let whole = f64::from(*weight) / f64::from(sum);
                assert!((slots.fraction() - whole).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn machines_of_equal_weight_take_turns() {
        let shares = shares(&[3, 3, 3]);
        assert_eq!(shares[1].remainders(), [1, 4]);
        assert_eq!((shares[1].period(), shares[1].nth(2)), (6, 7));
    }

    #[test]
    fn seeds_are_the_same_on_all_machines_and_differ_between_groups() {
        let shares = Share::of_weights(&[1, 2], 42);
        assert_eq!(shares[0].group_seed(3), shares[1].group_seed(3));
        assert_ne!(shares[0].group_seed(3), shares[0].group_seed(4));
        assert_eq!(Share::default().group_seed(0), None);
        assert!(Share::of_each(2)[1].leads() && !shares[1].leads());
    }
}
