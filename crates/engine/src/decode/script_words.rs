//! Judges by a script's words whether it reads results and whether it blocks. Building JMeter's view of a result costs more
//! than most scripts, and retains bodies that nothing else reads. So a script gets that view only if a word in it may lead
//! there.

use drumfire_elements::is_script;
use drumfire_expr::Properties;
use drumfire_jmx::{Props, Value};

/// Names bound in scripts, classes and calls through which a script may reach the same objects, and calls that load other code.
const WORDS: [&str; 25] = [
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
    "CompoundVariable",
    "GroovyShell",
    "GroovyClassLoader",
    "GroovyScriptEngine",
    "addClassPath",
    "importCommands",
    "load",
];

/// Names by which a script reaches the sampler at hand.
const SAMPLER_WORDS: [&str; 3] = ["sampler", "getCurrentSampler", "currentSampler"];

/// Packages whose classes do not reach a user's results by themselves.
const CLOSED_PACKAGES: [&str; 18] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "groovy.",
    "org.codehaus.groovy.",
    "org.apache.",
    "org.slf4j.",
    "org.w3c.",
    "org.xml.",
    "org.json.",
    "org.jsoup.",
    "com.jayway.",
    "com.fasterxml.",
    "com.google.",
    "net.minidev.",
    "net.sf.json.",
];

/// Whether an element may read results or samplers. Scripts in the plan are judged by their words; all other elements may, and so
/// may a script whose interpreter runs a file first (`beanshell.sampler.init`).
pub fn sees_results(class: &str, props: &Props, properties: &Properties) -> bool {
    !is_script(class)
        || has_init_file(class, properties)
        || props.iter().any(|prop| value_sees(&prop.name, &prop.value))
}

/// Whether the element is a script that may use more of the sampler at hand than its name.
pub fn uses_sampler(class: &str, props: &Props) -> bool {
    is_script(class)
        && props
            .iter()
            .any(|prop| matches!(&prop.value, Value::Str(text) if text_uses_sampler(text)))
}

fn text_uses_sampler(script: &str) -> bool {
    SAMPLER_WORDS.iter().any(|word| {
        script.match_indices(word).any(|(at, _)| {
            let (before, after) = (&script[..at], &script[at + word.len()..]);
            let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            // `sampler` is also a part of the names of packages.
            let is_package = *word == "sampler" && before.ends_with('.');
            is_whole && !is_package && !only_asks_for_the_name(after)
        })
    })
}

/// Whether code goes on with `.getName()` or `.name` after an object.
fn only_asks_for_the_name(after: &str) -> bool {
    let after = after.strip_prefix("()").unwrap_or(after);
    let after = after.strip_prefix('?').unwrap_or(after);
    after.starts_with(".getName()")
        || after
            .strip_prefix(".name")
            .is_some_and(|rest| !rest.starts_with(|c| is_word(c) || c == '('))
}

/// Whether a property names a file that the element's interpreter runs first (`BeanShellTestElement#getInitFileProperty`).
fn has_init_file(class: &str, properties: &Properties) -> bool {
    let Some(role) = class.strip_prefix("BeanShell") else {
        return false;
    };
    let name = format!("beanshell.{}.init", role.to_ascii_lowercase());
    properties.get(&name).is_some_and(|file| !file.is_empty())
}

fn value_sees(name: &str, value: &Value) -> bool {
    let Value::Str(text) = value else {
        return false;
    };
    let is_file = name.to_ascii_lowercase().ends_with("filename");
    // A file, or a text that is put together at run time, may hold anything.
    (is_file && !text.is_empty()) || text.contains("${") || text_sees(text)
}

/// Whether a script contains one of `WORDS`, or names a class of the user's own, whose code may use any of them.
pub fn text_sees(script: &str) -> bool {
    words(script).any(|word| WORDS.contains(&word)) || names_foreign_class(script)
}

/// Whether a script names a class, or imports a package, that is in none of `CLOSED_PACKAGES`.
fn names_foreign_class(script: &str) -> bool {
    script.split(|c| !is_part(c)).any(|path| {
        let mut parts = path.split('.');
        let packages = parts
            .by_ref()
            .take_while(|part| part.starts_with(|c: char| c.is_ascii_lowercase()))
            .count();
        let end = path.split('.').nth(packages).unwrap_or_default();
        let is_class = end.starts_with(|c: char| c.is_ascii_uppercase() || c == '*');
        packages > 1 && is_class && !CLOSED_PACKAGES.iter().any(|known| path.starts_with(known))
    })
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '*')
}

/// Words of code that waits for something: time, threads, networks, databases, programs.
const WAITS: [&str; 27] = [
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
    "interrupt",
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
    script.split(|c: char| !is_word(c))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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
    fn code_elsewhere_may_see_results() {
        assert!(text_sees("com.example.Checks.run()"));
        assert!(text_sees("import com.example.checks.*\nrun()"));
        assert!(text_sees("import static net.example.Checks.run\nrun()"));
        assert!(!text_sees(
            "import groovy.json.JsonSlurper\nnew java.text.SimpleDateFormat('dd.MM.yyyy')"
        ));
        assert!(!text_sees("vars.put('host', 'www.example.com')"));
        assert!(!text_sees("org.apache.commons.lang3.StringUtils.trim('a')"));
    }

    #[test]
    fn a_file_that_runs_first_may_see_results() {
        let properties = Properties::new();
        let props = Props::default();
        let sees = |class| sees_results(class, &props, &properties);
        assert!(!sees("BeanShellPreProcessor") && !sees("BeanShellTimer"));
        properties.set("beanshell.preprocessor.init", "first.bsh");
        assert!(sees("BeanShellPreProcessor") && !sees("BeanShellTimer"));
    }

    #[test]
    fn scripts_that_only_name_the_sampler_do_not_use_it() {
        for used in [
            "sampler.setQuery('x')",
            "vars.put('q', ctx.getCurrentSampler().getQuery())",
            "def s = ctx.currentSampler\ns.name = 'x'",
            "change(sampler)",
            "sampler.name('x')",
        ] {
            assert!(text_uses_sampler(used), "{used}");
        }
        for unused in [
            "log.info(sampler.getName() + sampler.name)",
            "vars.put('n', ctx.getCurrentSampler().getName())",
            "import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult",
            "int samplers = my_sampler",
        ] {
            assert!(!text_uses_sampler(unused), "{unused}");
        }
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
