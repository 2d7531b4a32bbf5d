//! The state of the demo shop: products, sessions, carts.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use serde::Serialize;

use super::images;

/// The most sessions stored. The oldest is removed first, so that a long run does not fill the
/// memory.
const MAX_SESSIONS: usize = 20_000;

/// The longest time that visitors of the limited page wait for their turn.
const LONGEST_QUEUE: Duration = Duration::from_secs(2);

/// One product.
#[derive(Debug, Clone, Serialize)]
pub struct Product {
    /// From 1.
    pub id: u32,
    /// A name that can be searched for.
    pub name: String,
    /// In cents.
    pub price_cents: u32,
    /// How many there are; never changes.
    pub stock: u32,
}

/// One line of a cart.
#[derive(Debug, Clone, Serialize)]
pub struct CartLine {
    /// The product's id.
    pub product: u32,
    /// How many.
    pub quantity: u32,
}

/// The session of a visitor's cookie.
#[derive(Debug, Clone, Default)]
pub struct ShopSession {
    /// The token that must come back with the login form.
    pub csrf: String,
    /// The user's name, set by a login.
    pub user: Option<String>,
    /// The goods in the cart, in order.
    pub cart: Vec<CartLine>,
    /// The id that is part of the cart's URLs.
    pub cart_id: String,
    /// The bearer token for the list of orders; the script of the account page requests it.
    pub bearer: String,
    /// How many carts were paid for.
    pub orders: u32,
}

/// The shop.
#[derive(Debug)]
pub struct Shop {
    /// All products, by id from 1.
    pub products: Vec<Product>,
    /// A picture of each product, in the same order.
    pub pictures: Vec<Bytes>,
    /// The picture above every page.
    pub logo: Bytes,
    sessions: Mutex<Sessions>,
    /// The requests that it has received.
    pub requests: AtomicU64,
    /// The turn of the next visitor of the limited page.
    next_turn: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<String, ShopSession>,
    in_order: VecDeque<String>,
    issued: u64,
    seed: RandomState,
}

impl Shop {
    /// The turn of a visitor who comes now, with `rate` turns a second; `None` if the wait would be
    /// too long.
    pub fn take_turn(&self, now: Instant, rate: u64) -> Option<Instant> {
        let mut next = self
            .next_turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let turn = next.map(|next| next.max(now)).unwrap_or(now);
        if turn.saturating_duration_since(now) > LONGEST_QUEUE {
            return None;
        }
        *next = Some(turn + Duration::from_secs_f64(1.0 / rate as f64));
        Some(turn)
    }

    /// A shop with the same products at every start.
    pub fn new() -> Self {
        const KINDS: [&str; 6] = ["kettle", "lantern", "notebook", "drum", "teapot", "compass"];
        const COLOURS: [(&str, [u8; 3]); 4] = [
            ("red", [200, 40, 40]),
            ("green", [40, 150, 60]),
            ("blue", [40, 70, 200]),
            ("white", [240, 240, 240]),
        ];
        let mut products = Vec::new();
        let mut pictures = Vec::new();
        for (index, kind) in KINDS.iter().enumerate() {
            for (step, (colour, rgb)) in COLOURS.iter().enumerate() {
                let number =
                    u32::try_from(index * COLOURS.len() + step).expect("there are 24 products");
                products.push(Product {
                    id: number + 1,
                    name: format!("{colour} {kind}"),
                    price_cents: 495 + 250 * number,
                    stock: 3 + number % 7,
                });
                pictures.push(Bytes::from(images::square(48 + 8 * number, *rgb)));
            }
        }
        let logo = Bytes::from(images::square(64, [20, 20, 20]));
        Shop {
            products,
            pictures,
            logo,
            sessions: Mutex::default(),
            requests: AtomicU64::new(0),
            next_turn: Mutex::default(),
        }
    }

    /// The product with this id.
    pub fn product(&self, id: u32) -> Option<&Product> {
        self.products.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// A copy of the session with this id.
    pub fn session(&self, id: &str) -> Option<ShopSession> {
        self.lock().by_id.get(id).cloned()
    }

    /// Opens a session. Returns its id and a copy of it.
    pub fn open_session(&self) -> (String, ShopSession) {
        let mut sessions = self.lock();
        let id = sessions.token();
        let session = ShopSession {
            csrf: sessions.token(),
            cart_id: sessions.token(),
            bearer: sessions.token(),
            ..ShopSession::default()
        };
        if sessions.in_order.len() >= MAX_SESSIONS
            && let Some(oldest) = sessions.in_order.pop_front()
        {
            sessions.by_id.remove(&oldest);
        }
        sessions.in_order.push_back(id.clone());
        sessions.by_id.insert(id.clone(), session.clone());
        (id, session)
    }

    /// Changes a session, if it still exists.
    pub fn change_session(&self, id: &str, change: impl FnOnce(&mut ShopSession)) {
        if let Some(session) = self.lock().by_id.get_mut(id) {
            change(session);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        // No holder of the lock leaves a half-made session behind, so a poisoned lock is still safe
        // to use.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    /// Sixteen hexadecimal digits that differ in every run: enough for a demo, not for a shop.
    fn token(&mut self) -> String {
        self.issued += 1;
        format!("{:016x}", self.seed.hash_one(self.issued))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_ids_from_one() {
        let shop = Shop::new();
        assert_eq!(shop.products.len(), 24);
        assert_eq!(
            shop.product(1).map(|product| product.name.as_str()),
            Some("red kettle")
        );
        assert!(shop.product(0).is_none() && shop.product(25).is_none());
    }

    #[test]
    fn the_oldest_session_goes_first() {
        let shop = Shop::new();
        let (first, _) = shop.open_session();
        for _ in 1..MAX_SESSIONS {
            shop.open_session();
        }
        assert!(shop.session(&first).is_some());
        shop.open_session();
        assert!(shop.session(&first).is_none());
    }

    #[test]
    fn a_session_keeps_its_changes() {
        let shop = Shop::new();
        let (id, session) = shop.open_session();
        assert_ne!(id, session.csrf);
        shop.change_session(&id, |session| session.user = Some("alice".to_owned()));
        assert_eq!(
            shop.session(&id)
                .and_then(|session| session.user)
                .as_deref(),
            Some("alice")
        );
    }
}
