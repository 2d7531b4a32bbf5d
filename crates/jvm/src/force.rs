//! Throws an error into another thread, for code that ignores interruption. It uses the tool interface's StopThread (JVMTI),
//! since Java's own `Thread.stop` does not work from Java 20 on.

use std::ffi::c_void;
use std::ptr::null_mut;

use jni::errors::{Error, Result};
use jni::objects::JObject;
use jni::{Env, JavaVM, jni_str};

/// `JVMTI_VERSION_1_2`.
const VERSION: i32 = 0x3001_0200;
/// Indexes of functions in `jvmtiInterface_1`, from 0.
const STOP_THREAD: usize = 6;
const ADD_CAPABILITIES: usize = 141;
/// `can_signal_thread` is the eleventh bit of `jvmtiCapabilities`.
const CAN_SIGNAL_THREAD: [u32; 4] = [1 << 10, 0, 0, 0];

/// The environment of the tool interface: a pointer to its table of functions.
type Tool = *mut *const *const c_void;

/// Makes a thread throw an error as soon as it can.
///
/// # Errors
/// The exception of the virtual machine.
pub fn throw_in(vm: &JavaVM, env: &mut Env<'_>, thread: &JObject<'_>) -> Result<()> {
    let error = env.find_class(jni_str!("java/lang/Error"))?;
    let message = env.new_string("the run was told to stop now")?;
    let error = env.new_object(
        error,
        jni::jni_sig!("(Ljava/lang/String;)V"),
        &[(&message).into()],
    )?;
    let mut tool: *mut c_void = null_mut();
    let raw = vm.get_raw();
    // SAFETY: the machine is alive, as it always is once started, and this thread is attached to it.
    let found = unsafe { ((**raw).v1_2.GetEnv)(raw, &raw mut tool, VERSION) };
    if found != 0 || tool.is_null() {
        return Err(Error::NullPtr("the tool interface"));
    }
    let tool: Tool = tool.cast();
    // SAFETY: an environment of the tool interface begins with a pointer to a table that has these functions at these places
    // in all its versions, with these parameters; both references are alive.
    let outcome = unsafe {
        let add: extern "system" fn(Tool, &[u32; 4]) -> i32 =
            std::mem::transmute(*(*tool).add(ADD_CAPABILITIES));
        let stop: extern "system" fn(Tool, jni::sys::jobject, jni::sys::jobject) -> i32 =
            std::mem::transmute(*(*tool).add(STOP_THREAD));
        match add(tool, &CAN_SIGNAL_THREAD) {
            0 => stop(tool, thread.as_raw(), error.as_raw()),
            refused => refused,
        }
    };
    match outcome {
        0 => Ok(()),
        _ => Err(Error::NullPtr("the thread to be stopped")),
    }
}
