//! What nobody changed does not move.

use drumfire_edit::operations::set::set;
use drumfire_edit::operations::structure::{self, Target};
use drumfire_edit::operations::{defaults::ElementType, rename, retype, search};
use drumfire_edit::{Id, Refused, Session, Step};
use fastrand::Rng;

use crate::plans;

#[test]
fn open_and_save_leave_every_plan_as_it_is() {
    for path in plans::files() {
        let before = std::fs::read(&path).expect("a file");
        let (_folder, copy) = plans::copied(&path);
        let Some(mut session) = plans::opened(&copy) else {
            continue;
        };
        session
            .save()
            .unwrap_or_else(|refused| panic!("{}: {refused:?}", path.display()));
        assert_eq!(
            std::fs::read(&copy).expect("a file"),
            before,
            "{}",
            path.display()
        );
        // Also when it is written.
        let root = session.model().root();
        let name = session.model().node(root).expect("a plan").name.to_string();
        let changed = set(session.model(), &[root], "TestPlan.comments", Some("x"));
        session
            .make(changed.expect("every plan has comments"))
            .unwrap_or_else(|refused| panic!("{}: {refused:?}", path.display()));
        session.save().expect("it is saved");
        session
            .undo()
            .unwrap_or_else(|refused| panic!("{name}: {refused:?}"));
        session.save().expect("it is saved");
        assert_eq!(
            std::fs::read(&copy).expect("a file"),
            before,
            "{}",
            path.display()
        );
    }
}

/// How many steps a plan gets: 1,000 in a long test, fewer in CI.
pub fn steps(few: usize) -> usize {
    std::env::var("EDIT_STEPS")
        .ok()
        .and_then(|steps| steps.parse().ok())
        .unwrap_or(few)
}

#[test]
fn a_field_changes_the_lines_of_its_property_only() {
    let count = steps(4);
    let mut tried = 0;
    for (number, path) in (0..).zip(plans::files()) {
        let Some(mut session) = plans::opened(&path) else {
            continue;
        };
        let mut random = Rng::with_seed(number);
        let mut fields: Vec<(Id, String, usize, usize)> = Vec::new();
        let model = session.model();
        let text = model.text().to_owned();
        for (at, entry) in model.outline().entries.iter().enumerate() {
            search::props(&model.node_at(at).props, "", &mut |property, prop| {
                let lines = |offset: usize| text[..offset].matches('\n').count();
                fields.push((
                    entry.id,
                    property.to_owned(),
                    lines(prop.span.start),
                    lines(prop.span.end),
                ));
            });
        }
        random.shuffle(&mut fields);
        for (id, property, first, last) in fields.iter().take(count) {
            let value = ["7", "${x}", "a<b & \"c\"", "", "true"][random.usize(..5)];
            let step = set(session.model(), &[*id], property, Some(value));
            let step =
                step.unwrap_or_else(|refused| panic!("{} {property}: {refused:?}", path.display()));
            let made = session
                .make(step)
                .unwrap_or_else(|refused| panic!("{} {property}: {refused:?}", path.display()));
            let node = session.model().node(*id).expect("it is still there");
            let mut found = None;
            search::props(&node.props, "", &mut |own, prop| {
                if own == property {
                    found = Some(prop.value.as_str().into_owned());
                }
            });
            // A number with a fraction is written as Java writes it.
            let is_number = found.as_deref() == Some("7.0") && value == "7";
            assert!(
                is_number || found.as_deref() == Some(value),
                "{} {property}: {found:?}",
                path.display()
            );
            assert!(made.removed.is_empty());
            let after = session.model().text().to_owned();
            let before: Vec<&str> = text.split('\n').collect();
            let now: Vec<&str> = after.split('\n').collect();
            assert_eq!(
                before[..*first],
                now[..*first],
                "{} {property}",
                path.display()
            );
            let rest = before.len() - last - 1;
            assert_eq!(
                before[last + 1..],
                now[now.len() - rest..],
                "{} {property}",
                path.display()
            );
            if session.can_undo().is_some() {
                session.undo().expect("it can be taken back");
            }
            assert_eq!(
                session.model().text(),
                text,
                "{} {property}",
                path.display()
            );
            tried += 1;
        }
    }
    println!("{tried} fields");
    assert!(tried > 500);
}

/// A random operation; most of them fit.
pub fn operation(session: &mut Session, random: &mut Rng) -> Result<Step, Refused> {
    let entries = session.model().outline().entries.clone();
    let any = |random: &mut Rng| entries[random.usize(..entries.len())].id;
    let ids: Vec<Id> = (0..random.usize(1..4)).map(|_| any(random)).collect();
    let types: Vec<ElementType> = ElementType::all().collect();
    let kind = types[random.usize(..types.len())];
    let target = Target {
        parent: any(random),
        index: random.usize(..5),
    };
    let model = session.model();
    match random.usize(..11) {
        0 => {
            let line = drumfire_jmx::line_end(model.text());
            let node = kind.node();
            let branch = structure::Branch::new(&node, line);
            structure::insert(model, target, &[branch], &[&node], "Insert".to_owned())
        }
        1 => structure::relocate(model, &ids, target),
        2 => structure::remove(model, &ids[..1]),
        3 => structure::duplicate(model, &ids[..1]),
        4 => structure::wrap(session.model_mut(), &ids[..1], kind),
        5 => structure::unwrap(model, ids[0]),
        6 => retype::retype(model, ids[0], kind),
        7 => rename::rename(
            model,
            ids[0],
            ["a", "b & \"c\"", "ü ${x}"][random.usize(..3)],
        ),
        8 => drumfire_edit::operations::set::enable(model, &ids, random.bool()),
        9 => {
            let everywhere = search::Where {
                names: true,
                values: true,
            };
            let query = search::Query::new(
                "[aeiou]",
                search::Reading {
                    regex: true,
                    ..search::Reading::default()
                },
                everywhere,
            )?;
            search::replace(model, &query, "$0x", true, &[random.usize(..5)])
        }
        _ => {
            let mut names: Vec<String> = Vec::new();
            search::props(
                &model.node(ids[0]).expect("it is there").props,
                "",
                &mut |name, _| names.push(name.to_owned()),
            );
            match names.is_empty() {
                true => Ok(Step::default()),
                false => {
                    let value = ["1", "x\ny", "<&>"][random.usize(..3)];
                    let value = random.bool().then_some(value);
                    set(model, &ids[..1], &names[random.usize(..names.len())], value)
                }
            }
        }
    }
}

/// The elements with their numbers.
fn shape(session: &Session) -> Vec<(Id, Option<usize>, String)> {
    let model = session.model();
    let entries = model.outline().entries.iter().enumerate();
    entries
        .map(|(at, entry)| (entry.id, entry.parent, model.node_at(at).name.to_string()))
        .collect()
}

#[test]
fn random_operations_are_taken_back_and_made_again_byte_by_byte() {
    let count = steps(12);
    let mut made = 0;
    for (number, path) in (0..).zip(plans::files()) {
        // A plan of a hundred kilobytes is read again for each step.
        let is_small = std::fs::metadata(&path).is_ok_and(|file| file.len() < 60_000);
        let is_small = is_small && (number % 4 == 0 || std::env::var_os("EDIT_STEPS").is_some());
        let Some(mut session) = plans::opened(&path).filter(|_| is_small) else {
            continue;
        };
        let mut random = Rng::with_seed(number);
        let mut states = vec![(session.model().text().to_owned(), shape(&session))];
        for _ in 0..count {
            let Ok(step) = operation(&mut session, &mut random) else {
                continue;
            };
            let told = format!("{}: {}", path.display(), step.label);
            if step.is_empty() {
                continue;
            }
            session
                .make(step)
                .unwrap_or_else(|refused| panic!("{told}: {refused:?}"));
            // What the model holds is what a new reader finds.
            let anew = drumfire_jmx::read(session.model().text().as_bytes(), &path);
            let anew = anew.unwrap_or_else(|faults| panic!("{told}: {}", faults[0].render(false)));
            assert_eq!(
                format!("{:?}", anew.tree.roots),
                format!("{:?}", session.model().tree().roots),
                "{told}"
            );
            states.push((session.model().text().to_owned(), shape(&session)));
            if states.len() > 60 {
                states.remove(0);
            }
        }
        for (text, shape_before) in states.iter().rev().skip(1) {
            session
                .undo()
                .unwrap_or_else(|refused| panic!("{}: {refused:?}", path.display()));
            assert_eq!(session.model().text(), text, "{}", path.display());
            assert_eq!(&shape(&session), shape_before, "{}", path.display());
        }
        for (text, shape_after) in states.iter().skip(1) {
            session
                .redo()
                .unwrap_or_else(|refused| panic!("{}: {refused:?}", path.display()));
            assert_eq!(session.model().text(), text, "{}", path.display());
            assert_eq!(&shape(&session), shape_after, "{}", path.display());
        }
        made += states.len() - 1;
    }
    println!("{made} operations");
    assert!(made > 200, "{made}");
}
