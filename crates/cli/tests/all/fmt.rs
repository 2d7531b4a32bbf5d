//! `drumfire fmt`, as the program.

use std::time::Duration;

use drumfire_testkit::program::Workshop;

const LIMIT: Duration = Duration::from_secs(30);
const ODD: &str = "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan guiclass=\"TestPlanGui\" testname='Shop'/>\
                   <hashTree/></hashTree></jmeterTestPlan>";
const SAVED: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">
  <hashTree>
    <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"Shop\"/>
    <hashTree/>
  </hashTree>
</jmeterTestPlan>
";

#[test]
fn fmt_rewrites_what_is_odd_and_leaves_the_rest_alone() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    shop.write("odd.jmx", ODD);
    shop.write("saved.jmx", SAVED);
    let checked = shop.run(&["fmt", "--check", "odd.jmx", "saved.jmx"], LIMIT);
    assert_eq!(checked.code, Some(1), "{}", checked.err);
    assert_eq!(checked.out, "would format  odd.jmx\n");
    assert_eq!(shop.read("odd.jmx"), ODD);
    let written = shop.run(&["fmt", "odd.jmx", "saved.jmx"], LIMIT);
    assert_eq!(
        (written.code, written.out.as_str()),
        (Some(0), "formatted  odd.jmx\n")
    );
    assert_eq!(shop.read("odd.jmx"), SAVED);
    let again = shop.run(&["fmt", "--check", "odd.jmx"], LIMIT);
    assert_eq!((again.code, again.out.as_str()), (Some(0), ""));
    assert_eq!(shop.files(), ["odd.jmx", "saved.jmx"]);
}

#[test]
fn a_plan_that_cannot_be_read_is_named_and_left_alone() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    shop.write("cut.jmx", &ODD[..80]);
    let finished = shop.run(&["fmt", "cut.jmx", "missing.jmx"], LIMIT);
    assert_eq!(finished.code, Some(3));
    assert!(finished.err.contains("cut.jmx"), "{}", finished.err);
    assert!(finished.err.contains("missing.jmx"), "{}", finished.err);
    assert_eq!(shop.read("cut.jmx"), &ODD[..80]);
}
