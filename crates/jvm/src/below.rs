//! The native methods by which a controller that Java drives reaches its children.

use drumfire_engine::java::{Ask, NOTHING};
use jni::EnvUnowned;
use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::{JClass, JObjectArray, JString};
use jni::sys::jint;

use crate::natives::{texts_of, visit};

/// A question and its argument as `Controllers.java` numbers them.
pub fn number(ask: Ask) -> (i32, i32) {
    match ask {
        Ask::Next => (0, 0),
        Ask::Initialize => (1, 0),
        Ask::IsDone => (2, 0),
        Ask::EndOfLoop => (3, 0),
        Ask::Iteration {
            count,
            of_loop: false,
        } => (4, count),
        Ask::Iteration {
            count,
            of_loop: true,
        } => (5, count),
        Ask::StartNextLoop => (6, 0),
        Ask::BreakLoop => (7, 0),
    }
}

fn question(number: i32) -> Option<Ask> {
    let all = [
        Ask::Next,
        Ask::Initialize,
        Ask::IsDone,
        Ask::EndOfLoop,
        Ask::StartNextLoop,
        Ask::BreakLoop,
    ];
    all.into_iter().find(|ask| self::number(*ask).0 == number)
}

/// `Natives.children`: an entry for each child: the number of a sampler's step, or `c` for a controller, then a space and its
/// name.
pub extern "system" fn children<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
) -> JObjectArray<'l, JString<'l>> {
    env.with_env(|env| -> Result<_> {
        let children = visit(|visit| visit.children())?;
        let texts: Vec<String> = children
            .into_iter()
            .map(|(step, name)| match step {
                Some(step) => format!("{step} {name}"),
                None => format!("c {name}"),
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts_of(env, &texts)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// `Natives.askChild`.
pub extern "system" fn ask_child<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    place: jint,
    asked: jint,
) -> jint {
    env.with_env(|_| -> Result<_> {
        match question(asked) {
            Some(ask) => visit(move |visit| visit.ask_child(place as usize, ask)),
            None => Ok(NOTHING),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// `Natives.tellChildren`.
pub extern "system" fn tell_children<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    count: jint,
    of_loop: jni::sys::jboolean,
) {
    env.with_env(|_| -> Result<_> {
        visit(move |visit| visit.tell_children(count, of_loop != jni::sys::jboolean::from(false)))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
