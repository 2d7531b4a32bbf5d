use super::*;

fn sample(label: &str) -> Sample {
    Sample::new(label.into(), "Thread Group 1-1".into())
}

fn child(start_ms: i64, end_ms: i64) -> Sample {
    let mut child = Sample::new("child".into(), "".into());
    child.start_ms = start_ms;
    child.set_end(end_ms);
    child.header_bytes = 10;
    child.body_bytes = 100;
    child.sent_bytes = 7;
    child
}

#[test]
fn elapsed_time_leaves_out_the_idle_time() {
    let mut parent = sample("parent");
    parent.start_ms = 1_000;
    parent.idle_ms = 30;
    parent.mark_connect(1_040);
    parent.mark_latency(1_050);
    parent.set_end(1_100);
    assert_eq!(
        (parent.elapsed_ms, parent.connect_ms, parent.latency_ms),
        (70, 10, 20)
    );
    assert_eq!(parent.precise_service_us(), 70_000);
    parent.service_us = 70_321;
    assert_eq!(parent.precise_service_us(), 70_321);
    parent.refine_service(71_900, 1);
    assert_eq!(parent.precise_service_us(), 71_900);
    parent.refine_service(72_100, 1);
    assert_eq!(parent.precise_service_us(), 70_000);
}

#[test]
fn an_end_without_a_start_leaves_the_elapsed_time() {
    let mut parent = sample("parent");
    parent.set_end(5_000);
    assert_eq!((parent.end_ms, parent.elapsed_ms), (5_000, 0));
}

#[test]
fn a_child_extends_the_end_and_adds_its_bytes() {
    let mut parent = sample("parent");
    parent.start_ms = 1_000;
    parent.set_end(1_010);
    parent.header_bytes = 1;
    parent.response_data = Some(b"abc".into());
    parent.add_child(child(1_005, 1_200), true);
    parent.add_child(child(1_020, 1_100), true);
    assert_eq!((parent.end_ms, parent.elapsed_ms), (1_200, 200));
    assert_eq!(parent.received_bytes(), 1 + 3 + 2 * 110);
    assert_eq!(parent.sent_bytes, 14);
    assert_eq!(&*parent.children[1].thread_name, "Thread Group 1-1");
    let labels: Vec<&str> = parent.children.iter().map(|c| &*c.label).collect();
    assert_eq!(labels, ["parent-0", "parent-1"]);
}

#[test]
fn an_attached_child_changes_nothing_but_the_list() {
    let mut parent = sample("parent");
    parent.start_ms = 1_000;
    parent.set_end(1_010);
    parent.attach_child(child(1_005, 1_200), false);
    assert_eq!((parent.end_ms, parent.received_bytes()), (1_010, 0));
    assert_eq!(&*parent.children[0].label, "child");
    assert_eq!(&*parent.children[0].thread_name, "");
    parent.attach_child(child(1_005, 1_200), true);
    assert_eq!(&*parent.children[1].label, "parent-0");
}

#[test]
fn bytes_count_only_when_both_sizes_are_zero() {
    let mut one = sample("a");
    one.bytes = 5;
    assert_eq!(one.received_bytes(), 5);
    one.bytes = -1;
    assert_eq!((one.received_bytes(), one.counted_bytes()), (-1, 0));
    one.header_bytes = 3;
    assert_eq!((one.received_bytes(), one.counted_bytes()), (3, 3));
}

#[test]
fn the_first_message_wins_even_of_a_passed_assertion() {
    let mut one = sample("a");
    one.set_ok();
    assert_eq!(one.first_assertion_message(), None);
    one.apply_assertion(AssertionResult {
        name: Some("first".into()),
        ..AssertionResult::default()
    });
    assert!(one.success);
    one.apply_assertion(AssertionResult {
        message: Some("".into()),
        ..AssertionResult::default()
    });
    one.apply_assertion(AssertionResult {
        failure: true,
        message: Some("wrong".into()),
        ..AssertionResult::default()
    });
    assert_eq!(one.first_assertion_message(), Some(""));
    assert!(!one.success);
    assert_eq!(one.error_count(), 1);
}

#[test]
fn the_thread_reaches_direct_children_only_and_no_children_of_transactions() {
    let mut parent = sample("parent");
    let mut middle = child(1, 2);
    middle.attach_child(child(1, 2), false);
    parent.attach_child(middle, false);
    parent.set_thread_with_children(&"t 1-1".into(), 3, 9);
    let middle = &parent.children[0];
    assert_eq!((&*middle.thread_name, middle.all_threads), ("t 1-1", 9));
    let inner = &middle.children[0];
    assert_eq!((&*inner.thread_name, inner.all_threads), ("", 0));
    parent.set_thread(&"t 1-1".into(), 2, 4);
    assert_eq!((parent.all_threads, parent.children[0].all_threads), (4, 9));
}

#[test]
fn content_type_gives_charset_and_data_type() {
    // Values from SampleResult.setEncodingAndType of JMeter 5.6.3.
    let cases = [
        ("text/html; charset=utf-8", Some("utf-8"), "text"),
        (
            "text/plain; CHARSET=\"iso-8859-8\"; format=flowed",
            Some("iso-8859-8"),
            "text",
        ),
        ("text/plain; charset='x'", Some("x"), "text"),
        ("image/png", None, "bin"),
        ("image/svg+xml", None, "text"),
        ("audio/x-mpegurl", None, "text"),
        ("application/pdf", None, "text"),
        ("IMAGE/png", None, "text"),
    ];
    for (content_type, encoding, data_type) in cases {
        let mut one = sample("a");
        one.set_encoding_and_type(content_type);
        assert_eq!(one.encoding.as_deref(), encoding, "{content_type}");
        assert_eq!(one.data_type.as_str(), data_type, "{content_type}");
    }
}

#[test]
fn the_meta_element_gives_the_charset_of_a_page_without_one() {
    let page = |kind, encoding: Option<&'static str>| {
        let mut one = sample("a");
        one.kind = kind;
        one.encoding = encoding.map(SharedText::from);
        one.content_type = Some("text/html".into());
        let html = "Quick: <q>?</q><html><META HTTP-equiv=\"Content-Type\" content=\"text/html; charset=Windows-1252\">";
        one.response_data = Some(html.as_bytes().into());
        one.sniff_html_encoding();
        one.encoding
    };
    assert_eq!(
        page(SampleKind::Http, None).as_deref(),
        Some("Windows-1252")
    );
    assert_eq!(page(SampleKind::Other, None), None);
    assert_eq!(
        page(SampleKind::Http, Some("utf-8")).as_deref(),
        Some("utf-8")
    );
}

#[test]
fn redirects_depend_on_code_and_for_307_on_the_method() {
    let redirect = |code: &'static str, method: &'static str| {
        let mut one = sample("a");
        one.code = code.into();
        one.method = Some(method.into());
        one.is_redirect()
    };
    assert!(redirect("301", "POST") && redirect("308", "POST") && redirect("307", "HEAD"));
    assert!(!redirect("307", "POST") && !redirect("304", "GET") && !redirect("200", "GET"));
}

#[test]
fn a_transaction_is_known_by_its_message() {
    let mut one = sample("a");
    one.message = "Number of samples in transaction : 2, number of failing samples : 0".into();
    assert!(one.is_from_transaction());
    one.message = "OK".into();
    assert!(!one.is_from_transaction());
}
