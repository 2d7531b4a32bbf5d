//! Judges by a script's words whether it reads results and whether it blocks. Building JMeter's view of a result costs more
//! than most scripts, and retains bodies that nothing else reads. So a script gets that view only if a word in it may lead
//! there.

use drumfire_elements::is_script;
use drumfire_jmx::{Props, Value};

/// Names bound in scripts, and classes and calls through which a script may reach the same objects.
const WORDS: [&str; 18] = [
    "prev",
    "ctx",
    "sampler",
    "Sampler",
    "data",
    "SampleResult",
    "sampleResult",
    "sampleEvent",
    "JMeterContextService",
    "JMeterContext",
    "getPreviousResult",
    "getCurrentSampler",
    "binding",
    "bindings",
    "evaluate",
    "eval",
    "source",
    "this",
];

/// Whether an element may read results or samplers. Scripts in the plan are judged by their words; all other elements may.
pub fn sees_results(class: &str, props: &Props) -> bool {
    !is_script(class) || props.iter().any(|prop| value_sees(&prop.name, &prop.value))
}

fn value_sees(name: &str, value: &Value) -> bool {
    let Value::Str(text) = value else {
        return false;
    };
    let is_file = name.to_ascii_lowercase().ends_with("filename");
    // A file, or a text that is put together at run time, may hold anything.
    (is_file && !text.is_empty()) || text.contains("${") || text_sees(text)
}

/// Whether a script contains one of `WORDS`.
pub fn text_sees(script: &str) -> bool {
    words(script).any(|word| WORDS.contains(&word))
}

/// Words of code that waits for something: time, threads, networks, databases, programs.
const WAITS: [&str; 26] = [
    "sleep",
    "wait",
    "await",
    "join",
    "park",
    "parkNanos",
    "acquire",
    "take",
    "poll",
    "CountDownLatch",
    "CyclicBarrier",
    "Semaphore",
    "BlockingQueue",
    "LinkedBlockingQueue",
    "Socket",
    "ServerSocket",
    "URL",
    "openConnection",
    "HttpClient",
    "DriverManager",
    "Sql",
    "ProcessBuilder",
    "execute",
    "exec",
    "waitFor",
    "exit",
];

/// Whether a script contains one of `WAITS`.
pub fn text_blocks(script: &str) -> bool {
    words(script).any(|word| WAITS.contains(&word))
}

/// Words of loops, and of calls that may recurse or run other code. A script without any of them ends soon.
const GOES_ON: [&str; 12] = [
    "while", "for", "do", "each", "times", "upto", "iterate", "function", "eval", "evaluate",
    "load", "source",
];

/// Whether a function's script may block the thread that it runs on: it waits, or may run for long.
pub fn text_holds(script: &str) -> bool {
    text_blocks(script) || words(script).any(|word| GOES_ON.contains(&word))
}

/// Whether an element's scripts are known to wait.
pub fn blocks(props: &Props) -> bool {
    props
        .iter()
        .any(|prop| matches!(&prop.value, Value::Str(text) if text_blocks(text)))
}

fn words(script: &str) -> impl Iterator<Item = &str> {
    script.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_waits_is_known_by_its_words() {
        assert!(text_blocks("Thread.sleep(10)"));
        assert!(text_blocks("def s = new Socket('127.0.0.1', 1)"));
        assert!(!text_blocks("vars.put('sleeper', 'awaited')"));
    }

    #[test]
    fn code_that_may_go_on_is_known_by_its_loops() {
        assert!(text_holds("while(true){}"));
        assert!(text_holds("[1, 2].each { it }"));
        assert!(!text_holds("Math.floor(Math.random() * 10)"));
    }

    #[test]
    fn words_are_whole() {
        assert!(text_sees("if (prev.isSuccessful()) {}"));
        assert!(text_sees("x = ctx"));
        assert!(!text_sees(
            "vars.put('previous', 'context'); int samplers = 1;"
        ));
        assert!(!text_sees("log.info(\"done\")"));
    }
}
