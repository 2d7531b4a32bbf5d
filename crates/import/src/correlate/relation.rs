//! The names under which a value counts. A short value such as `7` is the same thing in a response and in a request only if both
//! give it the same name: `cart.id` in JSON, `cartId` in a form and the segment after `/carts/` all name the id of a cart.

/// Words that end the name of an identifier.
const IDENTITY: [&str; 16] = [
    "id",
    "ids",
    "uuid",
    "guid",
    "uid",
    "no",
    "nr",
    "num",
    "number",
    "ref",
    "reference",
    "key",
    "code",
    "pk",
    "oid",
    "handle",
];

/// Words of values that are secret or used once, whatever else their name says.
const SECRET: [&str; 20] = [
    "token",
    "csrf",
    "xsrf",
    "nonce",
    "state",
    "ticket",
    "otp",
    "verifier",
    "challenge",
    "captcha",
    "viewstate",
    "viewstategenerator",
    "eventvalidation",
    "authenticity",
    "once",
    "signature",
    "sig",
    "hash",
    "cursor",
    "session",
];

/// The last words of names whose values a site or a user chooses, and which stay as they are.
const CONSTANT: [&str; 68] = [
    "version",
    "ver",
    "v",
    "build",
    "release",
    "revision",
    "commit",
    "lang",
    "language",
    "locale",
    "currency",
    "country",
    "region",
    "timezone",
    "tz",
    "theme",
    "page",
    "pagesize",
    "size",
    "limit",
    "offset",
    "count",
    "sort",
    "direction",
    "dir",
    "width",
    "height",
    "quantity",
    "qty",
    "step",
    "year",
    "month",
    "day",
    "date",
    "hour",
    "zip",
    "postal",
    "postcode",
    "charset",
    "encoding",
    "format",
    "platform",
    "browser",
    "os",
    "screen",
    "viewport",
    "campaign",
    "medium",
    "mode",
    "view",
    "tab",
    "q",
    "query",
    "search",
    "keyword",
    "operation",
    "type",
    "kind",
    "status",
    "action",
    "method",
    "name",
    "title",
    "scope",
    "client",
    "rows",
    "columns",
    "deploy",
];

/// Names that stay the same although they end like identifiers: those of a deployment or of an application.
const DEPLOYED: [&str; 14] = [
    "build",
    "release",
    "deployment",
    "deploy",
    "commit",
    "client",
    "app",
    "application",
    "tenant",
    "tracking",
    "measurement",
    "pixel",
    "site",
    "campaign",
];

/// Keys of JSON that wrap things without naming them.
const WRAPPERS: [&str; 26] = [
    "data",
    "result",
    "results",
    "item",
    "items",
    "payload",
    "response",
    "entity",
    "body",
    "attributes",
    "content",
    "contents",
    "object",
    "objects",
    "node",
    "nodes",
    "edges",
    "record",
    "records",
    "value",
    "values",
    "list",
    "rows",
    "hits",
    "documents",
    "embedded",
];

/// A value that matches any identifier's name. Only values of [`ANYWHERE`] characters or more have it.
pub const ANY: &str = "#";
/// The length from which a value under some identifier's name is the same value under another's.
const ANYWHERE: usize = 4;

/// The words of a name in lower case: `cartId`, `cart_id` and `cart-id` have the same.
pub fn words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            is_open = false;
            continue;
        }
        if !is_open || (c.is_uppercase() && was_small) {
            all.push(String::new());
        }
        if let Some(word) = all.last_mut() {
            word.extend(c.to_lowercase());
        }
        is_open = true;
        was_small = c.is_lowercase() || c.is_numeric();
    }
    all
}

/// A name in the form in which it is compared.
fn plain(name: &str) -> String {
    let mut words = words(name);
    if words.len() > 1 && words[0] == "x" {
        words.remove(0);
    }
    words.concat()
}

/// One of several: `addresses` is `address`.
fn singular(word: &str) -> String {
    let ends = |end: &str| word.strip_suffix(end);
    if let Some(stem) = ends("ies") {
        return format!("{stem}y");
    }
    for plural in ["sses", "xes", "ches", "shes"] {
        if word.ends_with(plural) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match ends("s") {
        Some(stem) if !stem.ends_with('s') && stem.len() > 1 => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The thing whose identifier a name is, as `cart#`; `None` for a plain `id`.
fn identity(name: &str) -> Option<String> {
    let mut words = words(name);
    if words
        .last()
        .is_some_and(|word| IDENTITY.contains(&word.as_str()))
    {
        words.pop();
    }
    let last = words.pop()?;
    words.push(singular(&last));
    Some(format!("{}#", words.concat()))
}

fn ends_like_identifier(name: &str) -> bool {
    let words = words(name);
    words
        .last()
        .is_some_and(|word| IDENTITY.contains(&word.as_str()) || SECRET.contains(&word.as_str()))
}

/// Whether a name says only that its value identifies something: `id`, `_id`, `uuid`.
fn is_bare(name: &str) -> bool {
    let words = words(name);
    words.len() == 1 && IDENTITY.contains(&words[0].as_str())
}

pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let plain = words.concat();
    words.iter().any(|word| SECRET.contains(&word.as_str()))
        || ["csrf", "xsrf", "token", "nonce"]
            .iter()
            .any(|word| plain.contains(word))
}

/// Whether a name identifies a deployment or an application. Only a request that makes such a thing answers with a new one.
fn is_deployed(name: &str) -> bool {
    let words = words(name);
    match words.as_slice() {
        [before, _] => {
            ends_like_identifier(name) && !is_secret(name) && DEPLOYED.contains(&before.as_str())
        }
        _ => false,
    }
}

/// Whether a value of this name stays as it was recorded: the site deployed it, or a user chose it.
pub fn is_constant(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else {
        return false;
    };
    if is_secret(name) {
        return false;
    }
    if words[0] == "utm" || words[0] == "ga" || words[0] == "gtm" {
        return true;
    }
    if is_deployed(name) {
        return true;
    }
    if let (true, [before, _]) = (ends_like_identifier(name), words.as_slice()) {
        let is_number = !["id", "uuid", "guid"].contains(&last.as_str());
        return is_number && CONSTANT.contains(&before.as_str());
    }
    CONSTANT.contains(&last.as_str()) || CONSTANT.contains(&words.concat().as_str())
}

/// The names of a value that stands under the last of these keys of JSON. `path` is that of the request that it answers or belongs
/// to.
pub fn of_leaf(keys: &[&str], value: &str, path: &str) -> Vec<String> {
    let Some((key, outer)) = keys.split_last() else {
        return Vec::new();
    };
    if is_constant(key) && !is_deployed(key) {
        return Vec::new();
    }
    let mut names = Vec::new();
    if is_bare(key) {
        names.extend(
            outer
                .iter()
                .rev()
                .find(is_named)
                .and_then(|key| identity(key)),
        );
        names.extend(nouns(path).filter_map(identity));
    } else {
        names.push(plain(key));
        names.extend(identity(key));
        // The user of a JWT.
        names.extend((*key == "sub").then(|| "user#".to_owned()));
    }
    if ends_like_identifier(key) && value.len() >= ANYWHERE {
        names.push(ANY.to_owned());
    }
    names
}

fn is_named(key: &&&str) -> bool {
    let words = words(key);
    !words.is_empty() && !WRAPPERS.contains(&words.concat().as_str())
}

/// The names of a value in a field, a header or an attribute of this name.
pub fn of_field(name: &str, value: &str) -> Vec<String> {
    of_leaf(&[name], value, "")
}

/// The names of a value that follows a word, as a segment of a path follows another.
pub fn after(word: &str, value: &str) -> Vec<String> {
    let is_word = word.chars().any(char::is_alphabetic);
    if !is_word || is_constant(word) || is_constant(&singular(word)) {
        return Vec::new();
    }
    let mut names: Vec<String> = identity(word).into_iter().collect();
    if value.len() >= ANYWHERE {
        names.push(ANY.to_owned());
    }
    names
}

/// The words of a path that name things; the last first.
fn nouns(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().filter(is_noun).take(2)
}

fn is_noun(segment: &&str) -> bool {
    segment.len() > 2
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(one: &[String], two: &[String]) -> bool {
        one.iter().any(|name| two.contains(name))
    }

    #[test]
    fn one_thing_has_one_name_wherever_it_stands() {
        let leaf = |keys: &[&str], path| of_leaf(keys, "7", path);
        for (held, sent) in [
            (leaf(&["cart", "id"], ""), after("carts", "7")),
            (leaf(&["id"], "/api/carts"), after("carts", "7")),
            (leaf(&["cartId"], ""), of_field("cart_id", "7")),
            (leaf(&["addresses", "id"], "/x"), of_field("addressId", "7")),
            (leaf(&["data", "order", "id"], ""), of_field("order", "7")),
            (leaf(&["orderNumber"], ""), after("orders", "7")),
            (of_field("XSRF-TOKEN", "a"), of_field("X-XSRF-TOKEN", "a")),
        ] {
            assert!(meet(&held, &sent), "{held:?} {sent:?}");
        }
        for (held, sent) in [
            (leaf(&["cart", "id"], "/carts"), of_field("quantity", "7")),
            (leaf(&["page"], ""), of_field("page", "7")),
            (leaf(&["items", "id"], "/products"), after("carts", "7")),
            (leaf(&["version"], ""), of_field("version", "7")),
        ] {
            assert!(!meet(&held, &sent), "{held:?} {sent:?}");
        }
        let long = of_leaf(&["id"], "48213", "");
        assert!(meet(&long, &after("invoices", "48213")));
    }

    #[test]
    fn deployed_values_of_a_site_stay() {
        for name in [
            "appVersion",
            "buildId",
            "client_id",
            "utm_source",
            "locale",
            "page",
            "currency",
            "page_size",
            "sortOrder_dir",
        ] {
            assert!(is_constant(name), "{name}");
        }
        for name in [
            "orderId",
            "page_token",
            "cartId",
            "csrf",
            "clientRefToken",
            "id",
            "sku",
            "apiKey",
        ] {
            assert!(!is_constant(name), "{name}");
        }
    }
}
