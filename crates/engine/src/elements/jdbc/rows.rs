//! A result as text and as variables (`AbstractJDBCTestElement#getStringFromResultSet`).

use drumfire_expr::Vars;
use drumfire_sql::Rows;

/// Returns the result as text: a line of labels and a line for each row. `names` are variables for the columns, in order:
/// sets `name_1`, `name_2` and so on to a column's values, and `name_#` to the number of rows. Reads at most `limit` rows.
pub fn read(rows: &Rows, names: &str, limit: Option<usize>, vars: &mut Vars) -> String {
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let mut text = String::new();
    for (index, label) in rows.columns.iter().enumerate() {
        text.push_str(if index > 0 { "\t" } else { "" });
        text.push_str(label);
    }
    text.push_str(if rows.columns.is_empty() { "" } else { "\n" });
    let mut count = 0;
    for row in rows.iter().take(limit.unwrap_or(usize::MAX)) {
        count += 1;
        for (index, cell) in row.iter().enumerate() {
            text.push_str(if index > 0 { "\t" } else { "" });
            text.push_str(cell.as_deref().unwrap_or("null"));
            if let Some(name) = names.get(index).filter(|name| !name.is_empty()) {
                let name = format!("{name}_{count}");
                match cell {
                    Some(cell) => vars.set_named(&name, (&**cell).into()),
                    None => {
                        vars.remove_named(&name);
                    }
                }
            }
        }
        text.push('\n');
    }
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        forget_further(name, count, vars);
    }
    text
}

/// Removes the variables of an earlier, longer result, and sets the count.
fn forget_further(name: &str, count: usize, vars: &mut Vars) {
    let counter = format!("{name}_#");
    let before = vars.get_named(&counter).and_then(|text| text.parse().ok());
    for further in count + 1..=before.unwrap_or(0) {
        vars.remove_named(&format!("{name}_{further}"));
    }
    vars.set_named(&counter, count.to_string().into());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn rows_are_lines_and_variables() {
        let cells = [Some("1"), Some("one"), Some("2"), None];
        let rows = Rows {
            columns: vec!["id".to_owned(), "name".to_owned()],
            cells: cells.iter().map(|cell| cell.map(Into::into)).collect(),
        };
        let mut vars = Vars::new(Arc::default());
        let text = read(&rows, "ID, NAME,", None, &mut vars);
        assert_eq!(text, "id\tname\n1\tone\n2\tnull\n");
        let value = |vars: &Vars, name: &str| vars.get_named(name).map(|text| text.to_string());
        assert_eq!(value(&vars, "ID_2").as_deref(), Some("2"));
        assert_eq!(value(&vars, "NAME_#").as_deref(), Some("2"));
        assert_eq!(value(&vars, "NAME_2"), None);
        assert_eq!(read(&rows, "ID", Some(1), &mut vars), "id\tname\n1\tone\n");
        assert_eq!(value(&vars, "ID_2"), None);
        assert_eq!(value(&vars, "ID_#").as_deref(), Some("1"));
    }
}
