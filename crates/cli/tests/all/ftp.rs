//! The plan of `drumfire new --template ftp` against a real server.

use std::time::Duration;

use drumfire_testkit::program::Workshop;
use drumfire_testkit::vsftpd::Vsftpd;

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn the_template_stores_and_fetches_files() {
    let Some(server) = Vsftpd::start() else {
        return;
    };
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let port = format!("port={}", server.port);
    let new = ["new", "plan.jmx", "--template", "ftp", "--set", &port];
    let run = "run plan.jmx -l rows.csv -Jfolder=upload/ -Jusers=3 -Jramp_up=0 -Jseconds=60 -Jloops=2 -Jtimer.factor=0.001";
    let run: Vec<&str> = run.split(' ').collect();
    for words in [&new[..], &["check", "plan.jmx"], &run] {
        let finished = shop.run(words, LIMIT);
        assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    }
    let rows = shop.read("rows.csv");
    assert_eq!(rows.matches(",200,OK,").count(), 12, "{rows}");
    let stored = std::fs::read(server.file("upload/drumfire-3.txt")).expect("it was stored");
    assert_eq!(stored, b"from user 3");
}
