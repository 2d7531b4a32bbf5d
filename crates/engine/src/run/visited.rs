//! Implements the view that Java code has of a run and of a user.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drumfire_results::Sample;
use drumfire_web::cookies::Cookie;

use crate::run::action::Action;
use crate::run::context::Context;
use crate::run::control::Control;
use crate::run::java::plan::JavaUser;
use crate::run::java::visit::{RunUsers, VisitedUser};
use crate::run::orders::Halt;
use crate::run::program::Program;
use crate::run::request::{Request, SeenCookie, UnreadText};
use crate::run::sampler::{RequestView, Sampler, SeenSampler};
use crate::run::schedule::Shape;
use crate::run::shared::Shared;
use crate::run::step::SamplerId;

impl RunUsers for Shared {
    fn running(&self, group: Option<usize>) -> u32 {
        match group {
            Some(group) => self.counts.active(group).0,
            None => self.counts.totals().active as u32,
        }
    }

    fn of_phase(&self) -> [u64; 4] {
        self.counts.of_phase()
    }

    fn group(&self, group: usize) -> (&str, &Shape) {
        (self.group_name(group), self.shape(group))
    }

    fn start_user(&self, group: usize, user: JavaUser) -> bool {
        self.supplies[group].java.start(user)
    }

    fn stop_user(&self, thread_name: &str, halt: Halt) -> bool {
        self.orders.stop_user(thread_name, halt)
    }

    fn stop_group(&self, group: usize, halt: Halt) {
        self.orders.stop_group(group, halt);
    }
}

/// Calls `look` with a sampler of the user's thread group.
pub(in crate::run) fn look_at<T>(
    cx: &mut Context,
    sampler: Option<SamplerId>,
    look: impl FnOnce(&mut Context, SeenSampler<'_>) -> Option<T>,
) -> Option<T> {
    let worker = cx.worker.clone();
    let seen = worker.samplers.find(cx.group, sampler?)?;
    look(cx, seen)
}

/// Calls `look` with the HTTP Request at hand.
fn look_at_request<T>(
    cx: &mut Context,
    look: impl FnOnce(&mut Context, &dyn RequestView) -> Option<T>,
) -> Option<T> {
    look_at(cx, cx.sampler, |cx, seen| {
        look(cx, seen.sampler?.as_request()?)
    })
}

/// The current value of a text of an HTTP Request.
fn read_text(cx: &mut Context, unread: UnreadText) -> Option<String> {
    look_at(cx, Some(unread.sampler), |cx, seen| {
        let request = seen.sampler?.as_request()?;
        let outer = std::mem::replace(&mut cx.is_described, true);
        let text = request.text(cx, seen.name, unread.place);
        cx.is_described = outer;
        Some(text)
    })
}

/// Class and name of a sampler.
fn named(cx: &mut Context, sampler: Option<SamplerId>) -> Option<(String, String)> {
    look_at(cx, sampler, |cx, seen| {
        if seen.name.needs_jvm() && cx.is_described {
            return None; // the script that asks is in the name
        }
        let outer = std::mem::replace(&mut cx.is_described, true);
        let name = seen.name.eval(cx).into_string();
        cx.is_described = outer;
        Some((seen.class.to_owned(), name))
    })
}

impl VisitedUser for Context {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn program(&self) -> &Arc<Program> {
        &self.shared.program
    }

    fn control(&self) -> &Control {
        &self.shared.control
    }

    fn note_script(&self, took: Duration) {
        self.worker.note_script(took);
    }

    fn java_state(&mut self) -> &mut Option<Box<dyn Any>> {
        &mut self.java
    }

    fn group(&self) -> usize {
        self.group
    }

    fn sample_number(&self) -> u32 {
        self.sample_number
    }

    fn java_sampler(&self) -> Option<u32> {
        let seen = self.worker.samplers.find(self.group, self.sampler?)?;
        seen.sampler.and_then(Sampler::java_element)
    }

    fn crowd(&self) -> Arc<dyn RunUsers> {
        self.shared.clone()
    }

    fn end_ms(&self) -> Option<i64> {
        self.end_ms
    }

    fn own_variable(&self, name: &str) -> Option<&str> {
        Context::own_variable(self, name)
    }

    fn template(&mut self, number: usize) -> String {
        if let Some(unread) = UnreadText::numbered(number) {
            return read_text(self, unread).unwrap_or_default();
        }
        let worker = self.worker.clone();
        match worker.program.java.templates.get(number) {
            Some(template) => template.eval(self).into_string(),
            None => String::new(),
        }
    }

    fn previous(&self) -> Option<&Sample> {
        self.previous.as_deref()
    }

    fn set_previous(&mut self, sample: Sample) {
        self.parsed.clear();
        self.facts.previous = Some(Rc::new(sample));
    }

    fn note_changed(&mut self, result: &Sample) {
        self.parsed.clear();
        if self.shared.program.keeps_previous {
            self.facts.previous = Some(Rc::new(result.clone()));
        }
    }

    fn request(&mut self) -> Option<Request> {
        look_at(self, self.sampler, |cx, seen| {
            let request = seen.sampler?.as_request().filter(|_| !cx.is_described)?;
            cx.is_described = true;
            let request = request.request(cx, seen.name);
            cx.is_described = false;
            Some(request)
        })
    }

    fn change_request(&mut self, before: Request, after: Request, in_place: bool) {
        look_at_request(self, |cx, request| {
            request.change(cx, before, after, in_place);
            Some(())
        });
    }

    fn cookies(&mut self) -> Vec<SeenCookie> {
        look_at_request(self, |cx, request| Some(request.cookies(cx))).unwrap_or_default()
    }

    fn set_cookies(&mut self, cookies: Option<Vec<Cookie>>) {
        look_at_request(self, |cx, request| {
            request.set_cookies(cx, cookies);
            Some(())
        });
    }

    fn named_sampler(&mut self) -> Option<(String, String)> {
        named(self, self.sampler)
    }

    fn previous_sampler(&mut self) -> Option<(String, String)> {
        named(self, self.previous_sampler)
    }

    fn set_action(&mut self, action: Action) {
        self.action = action;
    }

    fn stop_thread(&mut self) {
        if self.alive {
            tracing::info!("Stop Thread detected by thread: {}", self.thread_name);
            self.facts.alive = false;
        }
    }

    fn end_by_error(&mut self, reason: &str) {
        Context::end_by_error(self, reason);
    }

    fn stop_test(&mut self, now: bool) {
        let what = if now {
            "Stop Test Now"
        } else {
            "Shutdown Test"
        };
        tracing::info!("{what} detected by thread: {}", self.thread_name);
        self.facts.alive = false;
        self.shared.stop(now);
    }
}
