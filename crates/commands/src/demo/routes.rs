//! Routes requests of the demo site to their handlers.

use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};

use super::checkout;
use super::pages;
use super::reply::{self, Reply};
use super::shop::{CartLine, Product, Shop, ShopSession};
use super::stream;

/// The name of the session cookie.
const COOKIE: &str = "SHOPSESSION";
/// The longest request body that the site reads, in bytes.
const MAX_BODY: usize = 1 << 20;
/// The longest delay of `/slow`, in milliseconds.
const MAX_SLOW_MS: u64 = 5_000;
/// The largest body of `/large`, in MiB.
const MAX_LARGE_MIB: u64 = 1_024;

/// A handler's view of a request.
pub(super) struct Visit<'a> {
    pub shop: &'a Shop,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// Answers one request.
pub async fn answer(shop: &Shop, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
        return reply::with_body(
            StatusCode::PAYLOAD_TOO_LARGE,
            "text/plain",
            "the body is too large\n",
        );
    };
    let body = body.to_bytes();
    let visit = Visit {
        shop,
        path: head.uri.path(),
        query: head.uri.query().unwrap_or(""),
        headers: &head.headers,
        body: &body,
    };
    match (&head.method, visit.path) {
        (&Method::GET | &Method::HEAD, "/slow") => slow(&visit).await,
        (&Method::GET | &Method::HEAD, "/limited") => limited(&visit).await,
        (&Method::GET, "/stream") => {
            let form = field(visit.query, "form").unwrap_or_default();
            stream::reply(visit.query, stream::Form::named(&form))
        }
        (&Method::GET | &Method::HEAD, _) => get(&visit),
        (&Method::POST, "/login") => log_in(&visit),
        (&Method::POST, "/api/cart") => add_to_cart(&visit),
        (&Method::POST, "/cart") => checkout::put_into_cart(&visit),
        (&Method::POST, "/api/token") => checkout::token(&visit),
        (&Method::POST, path) if path.starts_with("/cart/") => checkout::pay(&visit),
        (&Method::POST, "/upload") => upload(&visit),
        (&Method::POST, "/v1/chat/completions") => stream::reply(visit.query, stream::Form::OpenAi),
        _ => {
            let mut refused = reply::with_body(
                StatusCode::METHOD_NOT_ALLOWED,
                "text/plain",
                "not that method\n",
            );
            reply::set(&mut refused, header::ALLOW, "GET, HEAD, POST");
            refused
        }
    }
}

fn get(visit: &Visit<'_>) -> Reply {
    match visit.path {
        "/" => page(visit, pages::home(visit.shop)),
        "/login" => login_form(visit, StatusCode::OK, None),
        "/logout" => log_out(visit),
        "/account" => account(visit),
        "/api/products" => products(visit),
        "/api/search" => search(visit),
        "/api/cart" => cart(visit),
        "/api/orders" => checkout::orders(visit),
        path if path.starts_with("/cart/") => checkout::cart_page(visit),
        "/large" => reply::zeros(number(visit.query, "mib").unwrap_or(64).min(MAX_LARGE_MIB) << 20),
        "/error" => {
            let text = pages::message("Something broke", "This page always fails with 500.");
            reply::html(StatusCode::INTERNAL_SERVER_ERROR, text, visit.headers)
        }
        "/favicon.ico" | "/static/logo.png" => cached(visit, "image/png", visit.shop.logo.clone()),
        "/static/shop.css" => cached(
            visit,
            "text/css",
            Bytes::from_static(pages::STYLE.as_bytes()),
        ),
        "/static/shop.js" => cached(
            visit,
            "text/javascript",
            Bytes::from_static(pages::SCRIPT.as_bytes()),
        ),
        path => numbered(visit, path).unwrap_or_else(|| not_found(visit)),
    }
}

/// Answers paths that carry a product's id.
fn numbered(visit: &Visit<'_>, path: &str) -> Option<Reply> {
    if let Some(id) = path.strip_prefix("/api/products/") {
        let product = id.parse().ok().and_then(|id| visit.shop.product(id));
        return Some(match product {
            Some(product) => reply::json(StatusCode::OK, &json!(product), visit.headers),
            None => fault(visit, StatusCode::NOT_FOUND, "no such product"),
        });
    }
    if let Some(id) = path
        .strip_prefix("/static/product-")
        .and_then(|name| name.strip_suffix(".png"))
    {
        let index = id.parse::<usize>().ok()?.checked_sub(1)?;
        return Some(cached(
            visit,
            "image/png",
            visit.shop.pictures.get(index)?.clone(),
        ));
    }
    let product = visit
        .shop
        .product(path.strip_prefix("/product/")?.parse().ok()?)?;
    Some(page(
        visit,
        pages::product(&product.name, product.id, product.price_cents),
    ))
}

pub(super) fn page(visit: &Visit<'_>, text: String) -> Reply {
    reply::html(StatusCode::OK, text, visit.headers)
}

pub(super) fn not_found(visit: &Visit<'_>) -> Reply {
    let text = pages::message("Not found", "There is no such page.");
    reply::html(StatusCode::NOT_FOUND, text, visit.headers)
}

pub(super) fn fault(visit: &Visit<'_>, status: StatusCode, text: &str) -> Reply {
    reply::json(status, &json!({ "error": text }), visit.headers)
}

async fn slow(visit: &Visit<'_>) -> Reply {
    let wait_ms = number(visit.query, "ms").unwrap_or(500).min(MAX_SLOW_MS);
    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
    page(
        visit,
        pages::message("Slow", &format!("This page took {wait_ms} ms.")),
    )
}

/// Serves a page at a limited rate, one at a time. Visitors who would wait too long get 503.
async fn limited(visit: &Visit<'_>) -> Reply {
    let rate = number(visit.query, "rate").unwrap_or(100).max(1);
    let now = Instant::now();
    let Some(turn) = visit.shop.take_turn(now, rate) else {
        return fault(
            visit,
            StatusCode::SERVICE_UNAVAILABLE,
            "too many are waiting",
        );
    };
    tokio::time::sleep(turn.saturating_duration_since(now)).await;
    let text = format!("This page is made {rate} times a second.");
    page(visit, pages::message("Limited", &text))
}

/// A cacheable file with an `ETag`; answers 304 to clients that already have it.
fn cached(visit: &Visit<'_>, content_type: &'static str, content: Bytes) -> Reply {
    let tag = format!("\"{}-{:x}\"", visit.path.len(), content.len());
    let is_unchanged = visit
        .headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|value| value.as_bytes() == tag.as_bytes());
    let mut reply = if is_unchanged {
        reply::with_body(StatusCode::NOT_MODIFIED, content_type, Bytes::new())
    } else if content_type.starts_with("text/") {
        reply::text_body(StatusCode::OK, content_type, content, visit.headers)
    } else {
        reply::with_body(StatusCode::OK, content_type, content)
    };
    reply::set(&mut reply, header::CACHE_CONTROL, "max-age=3600");
    reply::set_text(&mut reply, header::ETAG, &tag);
    reply
}

pub(super) fn session(visit: &Visit<'_>) -> Option<(String, ShopSession)> {
    for cookies in visit.headers.get_all(header::COOKIE) {
        for pair in cookies.to_str().unwrap_or("").split(';') {
            if let Some((COOKIE, id)) = pair.trim().split_once('=')
                && let Some(session) = visit.shop.session(id)
            {
                return Some((id.to_owned(), session));
            }
        }
    }
    None
}

pub(super) fn give_cookie(reply: &mut Reply, id: &str) {
    reply::set_text(
        reply,
        header::SET_COOKIE,
        &format!("{COOKIE}={id}; Path=/; HttpOnly"),
    );
}

fn login_form(visit: &Visit<'_>, status: StatusCode, fault: Option<&str>) -> Reply {
    let open_session = session(visit);
    let is_new = open_session.is_none();
    let (id, session) = open_session.unwrap_or_else(|| visit.shop.open_session());
    let mut form = reply::html(status, pages::login(&session, fault), visit.headers);
    if is_new {
        give_cookie(&mut form, &id);
    }
    form
}

/// Logs a visitor in. Any password but `wrong` is accepted; the token must be the one of the form.
fn log_in(visit: &Visit<'_>) -> Reply {
    let body = String::from_utf8_lossy(visit.body);
    let field = |name| field(&body, name).unwrap_or_default();
    let Some((id, _)) = session(visit).filter(|(_, session)| session.csrf == field("csrf")) else {
        let text = pages::message(
            "Forbidden",
            "The form's token is missing or belongs to another session.",
        );
        return reply::html(StatusCode::FORBIDDEN, text, visit.headers);
    };
    let user = field("username");
    if user.is_empty() || field("password") == "wrong" {
        return login_form(
            visit,
            StatusCode::UNAUTHORIZED,
            Some("Unknown user or wrong password."),
        );
    }
    visit
        .shop
        .change_session(&id, |session| session.user = Some(user));
    reply::redirect("/account")
}

fn log_out(visit: &Visit<'_>) -> Reply {
    if let Some((id, _)) = session(visit) {
        visit
            .shop
            .change_session(&id, |session| session.user = None);
    }
    reply::redirect("/")
}

fn account(visit: &Visit<'_>) -> Reply {
    match session(visit) {
        Some((_, session)) if session.user.is_some() => {
            let user = session.user.as_deref().unwrap_or_default();
            page(visit, pages::account(user, &session))
        }
        _ => reply::redirect("/login"),
    }
}

fn products(visit: &Visit<'_>) -> Reply {
    let size = number(visit.query, "size").unwrap_or(10).clamp(1, 100);
    let page = number(visit.query, "page").unwrap_or(1).max(1);
    let skipped = usize::try_from((page - 1).saturating_mul(size)).unwrap_or(usize::MAX);
    let taken = usize::try_from(size).unwrap_or(usize::MAX);
    let items: Vec<&Product> = visit
        .shop
        .products
        .iter()
        .skip(skipped)
        .take(taken)
        .collect();
    let list = json!({ "page": page, "total": visit.shop.products.len(), "items": items });
    reply::json(StatusCode::OK, &list, visit.headers)
}

fn search(visit: &Visit<'_>) -> Reply {
    let words = field(visit.query, "q").unwrap_or_default().to_lowercase();
    let hits: Vec<&Product> = visit
        .shop
        .products
        .iter()
        .filter(|product| product.name.contains(&words))
        .collect();
    reply::json(
        StatusCode::OK,
        &json!({ "query": words, "found": hits.len(), "items": hits }),
        visit.headers,
    )
}

fn cart(visit: &Visit<'_>) -> Reply {
    let lines = session(visit)
        .map(|(_, session)| session.cart)
        .unwrap_or_default();
    reply::json(StatusCode::OK, &json!({ "lines": lines }), visit.headers)
}

fn add_to_cart(visit: &Visit<'_>) -> Reply {
    let Ok(wish) = serde_json::from_slice::<Value>(visit.body) else {
        return fault(visit, StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    let part = |name: &str| {
        wish.get(name)
            .and_then(Value::as_u64)
            .and_then(|value| u32::try_from(value).ok())
    };
    let Some(product) = part("product").and_then(|id| visit.shop.product(id)) else {
        return fault(visit, StatusCode::UNPROCESSABLE_ENTITY, "no such product");
    };
    let line = CartLine {
        product: product.id,
        quantity: part("quantity").unwrap_or(1),
    };
    let open_session = session(visit);
    let is_new = open_session.is_none();
    let (id, session) = open_session.unwrap_or_else(|| visit.shop.open_session());
    let number = session.cart.len() + 1;
    let total = line.quantity.saturating_mul(product.price_cents);
    visit
        .shop
        .change_session(&id, |session| session.cart.push(line));
    let added = json!({ "line": number, "product": product.id, "total_cents": total });
    let mut reply = reply::json(StatusCode::CREATED, &added, visit.headers);
    reply::set_text(&mut reply, header::LOCATION, &format!("/api/cart/{number}"));
    if is_new {
        give_cookie(&mut reply, &id);
    }
    reply
}

fn upload(visit: &Visit<'_>) -> Reply {
    reply::json(
        StatusCode::CREATED,
        &json!({ "bytes": visit.body.len() }),
        visit.headers,
    )
}

pub(super) fn number(query: &str, name: &str) -> Option<u64> {
    field(query, name)?.parse().ok()
}

/// The value of a field of a query or of a form, decoded.
pub(super) fn field(pairs: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(pairs.as_bytes())
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
