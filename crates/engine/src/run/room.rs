//! Reuses the memory of finished samples for the next ones of the same worker. In the steady state a sample allocates nothing.

use std::cell::RefCell;
use std::rc::Rc;

use drumfire_expr::Text;
use drumfire_http::SparePool;
use drumfire_results::Sample;
use recycle_box::RecycleBox;
use rustc_hash::FxHashMap;

use crate::run::step::SamplerId;

/// One worker's reusable memory.
#[derive(Default)]
pub struct Room {
    /// Memory for the futures of samplers.
    pub futures: SparePool<RecycleBox<()>>,
    /// Memory for requests until their response is read.
    requests: SparePool<RecycleBox<()>>,
    /// Buffers for the heads of requests.
    heads: SparePool<Vec<u8>>,
    samples: SparePool<Box<Sample>>,
    /// The label of each sampler's last sample, by thread group and sampler. The next sample usually has the same label.
    labels: RefCell<FxHashMap<(usize, SamplerId), Rc<str>>>,
}

impl Room {
    pub fn request<T>(&self, request: T) -> RecycleBox<T> {
        self.requests.put(request)
    }

    /// Takes a request out of its memory, which returns to the pool.
    pub fn take_request<T>(&self, request: RecycleBox<T>) -> T {
        let (request, room) = RecycleBox::take(request);
        self.requests.take_back(room);
        request
    }

    /// An empty buffer for a request's head.
    pub fn head(&self) -> Vec<u8> {
        let mut head = self.heads.take().unwrap_or_default();
        head.clear();
        head.reserve(256);
        head
    }

    pub fn take_head_back(&self, head: Vec<u8>) {
        self.heads.take_back(head);
    }

    pub fn sample(&self, sample: Sample) -> Box<Sample> {
        self.samples.boxed(sample)
    }

    /// Takes back the memory of a sample that is no longer needed.
    pub fn take_sample_back(&self, mut sample: Box<Sample>) {
        sample.response_data = None;
        sample.children = Vec::new();
        self.samples.take_back(sample);
    }

    /// The label of a sampler, made of its evaluated name.
    pub fn label(&self, sampler: (usize, SamplerId), name: Text<'_>) -> Rc<str> {
        if let Text::Shared(value) = name {
            return value;
        }
        let mut labels = self.labels.borrow_mut();
        match labels.get_mut(&sampler) {
            Some(last) if **last == *name => last.clone(),
            _ => {
                let label = name.into_value();
                labels.insert(sampler, label.clone());
                label
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drumfire_testkit::server::{ResponseStep, Server, ok};
    use tokio::task::LocalSet;

    use super::*;
    use crate::fixture::{one_user, user_of_plan};

    /// A request for a page.
    fn get(port: u16) -> String {
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Page"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/page</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#
        )
    }

    /// The memory that a user's whole life allocates on its thread; it asks for a page this number of times.
    fn allocations(port: u16, times: u32) -> u64 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let mut user = user_of_plan(one_user(times, &get(port)));
        let users = LocalSet::new();
        let taken = allocation_counter::measure(|| {
            users.block_on(&runtime, user.run());
        });
        assert_eq!(
            crate::elements::samplers::http::worker(&user.cx)
                .http
                .statistics()
                .exchanges,
            u64::from(times)
        );
        taken.count_total
    }

    #[test]
    fn in_the_steady_state_a_sample_allocates_nothing() {
        let server = Server::start(|_| vec![ResponseStep::Send(ok("hello"))]);
        let port = server.address().port();
        allocations(port, 300); // the first of this thread makes the texts of small numbers
        let (few, many) = (allocations(port, 50), allocations(port, 250));
        // A time not seen before has a page of its own in a histogram; a response in two pieces is put together.
        assert!(many < few + 100, "{few} for 50 samples, {many} for 250");
    }

    #[test]
    fn a_label_that_stays_the_same_is_not_copied() {
        let room = Room::default();
        let first = room.label((0, 1), Text::Literal("Home"));
        let same = room.label((0, 1), Text::Owned("Home".to_owned()));
        assert!(Rc::ptr_eq(&first, &same));
        assert_eq!(&*room.label((0, 2), Text::Literal("Cart")), "Cart");
        assert_eq!(&*room.label((0, 1), Text::Literal("Away")), "Away");
        assert_eq!(&*room.label((1, 1), Text::Literal("Home")), "Home");
        assert_eq!(&*first, "Home");
    }
}
