//! `drumfire edit`: functions with their forms, and texts as the engine evaluates them.

use drumfire_testkit::plans::{debug, group, plan};
use drumfire_testkit::program::Workshop;
use serde_json::{Value, json};

use crate::edit::{Client, id};

const VARIABLES: &str = r#"<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="First"><collectionProp name="Arguments.arguments"><elementProp name="name" elementType="Argument"><stringProp name="Argument.name">name</stringProp><stringProp name="Argument.value">shop</stringProp></elementProp></collectionProp></Arguments><hashTree/>
<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="Data"><collectionProp name="Arguments.arguments"><elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp><stringProp name="Argument.value">${__P(host,${name}.example)}</stringProp></elementProp><elementProp name="beside" elementType="Argument"><stringProp name="Argument.name">beside</stringProp><stringProp name="Argument.value">${host}</stringProp></elementProp><elementProp name="risky" elementType="Argument"><stringProp name="Argument.name">risky</stringProp><stringProp name="Argument.value">${__setProperty(a,b)}</stringProp></elementProp></collectionProp></Arguments><hashTree/>
"#;

fn opened(workshop: &Workshop) -> (Client, u64) {
    let counter = r#"<CounterConfig guiclass="CounterConfigGui" testclass="CounterConfig" testname="Counter"><stringProp name="CounterConfig.start">41</stringProp><stringProp name="CounterConfig.incr">1</stringProp><stringProp name="CounterConfig.name">count</stringProp></CounterConfig><hashTree/>
"#;
    let elements = format!(
        "{VARIABLES}{}",
        group(1, &format!("{counter}{}", debug("Look ${count}")))
    );
    workshop.write("p.jmx", plan(&elements));
    let mut client = Client::start(workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let sampler = id(&opened, "Look ${count}").as_u64().expect("a number");
    (client, sampler)
}

fn evaluate(client: &mut Client, sampler: u64, text: &str) -> Value {
    client.result("evaluate", json!({"plan": 1, "id": sampler, "text": text}))
}

#[test]
fn texts_are_evaluated_with_the_variables_of_the_start_and_then_of_the_run() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (mut client, sampler) = opened(&workshop);
    let found = evaluate(
        &mut client,
        sampler,
        "${host} ${beside} ${count} ${__counter(TRUE)} ${__threadGroupName} ${__threadNum} ${__TestPlanName}",
    );
    let line = |number: usize| format!("shop.example ${{host}} ${{count}} {number} users 1 p.jmx");
    assert_eq!(
        found["samples"],
        json!((1..=5).map(line).collect::<Vec<_>>())
    );
    assert_eq!(
        (&found["run"], &found["wrong"]),
        (&Value::Null, &json!(false))
    );
    assert_eq!(
        found["variables"],
        json!({"host": "shop.example", "beside": "${host}", "count": null})
    );
    client.result("run", json!({"plan": 1, "kind": "plan"}));
    client.notified("run_ended");
    let found = evaluate(&mut client, sampler, "${host} ${beside} ${count}");
    assert_eq!(found["samples"][0], "shop.example ${host} 41");
    assert_eq!(found["run"], 1);
    let condition = json!({"all": true, "rows": [{"variable": "count", "operator": "more", "value": "40.5"}, {"variable": "", "operator": "last_ok", "value": ""}]});
    let text = client.result("condition_write", condition)["text"].clone();
    let found = evaluate(&mut client, sampler, text.as_str().expect("a text"));
    assert_eq!(found["samples"][0], "true", "{found}");
    assert_eq!(
        found["variables"],
        json!({"count": "41", "JMeterThread.last_sample_ok": "true"})
    );
}

#[test]
fn texts_with_effects_and_wrong_ones_are_not_evaluated() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (mut client, sampler) = opened(&workshop);
    let file = workshop.path("made.txt").display().to_string();
    let file = file.replace('\\', "/");
    let untried = [
        (format!("${{__StringToFile({file},x)}}"), "it writes a file"),
        (
            format!("${{__urlencode(${{__StringToFile({file},x)}})}}"),
            "it writes a file",
        ),
        (
            format!("${{__eval(\\${{__StringToFile({file}\\,x)}})}}"),
            "an effect",
        ),
        ("${__evalVar(risky)}".to_owned(), "an effect"),
        ("${__fifoPop(q)}".to_owned(), "may wait"),
        ("${__groovy(1)}".to_owned(), "Java runs it"),
        ("${__regexFunction(a,b)}".to_owned(), "response"),
        ("${__jexl3(OUT.println(1))}".to_owned(), "output"),
    ];
    for (text, why) in &untried {
        let found = evaluate(&mut client, sampler, text);
        let fault = found["fault"].as_str().unwrap_or_default();
        assert!(
            fault.contains(why) && found["wrong"] == false,
            "{text}: {found}"
        );
        assert_eq!(found["samples"], json!([]), "{text}");
    }
    assert!(!workshop.path("made.txt").exists());
    for text in ["${__Random(1)}", "${__P(x)x}", "${__NoSuch(1)}"] {
        let found = evaluate(&mut client, sampler, text);
        assert!(
            found["wrong"] == true && found["fault"].is_string(),
            "{text}: {found}"
        );
    }
    // With other variables they may be right.
    for text in [
        "${__Random(1,${unset})}",
        "${__jexl3(vars.get(\"unset\") * 2)}",
    ] {
        let found = evaluate(&mut client, sampler, text);
        let fault = found["fault"].as_str().unwrap_or_default();
        assert!(
            found["wrong"] == false && fault.contains("fails"),
            "{text}: {found}"
        );
    }
    let found = evaluate(
        &mut client,
        sampler,
        "${__jexl3(new(\"java.util.Date\").getTime() > 0)}",
    );
    assert!(
        found["fault"]
            .as_str()
            .is_some_and(|fault| fault.contains("Java")),
        "{found}"
    );
    // A script that never ends does not keep others from working.
    let found = evaluate(&mut client, sampler, "${__jexl3(while (true) { 1 })}");
    assert!(found["fault"].is_string(), "{found}");
    assert_eq!(
        evaluate(&mut client, sampler, "${name}")["samples"][4],
        "shop"
    );
}

#[test]
fn calls_are_taken_apart_and_written() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let (mut client, sampler) = opened(&workshop);
    let all = client.result("functions", json!({}));
    let all = all.as_array().expect("a list");
    let random = all
        .iter()
        .find(|one| one["name"] == "__Random")
        .expect("it is there");
    assert_eq!(random["parameters"].as_array().map(Vec::len), Some(3));
    let text = "é${__changeCase(a\\,b,UPPER)}";
    let place = client.result("function_at", json!({"text": text, "offset": 5}));
    let call = &place["call"];
    assert_eq!(
        (&call["start"], &call["arguments"]),
        (&json!(1), &json!(["a,b", "UPPER"]))
    );
    let asked = json!({"plan": 1, "id": sampler, "function": call["name"], "arguments": call["arguments"], "times": 2});
    let found = client.result("evaluate", asked);
    assert_eq!(found["text"], &text[2..]);
    assert_eq!(found["samples"], json!(["A,B", "A,B"]));
    let refused = client.ask(
        "evaluate",
        json!({"plan": 1, "id": sampler, "function": "__none"}),
    );
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("__none")),
        "{refused}"
    );
}
