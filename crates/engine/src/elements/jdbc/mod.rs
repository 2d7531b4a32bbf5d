//! Shared by the JDBC elements (`AbstractJDBCTestElement`): statements, and pools of connections.
//!
//! | file | what |
//! |---|---|
//! | `choice.rs` | whether the plan's JDBC elements run here or in Java |
//! | `drivers.rs` | where drivers for Java come from |
//! | `pool.rs` | connections that users share, or have for themselves |
//! | `statement.rs` | the settings of a statement, and running it |
//! | `arguments.rs` | values of parameters in the types that the plan gives them |
//! | `rows.rs` | a result as text and as variables |

mod arguments;
mod choice;
mod drivers;
mod pool;
mod rows;
mod statement;

pub use choice::{CLASSES, choose, in_java, is_each_alone, pools, runs_here};
pub use statement::{JdbcFailure, JdbcStatement};
