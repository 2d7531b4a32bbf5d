//! Removes stack traces from JMeter's results: they are the response data of a request without a response. Drumfire does not
//! reproduce their frames, and therefore not their size.

use std::borrow::Cow;

/// The prefix of the response code of a request without a response.
const NO_RESPONSE: &str = "Non HTTP response code: ";
/// The response code of a gRPC call that could not be made.
const NO_CALL: &str = " 400";

/// Whether the size of a sample with this response code is that of a stack trace.
pub(super) fn is_size_of_trace(code: &str) -> bool {
    code.starts_with(NO_RESPONSE) || code == NO_CALL
}

/// A text without the frames of stack traces, and without the sizes of samples that have no response (results in XML).
pub(super) fn without_traces(text: &str) -> Cow<'_, str> {
    if !text.contains("\tat ") && !text.contains(NO_RESPONSE) && !text.contains(NO_CALL) {
        return text.into();
    }
    let is_frame = |line: &&str| line.starts_with("\tat ") || line.starts_with("\t... ");
    text.split_inclusive('\n')
        .filter(|line| !is_frame(line))
        .map(without_size)
        .collect::<String>()
        .into()
}

/// Removes the size from an element `<httpSample … rc="Non HTTP response code: …" … by="…">`.
fn without_size(line: &str) -> Cow<'_, str> {
    let is_trace = [format!(" rc=\"{NO_RESPONSE}"), format!(" rc=\"{NO_CALL}\"")]
        .iter()
        .any(|code| line.contains(code));
    let size = line.find(" by=\"").filter(|_| is_trace);
    let Some(start) = size else {
        return line.into();
    };
    let value = start + " by=\"".len();
    let end = line[value..]
        .find('"')
        .map_or(line.len(), |end| value + end + 1);
    format!("{}{}", &line[..start], &line[end..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_the_sizes_of_traces_are_left_out() {
        let trace =
            "a.B: c\n\tat a.B.d(B.java:1)\nCaused by: e\n\tat e.f(E.java:2)\n\t... 12 more\n";
        assert_eq!(without_traces(trace), "a.B: c\nCaused by: e\n");
        assert_eq!(
            without_traces("<s rc=\"Non HTTP response code: a\" by=\"9\" u=\"\">\n<s by=\"8\">\n"),
            "<s rc=\"Non HTTP response code: a\" u=\"\">\n<s by=\"8\">\n"
        );
        assert_eq!(without_traces("plain by=\"9\""), "plain by=\"9\"");
    }
}
