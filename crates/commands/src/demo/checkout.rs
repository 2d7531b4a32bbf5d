//! The parts of the shop that a recorded visit cannot simply repeat: a cart whose id is part of its URLs, and a list of orders
//! that requires a token from a JSON response.

use hyper::StatusCode;
use hyper::header;
use serde_json::json;

use super::pages;
use super::reply::{self, Reply};
use super::routes::{Visit, fault, field, give_cookie, not_found, page, session};
use super::shop::{CartLine, ShopSession};

/// `POST /cart` with `product=…`: adds the product and redirects to the cart.
pub fn put_into_cart(visit: &Visit<'_>) -> Reply {
    let body = String::from_utf8_lossy(visit.body);
    let product = field(&body, "product").and_then(|id| visit.shop.product(id.parse().ok()?));
    let Some(product) = product else {
        return fault(visit, StatusCode::UNPROCESSABLE_ENTITY, "no such product");
    };
    let line = CartLine {
        product: product.id,
        quantity: 1,
    };
    let open_session = session(visit);
    let is_new = open_session.is_none();
    let (id, session) = open_session.unwrap_or_else(|| visit.shop.open_session());
    visit
        .shop
        .change_session(&id, |session| session.cart.push(line));
    let mut reply = reply::redirect("/");
    reply::set_text(
        &mut reply,
        header::LOCATION,
        &format!("/cart/{}", session.cart_id),
    );
    if is_new {
        give_cookie(&mut reply, &id);
    }
    reply
}

/// `GET /cart/ID`
pub fn cart_page(visit: &Visit<'_>) -> Reply {
    match own_cart(visit, "") {
        Some((_, session)) => page(visit, pages::cart(&session)),
        None => not_found(visit),
    }
}

/// `POST /cart/ID/pay`
pub fn pay(visit: &Visit<'_>) -> Reply {
    let Some((id, session)) = own_cart(visit, "/pay") else {
        return not_found(visit);
    };
    if session.cart.is_empty() {
        return fault(visit, StatusCode::CONFLICT, "the cart is empty");
    }
    visit.shop.change_session(&id, |session| {
        session.cart.clear();
        session.orders += 1;
    });
    page(
        visit,
        pages::message("Thank you", "Your order is on its way."),
    )
}

/// The visitor's session, if the path names its cart.
fn own_cart(visit: &Visit<'_>, end: &str) -> Option<(String, ShopSession)> {
    let cart = visit.path.strip_prefix("/cart/")?.strip_suffix(end)?;
    session(visit).filter(|(_, session)| session.cart_id == cart)
}

/// `POST /api/token`: returns a token to visitors who are logged in.
pub fn token(visit: &Visit<'_>) -> Reply {
    match session(visit) {
        Some((_, session)) if session.user.is_some() => {
            let token = json!({ "access_token": session.bearer, "token_type": "Bearer" });
            reply::json(StatusCode::OK, &token, visit.headers)
        }
        _ => fault(visit, StatusCode::UNAUTHORIZED, "log in first"),
    }
}

/// `GET /api/orders` with the token.
pub fn orders(visit: &Visit<'_>) -> Reply {
    let sent = visit
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    match session(visit) {
        Some((_, session)) if sent == Some(session.bearer.as_str()) => reply::json(
            StatusCode::OK,
            &json!({ "orders": session.orders }),
            visit.headers,
        ),
        _ => fault(
            visit,
            StatusCode::UNAUTHORIZED,
            "the token is missing or belongs to another session",
        ),
    }
}
