//! Any bytes as messages between agents and a coordinator: those that can be read survive the way back, and can be added up.
#![no_main]

use std::fmt::Debug;

use drumfire_fleet::fuzzing::{merged, merged_rows};
use drumfire_fleet::wire::{
    AgentEnd, AgentState, Assignment, AssignmentReply, Batch, Handover, Hello, Manifest, PROTOCOL,
    RowsAnswer, RowsQuestion, RunState, WaitingRun, agent_of, json, of_json, pack, unpack,
};
use flate2::{Compression, read::DeflateEncoder};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn in_json<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let message: T = of_json(bytes).ok()?;
    assert_eq!(of_json::<T>(&json(&message)).as_ref(), Ok(&message));
    Some(message)
}

/// Messages may contain numbers that differ from themselves, so their bytes are compared.
fn packed<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let message: T = unpack(bytes).ok()?;
    let again: T = unpack(&pack(&message)).ok()?;
    assert_eq!(pack(&again), pack(&message));
    Some(message)
}

/// The message whose plain form is the content.
fn deflated(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![PROTOCOL as u8];
    let mut encoder = DeflateEncoder::new(content, Compression::none());
    std::io::Read::read_to_end(&mut encoder, &mut bytes).expect("memory takes all");
    bytes
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    match choice % 4 {
        0 => {
            let _ = (in_json::<Hello>(content), in_json::<WaitingRun>(content));
            let _ = (
                in_json::<Assignment>(content),
                in_json::<AssignmentReply>(content),
            );
            let _ = (in_json::<RunState>(content), in_json::<Handover>(content));
            let _ = (in_json::<AgentState>(content), in_json::<AgentEnd>(content));
            if let Some(manifest) = in_json::<Manifest>(content) {
                let _ = manifest.shares();
            }
        }
        1 => {
            let batches = content.split(|byte| *byte == 255);
            let batches: Vec<Batch> = batches.flat_map(|part| packed(&deflated(part))).collect();
            let _ = merged(&batches);
            let _ = (
                packed::<RowsQuestion>(&deflated(content)),
                packed::<RowsAnswer>(&deflated(content)),
            );
        }
        2 => drop(packed::<Batch>(content)),
        _ => {
            let parts: Vec<&[u8]> = content.split(|byte| *byte == 0).collect();
            let _ = (
                merged_rows(&parts),
                agent_of(&String::from_utf8_lossy(content)),
            );
        }
    }
});
