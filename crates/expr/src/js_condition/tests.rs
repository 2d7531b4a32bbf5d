//! All expected values come from Rhino 1.7.14 in language version 0.

use super::*;
use crate::compiler::Compiler;
use crate::properties::Properties;

fn assert_values(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(eval(text).as_deref(), Ok(*expected), "{text}");
    }
}

fn assert_throws(texts: &[&str], is_expected: fn(&ConditionError) -> bool) {
    for text in texts {
        let outcome = eval(text);
        assert!(
            outcome.as_ref().is_err_and(is_expected),
            "{text}: {outcome:?}"
        );
    }
}

#[test]
fn conditions_as_plans_have_them() {
    let table: &[(&str, bool)] = &[
        (r#""ok" == "ok" && 2 < 3"#, true),
        (r#""${token}" != "${token}""#, false),
        (r#""10" < "9""#, true),
        (r#""10" < 9"#, false),
        (r#""abc".length > 2 && "abc".indexOf("c") != -1"#, true),
        (r#"!"abc".equals('abc')"#, false),
        (r#"parseInt("12px") >= 12;"#, true),
        (r#""true""#, true),
        ("false /* off */ // really", false),
        ("12,5 > 5", false),
    ];
    for (text, expected) in table {
        assert_eq!(holds(text), Ok(*expected), "{text}");
    }
    for (text, value) in [
        ("", "undefined"),
        ("1", "1"),
        (r#""TRUE""#, "TRUE"),
        ("5 > 3 & 2 > 1", "1"),
        ("null", "null"),
    ] {
        assert_eq!(
            holds(text),
            Err(ConditionError::NotBoolean(value.to_owned())),
            "{text}"
        );
    }
}

#[test]
fn numbers_are_read_and_written() {
    assert_values(&[
        ("010", "8"),
        ("08", "8"),
        ("08.5", "8.5"),
        ("0x1F", "31"),
        ("1e3", "1000"),
        ("5.", "5"),
        (".5", "0.5"),
        ("2020-01-01", "2018"),
        ("1/3", "0.3333333333333333"),
        ("0.1+0.2", "0.30000000000000004"),
        ("1e21", "1e+21"),
        ("123456789012345680000", "123456789012345680000"),
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("-1.5e-9", "-1.5e-9"),
        ("1e400", "Infinity"),
        ("-0", "0"),
        ("5 % 0", "NaN"),
        ("-7 % 3", "-1"),
        ("5.5 % 2", "1.5"),
        ("5 & 3 | 8 ^ 1", "9"),
        ("1/(0-\"0\")", "-Infinity"),
        ("1/(0-0)", "Infinity"),
    ]);
}

#[test]
fn texts_become_numbers() {
    assert_values(&[
        (r#""0x10" == 16"#, "true"),
        (r#""-0x10" == -16"#, "true"),
        (r#""0x1f." - 0"#, "31"),
        (r#""0b11" == 3"#, "false"),
        (r#""  12 " == 12"#, "true"),
        (r#""1_0" == 10"#, "false"),
        (r#""Infinity" == Infinity"#, "true"),
        (r#""." == 0"#, "false"),
        (r#""" == 0"#, "true"),
        (r#""1" - - "1""#, "2"),
        (r#"-"a""#, "NaN"),
        (r#"parseInt("010")"#, "8"),
        (r#"parseInt("08")"#, "NaN"),
        (r#"parseInt("0x1f")"#, "31"),
        (r#"parseInt("zz", 36)"#, "1295"),
        (r#"parseInt(" -12.5")"#, "-12"),
        (r#"parseFloat("1.5e3x")"#, "1500"),
        (r#"parseFloat("1e")"#, "1"),
        (r#"parseFloat("0x10")"#, "0"),
        ("Number()", "0"),
        (r#"isNaN("abc")"#, "true"),
        (r#"isFinite("1")"#, "true"),
        (r#"String(12.0) + String()"#, "12"),
        ("(5).toString() + true.valueOf()", "5true"),
    ]);
}

#[test]
fn comparisons_convert() {
    assert_values(&[
        ("null == 0", "false"),
        ("null >= 0", "true"),
        ("undefined == null", "true"),
        ("undefined === null", "false"),
        ("true == \"1\"", "true"),
        ("\"true\" == true", "false"),
        ("null == false", "false"),
        ("NaN != NaN", "true"),
        ("1 === \"1\"", "false"),
        ("1 == \"1.0\"", "true"),
        ("\"a\" < 1", "false"),
        ("3 > 2 > 1", "false"),
        ("1 < 2 < 3", "true"),
        ("\"b\" > \"a\" == true", "true"),
        ("\"\u{FF5E}\" < \"\u{1F600}\"", "false"),
    ]);
}

#[test]
fn operators_bind_and_give_operands() {
    assert_values(&[
        ("\"a\" + 1 + 2", "a12"),
        ("1 + 2 + \"a\"", "3a"),
        ("1 + true + null", "2"),
        ("1 + undefined", "NaN"),
        ("1 && 2", "2"),
        ("0 || \"x\"", "x"),
        ("!!\"0\"", "true"),
        ("true ? false : true ? 1 : 2", "false"),
        ("true,false", "false"),
        ("5 - -5", "10"),
        ("true <!-- y", "true"),
        ("5\n-3", "2"),
        ("\u{A0}true", "true"),
        ("\"abc\".contains == undefined", "true"),
        ("(5).length", "undefined"),
    ]);
}

#[test]
fn escapes_are_lenient() {
    assert_values(&[
        (r#""\u0041\x41\101\t""#, "AAA\t"),
        (r#""\uZZ\xZ1\u{41}""#, "uZZxZ1u{41}"),
        (r#""C:\users\xa""#, "C:usersxa"),
        (r#""\8\400""#, "8 0"),
        (r#""\ud83d\ude00".length"#, "2"),
        ("'it\"s' + \"a\\\nb\"", "it\"sab"),
        ("\"a\u{2028}b\"", "a\u{2028}b"),
    ]);
}

#[test]
fn strings_have_methods() {
    assert_values(&[
        (r#""abc undefined".indexOf()"#, "4"),
        (r#""abc".indexOf("", 10)"#, "3"),
        (r#""12".indexOf("", -1)"#, "-1"),
        (r#""abcabc".lastIndexOf("a", 2)"#, "0"),
        (r#""abcabc".lastIndexOf("a", "x")"#, "3"),
        (r#""abc".charAt(9) + "abc".charAt()"#, "a"),
        (r#""abc".charCodeAt(9)"#, "NaN"),
        (r#""abc".substring(2, 0)"#, "ab"),
        (r#""abc".substring("1", NaN)"#, "a"),
        (r#""abc".substr(-2, 1)"#, "b"),
        (r#""abc".slice(0, -1)"#, "ab"),
        (r#""abc".concat(1, true)"#, "abc1true"),
        (r#""aB".equalsIgnoreCase("Ab")"#, "true"),
        (r#""1".equals(1,)"#, "true"),
        (
            r#""abc".includes("b") && "abc".startsWith("b", 1) && "abc".endsWith("b", 2)"#,
            "true",
        ),
        (r#""ß".toUpperCase() + "İ".toLowerCase().length"#, "SS2"),
        ("\" a\u{3000}\".trim()", "a"),
    ]);
}

#[test]
fn malformed_javascript_is_a_syntax_error() {
    let texts = [
        "== 1",
        "${x} == 1",
        " < 5",
        "5 = 3",
        "\"a\" = \"b\"",
        "\"a",
        "\"a\"b\"",
        "true false",
        "(true",
        "true)",
        "()",
        "5.length",
        "1.2.3",
        "1e",
        "0x",
        "07.5",
        "5 --5",
        "--5",
        "a ? b",
        "true /* x",
        "#",
        "\"a\nb\"",
        "\"x\" == \"x\" && ",
        "3abc",
        "2 ** 3",
    ];
    assert_throws(&texts, |failure| {
        matches!(failure, ConditionError::Syntax(_))
    });
}

#[test]
fn names_throw_only_where_they_are_asked_for() {
    let texts = [
        "foo == 1",
        "vars.get(\"x\") == 1",
        "TRUE",
        "class",
        "null.foo",
        "undefined.foo()",
        "\"abc\".contains(\"b\")",
        "\"a\".length()",
        "(1)(2)",
        "\"a\"()",
    ];
    assert_throws(&texts, |failure| {
        matches!(failure, ConditionError::Thrown(_))
    });
    assert_values(&[("false && foo", "false"), ("true || foo()", "true")]);
}

#[test]
fn conditions_that_need_a_script_engine_say_so() {
    let deep = "(".repeat(500) + "1" + &")".repeat(500);
    let long = "1+".repeat(5_000) + "1";
    let changed = "--".repeat(100_000) + "a";
    let texts = [
        "/a/.test(\"a\")",
        "Math.max(1, 2)",
        "new Date()",
        "foo = true",
        "a:true",
        "true\nfalse",
        "[1]",
        "{}",
        "typeof 1",
        "`a`",
        "\"abc\".match(\"b\")",
        "\"abc\".equals",
        "<a>x</a> == \"x\"",
        "x => 1",
        "1 << 2",
        "if (true) {1}",
        "\"\\ud800\"",
        "\"😀\".charAt(0)",
        &deep,
        &long,
        &changed,
    ];
    assert_throws(&texts, |failure| {
        matches!(failure, ConditionError::Unsupported(_))
    });
}

fn engine_for(condition: &str) -> Option<String> {
    let mut compiler = Compiler::new(Properties::new());
    needs_engine(&Template::compile(condition, &mut compiler).unwrap())
}

#[test]
fn a_skeleton_tells_whether_an_engine_is_needed() {
    let native = [
        r#""${x}" == "ok" && ${n} < 3"#,
        "${__P(a)}",
        "!${a}",
        "${a}.length > -${b}.5",
        "${a} ${operator} ${b}",
        r#""${a}".indexOf('/') != -1"#,
        "${n}0 == 10",
        "foo == ${x}",
        r#"${x}("a") == 1"#,
        "",
        "// ${x}",
    ];
    for condition in native {
        assert_eq!(engine_for(condition), None, "{condition}");
    }
    let others = [
        (r#"/${x}/.test("a")"#, "a regular expression"),
        (r#""${x}".match("a") != null"#, "the method match"),
        ("Math.random() < ${share}", "Math"),
        ("var a = ${x}; a > 1", "'var'"),
        ("${x} == 1; ${y} == 2", "a second statement"),
        ("${x}[0] == 1", "an index"),
        (r#"${a} && new java.io.File("${f}").exists()"#, "'new'"),
        ("${x} = 5", "an assignment"),
    ];
    for (condition, what) in others {
        assert_eq!(engine_for(condition).as_deref(), Some(what), "{condition}");
    }
}
