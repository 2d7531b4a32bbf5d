//! The answers of JMeter 5.6.3's own parser, recorded by calling it with JMeter's option table.

use super::*;

/// Words, and the options found: a letter, then each argument in angle brackets; `ERR` and a message if refused.
#[rustfmt::skip]
const RECORDED: &[(&[&str], &str)] = &[
    (&["-n", "-t", "plan.jmx"], "n t<plan.jmx>"),
    (&["-nt", "plan.jmx"], "n t<plan.jmx>"),
    (&["-ntplan.jmx"], "n t<plan.jmx>"),
    (&["-n", "-t=plan.jmx"], "n t<plan.jmx>"),
    (&["-nftplan.jmx", "-lout.jtl"], "n f t<plan.jmx> l<out.jtl>"),
    (&["--testfile", "plan.jmx"], "t<plan.jmx>"),
    (&["--testfile=plan.jmx"], "t<plan.jmx>"),
    (&["-Jname=value"], "J<name><value>"),
    (&["-J", "name=value"], "J<name><value>"),
    (&["-J", "name", "value"], "J<name><value>"),
    (&["-Jname"], "J<name><>"),
    (&["-Jname", "-n"], "J<name><> n"),
    (&["-Jname", "-Jother=1"], "J<name><> J<other><1>"),
    (&["-Jname=", "-n"], "J<name><> n"),
    (&["-Jname=a=b"], "J<name><a=b>"),
    (&["--jmeterproperty", "name=value"], "J<name><value>"),
    (&["--jmeterproperty", "name", "value"], "J<name><value>"),
    (&["--jmeterproperty=name=value"], "J<name><value>"),
    (&["--jmeterproperty", "name"], "J<name><>"),
    (&["--jmeterproperty", "name", "-n"], "J<name><> n"),
    (&["-LDEBUG"], "L<DEBUG><>"),
    (&["-Ljmeter.util=DEBUG"], "L<jmeter.util><DEBUG>"),
    (&["-L", "DEBUG", "-n"], "L<DEBUG><> n"),
    (&["-L", "jorphan=INFO"], "L<jorphan><INFO>"),
    (&["--loglevel", "a=b"], "L<a><b>"),
    (&["--loglevel=DEBUG"], "L<DEBUG><>"),
    (&["-q", "a", "-q", "b"], "q<a> q<b>"),
    (&["-t", "a", "-t", "b"], "ERR Duplicate options for -t/--testfile found."),
    (&["-n", "-n"], "ERR Duplicate options for -n/--nongui found."),
    (&["-nn"], "ERR Duplicate options for -n/--nongui found."),
    (&["-p", "a", "-p", "b"], "ERR Duplicate options for -p/--propfile found."),
    (&["-e", "-o", "dir"], "e o<dir>"),
    (&["-eodir"], "e o<dir>"),
    (&["-"], "ERR Malformed option -"),
    (&["--"], ""),
    (&["--", "-n"], "TEXT<-n>"),
    (&["--", "a", "b"], "TEXT<a> TEXT<b>"),
    (&["foo"], "TEXT<foo>"),
    (&["-n", "foo"], "n TEXT<foo>"),
    (&["-x"], "ERR Unknown option -x"),
    (&["--bogus"], "ERR Unknown option --bogus"),
    (&["--bogus=1"], "ERR Unknown option --bogus"),
    (&["-nx"], "ERR Unknown option -x"),
    (&["-t"], "ERR Missing argument to option -t"),
    (&["--testfile"], "ERR Missing argument to option --testfile"),
    (&["-J"], "ERR Missing argument to option -J"),
    (&["-J="], "ERR Unable to parse first argument for option -J"),
    (&["-J=a"], "ERR Unable to parse first argument for option -J"),
    (&["--jmeterproperty"], "ERR Missing argument to option --jmeterproperty"),
    (&["--nongui=true"], "n TEXT<true>"),
    (&["-n=true"], "ERR Unknown option -="),
    (&["-J", ""], "ERR Unable to parse first argument for option -J"),
    (&["-n", ""], "n"),
    (&["-t", "-n"], "t<-n>"),
    (&["-J", "-n"], "J<-n><>"),
    (&["-J", "-Ja=b"], "J<-Ja><b>"),
    (&["-D", "a=-b"], "D<a><-b>"),
    (&["-Da", "=b"], "D<a><=b>"),
    (&["-Da=b", "c"], "D<a><b> TEXT<c>"),
    (&["-J", "a", "b", "-n"], "J<a><b> n"),
    (&["-Ja", "b", "-n"], "J<a><b> n"),
    (&["-J", "a=", "b"], "J<a><> TEXT<b>"),
    (&["-?"], "?"),
    (&["--?"], "?"),
    (&["-h"], "h"),
    (&["--help"], "h"),
    (&["-g", "x", "-n"], "ERR Incompatible options --n/--nongui and -g/--reportonly found."),
    (&["-g", "x", "-l", "y"], "ERR Incompatible options --l/--logfile and -g/--reportonly found."),
    (&["-l", "y", "-g", "x"], "ERR Incompatible options --l/--logfile and -g/--reportonly found."),
    (&["-g", "x", "-o", "y"], "g<x> o<y>"),
    (&["-g", "x", "-g", "y"], "g<x> g<y>"),
    (&["-r", "-n"], "r n"),
    (&["-Ra,b", "-n"], "R<a,b> n"),
    (&["-R", "a,b", "-X", "-n"], "R<a,b> X n"),
    (&["-n", "-J", "é=ü"], "n J<é><ü>"),
    (&["-Gglobal.properties"], "G<global.properties><>"),
    (&["-Gport=123"], "G<port><123>"),
    (&["-Jname=", "value"], "J<name><> TEXT<value>"),
    (&["-fnt", "p"], "f n t<p>"),
    (&["-ftn"], "f t<n>"),
    (&["-n", "-Ja=b", "-Ja=c"], "n J<a><b> J<a><c>"),
    (&["-dhome"], "d<home>"),
    (&["-n", "--", "-t"], "n TEXT<-t>"),
    (&["-t", "=x"], "t<=x>"),
    (&["--testfile", "=x"], "t<x>"),
    (&["--testfile=", "x"], "t<x>"),
    (&["--addprop=a", "--addprop", "b"], "q<a> q<b>"),
    (&["-Jname=v", "plan"], "J<name><v> TEXT<plan>"),
    (&["-H", "h", "-P", "1", "-N", "x|y", "-u", "u", "-a", "p", "-E", "https"], "H<h> P<1> N<x|y> u<u> a<p> E<https>"),
    (&["-S", "f", "-Da"], "S<f> D<a><>"),
    (&["-Da"], "D<a><>"),
    (&["-n", "-t", "plan.jmx", "-Jfoo"], "n t<plan.jmx> J<foo><>"),
    (&["-Jfoo", "-t", "plan.jmx"], "J<foo><> t<plan.jmx>"),
    (&["-Jfoo", "t"], "J<foo><t>"),
    (&["--jmeterproperty", "foo", "-t", "x"], "J<foo><> t<x>"),
    (&["--jmeterproperty", "foo", "t"], "J<foo><t>"),
];

fn render(result: Result<Vec<CommandLineItem>, UsageError>) -> String {
    let items = match result {
        Err(message) => return format!("ERR {message}"),
        Ok(items) => items,
    };
    let rendered: Vec<String> = items
        .into_iter()
        .map(|item| match item {
            CommandLineItem::Text(text) => format!("TEXT<{text}>"),
            CommandLineItem::Option {
                letter,
                argument,
                value,
            } => match descriptors::by_letter(letter).map(|found| found.arity) {
                Some(Arity::Pair) => format!("{letter}<{argument}><{value}>"),
                Some(Arity::One) => format!("{letter}<{argument}>"),
                _ => letter.to_string(),
            },
        })
        .collect();
    rendered.join(" ")
}

#[test]
fn every_form_is_split_as_jmeter_splits_it() {
    for (words, expected) in RECORDED {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(render(parse(&words)), *expected, "{words:?}");
    }
}

#[test]
fn an_empty_word_is_no_option_and_does_not_hang() {
    assert_eq!(parse(&[String::new()]), Ok(vec![]));
    assert_eq!(parse(&[]), Ok(vec![]));
}
