//! The causes that can spoil a measurement, and their remedies.

use serde::{Deserialize, Serialize};

/// A cause that can spoil a measurement, or a circumstance that the user should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The run was too short, or had too few samples, to judge the generator.
    TooShort,
    /// The whole process was stopped, by a signal or with its virtual machine.
    ProcessStopped,
    /// The control group's CPU quota was used up.
    CpuThrottled,
    /// The hypervisor gave the cores to other virtual machines.
    CpuStolen,
    /// Other programs took the cores.
    CpuTakenByOthers,
    /// The generator itself used all the CPU that it may use.
    CpuUsedUp,
    /// One worker used its core completely, although other cores were idle.
    WorkerUsedUp,
    /// The JVM loaded and compiled classes when the first scripts ran.
    WarmUp,
    /// The JVM collected garbage instead of running scripts.
    GarbageCollected,
    /// A worker's event loop was stalled.
    LoopStalled,
    /// Users were late for something due: the end of a timer, or their start.
    ScheduleDelayed,
    /// Arrivals that were due did not start, because their thread group already had its maximum number of users.
    ArrivalsLeftOut,
    /// A schedule's samples began late, because all users were busy.
    RateNotReached,
    /// The system's clock was set during the run.
    ClockStepped,
    /// File descriptors ran out, or nearly.
    OpenFilesUsedUp,
    /// Memory ran out, or nearly.
    MemoryUsedUp,
    /// Local ports ran out.
    PortsUsedUp,
    /// Connections to one target that are in TIME_WAIT are about to use up the ports for new ones. This spoils nothing yet.
    PortsRunningOut,
    /// This machine dropped packets, and the generator's own connections lost segments.
    PacketsDropped,
    /// The generator's own connections lost segments.
    Retransmits,
    /// Workers waited for the disk that stores the results.
    DiskStalled,
    /// Rows of the results were lost.
    ResultsLost,
    /// Samples that users began are in no result, or results were counted twice.
    SamplesUnaccounted,
    /// The target runs on this machine and shares its CPU. A caveat: the numbers are correct, but they describe a target that
    /// does not have the whole machine to itself.
    TargetOnThisMachine,
    /// No sample ended for a while although users ran. The target causes this, so it does not spoil the numbers. But a closed
    /// loop sends nothing in the meantime, so the percentiles hardly show the pause.
    TargetSilent,
    /// The system does not provide the machine's counters, so the verdict knows less. The numbers themselves are not affected.
    NotMeasured,
    /// The run sent nothing, so there are no numbers.
    NothingSent,
    /// A machine of the run was lost together with its load.
    AgentLost,
    /// An agent was told to end, and nobody took its users over.
    LoadMissing,
    /// The clocks of the machines disagreed.
    ClocksApart,
    /// Not all numbers of a machine have arrived.
    NumbersMissing,
}

impl Cause {
    /// Its name, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Cause::TooShort => "the run was too short",
            Cause::ProcessStopped => "the generator was stopped",
            Cause::CpuThrottled => "CPU quota of the control group used up",
            Cause::CpuStolen => "CPU kept by the hypervisor",
            Cause::CpuTakenByOthers => "CPU taken by other programs",
            Cause::CpuUsedUp => "the generator used all its CPU",
            Cause::WorkerUsedUp => "one worker used all of its core",
            Cause::WarmUp => "Java was warming up",
            Cause::GarbageCollected => "garbage collection held up scripts",
            Cause::LoopStalled => "an event loop was held up",
            Cause::ScheduleDelayed => "users were late for scheduled actions",
            Cause::ArrivalsLeftOut => "arrivals were due and did not start",
            Cause::RateNotReached => "the schedule's rate was not reached",
            Cause::ClockStepped => "the system's clock was set",
            Cause::OpenFilesUsedUp => "open files at their limit",
            Cause::MemoryUsedUp => "memory at its limit",
            Cause::PortsUsedUp => "local ports used up",
            Cause::PortsRunningOut => "local ports are running out",
            Cause::PacketsDropped => "packets dropped on this machine",
            Cause::Retransmits => "TCP segments lost on the way",
            Cause::DiskStalled => "the disk did not keep up with the results",
            Cause::ResultsLost => "results were lost",
            Cause::SamplesUnaccounted => "the samples do not add up",
            Cause::TargetOnThisMachine => "the target runs on this machine",
            Cause::TargetSilent => "the target answered nothing",
            Cause::NotMeasured => "the machine was not watched",
            Cause::NothingSent => "nothing was sent",
            Cause::AgentLost => "an agent was lost",
            Cause::LoadMissing => "a part of the load is missing",
            Cause::ClocksApart => "the clocks of the agents are uncertain",
            Cause::NumbersMissing => "numbers of an agent are missing",
        }
    }

    /// The remedy.
    pub fn remedy(self) -> &'static str {
        match self {
            Cause::TooShort => "let it run longer: more loops, or a duration",
            Cause::ProcessStopped => {
                "look for what stops it: a debugger, job control, a snapshot of the virtual machine"
            }
            Cause::CpuThrottled => "raise the container's CPU limit, or send less from here",
            Cause::CpuStolen => "use a host that is not overcommitted, or a dedicated one",
            Cause::CpuTakenByOthers => "run the generator on a machine of its own",
            Cause::CpuUsedUp => "send less from here, or give the generator more cores",
            Cause::WorkerUsedUp => {
                "a user stays on one core: let more users share the work, and look for one with costly scripts or large responses"
            }
            Cause::WarmUp => {
                "leave the first seconds out when you compare, or begin with a ramp-up"
            }
            Cause::GarbageCollected => {
                "give Java more memory (JVM_ARGS), or let scripts create fewer objects"
            }
            Cause::LoopStalled => {
                "look for scripts that block, and check that the machine has enough CPU"
            }
            Cause::ScheduleDelayed => "send less from here, or give the generator more cores",
            Cause::ArrivalsLeftOut => {
                "the target did not keep up with the rate: raise the thread group's concurrency limit, or lower the rate"
            }
            Cause::RateNotReached => {
                "all users were busy when samples were due: give the thread group more users, or lower the rate"
            }
            Cause::ClockStepped => {
                "set the clock before a run: time stamps continue from its start, and from then on differ from those of other machines"
            }
            Cause::OpenFilesUsedUp => "raise the limit: ulimit -n",
            Cause::MemoryUsedUp => "let fewer users run here, or keep less of the responses",
            Cause::PacketsDropped => {
                "look at ethtool -S and /proc/net/softnet_stat, and set larger rings or a higher net.core.netdev_max_backlog"
            }
            Cause::PortsUsedUp | Cause::PortsRunningOut => {
                "reuse connections, use more source addresses (ipSource), or widen net.ipv4.ip_local_port_range"
            }
            Cause::Retransmits => "look at the network between here and the target",
            Cause::DiskStalled => "write the results to a faster disk, or fewer columns",
            Cause::ResultsLost => "free disk space where the results are written",
            Cause::SamplesUnaccounted => {
                "look at the faults of the run: users that were ended by force leave no result; without any, report it as a defect of Drumfire"
            }
            Cause::TargetOnThisMachine => {
                "the numbers hold for both on one machine: run the generator elsewhere to measure the target alone"
            }
            Cause::TargetSilent => {
                "use a plan with a schedule (an open model, or pacing) to count response times from the intended start"
            }
            Cause::NotMeasured => {
                "run the generator on Linux for a verdict that covers the machine"
            }
            Cause::NothingSent => "look at the plan with `drumfire check` and `drumfire plan`",
            Cause::AgentLost => {
                "check the agent's machine and its connection to NATS; `--on-lost redistribute` gives its users to other agents"
            }
            Cause::LoadMissing => {
                "start the agent again under its name during the run, or give its users to other agents: `--on-lost redistribute`"
            }
            Cause::ClocksApart => {
                "synchronize the clocks with NTP or PTP, or bring agents and coordinator closer together"
            }
            Cause::NumbersMissing => {
                "check the connection between the agent and NATS; numbers that arrived after the end of the run are not counted"
            }
        }
    }

    /// Whether the generator's numbers suffer. Warming up counts only if it takes more than a moment.
    pub(crate) fn spoils(self) -> bool {
        !matches!(
            self,
            Cause::TooShort
                | Cause::TargetSilent
                | Cause::PortsRunningOut
                | Cause::TargetOnThisMachine
                | Cause::NotMeasured
        )
    }

    /// Whether its events are counted, rather than estimated from shares of time. A short run shows such causes too.
    pub(crate) fn is_counted(self) -> bool {
        matches!(
            self,
            Cause::ProcessStopped
                | Cause::ArrivalsLeftOut
                | Cause::ClockStepped
                | Cause::OpenFilesUsedUp
                | Cause::MemoryUsedUp
                | Cause::PortsUsedUp
                | Cause::ResultsLost
                | Cause::SamplesUnaccounted
        )
    }

    /// The share of the run that must be lost to this cause to make the verdict INVALID; `None` for causes that only degrade it.
    pub(crate) fn invalid_share(self) -> Option<f64> {
        /// A stopped process neither sends nor notices anything, so less of it suffices.
        const STOPPED: f64 = 0.1;
        const HELD_UP: f64 = 0.2;
        match self {
            Cause::ProcessStopped => Some(STOPPED),
            Cause::CpuThrottled
            | Cause::CpuStolen
            | Cause::CpuTakenByOthers
            | Cause::LoopStalled => Some(HELD_UP),
            _ => None,
        }
    }
}
