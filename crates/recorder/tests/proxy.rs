//! The recording proxy between a client and servers, over sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use drumfire_recorder::{Order, Proxy, ProxyTraffic, Seen, SeenExchange, Stage};
use flate2::Compression;
use flate2::write::GzEncoder;

const LIMIT: Duration = Duration::from_secs(20);

/// Answers every request that begins with one of the paths.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

fn serve(mut stream: TcpStream) {
    while let Some(head) = head(&mut stream) {
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.trim().parse().expect("a length"));
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("the body");
        let path = head.split(' ').nth(1).expect("a path").to_owned();
        match path.as_str() {
            "/zipped" => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder
                    .write_all(b"{\"id\":\"f00d\"}")
                    .expect("it can be packed");
                let packed = encoder.finish().expect("it can be packed");
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                    packed.len()
                );
                stream.write_all(head.as_bytes()).expect("it is sent");
                stream.write_all(&packed).expect("it is sent");
            }
            "/socket" => {
                let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
                stream.write_all(head.as_bytes()).expect("it is sent");
                let mut frame = [0; 4];
                stream.read_exact(&mut frame).expect("a frame");
                stream.write_all(&frame).expect("it is sent");
                return;
            }
            "/last" => {
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(head.as_bytes()).expect("it is sent");
                return;
            }
            _ => {
                let seen = format!("{head}{}", String::from_utf8_lossy(&body));
                let head = format!(
                    "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{seen}\r\n0\r\n\r\n",
                    seen.len()
                );
                stream.write_all(head.as_bytes()).expect("it is sent");
            }
        }
    }
}

/// Reads up to the blank line, in lower case.
fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&head).to_lowercase())
}

struct Recording {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    orders: Sender<Order>,
    seen: Receiver<Seen>,
    thread: JoinHandle<ProxyTraffic>,
    _folder: tempfile::TempDir,
}

fn start(domains: &[&str]) -> Recording {
    let folder = tempfile::tempdir().expect("a folder");
    let domains: Vec<String> = domains.iter().map(|domain| (*domain).to_owned()).collect();
    let any = "127.0.0.1:0".parse().expect("an address");
    let proxy = Proxy::bind(any, &folder.path().join("ca"), &domains).expect("a proxy");
    let address = proxy.address().expect("an address");
    let stop = Arc::new(AtomicBool::new(false));
    let (orders, given) = channel();
    let (tell, seen) = channel();
    let told = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        proxy
            .record(&told, &given, &mut |message| drop(tell.send(message)))
            .expect("a recording")
    });
    Recording {
        address,
        stop,
        orders,
        seen,
        thread,
        _folder: folder,
    }
}

impl Recording {
    fn client(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the proxy listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        stream
    }

    /// Gives an order, and waits until it was carried out.
    fn order(&self, order: Order) {
        self.orders.send(order.clone()).expect("it is told");
        let is_done = |seen: Seen| matches!(seen, Seen::Done(done) if done == order);
        while !is_done(self.seen.recv_timeout(LIMIT).expect("it is done")) {}
    }

    /// The next request that has reached the stage.
    fn seen(&self, stage: Stage) -> SeenExchange {
        loop {
            match self.seen.recv_timeout(LIMIT).expect("a request") {
                Seen::Exchange(exchange) if exchange.stage == stage => return exchange,
                _ => {}
            }
        }
    }

    fn end(self) -> ProxyTraffic {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("the proxy ends")
    }
}

/// Sends a request and reads head and body.
fn ask(client: &mut TcpStream, request: &str) -> (String, Vec<u8>) {
    client.write_all(request.as_bytes()).expect("it is sent");
    let head = head(client).expect("a response");
    let mut body = Vec::new();
    if let Some((_, rest)) = head.split_once("content-length: ") {
        let length = rest.lines().next().expect("a length").trim();
        body = vec![0; length.parse().expect("a length")];
        client.read_exact(&mut body).expect("the body");
    } else if head.contains("transfer-encoding: chunked") {
        while !body.ends_with(b"0\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).expect("the body");
            body.push(byte[0]);
        }
    }
    (head, body)
}

#[test]
fn requests_bodies_and_names_are_recorded() {
    let server = server();
    let recording = start(&[]);
    let mut client = recording.client();
    let post = format!(
        "POST http://{server}/form?a=1 HTTP/1.1\r\nHost: {server}\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n\
         Connection: x-own\r\nX-Own: 1\r\nAccept-Encoding: gzip, br\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\nu=ann"
    );
    let (first, echoed) = ask(&mut client, &post);
    let echoed = String::from_utf8_lossy(&echoed).into_owned();
    assert!(first.starts_with("http/1.1 201"), "{first}");
    assert!(echoed.contains("post /form?a=1 http/1.1"), "{echoed}");
    assert!(
        echoed.contains("accept-encoding: gzip\r\n") && echoed.contains("u=ann"),
        "{echoed}"
    );
    for hidden in [
        "proxy-connection",
        "proxy-authorization",
        "x-own",
        "connection:",
    ] {
        assert!(!echoed.contains(hidden), "{hidden}: {echoed}");
    }
    recording.order(Order::Name("Look".to_owned()));
    let get = |path: &str| format!("GET http://{server}{path} HTTP/1.1\r\nHost: {server}\r\n\r\n");
    let (zipped, body) = ask(&mut client, &get("/zipped"));
    assert!(zipped.contains("content-encoding: gzip") && body.starts_with(&[0x1f, 0x8b]));
    // the server closes the connection after this one; the next request gets a new one
    ask(&mut client, &get("/last"));
    assert!(
        ask(&mut client, &get("/again"))
            .0
            .starts_with("http/1.1 201")
    );
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = free.local_addr().expect("an address");
    drop(free);
    let (failed, _) = ask(
        &mut client,
        &format!("GET http://{nobody}/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    );
    assert!(failed.starts_with("http/1.1 502"), "{failed}");
    let taken = recording.end();
    let entries = taken.har["log"]["entries"].as_array().expect("entries");
    let statuses: Vec<u64> = entries
        .iter()
        .filter_map(|entry| entry["response"]["status"].as_u64())
        .collect();
    assert_eq!(statuses, [201, 200, 200, 201, 0]);
    assert_eq!(
        entries[0]["request"]["url"],
        format!("http://{server}/form?a=1")
    );
    assert_eq!(entries[0]["request"]["postData"]["text"], "u=ann");
    assert!(entries[0].get("pageref").is_none());
    assert_eq!(
        entries[1]["response"]["content"]["text"],
        "{\"id\":\"f00d\"}"
    );
    assert_eq!(entries[1]["pageref"], "named-0");
    assert_eq!(taken.har["log"]["pages"][0]["title"], "Look");
}

#[test]
fn requests_are_told_at_each_stage_and_left_out_while_paused() {
    let server = server();
    let recording = start(&[]);
    let mut client = recording.client();
    let get = |path: &str| format!("GET http://{server}{path} HTTP/1.1\r\nHost: {server}\r\n\r\n");
    ask(&mut client, &get("/zipped"));
    let sent = recording.seen(Stage::Sent);
    let url = format!("http://{server}/zipped");
    assert_eq!(
        (sent.number, &sent.entry["request"]["url"]),
        (0, &url.into())
    );
    assert_eq!(sent.entry["response"]["status"], 0);
    let answered = recording.seen(Stage::Answered);
    assert_eq!(answered.entry["response"]["status"], 200);
    let complete = recording.seen(Stage::Complete);
    assert!(complete.bytes > 0 && !complete.is_left_out, "{complete:?}");
    recording.order(Order::Pause(true));
    ask(&mut client, &get("/again"));
    let paused = recording.seen(Stage::Complete);
    assert!(paused.number == 1 && paused.is_left_out, "{paused:?}");
    recording.order(Order::Pause(false));
    ask(&mut client, &get("/form"));
    let last = recording.seen(Stage::Complete);
    assert!(last.number == 2 && !last.is_left_out, "{last:?}");
    let taken = recording.end();
    let entries = taken.har["log"]["entries"].as_array().expect("entries");
    let urls = entries
        .iter()
        .filter_map(|entry| entry["request"]["url"].as_str());
    let paths: Vec<&str> = urls.filter_map(|url| url.rsplit('/').next()).collect();
    assert_eq!(paths, ["zipped", "form"]);
}

#[test]
fn web_sockets_and_other_sites_pass_through() {
    let server = server();
    let recording = start(&["shop.example"]);
    let mut client = recording.client();
    let upgrade = format!(
        "GET http://{server}/socket HTTP/1.1\r\nHost: {server}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    );
    let (head, _) = ask(&mut client, &upgrade);
    assert!(head.starts_with("http/1.1 101"), "{head}");
    client.write_all(b"ping").expect("it is sent");
    let mut frame = [0; 4];
    client.read_exact(&mut frame).expect("the echo");
    assert_eq!(&frame, b"ping");

    let mut client = recording.client();
    let (head, _) = ask(
        &mut client,
        &format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n"),
    );
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let (inner, _) = ask(&mut client, "GET /secret HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(inner.starts_with("http/1.1 201"), "{inner}");

    let mut client = recording.client();
    let (_, certificate) = ask(&mut client, "GET /ca.pem HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(certificate.starts_with(b"-----BEGIN CERTIFICATE-----"));
    let taken = recording.end();
    let entries = taken.har["log"]["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["_resourceType"], "websocket");
    assert_eq!(taken.unread, [("127.0.0.1".to_owned(), 1)]);
}
