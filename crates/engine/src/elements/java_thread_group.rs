//! Thread groups of classes that the engine does not know: the Java object starts the users (`AbstractThreadGroup#start`), and
//! each of its threads stands for a user of the engine.
//!
//! Properties that the engine reads: `ThreadGroup.num_threads`, the number of users that the run plans for,
//! `ThreadGroup.same_user_on_next_iteration`, and the loop controller in `ThreadGroup.main_controller`, unless the class gives
//! the next sampler itself.

use crate::base::number;
use crate::decode::Decoder;
use crate::elements::foreign;
use crate::elements::thread_groups::{GroupLoad, looping};
use crate::run::schedule::Shape;

pub fn decode(d: &mut Decoder) -> Option<GroupLoad> {
    let group = foreign::thread_group(d)?;
    let users = number::int(&d.text_now("ThreadGroup.num_threads"));
    let shape = Shape::Java {
        users: u32::try_from(users).unwrap_or(0),
    };
    let load = match group.root {
        None => looping(d, shape, true)?,
        Some(root) => GroupLoad {
            shape,
            root,
            loops: None,
            same_user: true,
            thread_name_suffix: "",
            java: None,
        },
    };
    Some(GroupLoad {
        java: Some(group.number),
        ..load
    })
}
