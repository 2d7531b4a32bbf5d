//! ClickHouse.

use std::process::Command;

use drumfire_testkit::program::Workshop;
use serde_json::Value;

use super::stage::{agent, await_answer, json, ports, queries, run, start};

/// ClickHouse's engine inside Python, behind the HTTP interface that the output speaks.
const CHDB_SERVER: &str = r#"
import sys, http.server
from chdb import session
db = session.Session(sys.argv[2])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.answer(b"SELECT 1")
    def do_POST(self): self.answer(self.rfile.read(int(self.headers["Content-Length"])))
    def answer(self, statement):
        try:
            status, body = 200, str(db.query(statement.decode(), "JSONCompact")).encode()
        except Exception as error:
            status, body = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

#[test]
#[ignore = "needs a Python with chdb: cargo xtask sinks"]
fn clickhouse_has_what_the_result_file_has_and_its_board_shows_it() {
    let Some(python) = std::env::var_os("DRUMFIRE_CHDB") else {
        println!("SKIPPED: DRUMFIRE_CHDB does not name a Python that has chdb");
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = workshop.path("clickhouse");
    std::fs::create_dir(&folder).expect("there is room");
    std::fs::write(folder.join("server.py"), CHDB_SERVER).expect("there is room");
    let [http] = ports();
    let mut command = Command::new(python);
    command
        .arg(folder.join("server.py"))
        .arg(http.to_string())
        .arg(folder.join("data"));
    let _clickhouse = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}/");
    await_answer(&base, &folder);
    let counted = run(&workshop, &[&format!("clickhouse={base}")]);
    let query = |text: &str| -> Vec<Value> {
        let answer = agent().post(&base).send(text);
        let text = answer.expect("an answer").body_mut().read_to_string();
        let answer = json(&text.expect("text"));
        answer["data"].as_array().cloned().unwrap_or_default()
    };
    let rows = query("SELECT label, sum(count), sum(failed) FROM drumfire_seconds GROUP BY label");
    let number = |value: &Value| -> f64 {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text.parse().expect("a number")
    };
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        let of_label = &counted[row[0].as_str().expect("a label")];
        assert_eq!(
            (number(&row[1]), number(&row[2])),
            (of_label.samples, of_label.failed)
        );
    }
    let id = query("SELECT DISTINCT run FROM drumfire_seconds");
    let id = id[0][0].as_str().expect("a run");
    for (title, text) in queries("clickhouse.json", "rawSql") {
        let text = text
            .replace("$run", id)
            .replace("$__timeFilter(time)", "time > now() - 3600");
        assert!(!query(&text).is_empty(), "{title}: {text}");
    }
}
