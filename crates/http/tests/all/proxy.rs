//! Exchanges by way of an HTTP proxy.

use std::sync::Arc;

use std::cell::Cell;

use crate::peer::{Do, Peer, answer, get, run, session};
use drumfire_http::{
    Failure, FailureKind, Handshake, Incoming, Outgoing, Phase, Proxy, Target, Tunnel, WantedParts,
    exchange,
};

fn by_way_of(peer: &Peer, host: &str, tls: bool) -> Target {
    Target {
        proxy: Some(Arc::new(Proxy {
            host: "127.0.0.1".into(),
            port: peer.address.port(),
            tls: false,
        })),
        ..Target::new(host, 443, tls)
    }
}

#[test]
fn plain_requests_go_as_they_are() {
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()),
        Do::Close,
    ]]);
    let target = by_way_of(&peer, "never.resolved.invalid", false);
    run(async { get(&session(), &target).await }).expect("good");
    assert_eq!(peer.received(), crate::peer::GET);
}

const CONNECT: &str = "CONNECT shop.invalid:443 HTTP/1.1\r\nHost: shop.invalid:443\r\n";

/// Answers the first challenge with credentials, and sends them from then on.
#[derive(Default)]
struct Credentials {
    asked: Cell<bool>,
}

impl Tunnel for Credentials {
    fn head(&self, target: &Target) -> Vec<u8> {
        let authority = target.authority();
        let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if self.asked.get() {
            head.push_str("Proxy-Authorization: Basic dTpw\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn challenged(&self, refusal: &Incoming, _target: &Target) -> bool {
        assert_eq!(refusal.status, 407);
        !self.asked.replace(true)
    }
}

async fn get_with_credentials(target: &Target) -> Box<Failure> {
    let credentials = Credentials::default();
    let out = Outgoing {
        tunnel: Some(&credentials),
        ..Outgoing::new(crate::peer::GET)
    };
    let response = exchange(
        &session(),
        target,
        out,
        WantedParts::ALL,
        crate::peer::LIMITS,
    )
    .await;
    response.expect_err("refused")
}

#[test]
fn a_refusal_is_handed_on() {
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 403 No Way\r\nContent-Length: 4\r\n\r\nwhy?".to_vec()),
        Do::Close,
    ]]);
    let target = by_way_of(&peer, "shop.invalid", true);
    let failure = run(async { get(&session(), &target).await }).expect_err("refused");
    assert_eq!(failure.phase, Phase::Proxy);
    let FailureKind::ProxyRefused(response) = failure.kind else {
        panic!("{:?}", failure.kind);
    };
    assert_eq!(response.status, 403);
    assert_eq!(response.body.as_deref(), Some(&b"why?"[..]));
    assert_eq!(
        String::from_utf8_lossy(&peer.received()),
        format!("{CONNECT}\r\n")
    );
}

/// How often the proxy is asked, and with what, when it wants credentials.
fn asked_again(first: &[u8], same_connection: bool) {
    let second = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
    let scripts = if same_connection {
        vec![[answer(first), answer(second)].concat()]
    } else {
        vec![answer(first), answer(second)]
    };
    let peer = Peer::start(scripts);
    let target = by_way_of(&peer, "shop.invalid", true);
    let failure = run(get_with_credentials(&target));
    assert!(matches!(failure.kind, FailureKind::ProxyRefused(r) if r.status == 502));
    let with = format!("{CONNECT}Proxy-Authorization: Basic dTpw\r\n\r\n");
    let received = if same_connection {
        peer.received()
    } else {
        // The peers of two connections report when each has ended, in any order; the second request is the longer one.
        let mut both = [peer.received(), peer.received()];
        both.sort_by_key(Vec::len);
        both.concat()
    };
    let expected = format!("{CONNECT}\r\n{with}");
    assert_eq!(String::from_utf8_lossy(&received), expected);
}

#[test]
fn credentials_are_sent_when_asked_for() {
    let kept = b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno";
    asked_again(kept, true);
    asked_again(
        b"HTTP/1.1 407 Who\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        false,
    );
}

#[test]
fn a_tunnel_carries_tls() {
    let server = crate::peer::tls::Server::behind_connect();
    let target = Target {
        proxy: Some(Arc::new(Proxy {
            host: "127.0.0.1".into(),
            port: server.address.port(),
            tls: false,
        })),
        ..Target::new("shop.invalid", 443, true)
    };
    run(async {
        let session = session();
        let response = get(&session, &target).await.expect("good");
        assert_eq!(response.handshake, Some(Handshake::Full));
        assert_eq!(response.body.as_deref(), Some(&b"name=shop.invalid"[..]));
        assert!(get(&session, &target).await.expect("good").reused);
    });
}
