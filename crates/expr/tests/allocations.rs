//! Evaluations that can borrow must not allocate: they happen for every sample.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "all/support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use drumfire_expr::{Compiler, Properties, Template, Vars};
use support::TestScope;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's obligations are the system allocator's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligations are the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often one evaluation of `text` allocates, after the first: then properties have been seen.
fn allocations(text: &str) -> usize {
    let properties = Properties::new();
    properties.set("port", "8080");
    let mut compiler = Compiler::new(properties.clone());
    compiler.define("host", "example.org");
    compiler.define("id_1", "7");
    let template = Template::compile(text, &mut compiler).unwrap();
    let (_, vars) = compiler.finish();
    let mut scope = TestScope::new(vars, properties);
    black_box(template.eval(&mut scope));
    let before = ALLOCATIONS.get();
    black_box(template.eval(&mut scope));
    ALLOCATIONS.get() - before
}

#[test]
fn literals_and_single_variables_do_not_allocate() {
    for text in [
        "",
        "plain text",
        "back\\slash",
        "a${unfinished",
        "${host}",
        "${undefined}",
    ] {
        assert_eq!(allocations(text), 0, "{text}");
    }
}

#[test]
fn functions_that_only_look_something_up_do_not_allocate() {
    for text in [
        "${__P(port)}",
        "${__P(nope,80)}",
        "${__V(id_1)}",
        "${__isVarDefined(host)}",
    ] {
        assert_eq!(allocations(text), 0, "{text}");
    }
}

#[test]
fn a_text_of_several_parts_is_one_allocation() {
    for text in [
        "http://${host}:${__P(port)}/",
        "${host}${host}",
        "${__V(id_${undefined})}",
    ] {
        assert!(allocations(text) <= 2, "{text}");
    }
    assert_eq!(allocations("http://${host}/"), 1);
}

#[test]
fn evaluating_into_a_buffer_does_not_allocate() {
    let mut compiler = Compiler::new(Properties::new());
    compiler.define("host", "example.org");
    let template = Template::compile("http://${host}/", &mut compiler).unwrap();
    let (_, vars) = compiler.finish();
    let mut scope = TestScope::new(vars, Properties::new());
    let mut out = String::with_capacity(100);
    let before = ALLOCATIONS.get();
    template.eval_into(&mut scope, &mut out);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_eq!(out, "http://example.org/");
}

#[test]
fn copying_a_user_shares_its_values() {
    let mut compiler = Compiler::new(Properties::new());
    for index in 0..50 {
        compiler.define(&format!("name_{index}"), "a value of some length");
    }
    let (_, vars) = compiler.finish();
    let before = ALLOCATIONS.get();
    let copy: Vars = black_box(vars.clone());
    assert_eq!(ALLOCATIONS.get() - before, 1);
    assert_eq!(copy.iter().count(), 50);
}
