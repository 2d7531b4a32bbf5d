//! The demo site's HTML, style sheet and script.

use std::fmt::Write as _;

use super::shop::{Shop, ShopSession};

/// Products shown on the home page.
const FEATURED: usize = 6;

/// The style sheet. It refers to a picture, as style sheets do.
pub const STYLE: &str = "\
body { font-family: sans-serif; margin: 2rem auto; max-width: 60rem; background: url(/static/logo.png) no-repeat right top; }
ul.products { display: grid; grid-template-columns: repeat(3, 1fr); list-style: none; padding: 0; }
.price { color: #555; }
";

/// The script. It sends no requests, so a load test sees no effect of it.
pub const SCRIPT: &str = "\
document.addEventListener('DOMContentLoaded', () => {
  const count = document.querySelectorAll('ul.products li').length;
  document.title += ' (' + count + ')';
});
";

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} - Drumfire demo shop</title>\n\
         <link rel=\"icon\" href=\"/favicon.ico\">\n<link rel=\"stylesheet\" href=\"/static/shop.css\">\n\
         <script src=\"/static/shop.js\"></script>\n</head>\n<body>\n\
         <p><a href=\"/\"><img src=\"/static/logo.png\" alt=\"Home\"></a> <a href=\"/login\">Log in</a></p>\n\
         <h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

/// The home page: some products with pictures.
pub fn home(shop: &Shop) -> String {
    let mut body = String::from("<ul class=\"products\">\n");
    for product in &shop.products[..FEATURED] {
        let _ = writeln!(
            body,
            "<li><a href=\"/product/{id}\"><img src=\"/static/product-{id}.png\" alt=\"\">{name}</a> \
             <span class=\"price\">{units}.{cents:02}</span></li>",
            id = product.id,
            name = product.name,
            units = product.price_cents / 100,
            cents = product.price_cents % 100
        );
    }
    body.push_str("</ul>\n");
    page("Welcome", &body)
}

/// The page of one product.
pub fn product(name: &str, id: u32, price_cents: u32) -> String {
    let body = format!(
        "<img src=\"/static/product-{id}.png\" alt=\"\">\n<p class=\"price\">{}.{:02}</p>\n\
         <form id=\"buy\" method=\"post\" action=\"/cart\">\n<input type=\"hidden\" name=\"product\" value=\"{id}\">\n\
         <button>Put into the cart</button>\n</form>\n",
        price_cents / 100,
        price_cents % 100
    );
    page(name, &body)
}

/// The login form with its token.
pub fn login(session: &ShopSession, fault: Option<&str>) -> String {
    let fault = fault
        .map(|text| format!("<p class=\"error\">{text}</p>\n"))
        .unwrap_or_default();
    let body = format!(
        "{fault}<form id=\"login\" method=\"post\" action=\"/login\">\n\
         <input type=\"hidden\" name=\"csrf\" value=\"{}\">\n<input name=\"username\">\n\
         <input name=\"password\" type=\"password\">\n<button>Log in</button>\n</form>\n",
        session.csrf
    );
    page("Log in", &body)
}

/// The page behind the login.
pub fn account(user: &str, session: &ShopSession) -> String {
    let body = format!(
        "<p>Hello, <b id=\"user\">{}</b>. Your cart has <span id=\"cart\">{}</span> lines.</p>\n\
         <ul id=\"orders\"></ul>\n<p><a href=\"/logout\">Log out</a></p>\n{ORDERS}",
        escape(user),
        session.cart.len()
    );
    page("Your account", &body)
}

/// Requests a token, then the orders with that token.
const ORDERS: &str = "\
<script>
fetch('/api/token', { method: 'POST' })
  .then((answer) => answer.json())
  .then((token) => fetch('/api/orders', { headers: { Authorization: 'Bearer ' + token.access_token } }))
  .then((answer) => answer.json())
  .then((list) => { document.querySelector('#orders').textContent = list.orders + ' orders'; });
</script>
";

/// The cart, with the form that pays for it.
pub fn cart(session: &ShopSession) -> String {
    let body = format!(
        "<p>Your cart has <span id=\"cart\">{}</span> lines.</p>\n\
         <form id=\"pay\" method=\"post\" action=\"/cart/{}/pay\">\n<button>Pay</button>\n</form>\n",
        session.cart.len(),
        session.cart_id
    );
    page("Your cart", &body)
}

/// A page with nothing but a message.
pub fn message(title: &str, text: &str) -> String {
    page(title, &format!("<p>{}</p>\n", escape(text)))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
