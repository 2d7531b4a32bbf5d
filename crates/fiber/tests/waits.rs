//! Fibers beside other tasks of one thread.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use drumfire_fiber::{Fiber, outside, wait};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local, yield_now};

/// Synchronous code that waits some frames below the future.
fn deep(frames: u32, answer: oneshot::Receiver<u32>) -> u32 {
    match frames {
        0 => wait(answer)
            .expect("a fiber runs this")
            .expect("an answer comes"),
        _ => std::hint::black_box(deep(frames - 1, answer)) + 1,
    }
}

async fn in_set(work: impl Future<Output = ()>) {
    LocalSet::new().run_until(work).await;
}

#[tokio::test(flavor = "current_thread")]
async fn others_run_while_code_waits() {
    in_set(async {
        let (mut asked, mut tasks) = (Vec::new(), Vec::new());
        for frames in [1, 20, 300] {
            let (give, answer) = oneshot::channel();
            asked.push(give);
            let fiber = Fiber::new(async move {
                let large = [frames; 10_000];
                yield_now().await;
                let first = deep(large[9_999], answer);
                yield_now().await;
                std::hint::black_box(&large);
                first
            });
            tasks.push(spawn_local(fiber.expect("there is memory for a stack")));
        }
        for _ in 0..5 {
            yield_now().await;
        }
        // The answers come in another order than the questions.
        for (give, answer) in asked.into_iter().zip([1000, 2000, 3000]).rev() {
            give.send(answer).expect("the fiber waits");
            yield_now().await;
        }
        let mut found = Vec::new();
        for task in tasks {
            found.push(task.await.expect("the fiber ends"));
        }
        assert_eq!(found, [1001, 2020, 3300]);
    })
    .await;
}

#[test]
fn code_without_a_fiber_does_not_wait() {
    assert_eq!(wait(async { 1 }), None);
    assert_eq!(outside(|| 2), 2);
}

fn poll_once<T>(fiber: &mut Pin<Box<Fiber<T>>>) -> Poll<T>
where
    T: 'static,
{
    let mut task = Context::from_waker(Waker::noop());
    fiber.as_mut().poll(&mut task)
}

fn fiber<T: 'static>(future: impl Future<Output = T> + 'static) -> Pin<Box<Fiber<T>>> {
    Box::pin(Fiber::new(future).expect("there is memory for a stack"))
}

#[test]
fn code_outside_is_on_the_stack_of_the_thread() {
    fn here() -> usize {
        let mark = 0u8;
        std::hint::black_box(&raw const mark) as usize
    }
    let own = here();
    let mut nested = fiber(async move {
        let inner = fiber(async move {
            let seen = outside(|| (here(), wait(async {})));
            (here(), seen)
        });
        (here(), inner.await)
    });
    let Poll::Ready((outer, (inner, (out, waited)))) = poll_once(&mut nested) else {
        panic!("nothing waits");
    };
    const NEAR: usize = 256 << 10;
    assert!(own.abs_diff(out) < NEAR, "{own:x} {out:x}");
    assert!(outer.abs_diff(out) > NEAR, "{outer:x} {out:x}");
    assert!(inner.abs_diff(out) > NEAR, "{inner:x} {out:x}");
    assert!(inner.abs_diff(outer) > NEAR, "{inner:x} {outer:x}");
    assert_eq!(waited, None);
}

#[test]
fn a_fiber_within_a_fiber_lets_the_outer_one_go_on() {
    let mut both = fiber(async {
        let mut inner = fiber(async { wait(pending::<()>()) });
        let mut polls = 0;
        poll_fn(|task| {
            polls += 1;
            match (inner.as_mut().poll(task), polls) {
                (Poll::Pending, 3) => Poll::Ready(polls),
                (Poll::Pending, _) => Poll::Pending,
                (Poll::Ready(_), _) => panic!("nothing comes"),
            }
        })
        .await
    });
    assert!(poll_once(&mut both).is_pending());
    assert!(poll_once(&mut both).is_pending());
    assert_eq!(poll_once(&mut both), Poll::Ready(3));
}

#[test]
fn a_panic_reaches_who_polls_and_a_drop_unwinds() {
    let mut failing = fiber(async { outside(|| panic!("within")) });
    let caught = catch_unwind(AssertUnwindSafe(|| poll_once::<()>(&mut failing)));
    let said = caught.expect_err("it panics");
    assert_eq!(said.downcast_ref(), Some(&"within"));
    assert_eq!(wait(async {}), None, "no fiber is left at hand");

    struct Ends(Rc<Cell<bool>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let ended = Rc::new(Cell::new(false));
    let ends = Ends(ended.clone());
    let mut waiting = fiber(async move {
        let _ends = ends;
        wait(pending::<()>())
    });
    assert!(poll_once(&mut waiting).is_pending());
    assert!(!ended.get());
    drop(waiting);
    assert!(ended.get());
}
