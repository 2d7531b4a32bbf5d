//! Sessions: undo, journal, other programs.

use std::path::Path;

use drumfire_edit::operations::set::set;
use drumfire_edit::{Journals, Outside, Session};

use crate::plans::{id, plan};

const TIMERS: &str = r#"        <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="a">
          <stringProp name="ConstantTimer.delay">1</stringProp>
        </ConstantTimer>
        <hashTree/>
        <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="b">
          <stringProp name="ConstantTimer.delay">2</stringProp>
        </ConstantTimer>
        <hashTree/>"#;

const DELAY: &str = "ConstantTimer.delay";

struct Place {
    _folder: tempfile::TempDir,
    plan: std::path::PathBuf,
    journals: Journals,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.jmx");
    std::fs::write(&path, plan(TIMERS)).expect("the plan is written");
    Place {
        journals: Journals::new(folder.path().join("state/edit")),
        plan: path,
        _folder: folder,
    }
}

impl Place {
    fn open(&self) -> Session {
        Session::open(&self.plan, Some(&self.journals))
            .unwrap_or_else(|refused| panic!("{refused:?}"))
    }

    fn on_disk(&self) -> String {
        std::fs::read_to_string(&self.plan).expect("the plan")
    }
}

fn delay(session: &mut Session, name: &str, value: &str) {
    let step = set(session.model(), &[id(session, name)], DELAY, Some(value));
    session
        .make(step.expect("it has a delay"))
        .unwrap_or_else(|refused| panic!("{refused:?}"));
}

/// Makes sure that the time of the file differs from the one before.
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let file = std::fs::File::options()
        .write(true)
        .open(path)
        .expect("the file");
    file.set_modified(later).expect("it has a time");
}

#[test]
fn undo_and_unsaved_work_survive_the_end_of_a_session() {
    let place = place();
    let mut session = place.open();
    delay(&mut session, "a", "10");
    session.save().expect("it is saved");
    delay(&mut session, "b", "20");
    delay(&mut session, "b", "21");
    session.undo().expect("a step");
    let text = session.model().text().to_owned();
    assert!(session.is_dirty());
    // Nothing is told to the session when a program is killed.
    drop(session);
    let mut again = place.open();
    assert_eq!(again.model().text(), text);
    assert!(again.is_dirty() && place.on_disk() != text);
    again.redo().expect("the step that was taken back");
    assert!(again.model().text().contains(">21<"));
    for _ in 0..3 {
        again.undo().expect("a step");
    }
    assert_eq!(again.model().text(), plan(TIMERS));
    assert!(again.undo().is_err());
    again.save().expect("it is saved");
    assert_eq!(place.on_disk(), plan(TIMERS));
    assert!(!again.is_dirty());
}

#[test]
fn a_second_writer_may_only_read() {
    let place = place();
    let mut first = place.open();
    let mut second = place.open();
    assert_eq!(
        second.read_only(),
        Some("another `drumfire edit` has it open")
    );
    let step = set(second.model(), &[id(&second, "a")], DELAY, Some("5")).expect("it fits");
    assert!(
        second
            .make(step)
            .expect_err("it only reads")
            .message
            .contains("for reading only")
    );
    delay(&mut first, "a", "5");
    drop(first);
    assert_eq!(place.open().read_only(), None);
}

#[test]
fn a_line_of_the_journal_that_was_cut_off_loses_that_step_only() {
    let place = place();
    let mut session = place.open();
    delay(&mut session, "a", "10");
    let text = session.model().text().to_owned();
    delay(&mut session, "a", "11");
    drop(session);
    let folder = place.plan.parent().expect("a folder").join("state/edit");
    let mut entries = std::fs::read_dir(folder)
        .expect("journals")
        .map(|entry| entry.expect("an entry").path());
    let journal = entries
        .find(|path| path.extension().is_some_and(|ending| ending == "journal"))
        .expect("a journal");
    let bytes = std::fs::read(&journal).expect("the journal");
    std::fs::write(&journal, &bytes[..bytes.len() - 20]).expect("written");
    let mut again = place.open();
    assert_eq!(again.model().text(), text);
    delay(&mut again, "a", "12");
    let text = again.model().text().to_owned();
    drop(again);
    assert_eq!(place.open().model().text(), text);
    std::fs::write(&journal, "no journal\n").expect("written");
    assert_eq!(place.open().model().text(), plan(TIMERS));
}

#[test]
fn changes_of_other_programs_are_merged_and_conflicts_are_told() {
    let place = place();
    let mut session = place.open();
    let b = id(&session, "b");
    // Nothing is unsaved here: their version is taken as it is, and undo leads back.
    let theirs = plan(TIMERS).replace(">1<", ">100<");
    write(&place.plan, &theirs);
    assert!(matches!(session.poll(), Some(Outside::Merged(_))));
    assert_eq!(session.model().text(), theirs);
    assert!(!session.is_dirty() && session.poll().is_none());
    assert_eq!(id(&session, "b"), b);
    // Another element is unsaved here.
    delay(&mut session, "b", "200");
    write(&place.plan, &theirs.replace(">100<", ">101<"));
    assert!(matches!(session.poll(), Some(Outside::Merged(_))));
    assert!(session.model().text().contains(">101<") && session.model().text().contains(">200<"));
    session.save().expect("it is saved");
    assert_eq!(place.on_disk(), session.model().text());
    // The same setting is unsaved here.
    delay(&mut session, "b", "300");
    write(&place.plan, &place.on_disk().replace(">200<", ">400<"));
    let Some(Outside::Conflict(conflicts)) = session.poll() else {
        panic!("both changed the delay");
    };
    assert_eq!(
        (conflicts[0].ours.as_str(), conflicts[0].theirs.as_str()),
        ("300", "400")
    );
    assert!(session.save().is_err());
    assert!(place.on_disk().contains(">400<"));
    session.resolve(true).expect("their version");
    assert!(session.model().text().contains(">400<") && !session.is_dirty());
    session.undo().expect("a step");
    assert!(session.model().text().contains(">300<") && session.is_dirty());
    session.save().expect("it is saved");
    delay(&mut session, "b", "500");
    write(&place.plan, &place.on_disk().replace(">300<", ">600<"));
    assert!(matches!(session.poll(), Some(Outside::Conflict(_))));
    session.resolve(false).expect("our version");
    session.save().expect("it is saved");
    assert!(place.on_disk().contains(">500<"));
}

#[test]
fn a_plan_that_changed_while_nobody_had_it_open_is_merged() {
    let place = place();
    let mut session = place.open();
    delay(&mut session, "b", "200");
    drop(session);
    write(&place.plan, &plan(TIMERS).replace(">1<", ">100<"));
    let mut session = place.open();
    let text = session.model().text().to_owned();
    assert!(text.contains(">100<") && text.contains(">200<"), "{text}");
    session.save().expect("it is saved");
    assert_eq!(place.on_disk(), text);
}

#[test]
fn stale_revisions_are_refused_where_the_element_changed() {
    let place = place();
    let mut session = place.open();
    let (a, b) = (id(&session, "a"), id(&session, "b"));
    let seen = session.revision();
    delay(&mut session, "a", "10");
    assert!(session.check(Some(seen), &[b]).is_ok());
    let refused = session.check(Some(seen), &[a]).expect_err("it changed");
    assert_eq!(
        (refused.code, refused.id),
        (drumfire_edit::refused::STALE, Some(a))
    );
    assert!(session.check(Some(session.revision()), &[a]).is_ok());
    assert!(session.check(None, &[a]).is_ok());
    assert!(session.check(None, &[99]).is_err());
}
