//! What tasks do: work, sleep, wait for each other.

use crate::setup::TaskId;
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A task's program. The engine asks for the next step each time the last one is done.
pub trait Behavior: Send {
    /// The next step at time `now`. `random` is the task's own stream.
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step;

    /// Whether it only works and sleeps: it neither waits for others, for I/O included, nor wakes
    /// them. A machine whose tasks all do can leap (see [`crate::engine::Machine::leap`]).
    fn is_alone(&self) -> bool {
        false
    }
}

/// One step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Executes.
    Run(Work),
    /// Executes, and sleeps then: the last cycles are the way there, on which the task is in no queue any more.
    Leave {
        /// All of it.
        work: Work,
        /// Of its cycles those of the way.
        way: u64,
    },
    /// Sleeps until an absolute time; a time that is past does not sleep.
    SleepUntil(Nanos),
    /// Sleeps until a timer expires at an absolute time, and on until its interrupt has woken it; a time that is past does not sleep.
    SleepForInterrupt {
        /// When it expires.
        expires: Nanos,
        /// What its CPU executes from then on.
        interrupt: Interrupt,
    },
    /// Sleeps until something comes from outside at this absolute time: no timer of the kernel's
    /// announces it to idle CPUs. A time that is past does not sleep.
    AwaitUntil(Nanos),
    /// Sleeps for a while.
    Sleep(Nanos),
    /// As [`Step::Sleep`], waiting for I/O: the wake-up carries the iowait flag.
    WaitForIo(Nanos),
    /// Sleeps until another task wakes it; returns at once where a wake-up is already pending.
    Wait,
    /// Wakes another task, which takes no time.
    Wake(TaskId),
    /// Starts to measure: an item of work was released at this time.
    Begin {
        /// Number of the item in its task.
        item: u64,
        /// When it was due.
        released: Nanos,
    },
    /// The item is done.
    End {
        /// Number of the item in its task.
        item: u64,
    },
    /// Leaves a mark in the record.
    Mark(&'static str),
    /// Ends the task.
    Exit,
}

/// A timer's interrupt, on the CPU where its task went to sleep: timers that expire there meanwhile are part of it, in the order in
/// which their tasks went to sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupt {
    /// Cycles of the reference kind of core until the task is woken, from its begin or from when the task before was woken.
    pub cycles: u64,
    /// Whether another task was woken before; where that is otherwise in the simulation, these cycles are the platform's.
    pub follows: bool,
    /// How the task then gets into its CPU's queue, and what that takes; where it is otherwise in the simulation, or not known, that is
    /// the platform's, too.
    pub arrival: Option<(Arrival, u64)>,
}

/// How a task that is woken gets into its CPU's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It stays on the CPU where it is woken: in so many cycles of that one.
    Stays,
    /// The CPU where it is woken puts it there: cycles of that one as well.
    Put,
    /// Its CPU, which has nothing to do, is told of it by an interrupt: its cycles.
    Told,
}

/// An amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Cycles of the reference kind of core: the part that scales with frequency.
    pub cycles: u64,
    /// Time for memory, which does not scale with frequency; spread evenly over the cycles.
    pub memory: Nanos,
}

impl Work {
    /// More than any simulation executes.
    pub const FOREVER: Work = Work { cycles: u64::MAX, memory: Nanos::ZERO };
}
