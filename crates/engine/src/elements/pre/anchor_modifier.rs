//! HTML Link Parser (`AnchorModifier`): replaces the request by a link or form of the previous page that it matches.
//!
//! It has no properties. The sampler's protocol, domain, path, and the names and values of its arguments are texts or regular
//! expressions to match links with. One of the matching links is chosen at random.
//!
//! Difference: pages are read as the HTML standard says, not as JTidy repairs them.

use std::sync::Arc;

use drumfire_expr::Random;
use drumfire_java::charset::Charset;
use drumfire_java::url::{self as java_url, make_relative};
use drumfire_java::url_coding::url_decode;
use drumfire_query::page::{Tag, tags};
use drumfire_query::regex::Pattern;
use drumfire_results::SampleKind;
use drumfire_web::body::{Argument, append_query_string};
use drumfire_web::url::Url;

use crate::decode::Decoder;
use crate::decode::compiled::{RegexRules, computed};
use crate::decode::roles::Roles;
use crate::elements::samplers::http::edits::Edit;
use crate::elements::samplers::http::state::edits;
use crate::run::request::{Request, RequestArgument, parse_arguments};
use crate::run::roles::PreProcessor;
use crate::run::view::PreProcessorView;

struct AnchorModifier {
    rules: RegexRules,
}

pub fn decode(d: &mut Decoder) -> Roles {
    d.decoding.keeps_previous = true;
    Roles::pre(AnchorModifier {
        rules: RegexRules::new(&d.settings().properties),
    })
}

impl PreProcessor for AnchorModifier {
    fn process(&self, cx: &mut PreProcessorView) {
        let page = cx
            .previous
            .clone()
            .filter(|sample| edits(cx).applies() && sample.kind == SampleKind::Http);
        let Some(page) = page else {
            tracing::info!(
                "Can't apply HTML Link Parser when the previous sampler run is not an HTTP Request."
            );
            return;
        };
        let Some(url) = page.url.as_deref().and_then(|url| Url::parse(url).ok()) else {
            return;
        };
        let text = crate::base::body::text(&page, cx.default_charset());
        let tags = tags(&text[text.find('<').unwrap_or(0)..]);
        let mut links = anchors(&tags, "a", "href", &url);
        links.extend(forms(&tags, &url));
        links.extend(anchors(&tags, "frame", "src", &url));
        edits(cx).add(Links {
            links,
            rules: self.rules,
        });
    }
}

/// The request that a link or form of a page would send.
#[derive(Clone, Debug)]
struct Link {
    protocol: String,
    domain: String,
    path: String,
    arguments: Vec<RequestArgument>,
    is_form: bool,
}

impl Link {
    /// `HtmlParsingUtils#createUrlFromAnchor`; `None` if this is no URL.
    fn new(reference: &str, page: &java_url::Url) -> Option<Link> {
        let url = make_relative(page, reference)
            .inspect_err(|fault| tracing::warn!("Bad URL {fault}"))
            .ok()?;
        let arguments = parse_arguments(url.query().unwrap_or_default());
        Some(Link {
            protocol: url.protocol().to_lowercase(),
            domain: url.host().to_owned(),
            path: url.path().replace(' ', "%20"),
            arguments: arguments
                .map(|(name, value, metadata)| RequestArgument::plain(name, value, metadata))
                .collect(),
            is_form: false,
        })
    }

    fn query(&self) -> String {
        let arguments: Vec<Argument> = self
            .arguments
            .iter()
            .map(|argument| Argument {
                name: &argument.name,
                value: &argument.value,
                metadata: &argument.metadata,
                always_encode: argument.always_encode,
                content_type: &argument.content_type,
            })
            .collect();
        let mut query = String::new();
        append_query_string(&arguments, "", &mut query);
        url_decode(&query, &Charset::UTF_8)
            .map(|text| text.into_owned())
            .unwrap_or(query)
    }
}

/// `AnchorModifier#addAnchorUrls` and `addFramesetUrls`.
fn anchors(tags: &[Tag], name: &str, attribute: &str, page: &Url) -> Vec<Link> {
    let base = tags
        .iter()
        .find(|tag| tag.name == "base")
        .and_then(|tag| tag.attribute("href"));
    let context = match base {
        Some(base) => make_relative(page, base).ok(),
        None => Some((**page).clone()),
    };
    let Some(context) = context else {
        return Vec::new();
    };
    tags.iter()
        .filter(|tag| tag.name == name)
        .filter_map(|tag| tag.attribute(attribute))
        .filter(|reference| name != "a" || !reference.starts_with("javascript:"))
        .filter_map(|reference| Link::new(reference, &context))
        .collect()
}

/// `HtmlParsingUtils#createURLFromForm`: all fields after the beginning of a form belong to it, even beyond its end.
fn forms(tags: &[Tag], page: &Url) -> Vec<Link> {
    let mut forms: Vec<Link> = Vec::new();
    let mut in_form = false;
    let mut select: Option<(usize, &str)> = None;
    for tag in tags {
        if select.is_some_and(|(depth, _)| tag.depth <= depth) {
            select = None;
        }
        if tag.name == "form" {
            let form = tag
                .attribute("action")
                .and_then(|action| Link::new(action, page));
            in_form = form.is_some();
            forms.extend(form.map(|form| Link {
                is_form: true,
                ..form
            }));
            continue;
        }
        let Some(form) = forms.last_mut().filter(|_| in_form) else {
            continue;
        };
        let named = |name: &str| tag.attribute(name).unwrap_or_default();
        match tag.name.as_str() {
            "input" => {
                form.arguments
                    .extend(RequestArgument::encoded(named("name"), named("value"), "="))
            }
            "textarea" => form.arguments.extend(match &tag.text {
                Some(text) => RequestArgument::encoded(named("name"), text, "="),
                None => Some(RequestArgument {
                    always_encode: true,
                    ..RequestArgument::plain(named("name"), "", "=")
                }),
            }),
            "select" => select = Some((tag.depth, named("name"))),
            // An option outside of a list has no name: JMeter warns of bad HTML.
            "option" => form.arguments.extend(
                select.and_then(|(_, name)| RequestArgument::encoded(name, named("value"), "=")),
            ),
            _ => {}
        }
    }
    forms
}

struct Links {
    links: Vec<Link>,
    rules: RegexRules,
}

impl Edit for Links {
    fn apply(&self, random: &mut Random, request: &mut Request) {
        let matching: Vec<&Link> = self
            .links
            .iter()
            .filter(|link| self.matches(link, request))
            .collect();
        if matching.is_empty() {
            tracing::debug!("No matches found");
            return;
        }
        let link = matching[random.index(matching.len())].clone();
        request.domain = link.domain;
        request.set_path(&link.path);
        request.protocol = link.protocol;
        if !link.is_form {
            request.arguments = link.arguments;
            return;
        }
        let mut fields = link.arguments;
        for argument in &mut request.arguments {
            self.fill(argument, &mut fields, random);
        }
    }
}

impl Links {
    /// `HtmlParsingUtils#isAnchorMatched`.
    fn matches(&self, link: &Link, request: &Request) -> bool {
        let protocol = if request.protocol.is_empty() {
            "http"
        } else {
            &request.protocol
        };
        let path = request.path.replace(' ', "%20");
        let query = link.query();
        self.is_match(&link.protocol, protocol)
            && (request.domain.is_empty() || self.is_match(&link.domain, &request.domain))
            && (link.path == path || self.is_whole(&link.path, &format!("[/]*{path}")))
            && request.arguments.iter().all(|argument| {
                query.contains(&format!("{}=", argument.name))
                    || self.is_found(&query, &argument.name)
            })
    }

    /// `AnchorModifier#modifyArgument`: takes a random one of the fields that the argument matches.
    fn fill(
        &self,
        argument: &mut RequestArgument,
        fields: &mut Vec<RequestArgument>,
        random: &mut Random,
    ) {
        let fitting: Vec<&RequestArgument> = fields
            .iter()
            .filter(|field| {
                self.is_match(&field.name, &argument.name)
                    && self.is_match(&field.value, &argument.value)
            })
            .collect();
        if fitting.is_empty() {
            return;
        }
        let field = fitting[random.index(fitting.len())].clone();
        fields.retain(|other| *other != field);
        argument.name = field.name;
        argument.value = field.value;
    }

    fn is_match(&self, text: &str, pattern: &str) -> bool {
        text == pattern || self.is_whole(text, pattern)
    }

    fn is_whole(&self, text: &str, pattern: &str) -> bool {
        self.pattern(pattern)
            .is_some_and(|pattern| pattern.full_match(text))
    }

    fn is_found(&self, text: &str, pattern: &str) -> bool {
        self.pattern(pattern)
            .is_some_and(|pattern| pattern.is_match(text))
    }

    /// Compiles one of the sampler's own texts. A malformed pattern matches nothing.
    fn pattern(&self, text: &str) -> Option<Arc<Pattern>> {
        computed(text, self.rules).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::samplers::http::state::user_mut;
    use crate::fixture;
    use crate::run::view::View;
    use drumfire_results::Sample;
    use std::rc::Rc;

    /// The request that is sent after a page.
    fn sent(page: &str, request: Request) -> String {
        let xml = r#"<AnchorModifier guiclass="AnchorModifierGui" testclass="AnchorModifier" testname="a"/>"#;
        let (roles, mut cx) = fixture::decode(xml, decode);
        cx.facts_mut().previous = Some(Rc::new(Sample {
            url: Some("http://host/dir/page.html".into()),
            ..fixture::sample(page)
        }));
        user_mut(&mut cx).edits.begin(true);
        roles
            .pre
            .expect("it is a pre-processor")
            .turn(View::of(&mut cx))
            .done();
        let mut request = request;
        for edit in user_mut(&mut cx).edits.take() {
            edit.apply(cx.random(), &mut request);
        }
        let arguments: Vec<String> = request
            .arguments
            .iter()
            .map(|argument| format!("{}={}", argument.name, argument.value))
            .collect();
        format!(
            "{}://{}{} {}",
            request.protocol,
            request.domain,
            request.path,
            arguments.join("&")
        )
    }

    fn request(method: &str, path: &str, arguments: &[(&str, &str)]) -> Request {
        let arguments = arguments
            .iter()
            .map(|(name, value)| RequestArgument::plain(name, value, "="))
            .collect();
        Request {
            method: method.into(),
            domain: "host".into(),
            path: path.into(),
            arguments,
            ..Request::default()
        }
    }

    #[test]
    fn a_matching_link_is_followed() {
        let page = "<a href='javascript:x()'>0</a><a href='other?id=1'>1</a><a href='item?id=7&x=%20'>2</a>";
        assert_eq!(
            sent(page, request("GET", "/dir/it.*", &[("id", ".*")])),
            "http://host/dir/item id=7&x=%20"
        );
        assert_eq!(
            sent(page, request("GET", "/none", &[])),
            "://host/none ",
            "nothing matches"
        );
        assert_eq!(
            sent(page, request("GET", "/dir/item", &[("missing", "")])),
            "://host/dir/item missing="
        );
    }

    #[test]
    fn links_start_at_the_base_and_frames_count() {
        assert_eq!(
            sent(
                "<base href='/up/'><a href='a'>",
                request("GET", "/up/a", &[])
            ),
            "http://host/up/a "
        );
        assert_eq!(
            sent(
                "<frameset><frame src='f'></frameset>",
                request("GET", ".*f", &[])
            ),
            "http://host/dir/f "
        );
    }

    #[test]
    fn a_form_fills_the_arguments_that_match() {
        let page = "<form action='/send'><input name=tok value='a+b'><select name=s><option value=1></select><textarea name=t>txt</textarea></form>";
        let asked = request(
            "POST",
            "/send",
            &[("tok", ".*"), ("s", "[0-9]"), ("t", "x")],
        );
        assert_eq!(sent(page, asked), "http://host/send tok=a b&s=1&t=x");
    }
}
