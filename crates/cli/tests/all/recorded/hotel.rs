//! A hotel that refuses every request with a value that it did not give to this visitor, and a visit to it. Its values take all
//! ways that correlation knows: cookies of redirects, short ids in addresses, lists, JSON in JSON, base64, forms, XML, plain text.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, respond};
use serde_json::{Value, json};

use super::like::send;

/// The values that one visitor was given.
type Given = HashMap<&'static str, String>;

#[derive(Default)]
struct State {
    count: AtomicU64,
    visitors: Mutex<HashMap<String, Given>>,
    /// References that clients made.
    seen: Mutex<Vec<String>>,
}

pub fn start() -> Server {
    start_without("none")
}

/// A hotel in which the requests below this path fail.
pub fn start_without(broken: &'static str) -> Server {
    let state = State::default();
    Server::start(move |request| {
        let path = request.target.split('/').nth(1).unwrap_or("");
        let answer = if path == broken {
            respond("503 Service Unavailable", "", "closed")
        } else {
            state.answer(request).unwrap_or_else(|wrong| {
                let told = format!("{wrong} in {}", request.target);
                respond("403 Forbidden", "", &told)
            })
        };
        vec![ResponseStep::Send(answer)]
    })
}

fn reply(status: &str, kind: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn page(body: &str) -> Vec<u8> {
    reply(
        "200 OK",
        "text/html",
        "",
        &format!(
            "<!DOCTYPE html><html><head><title>Hotel</title></head><body>{body}</body></html>"
        ),
    )
}

/// The fields of a form.
fn form(text: &str) -> HashMap<String, String> {
    let plain = |text: &str| {
        let mut parts = text.split('%');
        let mut plain = parts.next().unwrap_or("").replace('+', " ");
        for part in parts {
            let (code, rest) = part.split_at(2);
            let byte = u8::from_str_radix(code, 16).expect("hexadecimal");
            plain.push(char::from(byte));
            plain.push_str(&rest.replace('+', " "));
        }
        plain
    };
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    fields
        .map(|(name, value)| (plain(name), plain(value)))
        .collect()
}

impl State {
    /// Another text of these letters each time.
    fn random(&self, letters: &[u8], length: usize) -> String {
        let mut number = self
            .count
            .fetch_add(1, Ordering::SeqCst)
            .wrapping_add(77)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            char::from(letters[(number % letters.len() as u64) as usize])
        };
        (0..length).map(|_| next()).collect()
    }

    fn token(&self, length: usize) -> String {
        self.random(
            b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789",
            length,
        )
    }

    /// A number that does not begin with a zero.
    fn number(&self, length: usize) -> String {
        self.random(b"123456789", length)
    }

    fn answer(&self, request: &ReceivedRequest) -> Result<Vec<u8>, &'static str> {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let cookies = request.header("cookie").unwrap_or("");
        let cookie = cookies
            .split("; ")
            .find_map(|cookie| cookie.strip_prefix("guest="));
        let mut visitors = self.visitors.lock().expect("the lock");
        if path == "/" {
            let (guest, form) = (self.token(20), self.token(16));
            let body = format!(
                "<form action=\"/search\"><input type=hidden name=ticket value=\"{}\"></form>\
                 <form id=entry action=\"/enter\" method=post><input type=hidden name=ticket value=\"{form}\"><input name=email></form>",
                self.token(16)
            );
            visitors.insert(guest.clone(), Given::from([("ticket", form)]));
            let body = format!("<html><head><title>Hotel</title></head><body>{body}</body></html>");
            return Ok(reply(
                "200 OK",
                "text/html",
                &format!("Set-Cookie: guest={guest}; Path=/\r\n"),
                &body,
            ));
        }
        let given = cookie
            .and_then(|guest| visitors.get_mut(guest))
            .ok_or("no guest")?;
        let has = |given: &Given, name: &str, value: Option<&str>| {
            if value.is_some() && value == given.get(name).map(String::as_str) {
                Ok(())
            } else {
                Err("a value that was not given")
            }
        };
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match (request.method.as_str(), segments.as_slice()) {
            ("POST", ["enter"]) => {
                let form = form(&body);
                has(given, "ticket", form.get("ticket").map(String::as_str))?;
                given.insert("guard", format!("{}/+=", self.token(7)));
                let guard = given["guard"]
                    .replace('/', "%2F")
                    .replace('+', "%2B")
                    .replace('=', "%3D");
                Ok(reply(
                    "303 See Other",
                    "text/html",
                    &format!("Set-Cookie: guard={guard}; Path=/\r\nLocation: /turn\r\n"),
                    "",
                ))
            }
            ("GET", ["turn"]) => {
                given.insert("pass", self.token(14));
                Ok(reply(
                    "302 Found",
                    "text/html",
                    &format!("Location: /lounge?pass={}&lang=en\r\n", given["pass"]),
                    "",
                ))
            }
            ("GET", ["lounge"]) => {
                has(given, "pass", form(query).get("pass").map(String::as_str))?;
                given.insert("key", self.token(18));
                Ok(page(&format!(
                    "<script>boot({{ lang: 'en', roomKey: '{}', build: '4.12.0' }})</script>",
                    given["key"]
                )))
            }
            ("POST", ["stays"]) => {
                has(given, "key", request.header("x-room-key"))?;
                has(given, "guard", request.header("x-guard"))?;
                has(given, "pass", request.header("x-pass"))?;
                given.insert("stay", self.number(3));
                given.insert("room", self.number(2));
                given.insert("tag", format!("\"{}\"", self.token(5)));
                given.insert("link", self.random(b"0123456789abcdef", 16));
                given.insert("guest", format!("g-{}", self.number(8)));
                let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
                let claims = json!({ "sub": given["guest"], "role": "guest" });
                let jwt = format!(
                    "{}.{}.{}",
                    part(json!({ "alg": "none" })),
                    part(claims),
                    self.token(12)
                );
                given.insert("jwt", format!("Bearer {jwt}"));
                let number = |name: &str| given[name].parse::<u64>().expect("a number");
                let body = json!({
                    "id": number("stay"), "rooms": [{ "id": 5 }, { "id": 6 }, { "id": number("room") }],
                    "link": given["link"], "session": { "jwt": jwt }, "lang": "en", "nights": 2,
                });
                let head = format!("ETag: {}\r\n", given["tag"]);
                Ok(reply(
                    "201 Created",
                    "application/json",
                    &head,
                    &body.to_string(),
                ))
            }
            (method, ["stays", stay]) => {
                has(given, "stay", Some(stay))?;
                has(given, "jwt", request.header("authorization"))?;
                if method == "GET" {
                    return Ok(reply("200 OK", "application/json", "", "{\"open\":true}"));
                }
                has(given, "tag", request.header("if-match"))?;
                let change: Value = serde_json::from_str(&body).map_err(|_| "no JSON")?;
                has(given, "room", Some(&change["roomId"].to_string()))?;
                let filter = change["filter"].as_str().unwrap_or("");
                let filter: Value = serde_json::from_str(filter).map_err(|_| "no filter")?;
                has(given, "stay", Some(&filter["stayId"].to_string()))?;
                let urn = change["urn"].as_str().unwrap_or("");
                has(given, "link", urn.split(':').nth(2))?;
                let blob = BASE64_STANDARD.decode(change["blob"].as_str().unwrap_or(""));
                let blob = String::from_utf8(blob.unwrap_or_default()).unwrap_or_default();
                has(
                    given,
                    "link",
                    blob.strip_prefix("Stay:")
                        .and_then(|rest| rest.strip_suffix(":open")),
                )?;
                let now = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .expect("after 1970")
                    .as_millis();
                let at = change["at"].to_string().parse::<u128>().unwrap_or(0);
                if now.abs_diff(at) > 60_000 {
                    return Err("another time");
                }
                let mut seen = self.seen.lock().expect("the lock");
                let reference = change["reference"].as_str().unwrap_or("").to_owned();
                if seen.contains(&reference) || request.header("x-reference") != Some(&reference) {
                    return Err("a reference that is not new");
                }
                seen.push(reference);
                given.insert("bill", self.token(22));
                Ok(reply(
                    "200 OK",
                    "text/plain",
                    "",
                    &format!("state=ready\nbill={}", given["bill"]),
                ))
            }
            ("GET", ["guests", guest]) => {
                has(given, "guest", Some(guest))?;
                given.insert("voucher", self.token(15));
                Ok(reply(
                    "200 OK",
                    "text/xml",
                    "",
                    &format!("<r><voucherCode>{}</voucherCode></r>", given["voucher"]),
                ))
            }
            ("POST", ["redeem"]) => {
                has(
                    given,
                    "voucher",
                    body.strip_prefix("<use><code>")
                        .and_then(|rest| rest.split('<').next()),
                )?;
                Ok(page("<p>redeemed</p>"))
            }
            ("POST", ["pay"]) => {
                let payload = form(&body).remove("payload").unwrap_or_default();
                let payload: Value = serde_json::from_str(&payload).map_err(|_| "no payload")?;
                has(given, "bill", payload["bill"].as_str())?;
                has(given, "stay", Some(&payload["stay"]["id"].to_string()))?;
                given.insert("receipt", self.number(5));
                Ok(reply(
                    "303 See Other",
                    "text/html",
                    &format!("Location: /receipts/{}\r\n", given["receipt"]),
                    "",
                ))
            }
            ("GET", ["receipts", receipt]) => {
                has(given, "receipt", Some(receipt))?;
                Ok(page(&format!(
                    "<form action=\"/receipts/{receipt}/mail\" method=post></form>"
                )))
            }
            ("POST", ["receipts", receipt, "mail"]) => {
                has(given, "receipt", Some(receipt))?;
                Ok(page("<p>sent</p>"))
            }
            _ => Err("no such page"),
        }
    }
}

/// A guest at a browser that goes through a proxy.
pub struct Guest {
    proxy: SocketAddr,
    hotel: String,
    cookies: BTreeMap<String, String>,
}

impl Guest {
    pub fn new(proxy: SocketAddr, hotel: &str) -> Guest {
        Guest {
            proxy,
            hotel: hotel.to_owned(),
            cookies: BTreeMap::new(),
        }
    }

    /// Sends a request, follows redirects, and returns the head and the body of the last response.
    fn call(
        &mut self,
        method: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &str,
    ) -> (String, String) {
        let cookies = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let mut head = format!("Cookie: {}\r\n", cookies.collect::<Vec<_>>().join("; "));
        for (name, value) in fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let rest = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let url = format!("{}{path}", self.hotel);
        let response = send(self.proxy, method, &url, &rest);
        let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
        assert!(!head.contains(" 403 "), "{method} {path}: {body}");
        let field = |line: &str, name: &str| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then(|| value.to_owned())
        };
        for cookie in head.lines().filter_map(|line| field(line, "set-cookie")) {
            let pair = cookie.split(';').next().expect("a cookie");
            let (name, value) = pair.split_once('=').expect("a value");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        match head.lines().find_map(|line| field(line, "location")) {
            Some(location) => {
                let (head, body) = self.call("GET", &location, &[], "");
                (format!("{head}\r\nLocation: {location}"), body)
            }
            None => (head.to_owned(), body.to_owned()),
        }
    }

    pub fn visit(&mut self, email: &str) {
        let between = |text: &str, left: &str, right: &str| {
            let from = text.find(left).expect("it is there") + left.len();
            text[from..].split(right).next().expect("a text").to_owned()
        };
        let kind = |kind| ("Content-Type", kind);
        let (_, page) = self.call("GET", "/", &[], "");
        let entry = &page[page.find("entry").expect("a form")..];
        let ticket = between(entry, "ticket value=\"", "\"");
        let fields = format!("ticket={ticket}&email={}", email.replace('@', "%40"));
        let (head, page) = self.call(
            "POST",
            "/enter",
            &[kind("application/x-www-form-urlencoded")],
            &fields,
        );
        let pass = between(&head, "pass=", "&");
        let key = between(&page, "roomKey: '", "'");
        let guard = self.cookies["guard"]
            .replace("%2F", "/")
            .replace("%2B", "+")
            .replace("%3D", "=");
        let own = [
            kind("application/json"),
            ("X-Room-Key", &key),
            ("X-Guard", &guard),
            ("X-Pass", &pass),
        ];
        let (head, stay) = self.call("POST", "/stays", &own, "{\"nights\":2,\"lang\":\"en\"}");
        let lower = head.to_ascii_lowercase();
        let tag = lower.find("etag: ").expect("a tag") + 6;
        let tag = head[tag..].lines().next().expect("a tag").to_owned();
        let stay: Value = serde_json::from_str(&stay).expect("JSON");
        let bearer = format!(
            "Bearer {}",
            stay["session"]["jwt"].as_str().expect("a token")
        );
        let path = format!("/stays/{}", stay["id"]);
        self.call("GET", &path, &[("Authorization", &bearer)], "");
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("after 1970")
            .as_millis();
        let link = stay["link"].as_str().expect("a link");
        // Another one in each visit.
        let reference = format!("{:08x}-1c2d-4e5f-8a6b-{now:012x}", now % 0xffff_ffff);
        let change = format!(
            r#"{{"roomId":{},"nights":2,"filter":"{{\"stayId\":{}}}","urn":"urn:stay:{link}:open","blob":"{}","at":{now},"reference":"{reference}"}}"#,
            stay["rooms"][2]["id"],
            stay["id"],
            BASE64_STANDARD.encode(format!("Stay:{link}:open")),
        );
        let own = [
            kind("application/json"),
            ("Authorization", &bearer),
            ("If-Match", &tag),
            ("X-Reference", &reference),
        ];
        let (_, state) = self.call("PUT", &path, &own, &change);
        let claims = bearer.split('.').nth(1).expect("claims");
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).expect("base64");
        let claims: Value = serde_json::from_slice(&claims).expect("JSON");
        let (_, xml) = self.call(
            "GET",
            &format!("/guests/{}", claims["sub"].as_str().expect("a guest")),
            &[],
            "",
        );
        let voucher = between(&xml, "Code>", "<");
        self.call(
            "POST",
            "/redeem",
            &[kind("text/xml")],
            &format!("<use><code>{voucher}</code></use>"),
        );
        let bill = state.rsplit('=').next().expect("a bill");
        let payload = format!(
            "payload=%7B%22bill%22%3A%22{bill}%22%2C%22stay%22%3A%7B%22id%22%3A{}%7D%7D&lang=en",
            stay["id"]
        );
        let (head, _) = self.call(
            "POST",
            "/pay",
            &[kind("application/x-www-form-urlencoded")],
            &payload,
        );
        let receipt = between(&head, "/receipts/", "\r");
        self.call(
            "POST",
            &format!("/receipts/{receipt}/mail"),
            &[kind("application/x-www-form-urlencoded")],
            "lang=en",
        );
    }
}
