//! A second shop, whose names, places and token forms are not those of the demo site: the token stands in a `<meta>` and goes
//! back in a header field, JSON brings the reference of the basket, and that reference stands in a query.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub struct SecondShop {
    address: SocketAddr,
}

/// The values that a visitor was given, by the number of the visit.
#[derive(Clone)]
struct Visitor {
    xsrf: String,
    basket: String,
}

struct State {
    seed: u64,
    count: AtomicU64,
    visitors: Mutex<Vec<Visitor>>,
}

const PAGE: &str = "<!DOCTYPE html><html><head><title>Corner store</title><meta name=\"x-token\" content=\"TOKEN\"></head><body>\
<button id=in>Enter</button><button id=order>Order</button><script>\
const token = document.querySelector('meta[name=x-token]').content; let ref = '';\
document.querySelector('#in').onclick = async () => {\
 const answer = await fetch('/rpc/enter', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Xsrf-Token': token },\
  body: JSON.stringify({ locale: 'en', wants: ['basket'] }) });\
 ref = (await answer.json()).state.basketRef; };\
document.querySelector('#order').onclick = () => fetch('/rpc/order?basketRef=' + ref + '&step=2');\
</script></body></html>";

impl SecondShop {
    pub fn start() -> SecondShop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seed = u64::from(address.port()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let state = Arc::new(State {
            seed,
            count: AtomicU64::new(0),
            visitors: Mutex::default(),
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                std::thread::spawn(move || serve(&stream, &state));
            }
        });
        SecondShop { address }
    }

    pub fn url(&self) -> String {
        format!("http://{}/store", self.address)
    }
}

impl State {
    fn token(&self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
        let mut number = self.seed
            ^ self
                .count
                .fetch_add(1, Ordering::SeqCst)
                .wrapping_mul(0xd134_2543_de82_ef95);
        let mut token = String::new();
        for _ in 0..length {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            token.push(char::from(
                LETTERS[(number % LETTERS.len() as u64) as usize],
            ));
        }
        token
    }

    fn visitor(&self, cookie: &str) -> Option<Visitor> {
        let number: usize = cookie
            .split("visit=")
            .nth(1)?
            .split(';')
            .next()?
            .trim()
            .parse()
            .ok()?;
        self.visitors.lock().expect("the lock").get(number).cloned()
    }
}

fn serve(stream: &TcpStream, state: &State) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let (mut cookie, mut token, mut length) = (String::new(), String::new(), 0);
        loop {
            let mut field = String::new();
            if reader.read_line(&mut field).unwrap_or(0) <= 2 {
                break;
            }
            let (name, value) = field.split_once(':').unwrap_or((&field, ""));
            match name.to_ascii_lowercase().as_str() {
                "cookie" => cookie = value.trim().to_owned(),
                "x-xsrf-token" => token = value.trim().to_owned(),
                "content-length" => length = value.trim().parse().unwrap_or(0),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let target = line.split(' ').nth(1).unwrap_or("").to_owned();
        let answer = answer(&target, &cookie, &token, state);
        let mut stream = stream;
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(target: &str, cookie: &str, token: &str, state: &State) -> String {
    let reply = |status: &str, kind: &str, more: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}\r\n{body}",
            body.len()
        )
    };
    let known = state.visitor(cookie);
    let refused = || reply("403 Forbidden", "text/plain", "", "no");
    match (target.split('?').next().unwrap_or(""), known) {
        ("/store", _) => {
            let visitor = Visitor {
                xsrf: state.token(22),
                basket: state.token(18),
            };
            let mut visitors = state.visitors.lock().expect("the lock");
            visitors.push(visitor.clone());
            let cookie = format!("Set-Cookie: visit={}; Path=/\r\n", visitors.len() - 1);
            reply(
                "200 OK",
                "text/html",
                &cookie,
                &PAGE.replace("TOKEN", &visitor.xsrf),
            )
        }
        ("/rpc/enter", Some(visitor)) if visitor.xsrf == token => {
            let json = format!(
                "{{\"state\":{{\"open\":true,\"basketRef\":\"{}\"}}}}",
                visitor.basket
            );
            reply("200 OK", "application/json", "", &json)
        }
        ("/rpc/order", Some(visitor))
            if target.contains(&format!("basketRef={}&", visitor.basket)) =>
        {
            reply("200 OK", "application/json", "", "{\"done\":true}")
        }
        ("/rpc/enter" | "/rpc/order", _) => refused(),
        _ => reply("404 Not Found", "text/plain", "", ""),
    }
}
