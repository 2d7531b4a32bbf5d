//! The rows of the catalogue. The argument counts are those that each class passes to `checkParameterCount`.

use super::{
    csv_read, dates, digest, escapes, fifo, files, javascript, jexl, logging, machine,
    plugin_texts, properties, random, regex_function, sums, test_names, time, tst_feedback, urls,
    variables, xpath,
};
use crate::call::Build;
use crate::scope::ScriptLanguage;
use crate::spec::{FunctionOrigin, FunctionSpec, Parameter};

const fn required(name: &'static str) -> Parameter {
    Parameter {
        name,
        required: true,
    }
}

const fn optional(name: &'static str) -> Parameter {
    Parameter {
        name,
        required: false,
    }
}

const STORE: Parameter = optional("variable for the result");

const fn core(
    name: &'static str,
    parameters: &'static [Parameter],
    build: Build,
    doc: &'static str,
) -> FunctionSpec {
    let mut min = 0;
    while min < parameters.len() && parameters[min].required {
        min += 1;
    }
    FunctionSpec {
        name,
        parameters,
        min,
        max: Some(parameters.len()),
        doc,
        differs: "",
        effect: "",
        origin: FunctionOrigin::Core,
        build,
    }
}

impl FunctionSpec {
    /// The last parameter may be repeated.
    const fn unlimited(mut self) -> FunctionSpec {
        self.max = None;
        self
    }

    /// Describes how it differs from JMeter's function.
    const fn differs(mut self, how: &'static str) -> FunctionSpec {
        self.differs = how;
        self
    }

    /// Says which effect it has beyond its user's variables.
    const fn effect(mut self, what: &'static str) -> FunctionSpec {
        self.effect = what;
        self
    }

    const fn plugin(mut self) -> FunctionSpec {
        self.origin = FunctionOrigin::Plugin;
        self
    }
}

use Build::{Plain, Script, Stateful};

/// All functions.
pub(crate) static TABLE: &[FunctionSpec] = &[
    core(
        "__BeanShell",
        &[required("script"), STORE],
        Script(ScriptLanguage::BeanShell),
        "The result of a BeanShell script.",
    ),
    core(
        "__changeCase",
        &[
            required("text"),
            optional("UPPER, LOWER or CAPITALIZE"),
            STORE,
        ],
        Plain(escapes::change_case),
        "The text in another case.",
    ),
    core(
        "__char",
        &[required("character codes")],
        Plain(escapes::char_codes),
        "The characters with the given codes.",
    )
    .unlimited(),
    core(
        "__counter",
        &[required("TRUE for a counter per user"), STORE],
        Stateful(sums::Counter::prepare),
        "A number that grows by one with every call.",
    ),
    core(
        "__CSVRead",
        &[
            required("file or alias"),
            required("column number, next or *alias"),
        ],
        Stateful(csv_read::prepare),
        "A column of the current line of a CSV file.",
    ),
    core(
        "__dateTimeConvert",
        &[
            required("date"),
            required("pattern of the date"),
            required("pattern of the result"),
            STORE,
        ],
        Plain(dates::convert),
        "A date in another format.",
    ),
    core(
        "__digest",
        &[
            required("algorithm"),
            required("text"),
            optional("salt"),
            optional("true for upper case"),
            STORE,
        ],
        Plain(digest::digest),
        "A message digest in hexadecimal.",
    ),
    core(
        "__escapeHtml",
        &[required("text")],
        Plain(escapes::escape_html),
        "The text with HTML 4 entities.",
    ),
    core(
        "__escapeOroRegexpChars",
        &[required("text"), STORE],
        Plain(escapes::escape_oro),
        "The text with a backslash before every character that has a meaning in a regular expression.",
    ),
    core(
        "__escapeXml",
        &[required("text")],
        Plain(escapes::escape_xml),
        "The text with XML 1.0 entities.",
    ),
    core(
        "__eval",
        &[required("text")],
        Plain(variables::eval),
        "The text with its variables and functions evaluated.",
    ),
    core(
        "__evalVar",
        &[required("name of a variable")],
        Plain(variables::eval_var),
        "A variable's value with its variables and functions evaluated.",
    ),
    core(
        "__FileToString",
        &[required("file"), optional("encoding"), STORE],
        Plain(files::file_to_string),
        "A whole file.",
    ),
    core(
        "__groovy",
        &[required("script"), STORE],
        Script(ScriptLanguage::Groovy),
        "The result of a Groovy script.",
    ),
    core(
        "__intSum",
        &[
            required("first number"),
            required("further numbers, then optionally a variable for the result"),
        ],
        Plain(sums::int_sum),
        "The sum of 32-bit integers.",
    )
    .unlimited(),
    core(
        "__isPropDefined",
        &[required("name of a property")],
        Plain(properties::is_prop_defined),
        "Whether a property exists.",
    ),
    core(
        "__isVarDefined",
        &[required("name of a variable")],
        Plain(variables::is_var_defined),
        "Whether a variable exists.",
    ),
    core(
        "__javaScript",
        &[required("script"), STORE],
        Stateful(javascript::prepare),
        "The result of a JavaScript expression.",
    )
    .differs("only expressions are evaluated without a JVM."),
    core(
        "__jexl2",
        &[required("expression"), STORE],
        Stateful(jexl::prepare_jexl2),
        "The result of a Commons JEXL 2 expression.",
    )
    .differs("numbers with a point are `double`, where JEXL 2 has `float`; maps of several entries, sets, lambdas and constructors need a JVM."),
    core(
        "__jexl3",
        &[required("expression"), STORE],
        Stateful(jexl::prepare_jexl3),
        "The result of a Commons JEXL 3 expression.",
    )
    .differs("maps of several entries, sets, lambdas and constructors need a JVM."),
    core(
        "__log",
        &[
            required("text"),
            optional("level, OUT or ERR"),
            optional("text of an exception"),
            optional("comment"),
        ],
        Plain(logging::log),
        "Writes the text to the log and returns it.",
    )
    .effect("it writes to the log"),
    core(
        "__logn",
        &[
            required("text"),
            optional("level, OUT or ERR"),
            optional("text of an exception"),
        ],
        Plain(logging::logn),
        "Writes the text to the log and returns nothing.",
    )
    .effect("it writes to the log"),
    core(
        "__longSum",
        &[
            required("first number"),
            required("further numbers, then optionally a variable for the result"),
        ],
        Plain(sums::long_sum),
        "The sum of 64-bit integers.",
    )
    .unlimited(),
    core(
        "__machineIP",
        &[STORE],
        Plain(machine::ip),
        "The address of this machine.",
    ),
    core(
        "__machineName",
        &[STORE],
        Plain(machine::name),
        "The name of this machine.",
    ),
    core(
        "__P",
        &[required("name of the property"), optional("default value")],
        Stateful(properties::P::prepare),
        "A property's value, or the default, or 1.",
    ),
    core(
        "__property",
        &[
            required("name of the property"),
            STORE,
            optional("default value"),
        ],
        Plain(properties::property),
        "A property's value, or the default, or the property's name.",
    ),
    core(
        "__Random",
        &[
            required("smallest number"),
            required("largest number"),
            STORE,
        ],
        Plain(random::random),
        "A random whole number.",
    ),
    core(
        "__RandomDate",
        &[
            required("pattern, yyyy-MM-dd if empty"),
            required("first day, today if empty"),
            required("day after the last"),
            optional("locale"),
            STORE,
        ],
        Plain(dates::random_date),
        "A random date.",
    ),
    core(
        "__RandomFromMultipleVars",
        &[required("variables, separated by |"), STORE],
        Plain(random::from_multiple_vars),
        "The value of one of several variables, or of their matches.",
    ),
    core(
        "__RandomString",
        &[
            required("length"),
            optional("characters to choose from"),
            STORE,
        ],
        Plain(random::string),
        "A random string.",
    ),
    core(
        "__regexFunction",
        &[
            required("regular expression"),
            required("template"),
            optional("match number, ALL or RAND"),
            optional("text between matches"),
            optional("default value"),
            optional("prefix of variables for the groups"),
            optional("variable to search in"),
        ],
        Stateful(regex_function::prepare),
        "Matches of a regular expression in the previous response.",
    ),
    core(
        "__samplerName",
        &[STORE],
        Plain(test_names::sampler_name),
        "The name of the current sampler.",
    ),
    core(
        "__setProperty",
        &[
            required("name of the property"),
            required("value"),
            optional("true to return the former value"),
        ],
        Plain(properties::set_property),
        "Sets a property.",
    )
    .effect("it sets a property"),
    core(
        "__split",
        &[
            required("text"),
            required("prefix of the variables"),
            optional("delimiters"),
        ],
        Plain(variables::split),
        "Splits a text into variables.",
    ),
    core(
        "__StringFromFile",
        &[
            required("file, or a format for numbered files"),
            STORE,
            optional("number of the first file"),
            optional("number of the last file"),
        ],
        Stateful(files::StringFromFile::prepare),
        "The next line of a file.",
    ),
    core(
        "__StringToFile",
        &[
            required("file"),
            required("text"),
            optional("false to overwrite"),
            optional("encoding"),
        ],
        Plain(files::string_to_file),
        "Writes a text to a file and returns whether that worked.",
    )
    .effect("it writes a file"),
    core(
        "__TestPlanName",
        &[],
        Plain(test_names::test_plan_name),
        "The file name of the plan.",
    ),
    core(
        "__threadGroupName",
        &[],
        Plain(test_names::thread_group_name),
        "The name of the thread group.",
    ),
    core(
        "__threadNum",
        &[],
        Plain(test_names::thread_num),
        "The number of the thread in its group.",
    ),
    core(
        "__time",
        &[optional("pattern"), STORE],
        Stateful(time::prepare_time),
        "The current time.",
    ),
    core(
        "__timeShift",
        &[
            required("pattern"),
            required("date to shift"),
            required("amount, such as P1DT2H"),
            required("locale, or variable for the result if it is the last"),
            STORE,
        ],
        Stateful(time::prepare_time_shift),
        "A date, shifted by some time.",
    ),
    core(
        "__unescape",
        &[required("text")],
        Plain(escapes::unescape_java),
        "The text with Java's escapes resolved.",
    ),
    core(
        "__unescapeHtml",
        &[required("text")],
        Plain(escapes::unescape_html),
        "The text with HTML entities resolved.",
    ),
    core(
        "__urldecode",
        &[required("text")],
        Plain(urls::decode),
        "The text with form encoding resolved.",
    ),
    core(
        "__urlencode",
        &[required("text")],
        Plain(urls::encode),
        "The text in form encoding.",
    ),
    core("__UUID", &[], Plain(random::uuid), "A random UUID."),
    core(
        "__V",
        &[required("name of a variable"), optional("default value")],
        Plain(variables::v),
        "The value of a variable whose name is computed.",
    ),
    core(
        "__XPath",
        &[required("XML file"), required("XPath expression")],
        Stateful(xpath::prepare),
        "The next node in an XML file that an XPath expression finds.",
    ),
    core(
        "__base64Decode",
        &[required("text"), STORE],
        Plain(escapes::base64_decode),
        "Base64 text, decoded.",
    )
    .plugin(),
    core(
        "__base64Encode",
        &[required("text"), STORE],
        Plain(escapes::base64_encode),
        "The text in Base64.",
    )
    .plugin(),
    core(
        "__caseFormat",
        &[required("text"), optional("notation"), STORE],
        Plain(plugin_texts::case_format),
        "The words of a text in another notation.",
    )
    .plugin(),
    core(
        "__chooseRandom",
        &[
            required("value"),
            required("value"),
            required("further values, then a variable for the choice"),
        ],
        Plain(plugin_texts::choose_random),
        "One of the values, at random.",
    )
    .unlimited()
    .plugin(),
    core(
        "__doubleSum",
        &[
            required("first number"),
            required("further numbers, then optionally a variable for the result"),
        ],
        Plain(sums::double_sum),
        "The sum of 64-bit floating point numbers.",
    )
    .unlimited()
    .plugin(),
    core(
        "__env",
        &[
            required("environment variable"),
            STORE,
            optional("default value"),
        ],
        Plain(properties::env),
        "An environment variable.",
    )
    .plugin(),
    core(
        "__fifoGet",
        &[required("queue"), STORE],
        Plain(fifo::get),
        "The first value of a queue, which stays there.",
    )
    .unlimited()
    .plugin(),
    core(
        "__fifoPop",
        &[required("queue"), STORE],
        Stateful(fifo::Pop::prepare),
        "The first value of a queue, which is removed. While there is none, the user waits for it.",
    )
    .effect("it takes a value out of a queue, and may wait for it")
    .unlimited()
    .plugin(),
    core(
        "__fifoPut",
        &[required("queue"), required("value")],
        Plain(fifo::put),
        "Appends a value to a queue.",
    )
    .effect("it appends to a queue")
    .unlimited()
    .plugin(),
    core(
        "__fifoSize",
        &[required("queue"), STORE],
        Plain(fifo::size),
        "The length of a queue.",
    )
    .unlimited()
    .plugin(),
    core(
        "__if",
        &[
            required("actual value"),
            required("expected value"),
            required("result if they are equal"),
            required("result if not"),
            STORE,
        ],
        Plain(plugin_texts::choose_if),
        "One of two texts, depending on whether two others are equal.",
    )
    .unlimited()
    .plugin(),
    core(
        "__isDefined",
        &[required("name of a variable")],
        Plain(variables::is_defined),
        "1 if a variable exists, 0 otherwise.",
    )
    .plugin(),
    core(
        "__iterationNum",
        &[],
        Plain(test_names::iteration_num),
        "The number of the iteration of the thread group.",
    )
    .plugin(),
    core(
        "__lowercase",
        &[required("text"), STORE],
        Plain(escapes::lowercase),
        "The text in lower case.",
    )
    .unlimited()
    .plugin(),
    core(
        "__MD5",
        &[required("text"), STORE],
        Plain(digest::md5),
        "The MD5 digest in hexadecimal.",
    )
    .unlimited()
    .plugin(),
    core(
        "__strLen",
        &[required("text"), STORE],
        Plain(plugin_texts::str_len),
        "The length of a text.",
    )
    .unlimited()
    .plugin(),
    core(
        "__strReplace",
        &[
            required("text"),
            required("search"),
            required("replacement"),
            STORE,
        ],
        Plain(plugin_texts::str_replace),
        "The text with every occurrence of a part replaced.",
    )
    .unlimited()
    .plugin(),
    core(
        "__strReplaceRegex",
        &[
            required("text"),
            required("regular expression"),
            required("replacement"),
            STORE,
        ],
        Plain(plugin_texts::str_replace_regex),
        "The text with every match of a regular expression replaced.",
    )
    .unlimited()
    .plugin(),
    core(
        "__substring",
        &[required("text"), required("begin"), required("end"), STORE],
        Plain(plugin_texts::substring),
        "A part of a text.",
    )
    .unlimited()
    .plugin(),
    core(
        "__tstFeedback",
        &[
            required("name of a Throughput Shaping Timer"),
            required("users to start with"),
            optional("most users"),
            optional("users, or part of them, that may wait"),
        ],
        Stateful(tst_feedback::Feedback::prepare),
        "How many users a Throughput Shaping Timer needs.",
    )
    .effect("it asks a timer that runs")
    .plugin(),
    core(
        "__uppercase",
        &[required("text"), STORE],
        Plain(escapes::uppercase),
        "The text in upper case.",
    )
    .unlimited()
    .plugin(),
];
