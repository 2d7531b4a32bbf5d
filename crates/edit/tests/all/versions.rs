//! A plan takes part by part from another version, until both are the same.

use drumfire_edit::Model;
use drumfire_edit::operations::take::{Taken, Versions, applied, take_element};
use drumfire_jmx::{ComparedElement, Setting, compared};
use fastrand::Rng;

use crate::bytes::{operation, steps};
use crate::plans;

fn plain(_: &drumfire_jmx::Node, setting: &Setting) -> String {
    setting.value.clone()
}

/// The parts of an element that differ, in the order in which they can be taken.
fn parts<'e>(element: &'e ComparedElement<'_>) -> Vec<Taken<'e>> {
    if element.is_added() || element.is_removed() {
        return vec![Taken::Presence];
    }
    let place = element.is_moved.then_some(Taken::Place);
    let settings = element.changes.iter();
    let settings = settings.map(|change| Taken::Setting(&change.setting));
    place
        .into_iter()
        .chain(settings)
        .chain([Taken::Settings])
        .collect()
}

/// Takes one part that differs. Gives `false` if nothing differs, or none can be taken.
fn take_one(target: &mut Model, source: &Model, random: &mut Rng, told: &str) -> bool {
    let step = {
        let all = compared(target.tree(), source.tree(), plain);
        let mut differing: Vec<&ComparedElement<'_>> =
            all.iter().filter(|one| one.differs()).collect();
        random.shuffle(&mut differing);
        let versions = Versions::of(target, source);
        let number = |side: Option<(usize, &drumfire_jmx::Node)>| side.map(|(at, _)| at);
        let mut steps = differing.iter().flat_map(|element| {
            let own = match (number(element.old), number(element.new)) {
                (Some(at), _) => versions.of_target(at),
                (None, at) => versions.of_source(at.expect("it is in one of them")),
            };
            let versions = &versions;
            parts(element)
                .into_iter()
                .filter_map(move |part| versions.take(own, part).ok())
        });
        steps.find(|step| {
            // A step that changes nothing would be taken again and again.
            step.patches
                .iter()
                .any(|patch| patch.removed != patch.inserted)
        })
    };
    let Some(mut step) = step else { return false };
    applied(target, &mut step).unwrap_or_else(|refused| panic!("{told}: {refused:?}"));
    true
}

#[test]
fn whatever_was_done_to_a_plan_is_taken_back_part_by_part() {
    let (mut whole, mut left) = (0, 0);
    for (number, path) in (0..).zip(plans::files()) {
        let is_small = std::fs::metadata(&path).is_ok_and(|file| file.len() < 30_000);
        let is_small = is_small && (number % 5 == 0 || std::env::var_os("EDIT_STEPS").is_some());
        let Some(mut session) = plans::opened(&path).filter(|_| is_small) else {
            continue;
        };
        let source = session.model().clone();
        let mut random = Rng::with_seed(number);
        for _ in 0..steps(3) {
            if let Ok(step) = operation(&mut session, &mut random)
                && !step.is_empty()
            {
                let _ = session.make(step);
            }
        }
        let mut target = session.model().clone();
        let told = path.display().to_string();
        for _ in 0..500 {
            if !take_one(&mut target, &source, &mut random, &told) {
                break;
            }
        }
        let rest = compared(target.tree(), source.tree(), plain);
        let mut rest = rest.iter().filter(|element| element.differs());
        match rest.next() {
            Some(first) => {
                left += 1;
                println!(
                    "{told}: {} {:?} {:?}",
                    first.new_path,
                    first.marks(),
                    first.changes
                );
            }
            None => whole += 1,
        }
    }
    println!("{whole} plans are the same again");
    assert!(whole > 30 && left == 0, "{whole} and {left}");
}

#[test]
fn one_element_takes_nothing_of_the_others() {
    let timer = |name: &str, delay: u32| {
        format!(
            "<ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"{name}\">\n<stringProp name=\"ConstantTimer.delay\">{delay}</stringProp>\n</ConstantTimer>\n<hashTree/>\n"
        )
    };
    let model = |timers: &[(&str, u32)]| {
        let inside: String = timers
            .iter()
            .map(|(name, delay)| timer(name, *delay))
            .collect();
        let (_folder, session) = plans::session(&plans::plan(&inside));
        session.model().clone()
    };
    let old = model(&[("a", 1), ("b", 2), ("c", 3)]);
    let new = model(&[("c", 4), ("a", 5), ("n", 6), ("b", 2)]);
    let take = |name: &str| {
        let mut own = old.clone();
        let all = 0..new.outline().entries.len();
        let at = all.into_iter().find(|at| new.node_at(*at).name == name);
        let element = Versions::of(&own, &new).of_source(at.expect("it is there"));
        take_element(&mut own, &new, element).expect("it can be taken");
        own.text().to_owned()
    };
    let same = |text: &str, timers: &[(&str, u32)]| assert_eq!(text, model(timers).text());
    same(&take("c"), &[("c", 4), ("a", 1), ("b", 2)]);
    same(&take("a"), &[("a", 5), ("b", 2), ("c", 3)]);
    same(&take("n"), &[("a", 1), ("n", 6), ("b", 2), ("c", 3)]);
    same(&take("b"), &[("a", 1), ("b", 2), ("c", 3)]);
}
