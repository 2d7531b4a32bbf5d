//! Recording takes no memory per sample, only per label.

#![allow(clippy::unwrap_used)]

use std::rc::Rc;
use std::sync::Arc;

use drumfire_results::{
    DataType, ExistingFile, Filter, Handover, OutputSet, OutputSpec, Recorder, ResultFolder,
    ResultWriter, RowFormat, Sample, SaveConfig, Written,
};

#[test]
fn a_known_label_costs_no_allocation() {
    let place = ResultFolder {
        base_dir: "/".into(),
        base_prefix: "~/".to_owned(),
        existing: ExistingFile::Append,
    };
    let spec = OutputSpec {
        file_name: "/dev/null".to_owned(),
        format: RowFormat::new(
            SaveConfig::default(),
            ["v".to_owned()].into(),
            "host".into(),
        ),
        filter: Filter::All,
    };
    let writer = ResultWriter::open(vec![spec], &place).unwrap();
    let handover = Arc::new(Handover::new(1));
    let mut recorder = Recorder::new(&writer.inlet(), &handover, true);
    let outputs = OutputSet::new([0], [0]);
    let mut sample = Sample::new("Home, \"quoted\"".into(), "Users 1-1".into());
    sample.set_ok();
    sample.data_type = DataType::Text;
    sample.start_ms = 1_700_000_000_000;
    sample.set_end(1_700_000_000_012);
    sample.delay_us = Some(40);
    // The first samples allocate: the label, room for its times, the row buffer. Then every 512th does, to sort them.
    for _ in 0..600 {
        sample.written = Written::default();
        recorder.record(&sample, &outputs);
    }
    recorder.flush(1_700_000_000_500);
    sample.written = Written::default();
    recorder.record(&sample, &outputs);
    let taken = allocation_counter::measure(|| {
        for _ in 0..200 {
            sample.written = Written::default();
            recorder.record(&sample, &outputs);
        }
    });
    assert_eq!(taken.count_total, 0);
}

#[test]
fn a_sample_of_literals_costs_no_allocation() {
    let (label, thread) = ("a".into(), "t".into());
    let _first = Sample::default();
    let taken = allocation_counter::measure(|| {
        let mut sample = Sample::new(Rc::clone(&label), Rc::clone(&thread));
        sample.set_ok();
        drop((sample, Sample::default()));
    });
    assert_eq!(taken.count_total, 0);
}
