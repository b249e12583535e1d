//! What can be seen of a simulation. The engine calls an [`Observer`] at every change; one that
//! does nothing costs nothing.

use crate::setup::{Hint, TaskId};
use flyball_governors::{Decision, Event};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Why a task stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchOut {
    /// It sleeps, waits or ended.
    Slept,
    /// Another task took the CPU.
    Preempted,
    /// It went to another CPU.
    Migrated,
}

/// Receives everything that happens, in order of time. Tasks with numbers from the setup's number
/// of tasks on are those of governors that cost something.
#[allow(unused_variables)]
pub trait Observer {
    /// A task became runnable on a CPU.
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {}
    /// A task got a CPU.
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {}
    /// A task gave a CPU up.
    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {}
    /// A task went from one CPU to another.
    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {}
    /// A domain's frequency took effect; at time 0 the one that each domain starts with.
    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {}
    /// A CPU entered an idle state (its position; None: it stays awake in the idle loop), or left
    /// idle (None), which the way out follows. At time 0 the state that each CPU starts in.
    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {}
    /// A task's signals changed: util_avg and util_est.
    fn task_util(&mut self, at: Nanos, task: TaskId, cpu: CpuId, util: u32, util_est: u32) {}
    /// A fair run queue's signals changed.
    fn cpu_util(&mut self, at: Nanos, cpu: CpuId, util: u32, runnable: u32, util_est: u32) {}
    /// A governor got an event and decided.
    fn governor(&mut self, at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision) {}
    /// Work began that was due at `released`.
    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId) {}
    /// The work ended.
    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, cpu: CpuId) {}
    /// A task left a mark.
    fn mark(&mut self, at: Nanos, task: TaskId, name: &'static str) {}
    /// The scheduler got a hint about a task.
    fn hinted(&mut self, at: Nanos, task: TaskId, hint: Hint) {}
    /// The package's temperature, in degrees Celsius.
    fn temperature(&mut self, at: Nanos, celsius: f64) {}
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blind;

impl Observer for Blind {}

/// Several observers, each told in turn.
pub(crate) struct All<'a, 'b>(pub &'a mut [&'b mut dyn Observer]);

macro_rules! tell_all {
    ($( $name:ident($( $argument:ident: $type:ty ),*); )*) => {
        impl Observer for All<'_, '_> {
            $(
                fn $name(&mut self, $( $argument: $type ),*) {
                    for observer in self.0.iter_mut() {
                        observer.$name($( $argument ),*);
                    }
                }
            )*
        }
    };
}

tell_all! {
    woken(at: Nanos, task: TaskId, cpu: CpuId);
    switched_in(at: Nanos, task: TaskId, cpu: CpuId);
    switched_out(at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut);
    migrated(at: Nanos, task: TaskId, from: CpuId, to: CpuId);
    frequency(at: Nanos, domain: usize, frequency: KiloHertz);
    idle(at: Nanos, cpu: CpuId, state: Option<usize>);
    task_util(at: Nanos, task: TaskId, cpu: CpuId, util: u32, util_est: u32);
    cpu_util(at: Nanos, cpu: CpuId, util: u32, runnable: u32, util_est: u32);
    governor(at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision);
    item_begun(at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId);
    item_ended(at: Nanos, task: TaskId, item: u64, cpu: CpuId);
    mark(at: Nanos, task: TaskId, name: &'static str);
    hinted(at: Nanos, task: TaskId, hint: Hint);
    temperature(at: Nanos, celsius: f64);
}
