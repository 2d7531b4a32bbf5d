use drumfire_expr::{Scope, Template};
use drumfire_web::headers::Header;

use super::*;
use crate::elements::samplers::http::edits::Replaced;
use crate::elements::samplers::http::sampler::Held;
use crate::elements::samplers::http::{HttpSampler, decode, user_mut, worker};
use crate::fixture;
use crate::run::needs::Needs;
use crate::run::request::Request;
use crate::run::sampler::RequestView;

const KEY: Key = Key(1);

/// The settings of samples.
mod of_settings {
    use super::*;

    /// A sampler with this path and one argument, and its user.
    fn sampler(path: &str, value: &str) -> ((HttpSampler, Template), Context) {
        let xml = format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="h"><stringProp name="HTTPSampler.domain">${{__P(host,a)}}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="q" elementType="HTTPArgument"><stringProp name="Argument.name">q</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy>"#
        );
        fixture::decode(&xml, |d| {
            let sampler = decode(d, &[], Needs::default());
            (sampler.expect("it can be decoded"), d.compile("n ${v}"))
        })
    }

    /// The address of the next sample, its label, and whether the cache had them.
    fn ask((sampler, name): &(HttpSampler, Template), cx: &mut Context) -> (String, String, bool) {
        let call = sampler.call(cx, name);
        let url = call.url(|target| worker(cx).cache.address(call.key, target));
        let url = url.expect("it is an address").as_str().to_owned();
        (url, call.label.to_string(), matches!(call, Held::Known(_)))
    }

    #[test]
    fn settings_are_known_until_a_variable_or_a_property_changes() {
        let (sampler, mut cx) = sampler("/${v}", "${w}");
        let mut expect = |change: &dyn Fn(&mut Context), url: &str, label: &str| {
            change(&mut cx);
            for known in [false, true, true] {
                assert_eq!(ask(&sampler, &mut cx), (url.into(), label.into(), known));
            }
        };
        expect(&|_| {}, "http://a/${v}?q=${w}", "n ${v}");
        expect(
            &|cx| cx.vars.set_named("v", "1".into()),
            "http://a/1?q=${w}",
            "n 1",
        );
        expect(
            &|cx| cx.vars.set_named("w", "2".into()),
            "http://a/1?q=2",
            "n 1",
        );
        expect(
            &|cx| drop(cx.properties().set("host", "b")),
            "http://b/1?q=2",
            "n 1",
        );
        expect(
            &|cx| drop(cx.vars.remove_named("w")),
            "http://b/1?q=${w}",
            "n 1",
        );
        // Equal texts are the same, even in different allocations.
        cx.vars.set_named("v", "1".into());
        assert!(ask(&sampler, &mut cx).2);
    }

    #[test]
    fn settings_with_functions_or_scripts_are_not_cached() {
        let (changing, mut cx) = sampler("/${__counter(TRUE,)}", "");
        for n in 1..4 {
            let url = format!("http://a/{n}?q=");
            assert_eq!(ask(&changing, &mut cx), (url, "n ${v}".into(), false));
        }
        let (sampler, mut cx) = sampler("/p", "");
        ask(&sampler, &mut cx);
        assert!(ask(&sampler, &mut cx).2);
        let before = RequestView::request(&sampler.0, &mut cx, &sampler.1);
        let after = Request {
            path: "/q".into(),
            ..before.clone()
        };
        let edit = Replaced { before, after };
        user_mut(&mut cx).edits.begin(true);
        user_mut(&mut cx).edits.add(edit);
        assert_eq!(ask(&sampler, &mut cx).0, "http://a/q?q=");
        user_mut(&mut cx).edits.begin(true);
        assert_eq!(ask(&sampler, &mut cx).0, "http://a/p?q=");
    }

    #[test]
    fn settings_that_always_change_are_not_learned() {
        let (sampler, mut cx) = sampler("/p", "${v}");
        for n in 0..20 {
            cx.vars.set_named("v", n.to_string().into());
            assert!(!ask(&sampler, &mut cx).2);
        }
        assert_eq!(
            (ask(&sampler, &mut cx).2, ask(&sampler, &mut cx).2),
            (false, false)
        );
        let long = "x".repeat(LONGEST + 1);
        let (sampler, mut cx) = self::sampler("/p", "${v}");
        cx.vars.set_named("v", long.as_str().into());
        for _ in 0..3 {
            assert!(!ask(&sampler, &mut cx).2);
        }
    }

    #[test]
    fn no_more_than_so_many_samplers_are_kept() {
        let (sampler, mut cx) = sampler("/p", "");
        worker(&cx).cache.kept_settings.set(MOST_SETTINGS);
        for _ in 0..3 {
            assert!(!ask(&sampler, &mut cx).2);
        }
        worker(&cx).cache.kept_settings.set(MOST_SETTINGS - 1);
        ask(&sampler, &mut cx);
        assert!(ask(&sampler, &mut cx).2);
    }
}

/// The header fields of requests.
mod of_heads {
    use super::*;

    const FIRST: Given<'static> = Given {
        secure: false,
        host: "h",
        keep_alive: true,
        headers: &[],
        content_type: None,
    };

    const DIFFERING: Differing<'static> = Differing {
        method: "PUT",
        target: "/p",
        cookies: Some("a=1"),
        length: 7,
    };

    fn sent(cache: &SettingsCache, given: &Given<'_>) -> Option<String> {
        let mut out = Vec::new();
        let keep_alive = cache.append_head(KEY, given, DIFFERING, &mut out)?;
        assert!(keep_alive);
        Some(String::from_utf8(out).expect("it is ASCII"))
    }

    fn learn(cache: &SettingsCache, given: &Given<'_>) -> String {
        let url = Url::parse("http://h/").expect("it is an address");
        let mut head = RequestHead::new(&url, true, given.headers);
        head.cookie_slot();
        if let Some(content_type) = given.content_type {
            head.body_slot(content_type).expect("it may have a body");
        }
        head.finish(given.host, false, None);
        let mut out = Vec::new();
        assert!(cache.keep_head(KEY, given, &head, DIFFERING, &mut out));
        String::from_utf8(out).expect("it is ASCII")
    }

    #[test]
    fn fields_are_known_until_something_in_them_changes() {
        let cache = SettingsCache::default();
        let (one, other) = ([Header::new("X", "1")], [Header::new("X", "2")]);
        let (set, entity) = (
            ContentType::Set("x/y".into()),
            ContentType::Entity("x/y".into()),
        );
        let with_body = |content_type| Given {
            content_type: Some(content_type),
            ..FIRST
        };
        let with_headers = |headers| Given { headers, ..FIRST };
        let all = [
            FIRST,
            Given {
                secure: true,
                ..FIRST
            },
            Given { host: "i", ..FIRST },
            with_headers(&one),
            with_headers(&other),
            with_body(&set),
            with_body(&entity),
        ];
        for given in &all {
            assert_eq!(sent(&cache, given), None);
            let learned = learn(&cache, given);
            assert_eq!(sent(&cache, given), Some(learned));
        }
        learn(&cache, &with_body(&set));
        assert_eq!(
            sent(&cache, &with_body(&set)).as_deref(),
            Some(
                "PUT /p HTTP/1.1\r\nConnection: keep-alive\r\nCookie: a=1\r\nContent-Type: x/y\r\nContent-Length: 7\r\nHost: h\r\n\r\n"
            )
        );
    }

    #[test]
    fn a_head_that_is_sent_again_has_its_own_differing_parts() {
        let appended = |cache: &SettingsCache, differing| {
            let mut out = b"before ".to_vec();
            cache.append_head(KEY, &FIRST, differing, &mut out);
            out
        };
        let known = SettingsCache::default();
        learn(&known, &FIRST);
        let plain = Differing {
            cookies: None,
            ..DIFFERING
        };
        let all = [
            plain,
            Differing {
                target: "/p?q",
                ..plain
            },
            Differing {
                target: "/",
                ..plain
            },
            Differing {
                method: "PU",
                target: "T /p",
                ..plain
            },
            Differing { length: 8, ..plain },
            Differing {
                target: "/\u{c3}\u{a9}",
                ..plain
            },
            Differing {
                target: "/\u{e9}",
                ..plain
            },
            DIFFERING,
        ];
        for differing in all {
            let fresh = SettingsCache::default();
            learn(&fresh, &FIRST);
            let expected = appended(&fresh, differing);
            for _ in 0..3 {
                assert_eq!(appended(&known, differing), expected);
            }
            appended(&known, plain);
        }
    }

    #[test]
    fn a_sampler_whose_fields_always_change_is_not_learned_from() {
        let cache = SettingsCache::default();
        let mut learned = 0;
        for n in 0..20 {
            let headers = [Header::new("X", n.to_string())];
            let given = Given {
                headers: &headers,
                ..FIRST
            };
            assert_eq!(sent(&cache, &given), None);
            if cache.learns_head(KEY, &given) {
                learn(&cache, &given);
                learned += 1;
            }
        }
        assert_eq!(learned, 4);
        // Nor, after a while, are two heads that alternate: the cache then keeps one of them.
        let cache = SettingsCache::default();
        let asked = |given: &Given<'_>| {
            let known = sent(&cache, given).is_some();
            if !known && cache.learns_head(KEY, given) {
                learn(&cache, given);
            }
            known
        };
        let other = Given { host: "i", ..FIRST };
        let known: Vec<_> = (0..20).map(|_| (asked(&FIRST), asked(&other))).collect();
        assert!(known[10..].iter().all(|(first, other)| first != other));
        let parts = ContentType::Replace("multipart/form-data; boundary=1".into());
        let given = Given {
            content_type: Some(&parts),
            ..FIRST
        };
        assert!(!SettingsCache::default().learns_head(KEY, &given));
    }
}

#[test]
fn the_same_parts_give_the_same_address_and_others_another() {
    let cache = SettingsCache::default();
    let ask = |path: &str, query: &str| {
        let target = SamplerAddress {
            protocol: "http",
            domain: "a",
            port: "",
            path,
            method: "GET",
            query,
        };
        cache.address(KEY, &target).expect("it is an address")
    };
    let first = ask("/p", "");
    assert_eq!(first.as_str(), "http://a/p");
    assert!(std::rc::Rc::ptr_eq(&first.text(), &ask("/p", "").text()));
    assert_eq!(ask("/", "q=1").as_str(), "http://a/?q=1");
    assert_eq!(ask("/p", "").as_str(), "http://a/p");
}
