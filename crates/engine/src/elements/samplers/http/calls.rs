//! The settings of each sampler's last sample: while the variables and properties that they are made of stay the same, nothing is
//! evaluated again.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use drumfire_expr::{Scope, Slot, Template, Value, Version};
use rustc_hash::FxHashMap;

use super::HttpSampler;
use super::call::Call;
use super::heads::MOST_CHANGES;
use crate::run::context::Context;

/// Settings with more text in them, in bytes, are not kept: literals cost nothing to evaluate, and each worker would have its own.
const LONGEST: usize = 4 << 10;
/// The settings of so many samplers are kept: a few MiB.
const MOST: usize = 1_024;

/// One worker's settings, by [`HttpSampler::place`].
#[derive(Default)]
pub struct Calls(RefCell<FxHashMap<usize, Known>>);

struct Known {
    /// What the settings are made of, besides properties; `None` if it is more than variables.
    variables: Option<Box<[Slot]>>,
    last: Option<Last>,
    /// How much more often the settings were others than the last ones.
    changes: u8,
}

struct Last {
    version: Version,
    /// Of the variables, in their order.
    values: Box<[Option<Value>]>,
    call: Rc<Call<'static>>,
}

/// The settings of a sample. They are large, and are held for as long as it takes.
pub enum Held<'s> {
    Known(Rc<Call<'static>>),
    Own(Box<Call<'s>>),
}

impl<'s> Deref for Held<'s> {
    type Target = Call<'s>;

    fn deref(&self) -> &Call<'s> {
        match self {
            Held::Known(call) => call,
            Held::Own(call) => call,
        }
    }
}

impl HttpSampler {
    /// The settings of the next sample, as [`Call::evaluate`] gives them.
    pub(super) fn call(&self, cx: &mut Context, name: &Template) -> Held<'_> {
        let evaluate = |cx: &mut Context| Box::new(Call::evaluate(self, cx, name));
        if !super::user(cx).edits.is_empty() || super::user(cx).has_changed_headers() {
            return Held::Own(evaluate(cx));
        }
        let version = match super::worker(cx).calls.get(self, cx) {
            Found::Same(call) => return Held::Known(call),
            Found::Other => return Held::Own(evaluate(cx)),
            Found::Learns => cx.properties().version(),
        };
        let call = evaluate(cx);
        super::worker(cx)
            .calls
            .learn(self, cx, name, version, &call);
        Held::Own(call)
    }

    /// The variables that settings are made of, if they are made of nothing else but texts and properties.
    fn ingredients(&self, name: &Template) -> Option<Box<[Slot]>> {
        if !self.files.is_empty() || self.proxy.is_some() || self.source.is_some() {
            return None;
        }
        let own = [
            name,
            &self.protocol,
            &self.domain,
            &self.port,
            &self.path,
            &self.method,
            &self.content_encoding,
            &self.connect_timeout,
            &self.response_timeout,
            &self.bytes_per_second,
        ];
        let arguments = self.arguments.iter().flat_map(|argument| {
            [
                &argument.name,
                &argument.value,
                &argument.metadata,
                &argument.content_type,
            ]
        });
        let headers = self.headers.iter().flat_map(|manager| manager.templates());
        let mut slots = Vec::new();
        for template in own.into_iter().chain(arguments).chain(headers) {
            slots.extend(template.ingredients()?);
        }
        slots.sort_unstable();
        slots.dedup();
        Some(slots.into())
    }
}

enum Found {
    Same(Rc<Call<'static>>),
    /// The settings are not worth being learned.
    Other,
    Learns,
}

impl Calls {
    fn get(&self, sampler: &HttpSampler, cx: &Context) -> Found {
        let mut calls = self.0.borrow_mut();
        let Some(known) = calls.get_mut(&sampler.place()) else {
            return Found::Learns;
        };
        let Some(variables) = &known.variables else {
            return Found::Other;
        };
        if let Some(last) = &known.last
            && last.is_of(variables, cx)
        {
            known.changes = known.changes.saturating_sub(1);
            return Found::Same(last.call.clone());
        }
        if known.changes >= MOST_CHANGES {
            return Found::Other;
        }
        known.changes += 1;
        Found::Learns
    }

    /// Takes note of settings that were evaluated just now, with properties of this version.
    fn learn(
        &self,
        sampler: &HttpSampler,
        cx: &Context,
        name: &Template,
        version: Version,
        call: &Call<'_>,
    ) {
        let mut calls = self.0.borrow_mut();
        if calls.len() >= MOST && !calls.contains_key(&sampler.place()) {
            return;
        }
        let known = calls.entry(sampler.place()).or_insert_with(|| Known {
            variables: sampler.ingredients(name),
            last: None,
            changes: 0,
        });
        let Some(variables) = &known.variables else {
            return;
        };
        let values = variables.iter().map(|slot| cx.vars().get(*slot).cloned());
        let values: Box<[Option<Value>]> = values.collect();
        known.last = match call.text_bytes() > LONGEST {
            true => None,
            false => call
                .kept(sampler, &super::worker(cx).addresses)
                .map(|call| Last {
                    version,
                    values,
                    call: Rc::new(call),
                }),
        };
    }
}

impl Last {
    fn is_of(&self, variables: &[Slot], cx: &Context) -> bool {
        let same = |(known, slot): (&Option<Value>, &Slot)| match (known, cx.vars().get(*slot)) {
            (Some(known), Some(value)) => Rc::ptr_eq(known, value) || known == value,
            (None, None) => true,
            _ => false,
        };
        self.version == cx.properties().version() && self.values.iter().zip(variables).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::needs::Needs;

    /// A sampler with this path and one argument, and its user.
    fn sampler(path: &str, value: &str) -> ((HttpSampler, Template), Context) {
        let xml = format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="h"><stringProp name="HTTPSampler.domain">${{__P(host,a)}}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="q" elementType="HTTPArgument"><stringProp name="Argument.name">q</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy>"#
        );
        fixture::decode(&xml, |d| {
            let sampler = super::super::decode(d, &[], Needs::default());
            (sampler.expect("it can be decoded"), d.compile("n ${v}"))
        })
    }

    /// Where the next sample goes, its label, and whether that was known.
    fn ask((sampler, name): &(HttpSampler, Template), cx: &mut Context) -> (String, String, bool) {
        let call = sampler.call(cx, name);
        let url = call.url(sampler, &super::super::worker(cx).addresses);
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
        // The same text is the same, whoever made it.
        cx.vars.set_named("v", "1".into());
        assert!(ask(&sampler, &mut cx).2);
    }

    #[test]
    fn what_functions_and_scripts_have_a_hand_in_is_evaluated_each_time() {
        let (changing, mut cx) = sampler("/${__counter(TRUE,)}", "");
        for n in 1..4 {
            let url = format!("http://a/{n}?q=");
            assert_eq!(ask(&changing, &mut cx), (url, "n ${v}".into(), false));
        }
        let (sampler, mut cx) = sampler("/p", "");
        ask(&sampler, &mut cx);
        assert!(ask(&sampler, &mut cx).2);
        let before =
            Call::unedited(&sampler.0, &mut cx, &sampler.1).to_request(&sampler.0, &mut cx);
        let after = crate::run::request::Request {
            path: "/q".into(),
            ..before.clone()
        };
        let edit = super::super::edits::Replaced { before, after };
        super::super::user_mut(&mut cx).edits.begin(true);
        super::super::user_mut(&mut cx).edits.add(edit);
        assert_eq!(ask(&sampler, &mut cx).0, "http://a/q?q=");
        super::super::user_mut(&mut cx).edits.begin(true);
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
        for other in 0..MOST {
            let known = Known {
                variables: None,
                last: None,
                changes: 0,
            };
            super::super::worker(&cx)
                .calls
                .0
                .borrow_mut()
                .insert(other, known);
        }
        for _ in 0..3 {
            assert!(!ask(&sampler, &mut cx).2);
        }
        super::super::worker(&cx).calls.0.borrow_mut().remove(&0);
        ask(&sampler, &mut cx);
        assert!(ask(&sampler, &mut cx).2);
    }
}
