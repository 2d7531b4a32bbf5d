//! The staged runs of `cargo xtask truth`: services of the target, rates and users.

/// A run against the target of known times.
#[derive(Debug, Clone, Copy)]
pub struct Situation {
    /// Its name in the table.
    pub name: &'static str,
    /// The service, as the target understands it (`crates/commands/src/calibrate/service.rs`).
    pub service: &'static str,
    /// Requests a second.
    pub rate: u32,
    /// Users, each with a connection.
    pub users: u32,
}

const fn situation(name: &'static str, service: &'static str, rate: u32, users: u32) -> Situation {
    Situation {
        name,
        service,
        rate,
        users,
    }
}

/// Rates and distributions, overloads, stalls. Those with 800 requests a second have enough for the 99.9th percentile. No time is always the same: an interval around a constant has no width, and holds
/// the truth or not by a microsecond of the kernel.
pub const SITUATIONS: [Situation; 20] = [
    situation("exponential, mean 2 ms", "exponential=2", 800, 20),
    situation("exponential, mean 5 ms", "exponential=5", 50, 20),
    situation("exponential, mean 5 ms, quicker", "exponential=5", 800, 40),
    situation("exponential, mean 5 ms, few users", "exponential=5", 100, 4),
    situation("exponential, mean 20 ms", "exponential=20", 100, 40),
    situation(
        "exponential, mean 20 ms, quicker",
        "exponential=20",
        800,
        60,
    ),
    situation("exponential, mean 100 ms", "exponential=100", 100, 60),
    situation("exponential, mean 300 ms", "exponential=300", 40, 60),
    situation(
        "overload: one place, a third used",
        "exponential=5&places=1",
        60,
        40,
    ),
    situation(
        "overload: two places, half used",
        "exponential=10&places=2",
        100,
        40,
    ),
    situation(
        "overload: four places, half used",
        "exponential=20&places=4",
        100,
        60,
    ),
    situation(
        "overload: eight places, half used",
        "exponential=20&places=8",
        200,
        60,
    ),
    situation(
        "stalls of 50 ms every 0.5 s",
        "exponential=5&stall=50,500",
        100,
        40,
    ),
    situation(
        "stalls of 100 ms every 1 s",
        "exponential=5&stall=100,1000",
        100,
        40,
    ),
    situation(
        "stalls of 200 ms every 1 s",
        "exponential=10&stall=200,1000",
        100,
        80,
    ),
    situation(
        "stalls of 20 ms every 0.2 s",
        "exponential=5&stall=20,200",
        800,
        80,
    ),
    situation(
        "stalls and one place",
        "exponential=2&stall=50,500&places=1",
        60,
        60,
    ),
    situation(
        "stalls and four places",
        "exponential=10&stall=100,1000&places=4",
        100,
        80,
    ),
    situation("slow and stalls", "exponential=100&stall=100,1000", 60, 60),
    situation("very slow", "exponential=500", 30, 80),
];
