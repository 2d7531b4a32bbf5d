//! Flexible File Writer of jmeter-plugins (`kg.apc.jmeter.reporters.FlexibleFileWriter`): writes a file with the columns that the
//! plan lists.
//!
//! Properties, all evaluated before the run: `filename`, `columns` (fields, `variable#N` for the N-th of the `sample_variables`
//! from 0, and texts, separated by `|`; `||` is a bar), `header` and `footer` (`\t`, `\n`, `\r` in them and in `columns`), and
//! `overwrite` (otherwise the run appends another header and its rows). Rows have the order in which the workers deliver them.
//! Differences: texts are UTF-8, while the plugin writes fields in ISO-8859-1 unless `sampleresult.default.encoding` is set; a
//! row of more than 10,240 bytes is written, which the plugin cannot do; missing folders are created.

use std::sync::Arc;

use drumfire_elements::listeners::flexible_file_writer as facts;
use drumfire_java::values;
use drumfire_results::{Columns, Filter, OutputSpec};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::save::row_format;

pub fn decode(d: &mut Decoder) -> Roles {
    let file_name = d.text_now(facts::FILE.name);
    let [columns, head, tail] =
        [facts::COLUMNS.name, facts::HEADER.name, facts::FOOTER.name].map(|name| d.text_now(name));
    let overwrites = values::property_bool(&d.text_now(facts::OVERWRITE.name));
    let config = d.decoding.save_config.clone();
    let mut format = row_format(d.decoding, config);
    format.columns = Some(Arc::new(Columns::new(&columns, &head, &tail, overwrites)));
    let listener = d.new_output(OutputSpec {
        file_name,
        format,
        filter: Filter::All,
    });
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn it_is_an_output_with_rows_of_its_own() {
        let class = "kg.apc.jmeter.reporters.FlexibleFileWriter";
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="f"><stringProp name="filename">a.txt</stringProp><stringProp name="columns">latency|\n</stringProp>
            <stringProp name="header">head\n</stringProp><stringProp name="footer">end</stringProp><boolProp name="overwrite">true</boolProp></{class}>"#
        );
        let (outputs, _) = fixture::decode(&xml, |d| {
            decode(d);
            std::mem::take(&mut d.decoding.outputs)
        });
        assert_eq!(outputs[0].file_name, "a.txt");
        let format = &outputs[0].format;
        let expected = Columns::new("latency|\\n", "head\\n", "end", true);
        assert_eq!(format.columns.as_deref(), Some(&expected));
        let mut text = Vec::new();
        format.write_head(&mut text);
        format.write_sample(&fixture::sample(""), &mut text);
        format.write_tail(&mut text);
        assert_eq!(text, b"head\n0\nend");
    }
}
