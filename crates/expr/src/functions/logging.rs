//! `LogFunction` and `LogFunction2`.

use std::io::{self, Write};

use crate::call::{Args, CallResult};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// `__log`: writes and returns the text.
pub(super) fn log<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let throwable = args.given(2, scope)?.filter(|text| !text.is_empty());
    let comment = args.text(3, scope)?;
    write(args, &text, throwable, &comment, scope)?;
    Ok(text)
}

/// `__logn`: writes the text and returns nothing.
pub(super) fn logn<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let throwable = args.given(2, scope)?;
    write(args, &text, throwable, "", scope)?;
    Ok(Text::Literal(""))
}

/// `LogFunction.logDetails`: `OUT` and `ERR` are the process's streams; an unknown level counts as
/// DEBUG.
fn write(
    args: Args<'_>,
    text: &str,
    throwable: Option<Text<'_>>,
    comment: &str,
    scope: &mut dyn Scope,
) -> Result<(), Raised> {
    let level = args.trimmed(1, scope)?.to_uppercase();
    let thrown = throwable.map(|text| format!("java.lang.Throwable: {text}"));
    if level == "OUT" || level == "ERR" {
        let separator = if comment.is_empty() {
            " : ".to_owned()
        } else {
            format!(" {comment}")
        };
        let thrown = thrown
            .map(|thrown| format!(" {thrown}"))
            .unwrap_or_default();
        let line = format!("Log: {}{separator}{text}{thrown}", scope.thread_name());
        // As in JMeter, a closed output stream does not stop a user.
        let _ = match level.as_str() {
            "OUT" => writeln!(io::stdout(), "{line}"),
            _ => writeln!(io::stderr(), "{line}"),
        };
        return Ok(());
    }
    let level = match level.as_str() {
        "" | "INFO" => Level::Info,
        "WARN" => Level::Warn,
        "ERROR" => Level::Error,
        "TRACE" => Level::Trace,
        _ => Level::Debug,
    };
    let separator = if comment.is_empty() { " : " } else { comment };
    let thrown = thrown
        .map(|thrown| format!("\n{thrown}"))
        .unwrap_or_default();
    let line = format!("{} {separator} {text}{thrown}", scope.thread_name());
    scope.log(level, &line);
    Ok(())
}
