//! Converts texts between Rust and Java. Names and values of variables are short and mostly ASCII. These need one call into
//! the virtual machine and a buffer on the stack, while `jni` allocates twice for each of them.

use jni::Env;
use jni::errors::Result;
use jni::objects::JString;
use jni::sys::{jchar, jsize};

/// The longest text for that short path, in UTF-16 code units.
const SHORT: usize = 256;

/// A Java text; `None` for null.
pub fn read(env: &Env<'_>, text: &JString<'_>) -> Result<Option<String>> {
    if text.is_null() {
        return Ok(None);
    }
    match read_short(env, text) {
        Some(short) => Ok(Some(short)),
        None => text.try_to_string(env).map(Some),
    }
}

fn read_short(env: &Env<'_>, text: &JString<'_>) -> Option<String> {
    let mut units: [jchar; SHORT] = [0; SHORT];
    let raw = env.get_raw();
    // SAFETY: `raw` is this thread's environment and `text` a live reference to a text, which is not null.
    let length = unsafe { ((**raw).v1_1.GetStringLength)(raw, text.as_raw()) };
    let length = usize::try_from(length).ok()?;
    let units = units.get_mut(..length)?;
    // SAFETY: as above; the region is the whole text, so that nothing is thrown, and the buffer has room for just that.
    unsafe {
        let buffer = units.as_mut_ptr();
        ((**raw).v1_2.GetStringRegion)(raw, text.as_raw(), 0, length as jsize, buffer);
    }
    let all = units.iter().fold(0, |all, unit| all | unit);
    if all >= 0x80 {
        return None; // the slow path has rules for lone surrogates
    }
    String::from_utf8(units.iter().map(|unit| *unit as u8).collect()).ok()
}

/// Converts a text for Java.
pub fn write<'l>(env: &mut Env<'l>, text: &str) -> Result<JString<'l>> {
    if text.len() > SHORT || !text.is_ascii() {
        return env.new_string(text);
    }
    let mut units: [jchar; SHORT] = [0; SHORT];
    for (unit, byte) in units.iter_mut().zip(text.bytes()) {
        *unit = jchar::from(byte);
    }
    let raw = env.get_raw();
    // SAFETY: `raw` is this thread's environment, and the buffer has at least as many units as the text has bytes. The
    // reference is a new one of the current frame, or null with a pending exception.
    let made = unsafe {
        let made = ((**raw).v1_1.NewString)(raw, units.as_ptr(), text.len() as jsize);
        JString::from_raw(env, made)
    };
    if made.is_null() {
        Err(jni::errors::Error::JavaException)
    } else {
        Ok(made)
    }
}
