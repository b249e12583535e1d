//! The playing: threads are created when the scenario creates its tasks, and joined at its end.

use crate::protocol::score::PlayError;
use crate::protocol::score::cgroups::{Cgroups, Counted};
use crate::protocol::score::performer::{Performer, Player, Stage};
use crate::protocol::score::signal::Signal;
use crate::protocol::score::speed::Speed;
use crate::protocol::score::tasks::Score;
use flyball_host::{Call, Errno, Host, HostError, Scheduling, Wake};
use flyball_qos::Attached;
use flyball_sim::setup::{Class, TaskSetup, random_stream};
use flyball_units::{CpuSet, Nanos};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// What was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// Time zero of the scenario, on CLOCK_MONOTONIC.
    pub begin: Nanos,
    /// Its end.
    pub end: Nanos,
    /// The tasks, in the scenario's order; those that never came to be are left out.
    pub players: Vec<Player>,
    /// What was counted of its control groups.
    pub cgroups: Counted,
    /// Whether the program was asked to end before it was over.
    pub interrupted: bool,
}

/// Stack of a performer.
const STACK: usize = 256 * 1024;

/// From now until time zero. What has to be got ready is ready then, and forgotten: the scheduler's averages
/// halve every 32 ms, so 1024 is less than 1 after ten halves. A task that is born where this program was busy
/// just now would begin with a part of its utilisation, and at the frequency that it had needed.
const HEAD_START: Nanos = Nanos::from_millis(400);
/// A controller takes some 50 ms to start, on a board several times that.
const WITH_CONTROLLER: Nanos = Nanos::from_secs(3);

/// How long before a task's birth its control group is entered, as that keeps the kernel busy for a while.
const AHEAD: Nanos = Nanos::from_millis(100);

/// Plays a score to its end. Every task is a thread of the task's name, born with its class, CPUs and
/// clamps, as a task that another one forks.
///
/// # Errors
/// A class, a CPU, a clamp or a ramp that this program may not have; the tasks that were there by then have
/// ended.
pub fn play(host: &Arc<dyn Host>, score: Score, speed: Speed) -> Result<Played, PlayError> {
    let head_start = if score.ramp.is_some() { WITH_CONTROLLER } else { HEAD_START };
    let begin = host.now() + head_start;
    let end = begin + score.duration;
    let signals = score.tasks.iter().map(|_| Signal::default()).collect();
    let stage = Arc::new(Stage { host: Arc::clone(host), speed, begin, end, signals });
    // A thread of its own: what it takes on for its children must not stay with the caller.
    let conductor = {
        let stage = Arc::clone(&stage);
        Builder::new().name("flyball-play".to_owned()).spawn(move || conduct(&stage, score))
    };
    let conductor = conductor.map_err(|error| PlayError::Host {
        task: "flyball-play".to_owned(),
        error: spawn_error(&error),
    })?;
    conductor.join().unwrap_or_else(|panic| {
        // The program's own guard reports it.
        std::panic::resume_unwind(panic)
    })
}

/// A thread and its task's name.
type Performance = (String, JoinHandle<Result<Player, HostError>>);

fn conduct(stage: &Arc<Stage>, score: Score) -> Result<Played, PlayError> {
    let host = stage.host.as_ref();
    let mut cgroups = Cgroups::make(&stage.host, &score.cgroups)?;
    let mut tasks: Vec<(usize, TaskSetup)> = score.tasks.into_iter().enumerate().collect();
    tasks.sort_by_key(|(number, task)| (task.start, *number));
    // Threads that this one makes are taken in.
    let attached = score.ramp.map(|multiplier| Attached::to_this_thread(host, multiplier));
    let attached = attached.transpose()?;
    let mut running: Vec<(usize, Performance)> = Vec::with_capacity(tasks.len());
    let mut result = Ok(false);
    for (number, task) in tasks {
        let name = task.name.clone();
        let deadline = score.deadlines.get(number).copied().flatten();
        match start(stage, &mut cgroups, task, number, deadline, score.seed) {
            Ok(Some(handle)) => running.push((number, (name, handle))),
            Ok(None) => {
                result = Ok(true);
                break;
            }
            Err(error) => {
                result = Err(PlayError::Host { task: name, error });
                break;
            }
        }
    }
    if let Ok(interrupted) = &mut result {
        let rest = if *interrupted { Ok(Wake::Interrupted) } else { rest(host, stage.end) };
        *interrupted = !matches!(rest, Ok(Wake::OnTime));
    }
    for signal in &stage.signals {
        signal.end();
    }
    running.sort_by_key(|(number, _)| *number);
    let players = join(running)?;
    attached.map_or(Ok(()), Attached::end)?;
    let (begin, end, cgroups) = (stage.begin, stage.end, cgroups.end());
    result.map(|interrupted| Played { begin, end, players, cgroups, interrupted })
}

/// How often the conductor looks whether it was asked to end: the signal may have gone to another thread.
const LISTENS: Nanos = Nanos::from_millis(200);

/// Sleeps until then, or until the program is asked to end.
fn rest(host: &dyn Host, until: Nanos) -> Result<Wake, HostError> {
    loop {
        if host.interrupted() > 0 {
            return Ok(Wake::Interrupted);
        }
        let next = until.min(host.now() + LISTENS);
        let woken = host.sleep_until(next)?;
        if next == until || woken == Wake::Interrupted {
            return Ok(woken);
        }
    }
}

/// Waits until the task is to be created, and creates it; None where the program was asked to end.
fn start(
    stage: &Arc<Stage>,
    cgroups: &mut Cgroups,
    task: TaskSetup,
    number: usize,
    deadline: Option<Nanos>,
    seed: u64,
) -> Result<Option<JoinHandle<Result<Player, HostError>>>, HostError> {
    let host = stage.host.as_ref();
    let own = host.affinity_get()?;
    let due = stage.begin + task.start;
    if cgroups.is_elsewhere(task.cgroup) {
        if rest(host, Nanos(due.0.saturating_sub(AHEAD.0)))? == Wake::Interrupted {
            return Ok(None);
        }
        cgroups.enter(task.cgroup)?;
    }
    if rest(host, due)? == Wake::Interrupted {
        return Ok(None);
    }
    // A thread inherits from the one that creates it.
    let cpus: CpuSet = task.allowed.iter().copied().collect();
    let clamped = (task.uclamp_min, task.uclamp_max) != (0, 1024);
    if !task.allowed.is_empty() {
        host.affinity_set(&cpus)?;
    }
    if clamped {
        host.utilization_clamp_set(task.uclamp_min, task.uclamp_max)?;
    }
    let scheduling = scheduling(task.class);
    // Who has deadlines creates nobody: such a thread takes them itself.
    let taken = matches!(scheduling, Scheduling::Deadline { .. }).then_some(scheduling);
    let inherited = taken.is_none() && scheduling != Scheduling::DEFAULT;
    if inherited {
        host.scheduling_set(scheduling)?;
    }
    let performer = Performer {
        random: random_stream(seed, number),
        name: task.name.clone(),
        number,
        behavior: task.behavior,
        deadline,
        scheduling: taken,
    };
    let on = Arc::clone(stage);
    let spawned = Builder::new()
        .name(task.name)
        .stack_size(STACK)
        .spawn(move || performer.perform(&on))
        .map_err(|error| spawn_error(&error));
    if inherited {
        host.scheduling_set(Scheduling::DEFAULT)?;
    }
    if clamped {
        host.utilization_clamp_set(0, 1024)?;
    }
    if !task.allowed.is_empty() {
        host.affinity_set(&own)?;
    }
    spawned.map(Some)
}

fn scheduling(class: Class) -> Scheduling {
    match class {
        Class::Fair { nice } => Scheduling::Other { nice: i32::from(nice) },
        Class::Fifo { priority } => Scheduling::Fifo { priority: u32::from(priority) },
        Class::Deadline { runtime, deadline, period } => {
            Scheduling::Deadline { runtime, deadline, period }
        }
        // The score has none.
        Class::Stop | Class::Interrupt => Scheduling::DEFAULT,
    }
}

fn join(running: Vec<(usize, Performance)>) -> Result<Vec<Player>, PlayError> {
    let joined: Vec<_> =
        running.into_iter().map(|(_, (name, handle))| (name, handle.join())).collect();
    joined
        .into_iter()
        .map(|(name, result)| {
            let player = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            player.map_err(|error| PlayError::Host { task: name, error })
        })
        .collect()
}

fn spawn_error(error: &std::io::Error) -> HostError {
    HostError::call(
        Call::Spawn,
        "a task's thread",
        Errno(error.raw_os_error().unwrap_or(Errno::EAGAIN.0)),
    )
}
