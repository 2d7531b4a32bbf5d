//! Transfers elements of the plan to Java. Java's side is `Elements.java`.

use drumfire_jmx::{Element, Prop, Value, full_class_name};

use crate::wire::WireWriter;

/// JMeter's own classes. Those of plugins may need `NameUpdater`, which only JMeter's own reader applies.
const JMETER: &str = "org.apache.jmeter.";

// The kinds of properties, as `Elements.java` numbers them.
const TEXT: i32 = 0;
const FLAG: i32 = 1;
const INT: i32 = 2;
const LONG: i32 = 3;
const FLOAT: i32 = 4;
const DOUBLE: i32 = 5;
const ELEMENT: i32 = 6;
const LIST: i32 = 7;
const MAP: i32 = 8;

/// Writes the element for Java; `None` if only JMeter's own reader can read it. That reader takes so long to load that a first
/// script would wait for it.
pub fn write(element: &Element) -> Option<Vec<u8>> {
    let mut out = WireWriter::with_room();
    write_element(&mut out, element)?;
    Some(out.done())
}

fn write_element(out: &mut WireWriter, element: &Element) -> Option<()> {
    let class = full_class_name(&element.class);
    if !class.starts_with(JMETER) {
        return None;
    }
    out.text(Some(class));
    out.text(Some(full_class_name(&element.gui_class)));
    out.text(Some(&element.name));
    write_props(out, element.props.iter())
}

fn write_props<'p>(
    out: &mut WireWriter,
    props: impl Iterator<Item = &'p Prop> + Clone,
) -> Option<()> {
    let mut there = props.filter(|prop| prop.value != Value::Null);
    out.number(there.clone().count() as i32);
    there.try_for_each(|prop| write_prop(out, prop))
}

fn write_prop(out: &mut WireWriter, prop: &Prop) -> Option<()> {
    let mut start = |kind| {
        out.number(kind).text(Some(&prop.name));
    };
    match &prop.value {
        Value::Str(text) => {
            start(TEXT);
            out.text(Some(text));
        }
        Value::Bool(flag) => {
            start(FLAG);
            out.flag(*flag);
        }
        Value::Int(number) => {
            start(INT);
            out.number(*number);
        }
        Value::Long(number) => {
            start(LONG);
            out.large(*number);
        }
        Value::Float(number) => {
            start(FLOAT);
            out.number(number.to_bits() as i32);
        }
        Value::Double(number) => {
            start(DOUBLE);
            out.large(number.to_bits() as i64);
        }
        Value::Element(element) => {
            start(ELEMENT);
            write_element(out, element)?;
        }
        Value::List(items) => {
            start(LIST);
            write_props(out, items.iter())?;
        }
        Value::Map(items) => {
            start(MAP);
            write_props(out, items.iter())?;
        }
        Value::Object(_) | Value::Null => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use drumfire_jmx::Span;

    use super::*;
    use crate::wire::WireReader;

    fn element(class: &str, value: Value) -> Element {
        let prop = |name: &str, value| Prop {
            name: name.into(),
            value,
            span: Span::default(),
        };
        Element {
            class: class.into(),
            gui_class: "TestBeanGUI".into(),
            name: "n".into(),
            enabled: true,
            props: [prop("none", Value::Null), prop("p", value)]
                .into_iter()
                .collect(),
            ..Element::default()
        }
    }

    #[test]
    fn classes_go_by_their_full_names() {
        let bytes = write(&element("JSR223Timer", Value::Str("1".into()))).expect("a script");
        let mut reader = WireReader::new(&bytes);
        let class = "org.apache.jmeter.timers.JSR223Timer";
        let gui = "org.apache.jmeter.testbeans.gui.TestBeanGUI";
        let texts = [reader.text(), reader.text(), reader.text()];
        assert_eq!(texts, [Some(class), Some(gui), Some("n")]);
        assert_eq!((reader.number(), reader.number()), (1, TEXT));
        assert_eq!((reader.text(), reader.text()), (Some("p"), Some("1")));
    }

    #[test]
    fn elements_that_only_jmeters_reader_knows_are_not_written() {
        let own = element("Arguments", Value::Map(Vec::new()));
        assert!(write(&own).is_some());
        let nested = |inner| element("JavaSampler", Value::from(inner));
        assert!(write(&nested(own)).is_some());
        assert!(write(&nested(element("a.Plugin", Value::Int(1)))).is_none());
        assert!(write(&element("a.Plugin", Value::Int(1))).is_none());
        let object = Value::Object(Box::default());
        assert!(write(&element("ResultCollector", object)).is_none());
    }
}
