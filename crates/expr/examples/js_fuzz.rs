use drumfire_expr::js_condition::{eval, Failure};
fn main() {
    let mut un = 0; let mut bad = 0; let mut n = 0;
    for path in std::env::args().skip(1) {
        for line in std::fs::read_to_string(&path).unwrap().split('\n') {
            let Some((text, want)) = line.split_once('\t') else { continue };
            n += 1;
            let got = match eval(&text.replace('\u{1}', "\n")) {
                Ok(v) => v,
                Err(Failure::Unsupported(u)) => { un += 1; if std::env::var("UN").is_ok() { println!("UN {u:30} {text:40} {want}"); } continue }
                Err(e) => format!("X:{e}"),
            };
            let want = match want.strip_prefix("S:").or(want.strip_prefix("V:")) { Some(w) => w.replace('\u{1}', "\n"), None => want.to_owned() };
            if got != want && !(got.starts_with("X:") && want.starts_with("X:")) { bad += 1; println!("{text:?}  want {want:?} got {got:?}"); }
        }
    }
    println!("{n} cases, {un} unsupported, {bad} bad");
}
