//! The native methods of `Natives.java`, through which Java code calls the engine.

use std::sync::{Arc, PoisonError, RwLock};

use drumfire_engine::Control;
use drumfire_engine::Shape;
use drumfire_engine::java::{Halt, RunUsers, Visit};
use drumfire_expr::{Properties, Raised};
use jni::errors::{Error, Result, ThrowRuntimeExAndDefault};
use jni::objects::{JByteArray, JClass, JLongArray, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, NativeMethod, jni_str};

use crate::{below, current, hired, request, result, text};

/// The run that Java code belongs to, on any thread.
#[derive(Default)]
struct Run {
    properties: Option<Properties>,
    control: Option<Control>,
    crowd: Option<Arc<dyn RunUsers>>,
    lost: Vec<String>,
}

static RUN: RwLock<Run> = RwLock::new(Run {
    properties: None,
    control: None,
    crowd: None,
    lost: Vec::new(),
});

/// Sets the properties that Java code sees from now on.
pub fn use_properties(properties: Properties) {
    let mut run = RUN.write().unwrap_or_else(PoisonError::into_inner);
    run.properties = Some(properties);
}

/// Sets the control by which Java code may end the run from now on.
pub fn use_control(control: Control) {
    let mut run = RUN.write().unwrap_or_else(PoisonError::into_inner);
    run.control = Some(control);
}

/// Sets the users that Java code counts and stops from now on.
pub fn use_crowd(crowd: Arc<dyn RunUsers>) {
    let mut run = RUN.write().unwrap_or_else(PoisonError::into_inner);
    run.crowd = Some(crowd);
}

/// Takes the messages about data that Java code could not send.
pub fn take_lost() -> Vec<String> {
    let mut run = RUN.write().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut run.lost)
}

/// Uses the users of the run, if there are any yet.
pub fn crowd<R>(use_it: impl FnOnce(&dyn RunUsers) -> R) -> Option<R> {
    let run = RUN.read().unwrap_or_else(PoisonError::into_inner);
    run.crowd.as_deref().map(use_it)
}

fn properties_at_hand<R>(use_it: impl FnOnce(&Properties) -> R) -> Option<R> {
    let run = RUN.read().unwrap_or_else(PoisonError::into_inner);
    run.properties.as_ref().map(use_it)
}

/// Ends the run that Java code belongs to, if there is one yet.
pub fn stop_run(now: bool) {
    let run = RUN.read().unwrap_or_else(PoisonError::into_inner);
    match &run.control {
        Some(control) if now => control.stop_now(),
        Some(control) => control.shutdown(),
        None => {}
    }
}

/// Uses the visit of the running call.
pub fn visit<R: Send + 'static>(
    use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
) -> Result<R> {
    reached(current::visit(use_it))
}

/// As `visit`, for uses that change no variables.
fn look<R: Send + 'static>(use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static) -> Result<R> {
    reached(current::look(use_it))
}

/// As `look`, for uses without an answer.
fn order(order: impl FnOnce(&mut Visit<'_>) + Send + 'static) -> Result<()> {
    reached(current::order(order))
}

fn reached<R>(answer: Option<R>) -> Result<R> {
    answer.ok_or(Error::NullPtr(
        "no virtual user's call is running on this thread",
    ))
}

type Text<'l> = JString<'l>;

extern "system" fn variable<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
) -> Text<'l> {
    env.with_env(|env| -> Result<_> {
        let Some(name) = text::read(env, &name)? else {
            return Ok(JString::null());
        };
        // In place, the value needs no copy of its own.
        if let Some(value) =
            current::here(|visit| visit.variable(&name).map(|value| text::write(env, value)))
        {
            return value.unwrap_or_else(|| Ok(JString::null()));
        }
        match reached(current::far().and_then(|far| far.variable(&name)))? {
            Some(value) => text::write(env, &value),
            None => Ok(JString::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_variable<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
    value: Text<'l>,
) {
    env.with_env(|env| -> Result<_> {
        let Some(name) = text::read(env, &name)? else {
            return Ok(());
        };
        let value = text::read(env, &value)?;
        reached(match current::far() {
            Some(far) => far.set_variable(name, value),
            None => current::here(|visit| visit.set_variable(&name, value.as_deref())),
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn remove_variable<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, name: Text<'l>) {
    env.with_env(|env| -> Result<_> {
        let name = text::read(env, &name)?.unwrap_or_default();
        reached(match current::far() {
            Some(far) => far.remove_variable(name),
            None => current::here(|visit| visit.remove_variable(&name)),
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn is_spelled_out<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
) -> jboolean {
    env.with_env(|env| -> Result<_> {
        let name = text::read(env, &name)?.unwrap_or_default();
        reached(match current::far() {
            Some(far) => far.is_spelled_out(name),
            None => current::here(|visit| visit.is_spelled_out(&name)),
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn variables<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
) -> JObjectArray<'l, JString<'l>> {
    env.with_env(|env| -> Result<_> {
        let all = visit(|visit| {
            let all = visit.variables().into_iter();
            all.flat_map(|(name, value)| [Some(name.to_owned()), value.map(str::to_owned)])
                .collect::<Vec<_>>()
        })?;
        let all: Vec<_> = all.iter().map(Option::as_deref).collect();
        texts_of(env, &all)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn template<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, number: jint) -> Text<'l> {
    env.with_env(|env| -> Result<_> {
        let value = visit(move |visit| visit.template(number as usize))?;
        text::write(env, &value)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn sampler<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> jlong {
    env.with_env(|_| {
        look(|visit| {
            let number = visit.sampler().unwrap_or(u32::MAX);
            ((u64::from(visit.sample_number()) << 32) | u64::from(number)) as jlong
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn result_of<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> JByteArray<'l> {
    env.with_env(|env| -> Result<_> {
        match look(|visit| visit.result().map(result::write))? {
            Some(bytes) => env.byte_array_from_slice(&bytes),
            None => Ok(JByteArray::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn result_body<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> JByteArray<'l> {
    env.with_env(|env| -> Result<_> {
        // In place, the body needs no copy of its own.
        let here = current::here(|visit| {
            let body = visit.result()?.response_data.as_ref()?;
            Some(env.byte_array_from_slice(body))
        });
        if let Some(array) = here {
            return array.unwrap_or_else(|| Ok(JByteArray::null()));
        }
        let body = look(|visit| {
            let body = visit.result()?.response_data.as_ref()?;
            Some(body.to_vec())
        })?;
        match body {
            Some(body) => env.byte_array_from_slice(&body),
            None => Ok(JByteArray::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_result<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    bytes: JByteArray<'l>,
    body: JByteArray<'l>,
) {
    env.with_env(|env| -> Result<_> {
        let bytes = env.convert_byte_array(&bytes)?;
        let body = if body.is_null() {
            None
        } else {
            Some(env.convert_byte_array(&body)?)
        };
        order(move |visit| take_result(visit, &bytes, body.as_deref()))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

fn take_result(visit: &mut Visit<'_>, bytes: &[u8], body: Option<&[u8]>) {
    let before = if visit.is_sampling() {
        None
    } else {
        visit.result()
    };
    let (sample, demands) = result::read(bytes, body, before);
    visit.set_result(sample);
    if demands.stop_thread {
        visit.stop_thread();
    }
    if demands.stop_test || demands.stop_test_now {
        visit.stop_test(demands.stop_test_now);
    }
    if demands.action != Default::default() {
        visit.set_action(demands.action);
    }
}

extern "system" fn request_of<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> JByteArray<'l> {
    env.with_env(|env| -> Result<_> {
        match visit(|visit| visit.request().map(|request| request::write(&request)))? {
            Some(bytes) => env.byte_array_from_slice(&bytes),
            None => Ok(JByteArray::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn named_sampler<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
) -> JObjectArray<'l, JString<'l>> {
    env.with_env(|env| -> Result<_> {
        match look(|visit| visit.named_sampler())? {
            Some((class, name)) => texts_of(env, &[class.as_str(), &name]),
            None => Ok(JObjectArray::<JString>::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn previous_sampler<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
) -> JObjectArray<'l, JString<'l>> {
    env.with_env(|env| -> Result<_> {
        match look(|visit| visit.previous_sampler())? {
            Some((class, name)) => texts_of(env, &[class.as_str(), &name]),
            None => Ok(JObjectArray::<JString>::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_request<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    before: JByteArray<'l>,
    after: JByteArray<'l>,
    in_place: jboolean,
) {
    env.with_env(|env| -> Result<_> {
        let before = request::read(&env.convert_byte_array(&before)?);
        let after = request::read(&env.convert_byte_array(&after)?);
        visit(move |visit| visit.set_request(before, after, in_place))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn cookies<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> JByteArray<'l> {
    env.with_env(|env| -> Result<_> {
        let cookies = visit(|visit| visit.cookies())?;
        env.byte_array_from_slice(&request::write_cookies(&cookies))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_cookies<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, bytes: JByteArray<'l>) {
    env.with_env(|env| -> Result<_> {
        let cookies = if bytes.is_null() {
            None
        } else {
            Some(request::read_cookies(&env.convert_byte_array(&bytes)?))
        };
        visit(move |visit| visit.set_cookies(cookies))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn verdict<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
    failure: jboolean,
    error: jboolean,
    message: Text<'l>,
) {
    env.with_env(|env| -> Result<_> {
        let (name, message) = (text::read(env, &name)?, text::read(env, &message)?);
        order(move |visit| {
            visit.verdict = Some(drumfire_results::AssertionResult {
                name: name.map(Into::into),
                failure,
                error,
                message: message.map(Into::into),
            });
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

// The consequence of an exception for the user, as `Bridge.java` numbers it. 0 discards the sample.
const STOP_THREAD: jint = 1;
const STOP_TEST: jint = 2;
const STOP_TEST_NOW: jint = 3;
const END_USER: jint = 4;
/// `InvalidVariableException` of a function.
const NO_TEXT: jint = 5;

extern "system" fn thrown<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, fate: jint, what: Text<'l>) {
    env.with_env(|env| -> Result<_> {
        let what = text::read(env, &what)?.unwrap_or_default();
        order(move |visit| {
            match fate {
                STOP_TEST | STOP_TEST_NOW => visit.stop_test(fate == STOP_TEST_NOW),
                END_USER => visit.end_user(&what),
                _ => {}
            }
            visit.thrown = Some(match fate {
                STOP_THREAD | STOP_TEST | STOP_TEST_NOW => Raised::StopThread(what),
                NO_TEXT => Raised::Invalid(what),
                _ => Raised::exception(what),
            });
        })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_action<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, action: jint) {
    env.with_env(|_| order(move |visit| visit.set_action(result::action(action))))
        .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn stop_thread<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) {
    env.with_env(|_| order(|visit| visit.stop_thread()))
        .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn iteration<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) -> jint {
    env.with_env(|_| look(|visit| visit.iteration() as jint))
        .resolve::<ThrowRuntimeExAndDefault>()
}

/// `StandardJMeterEngine#stopTest`: goes straight to the run, since a script may hold up the thread of the caller's user.
extern "system" fn stop_test<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, now: jboolean) {
    env.with_env(|_| -> Result<_> {
        stop_run(now);
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn lost<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, text: Text<'l>) {
    env.with_env(|env| -> Result<_> {
        let text = text::read(env, &text)?.unwrap_or_default();
        let mut run = RUN.write().unwrap_or_else(PoisonError::into_inner);
        run.lost.push(text);
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn property<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
) -> Text<'l> {
    env.with_env(|env| -> Result<_> {
        let name = text::read(env, &name)?.unwrap_or_default();
        match properties_at_hand(|properties| properties.get(&name)).flatten() {
            Some(value) => text::write(env, &value),
            None => Ok(JString::null()),
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn set_property<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
    value: Text<'l>,
) {
    env.with_env(|env| -> Result<_> {
        let name = text::read(env, &name)?.unwrap_or_default();
        let value = text::read(env, &value)?;
        properties_at_hand(|properties| match value {
            Some(value) => properties.set(&name, value),
            None => properties.remove(&name),
        });
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn properties<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
) -> JObjectArray<'l, JString<'l>> {
    env.with_env(|env| -> Result<_> {
        let properties = properties_at_hand(Properties::snapshot).unwrap_or_default();
        let all: Vec<_> = properties
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        pairs(env, &all)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn log<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    level: jint,
    category: Text<'l>,
    message: Text<'l>,
) {
    env.with_env(|env| -> Result<_> {
        let category = text::read(env, &category)?.unwrap_or_default();
        let message = text::read(env, &message)?.unwrap_or_default();
        match level {
            0 => tracing::trace!(category, "{message}"),
            1 => tracing::debug!(category, "{message}"),
            2 => tracing::info!(category, "{message}"),
            3 => tracing::warn!(category, "{message}"),
            _ => tracing::error!(category, "{message}"),
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn running_threads<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    group: jint,
) -> jint {
    env.with_env(|_| -> Result<_> {
        let group = usize::try_from(group).ok();
        Ok(crowd(|crowd| crowd.running(group)).unwrap_or(0) as jint)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn thread_count<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, which: jint) -> jint {
    env.with_env(|_| -> Result<_> {
        let counts = crowd(|crowd| crowd.of_phase()).unwrap_or_default();
        Ok(counts.get(which as usize).map_or(0, |count| *count as jint))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Numbers as `Group.java` reads them: users, ramp-up, whether users are created late, whether there is a schedule, its delay and
/// its duration.
extern "system" fn group_settings<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    group: jint,
) -> JLongArray<'l> {
    env.with_env(|env| -> Result<_> {
        let settings = crowd(|crowd| {
            let (_, shape) = crowd.group(group as usize);
            let mut settings = [i64::from(shape.users()), 0, 0, 0, 0, 0];
            if let Shape::Ramp(ramp) = shape {
                let (delay_s, duration_s) = ramp.scheduler.unwrap_or_default();
                settings[1..].copy_from_slice(&[
                    i64::from(ramp.ramp_up_s),
                    i64::from(ramp.delayed_start),
                    i64::from(ramp.scheduler.is_some()),
                    delay_s,
                    duration_s,
                ]);
            }
            settings
        })
        .unwrap_or_default();
        let array = env.new_long_array(settings.len())?;
        array.set_region(env, 0, &settings)?;
        Ok(array)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// As `Natives.java` numbers them.
fn halt(number: jint) -> Halt {
    match number {
        0 => Halt::Finish,
        1 => Halt::BreakOff,
        _ => Halt::Now,
    }
}

extern "system" fn stop_user<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    name: Text<'l>,
    how: jint,
) -> jboolean {
    env.with_env(|env| -> Result<_> {
        let name = text::read(env, &name)?.unwrap_or_default();
        let stopped = crowd(|crowd| crowd.stop_user(&name, halt(how)));
        Ok(jboolean::from(stopped.unwrap_or(false)))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn stop_group<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, group: jint, how: jint) {
    env.with_env(|_| -> Result<_> {
        crowd(|crowd| crowd.stop_group(group as usize, halt(how)));
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn join<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, line: jlong) -> jboolean {
    env.with_env(|_| -> Result<_> { Ok(jboolean::from(current::join(line as u64))) })
        .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn leave<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>) {
    env.with_env(|_| -> Result<_> {
        current::leave();
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

fn pairs<'l, T: AsRef<str>>(
    env: &mut Env<'l>,
    pairs: &[(T, T)],
) -> Result<JObjectArray<'l, JString<'l>>> {
    let texts: Vec<&str> = pairs
        .iter()
        .flat_map(|(name, value)| [name.as_ref(), value.as_ref()])
        .collect();
    texts_of(env, &texts)
}

/// A Java array of texts; `None` is null.
pub fn texts_of<'l, 't, T: Copy + Into<Option<&'t str>>>(
    env: &mut Env<'l>,
    texts: &[T],
) -> Result<JObjectArray<'l, JString<'l>>> {
    let array = env.new_object_type_array::<JString>(texts.len(), JString::null())?;
    for (index, text) in texts.iter().enumerate() {
        let Some(text) = (*text).into() else {
            continue;
        };
        let text = text::write(env, text)?;
        array.set_element(env, index, &text)?;
        env.delete_local_ref(text);
    }
    Ok(array)
}

/// Binds the functions here to their Java methods.
pub fn register(env: &mut Env<'_>, class: &JClass<'_>) -> Result<()> {
    macro_rules! methods {
        ($($name:literal $signature:literal $function:path),* $(,)?) => {
            [$(
                // SAFETY: the function has the parameters and the result that the signature says, after the environment and
                // the class, as a static native method is called with.
                unsafe { NativeMethod::from_raw_parts(jni_str!($name), jni_str!($signature), $function as *mut std::ffi::c_void) }
            ),*]
        };
    }
    let methods = methods![
        "variable" "(Ljava/lang/String;)Ljava/lang/String;" variable,
        "setVariable" "(Ljava/lang/String;Ljava/lang/String;)V" set_variable,
        "removeVariable" "(Ljava/lang/String;)V" remove_variable,
        "isSpelledOut" "(Ljava/lang/String;)Z" is_spelled_out,
        "variables" "()[Ljava/lang/String;" variables,
        "template" "(I)Ljava/lang/String;" template,
        "result" "()[B" result_of,
        "resultBody" "()[B" result_body,
        "setResult" "([B[B)V" set_result,
        "sampler" "()J" sampler,
        "request" "()[B" request_of,
        "namedSampler" "()[Ljava/lang/String;" named_sampler,
        "setRequest" "([B[BZ)V" set_request,
        "cookies" "()[B" cookies,
        "setCookies" "([B)V" set_cookies,
        "verdict" "(Ljava/lang/String;ZZLjava/lang/String;)V" verdict,
        "thrown" "(ILjava/lang/String;)V" thrown,
        "setAction" "(I)V" set_action,
        "stopThread" "()V" stop_thread,
        "iteration" "()I" iteration,
        "stopTest" "(Z)V" stop_test,
        "lost" "(Ljava/lang/String;)V" lost,
        "property" "(Ljava/lang/String;)Ljava/lang/String;" property,
        "setProperty" "(Ljava/lang/String;Ljava/lang/String;)V" set_property,
        "properties" "()[Ljava/lang/String;" properties,
        "log" "(ILjava/lang/String;Ljava/lang/String;)V" log,
        "previousSampler" "()[Ljava/lang/String;" previous_sampler,
        "runningThreads" "(I)I" running_threads,
        "threadCount" "(I)I" thread_count,
        "groupSettings" "(I)[J" group_settings,
        "stopUser" "(Ljava/lang/String;I)Z" stop_user,
        "stopGroup" "(II)V" stop_group,
        "startUser" "(ILjava/lang/String;IJIZ)J" hired::start_user,
        "awaitUser" "(JI)Z" hired::await_user,
        "children" "()[Ljava/lang/String;" below::children,
        "askChild" "(II)I" below::ask_child,
        "tellChildren" "(IZ)V" below::tell_children,
        "join" "(J)Z" join,
        "leave" "()V" leave,
    ];
    // SAFETY: all of these methods are static.
    unsafe { env.register_native_methods(class, &methods) }
}
