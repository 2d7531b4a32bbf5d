//! Divides the slots of a run anew when a machine joins or is gone. Users that change machines start over, so as few as possible
//! do: slots move from the others to a machine that joins, and from one that is gone to the others. Only where that would leave
//! the users of a thread group unevenly divided, some more move.

use crate::run::share::Slots;

/// The slots of machines that share a run, by number of the machine.
#[derive(Debug)]
pub struct Division<'a> {
    pub owned: &'a mut [Slots],
    /// The weights of the machines; 0 for one that takes no part, which keeps what it has.
    pub weights: &'a [u32],
}

/// The slots that a machine receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub machine: usize,
    pub slots: Slots,
}

impl Division<'_> {
    /// Gives a machine that has joined its part of everybody's slots. Of each of the `totals`, which are numbers of users, each
    /// machine then has its part but for rounding.
    pub fn share_with(&mut self, joined: usize, totals: &[u32]) -> Vec<Receipt> {
        self.divide(None, totals, |counts, _, owner| {
            let owner = owner?;
            let has_enough = counts.lack(owner) <= 0 && counts.lack(joined) > 0;
            let is_due = counts.lack(joined) >= counts.weight;
            Some(if has_enough || is_due { joined } else { owner })
        })
    }

    /// Gives the slots of a machine that is gone to the others, each to the one that has least for its weight. No other slot
    /// moves, so the `totals` are divided as evenly as those slots allow. If there is no other machine, the slots stay.
    pub fn hand_over(&mut self, gone: usize, totals: &[u32]) -> Vec<Receipt> {
        if self.weights.iter().all(|weight| *weight == 0) {
            return Vec::new();
        }
        let none = Slots::new(self.owned[gone].period(), Vec::new());
        let lost = std::mem::replace(&mut self.owned[gone], none);
        let owned = self.owned.to_vec();
        self.divide(Some(&lost), totals, |counts, slot, owner| {
            // Of machines that lack as much, the one that has to wait longest for its next slot gets this one.
            let next = |machine: usize| {
                let slots = owned[machine].remainders();
                let after = slots.partition_point(|own| (*own as usize) < slot);
                slots.get(after).copied().unwrap_or(u32::MAX)
            };
            owner.or_else(|| counts.neediest(next))
        })
    }

    /// Chooses the owner of one slot after the other, by the counts so far and the owner before. Only `lost` slots move, if there
    /// are any.
    fn divide(
        &mut self,
        lost: Option<&Slots>,
        totals: &[u32],
        choose: impl Fn(&SlotCounts<'_>, usize, Option<usize>) -> Option<usize>,
    ) -> Vec<Receipt> {
        let before = self.owners();
        let (mut owners, period) = (before.clone(), before.len());
        let is_lost = |slot: usize| lost.is_some_and(|lost| lost.rank(slot as u64).is_some());
        let is_end = |slots: usize| {
            let mut totals = totals.iter();
            slots == period || totals.any(|total| *total as usize % period == slots)
        };
        let (mut counts, mut first) = (SlotCounts::of(self.weights), 0);
        for slot in 0..period {
            if before[slot].is_some() || is_lost(slot) {
                counts.slots += 1;
                owners[slot] = choose(&counts, slot, before[slot]);
                if let Some(owner) = owners[slot] {
                    counts.of[owner] += 1;
                }
            }
            if is_end(slot + 1) {
                let movable = (first..=slot).filter(|slot| lost.is_none() || is_lost(*slot));
                counts.settle(&mut owners, &movable.collect::<Vec<_>>());
                first = slot + 1;
            }
        }
        self.carry_out(&before, &owners)
    }

    /// The machine that has each slot, if it takes part.
    fn owners(&self) -> Vec<Option<usize>> {
        let period = self.owned.first().map(Slots::period).unwrap_or(1);
        let mut owners = vec![None; period as usize];
        for (machine, slots) in self.owned.iter().enumerate() {
            if self.weights[machine] > 0 {
                for slot in slots.remainders() {
                    owners[*slot as usize] = Some(machine);
                }
            }
        }
        owners
    }

    fn carry_out(&mut self, before: &[Option<usize>], after: &[Option<usize>]) -> Vec<Receipt> {
        let mut received = vec![Vec::new(); self.owned.len()];
        for (slot, (before, after)) in (0..).zip(before.iter().zip(after)) {
            if let Some(owner) = after.filter(|_| before != after) {
                received[owner].push(slot);
            }
        }
        let period = before.len() as u32;
        let receipts: Vec<Receipt> = received
            .into_iter()
            .enumerate()
            .map(|(machine, slots)| Receipt {
                machine,
                slots: Slots::new(period, slots),
            })
            .filter(|it| !it.slots.is_empty())
            .collect();
        for receipt in &receipts {
            for (machine, owned) in self.owned.iter_mut().enumerate() {
                *owned = if machine == receipt.machine {
                    owned.with(&receipt.slots)
                } else {
                    owned.without(&receipt.slots)
                };
            }
        }
        receipts
    }
}

/// How many of the slots so far each machine has.
struct SlotCounts<'a> {
    weights: &'a [u32],
    /// The sum of the weights.
    weight: i64,
    slots: i64,
    of: Vec<i64>,
}

impl SlotCounts<'_> {
    fn of(weights: &[u32]) -> SlotCounts<'_> {
        SlotCounts {
            weights,
            weight: weights.iter().copied().map(i64::from).sum(),
            slots: 0,
            of: vec![0; weights.len()],
        }
    }

    /// How much a machine lacks of its part, in slots times the sum of the weights.
    fn lack(&self, machine: usize) -> i64 {
        self.slots * i64::from(self.weights[machine]) - self.of[machine] * self.weight
    }

    /// The machine that lacks most; of equals, the one with the highest rank, and then the first.
    fn neediest(&self, rank: impl Fn(usize) -> u32) -> Option<usize> {
        let machines = (0..self.weights.len()).filter(|machine| self.weights[*machine] > 0);
        machines
            .rev()
            .max_by_key(|machine| (self.lack(*machine), rank(*machine)))
    }

    /// Moves some of these slots from machines that have too many until nobody is a whole slot away from its part.
    fn settle(&mut self, owners: &mut [Option<usize>], movable: &[usize]) {
        while let Some(needy) = self.neediest(|_| 0) {
            let owned = movable
                .iter()
                .filter_map(|slot| Some((*slot, owners[*slot]?)));
            // Among equals, the last slot moves.
            let richest = owned.rev().min_by_key(|(_, owner)| self.lack(*owner));
            let Some((slot, owner)) = richest else { return };
            let (most, least) = (self.lack(owner), self.lack(needy));
            let is_even = most > -self.weight && least < self.weight;
            if is_even || least - most <= self.weight {
                return;
            }
            owners[slot] = Some(needy);
            self.of[owner] -= 1;
            self.of[needy] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::share::Share;

    const USERS: [u32; 6] = [20, 1, 7, 64, 333, 9];

    /// The slots of machines that start with these weights, if there may be `most`.
    fn start(weights: &[u32], most: u32) -> Vec<Slots> {
        let shares = Share::of_growing(weights, 1, most);
        shares.into_iter().map(|share| share.slots).collect()
    }

    /// Lets a machine join. Returns how many slots moved, and how many of them to it.
    fn join(owned: &mut Vec<Slots>, weights: &[u32]) -> (usize, usize) {
        owned.push(Slots::new(owned[0].period(), Vec::new()));
        let joined = owned.len() - 1;
        let receipts = Division { owned, weights }.share_with(joined, &USERS);
        let moved = receipts
            .iter()
            .map(|receipt| receipt.slots.remainders().len());
        (moved.sum(), owned[joined].remainders().len())
    }

    fn assert_each_slot_has_one_owner(owned: &[Slots]) {
        for number in 0..u64::from(owned[0].period()) {
            let owners = owned.iter().filter(|slots| slots.rank(number).is_some());
            assert_eq!(owners.count(), 1, "{number}");
        }
    }

    /// The difference between the machines that have most and least of a total.
    fn difference(owned: &[Slots], total: u32) -> u32 {
        let counts = || owned.iter().map(|slots| slots.users_of(total));
        counts().max().expect("somebody") - counts().min().expect("somebody")
    }

    #[test]
    fn machines_that_join_get_their_part_of_the_users_of_each_group() {
        for first in 1..=6 {
            for most in first + 1..=12 {
                let mut owned = start(&vec![1; first as usize], most);
                for machines in first + 1..=most {
                    let (moved, to_joined) = join(&mut owned, &vec![1; machines as usize]);
                    assert_each_slot_has_one_owner(&owned);
                    for users in USERS {
                        assert!(
                            difference(&owned, users) <= 1,
                            "{machines}: {users} {owned:?}"
                        );
                    }
                    let period = owned[0].period();
                    assert!(difference(&owned, period) <= 1, "{machines}: {owned:?}");
                    // Other numbers, such as arrivals so far, are divided nearly as evenly.
                    for total in 0..period {
                        assert!(difference(&owned, total) <= 4, "{machines}: {total}");
                    }
                    let part = period / machines;
                    assert!(
                        (part..=part + 1).contains(&(to_joined as u32)),
                        "{machines}"
                    );
                    // Hardly anybody moves between machines that go on.
                    let most = (USERS.len() as u32 + 1) * machines;
                    assert!((moved - to_joined) as u32 <= most, "{machines}: {moved}");
                }
            }
        }
    }

    #[test]
    fn machines_that_join_get_users_by_weight() {
        let mut owned = start(&[3, 1], 5);
        let weights = [3, 1, 2, 5, 1];
        for machines in 3..=5 {
            let weights = &weights[..machines];
            join(&mut owned, weights);
            assert_each_slot_has_one_owner(&owned);
            let sum: u32 = weights.iter().sum();
            for users in USERS {
                for (slots, weight) in owned.iter().zip(weights) {
                    let exact = f64::from(users * weight) / f64::from(sum);
                    let count = f64::from(slots.users_of(users));
                    assert!((count - exact).abs() < 1.0, "{weights:?}: {users} {count}");
                }
            }
        }
    }

    #[test]
    fn the_slots_of_a_machine_that_is_gone_go_to_those_that_have_least() {
        let mut owned = start(&[1; 10], 0);
        let mut weights = [1; 10];
        for gone in [3, 9, 0, 5, 4, 1] {
            weights[gone] = 0;
            let (before, lost) = (owned.clone(), owned[gone].clone());
            let receipts = Division {
                owned: &mut owned,
                weights: &weights,
            }
            .hand_over(gone, &[20]);
            assert!(owned[gone].is_empty());
            assert_each_slot_has_one_owner(&owned);
            let received = receipts
                .iter()
                .map(|receipt| receipt.slots.remainders().len());
            assert_eq!(received.sum::<usize>(), lost.remainders().len());
            for (now, before) in owned.iter().zip(&before).filter(|(now, _)| !now.is_empty()) {
                assert_eq!(now.shared_with(before), *before, "nobody else loses a slot");
            }
            let stay: Vec<Slots> = owned
                .iter()
                .filter(|slots| !slots.is_empty())
                .cloned()
                .collect();
            assert!(difference(&stay, 20) <= 1, "{gone}: {stay:?}");
        }
    }

    #[test]
    fn a_machine_that_takes_no_part_keeps_its_slots_and_so_does_the_last_one() {
        let mut owned = start(&[1, 1, 1], 4);
        let kept = owned[1].clone();
        let (moved, to_joined) = join(&mut owned, &[1, 0, 1, 1]);
        assert_eq!((&owned[1], moved), (&kept, to_joined));
        let last = owned[2].clone();
        let mut division = Division {
            owned: &mut owned,
            weights: &[0; 4],
        };
        assert_eq!(division.hand_over(2, &USERS), []);
        assert_eq!(owned[2], last);
    }
}
