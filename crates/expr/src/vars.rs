//! One user's variables. Names that the plan spells out are numbered.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::shared::csv_files::CsvCursors;

/// The value of a variable. Users are pinned to a thread, so values are shared without atomics.
pub type Value = Rc<str>;

/// The number of a variable whose name occurs literally in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

/// The names that occur literally in a plan, numbered in order of first occurrence.
#[derive(Debug, Clone, Default)]
pub struct VarNames {
    names: Vec<Arc<str>>,
    slots: FxHashMap<Arc<str>, Slot>,
}

impl VarNames {
    /// An empty table.
    pub fn new() -> VarNames {
        VarNames::default()
    }

    /// The slot of `name`, assigned if new.
    pub fn intern(&mut self, name: &str) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let name: Arc<str> = Arc::from(name);
        let slot = Slot(u32::try_from(self.names.len()).expect("a plan has fewer than 2^32 names"));
        self.names.push(name.clone());
        self.slots.insert(name, slot);
        slot
    }

    /// The slot of `name`, if it occurs literally in the plan.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// The name of a slot of this table.
    pub fn name(&self, slot: Slot) -> &str {
        &self.names[slot.0 as usize]
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Limit below which numbers are cached permanently.
const NUMERALS: usize = 1024;
/// Number of cache entries for larger numbers.
const LAST_NUMERALS: usize = 8;

thread_local! {
    /// The texts of small numbers, each created on first use.
    static SMALL: RefCell<Vec<Option<Value>>> = const { RefCell::new(Vec::new()) };
    /// The latest larger numbers, indexed by their lowest bits.
    static LAST: RefCell<[Option<(i32, Value)>; LAST_NUMERALS]> = const { RefCell::new([const { None }; LAST_NUMERALS]) };
}

/// Digits of numbers that fit any `i32`.
const MOST_PARSED_DIGITS: usize = 9;

/// Whether `text` is what [`numeral`] gives for the number. Reading digits costs less than to look up and set a value. It is false
/// for negative numbers and those of ten digits, which are rare.
pub fn is_numeral(text: &str, number: i32) -> bool {
    let digits = text.as_bytes();
    let Some((first, rest)) = digits.split_first() else {
        return false;
    };
    let has_leading_zero = *first == b'0' && !rest.is_empty();
    if number < 0 || has_leading_zero || digits.len() > MOST_PARSED_DIGITS {
        return false;
    }
    let mut value = 0_u32;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return false;
        }
        value = value * 10 + u32::from(digit);
    }
    value == number.unsigned_abs()
}

/// The number as a value, cached. Loop counters are set several times per iteration. So small numbers are only formatted
/// once per thread, and larger ones once per iteration.
pub fn numeral(number: i32) -> Value {
    let make = || Rc::from(itoa::Buffer::new().format(number));
    let Some(at) = usize::try_from(number).ok().filter(|at| *at < NUMERALS) else {
        return LAST.with_borrow_mut(|last| match &mut last[number as usize % LAST_NUMERALS] {
            Some((known, value)) if *known == number => value.clone(),
            place => place.insert((number, make())).1.clone(),
        });
    };
    SMALL.with_borrow_mut(|small| {
        if small.len() <= at {
            small.resize(at + 1, None);
        }
        small[at].get_or_insert_with(make).clone()
    })
}

/// One user's variables: JMeter's `JMeterVariables`, holding strings only.
///
/// Names that occur literally in the plan are stored in an array. Others (`id_1`, `id_matchNr`, …) are in a map that is
/// created on demand. The map also holds names that a script set to Java's null, which have no value but are listed.
/// JMeter's functions also keep data per thread (`ThreadLocal`); it is stored here but not copied by [`Clone`], because a
/// new thread starts without it.
#[derive(Debug)]
pub struct Vars {
    names: Arc<VarNames>,
    slots: Vec<Option<Value>>,
    /// Most users have none, and a box is smaller.
    others: Option<Box<FxHashMap<Box<str>, Option<Value>>>>,
    locals: Option<Box<Locals>>,
}

/// Data that functions store per user: JMeter's thread-locals.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    /// `IterationCounter.perThreadInt`, by the number of the function instance.
    pub(crate) counters: FxHashMap<u32, i32>,
    /// `FileWrapper.filePacks`.
    pub(crate) csv: CsvCursors,
}

impl Vars {
    /// A set in which no variable has a value.
    pub fn new(names: Arc<VarNames>) -> Vars {
        let slots = vec![None; names.len()];
        Vars {
            names,
            slots,
            others: None,
            locals: None,
        }
    }

    /// The table to which the slots refer.
    pub fn names(&self) -> &Arc<VarNames> {
        &self.names
    }

    /// The value of the variable in `slot`; `None` if it is undefined.
    pub fn get(&self, slot: Slot) -> Option<&Value> {
        self.slots.get(slot.0 as usize)?.as_ref()
    }

    /// Sets the variable in `slot`.
    pub fn set(&mut self, slot: Slot, value: Value) {
        if let Some(current) = self.slots.get_mut(slot.0 as usize) {
            *current = Some(value);
        }
    }

    /// Removes the variable in `slot` and returns its value.
    pub fn unset(&mut self, slot: Slot) -> Option<Value> {
        self.slots.get_mut(slot.0 as usize)?.take()
    }

    /// The value of the variable called `name`; `None` if it is undefined.
    pub fn get_named(&self, name: &str) -> Option<&Value> {
        match self.names.slot(name) {
            Some(slot) => self.get(slot),
            None => self.others.as_ref()?.get(name)?.as_ref(),
        }
    }

    /// Sets the variable called `name`.
    pub fn set_named(&mut self, name: &str, value: Value) {
        match self.names.slot(name) {
            Some(slot) => self.set(slot, value),
            None => {
                let others = self.others.get_or_insert_default();
                match others.get_mut(name) {
                    Some(place) => *place = Some(value),
                    None => {
                        others.insert(name.into(), Some(value));
                    }
                }
            }
        }
    }

    /// Sets the variable called `name` to Java's null (`JMeterVariables#put`): it is undefined, but listed.
    pub fn set_null_named(&mut self, name: &str) {
        self.remove_named(name);
        let others = self.others.get_or_insert_default();
        others.insert(name.into(), None);
    }

    /// The names of variables that are null, in no particular order.
    pub fn nulls(&self) -> impl Iterator<Item = &str> {
        self.others
            .iter()
            .flat_map(|others| others.iter())
            .filter(|(name, value)| value.is_none() && self.get_named(name).is_none())
            .map(|(name, _)| &**name)
    }

    fn is_null(&self, name: &str) -> bool {
        let others = self.others.as_ref();
        others.is_some_and(|others| others.get(name) == Some(&None))
            && self.get_named(name).is_none()
    }

    /// Removes the variable called `name` and returns its value.
    pub fn remove_named(&mut self, name: &str) -> Option<Value> {
        let other = self.others.as_mut().and_then(|others| others.remove(name)?);
        match self.names.slot(name) {
            Some(slot) => self.unset(slot),
            None => other,
        }
    }

    /// All variables with a value, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let spelled = self
            .names
            .names
            .iter()
            .zip(&self.slots)
            .filter_map(|(name, value)| Some((&**name, value.as_ref()?)));
        let computed = self
            .others
            .iter()
            .flat_map(|others| others.iter())
            .filter_map(|(name, value)| Some((&**name, value.as_ref()?)));
        spelled.chain(computed)
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.slots.fill(None);
        self.others = None;
    }

    /// Copies the values of `other`, which has the names of the same plan.
    pub fn copy_values(&mut self, other: &Vars) {
        self.slots.clone_from(&other.slots);
        self.others.clone_from(&other.others);
    }

    /// Applies the differences between `before` and `after` to this set.
    pub fn follow(&mut self, before: &Vars, after: &Vars) {
        for (own, (old, new)) in self
            .slots
            .iter_mut()
            .zip(before.slots.iter().zip(&after.slots))
        {
            if old != new {
                own.clone_from(new);
            }
        }
        for (name, value) in after.others.iter().flat_map(|others| others.iter()) {
            match value {
                Some(value) if before.get_named(name) != Some(value) => {
                    self.set_named(name, value.clone());
                }
                None if after.is_null(name) && !before.is_null(name) => self.set_null_named(name),
                _ => {}
            }
        }
        for name in before.others.iter().flat_map(|others| others.keys()) {
            if after.get_named(name).is_none() && !after.is_null(name) {
                self.remove_named(name);
            }
        }
    }

    /// The slot of `name`. A new name gets the next number, and its slot takes over the value stored under the name. Cheap
    /// while the table is not shared.
    pub(crate) fn intern(&mut self, name: &str) -> Slot {
        if let Some(slot) = self.names.slot(name) {
            return slot;
        }
        let others = self.others.as_mut();
        let value = others.and_then(|others| others.remove(name)?);
        self.slots.push(value);
        Arc::make_mut(&mut self.names).intern(name)
    }

    pub(crate) fn locals(&mut self) -> &mut Locals {
        self.locals.get_or_insert_default()
    }
}

impl Clone for Vars {
    fn clone(&self) -> Vars {
        Vars {
            names: self.names.clone(),
            slots: self.slots.clone(),
            others: self.others.clone(),
            locals: None,
        }
    }

    fn clone_from(&mut self, source: &Vars) {
        self.names.clone_from(&source.names);
        self.slots.clone_from(&source.slots);
        self.others.clone_from(&source.others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(names: &[&str]) -> Vars {
        let mut table = VarNames::new();
        for name in names {
            table.intern(name);
        }
        Vars::new(Arc::new(table))
    }

    #[test]
    fn small_numbers_are_made_once() {
        assert!(Rc::ptr_eq(&numeral(7), &numeral(7)));
        assert!(Rc::ptr_eq(&numeral(70_000), &numeral(70_000)));
        let (first, _) = (numeral(70_000), numeral(70_000 + LAST_NUMERALS as i32));
        assert!(!Rc::ptr_eq(&first, &numeral(70_000)));
        let all = [0, 7, 1_023, 1_024, -1, i32::MIN].map(numeral);
        let all: Vec<&str> = all.iter().map(|number| &**number).collect();
        assert_eq!(all, ["0", "7", "1023", "1024", "-1", "-2147483648"]);
        for (text, number) in [
            ("0", 0),
            ("7", 7),
            ("70000", 70_000),
            ("999999999", 999_999_999),
        ] {
            assert!(is_numeral(text, number));
            assert!(!is_numeral(text, number + 1));
        }
        for (text, number) in [
            ("", 0),
            ("07", 7),
            (":", 10),
            ("/", -1),
            ("+7", 7),
            ("x", 0),
        ] {
            assert!(!is_numeral(text, number), "{text}");
        }
    }

    #[test]
    fn a_null_is_no_value_and_is_listed() {
        let mut vars = vars(&["host"]);
        vars.set_named("host", "a".into());
        for name in ["host", "id_1"] {
            vars.set_null_named(name);
            assert_eq!(vars.get_named(name), None);
        }
        assert_eq!(vars.iter().count(), 0);
        let mut nulls: Vec<_> = vars.nulls().collect();
        nulls.sort_unstable();
        assert_eq!(nulls, ["host", "id_1"]);
        vars.set_named("host", "b".into());
        vars.remove_named("id_1");
        assert_eq!(vars.nulls().count(), 0);
        vars.remove_named("host");
        assert_eq!(vars.nulls().count(), 0);
    }

    #[test]
    fn a_name_keeps_its_slot() {
        let mut names = VarNames::new();
        let a = names.intern("a");
        let b = names.intern("b");
        assert_ne!(a, b);
        assert_eq!(names.intern("a"), a);
        assert_eq!(names.name(b), "b");
        assert_eq!(names.slot("c"), None);
        assert_eq!(names.len(), 2);
    }

    #[test]
    fn changes_are_followed_and_nothing_else() {
        let mut own = vars(&["host", "port"]);
        for name in ["host", "port", "id_1", "id_2"] {
            own.set_named(name, "1".into());
        }
        let before = own.clone();
        let mut after = vars(&["host", "port"]);
        after.copy_values(&before);
        after.set_named("host", "2".into());
        after.remove_named("id_1");
        after.set_named("id_3", "3".into());
        own.set_named("port", "mine".into());
        own.set_named("id_2", "mine".into());
        own.follow(&before, &after);
        let mut all: Vec<_> = own
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        all.sort();
        assert_eq!(all, ["host=2", "id_2=mine", "id_3=3", "port=mine"]);
    }

    #[test]
    fn spelled_and_computed_names_behave_alike() {
        let mut vars = vars(&["host"]);
        for name in ["host", "id_1"] {
            assert_eq!(vars.get_named(name), None);
            vars.set_named(name, "x".into());
            vars.set_named(name, "y".into());
            assert_eq!(vars.get_named(name).map(|v| &**v), Some("y"));
            assert_eq!(vars.remove_named(name).as_deref(), Some("y"));
            assert_eq!(vars.get_named(name), None);
        }
    }

    #[test]
    fn iter_lists_what_is_defined() {
        let mut vars = vars(&["a", "b"]);
        vars.set_named("b", "2".into());
        vars.set_named("c", "3".into());
        let mut all: Vec<_> = vars
            .iter()
            .map(|(n, v)| (n.to_owned(), v.to_string()))
            .collect();
        all.sort();
        assert_eq!(all, [("b".into(), "2".into()), ("c".into(), "3".into())]);
        vars.clear();
        assert_eq!(vars.iter().count(), 0);
    }

    #[test]
    fn a_new_slot_takes_the_value_of_its_name() {
        let mut vars = vars(&["a"]);
        vars.set_named("a", "1".into());
        vars.set_named("b", "2".into());
        let names = vars.names().clone();
        let b = vars.intern("b");
        assert_eq!(names.slot("b"), None, "others' tables stay as they are");
        assert_eq!(vars.get(b).map(|v| &**v), Some("2"));
        assert_eq!(vars.get_named("b").map(|v| &**v), Some("2"));
        assert_eq!(vars.get_named("a").map(|v| &**v), Some("1"));
        assert_eq!(vars.intern("b"), b);
        let c = vars.intern("c");
        assert_eq!(vars.get(c), None);
    }

    #[test]
    fn a_copy_shares_values_but_not_what_functions_keep_per_thread() {
        let mut first = vars(&["a"]);
        first.set_named("a", "1".into());
        first.locals().counters.insert(0, 5);
        let mut second = first.clone();
        assert!(Rc::ptr_eq(
            first.get_named("a").unwrap(),
            second.get_named("a").unwrap()
        ));
        assert!(second.locals().counters.is_empty());
    }

    #[test]
    fn an_idle_user_is_small() {
        assert!(size_of::<Vars>() <= 48);
    }
}
