//! Blame: what the response of each measured window was made of.
//!
//! A run whose windows were measured while scheduler and frequency events were recorded tells, for
//! every window, where the time from the scheduled release to the end went. The response is cut
//! into parts that **sum to it exactly**, in nanoseconds:
//!
//! ```text
//! release           woken       runs dispatch                               end
//!    |-- sleeping ----|- waiting -|-----|------ running ------|waiting|-run--|
//!     idle exit        idle exit   work   work + frequency     preemp- work +
//!     interrupts       queue       ...    below maximum        tion    frequency
//!     unexplained      interrupts         interrupts           ...     ...
//! ```
//!
//! | state of the task | before dispatch | after dispatch |
//! |---|---|---|
//! | it runs | as after dispatch; [`Part::Backlog`] where it has not slept since before the release | [`Part::Work`] + [`Part::Frequency`]; [`Part::Steal`] |
//! | it waits, another task runs on its CPU | [`Part::Queue`] | [`Part::Preemption`] |
//! | it waits, its CPU is in the idle loop | [`Part::IdleExit`] | [`Part::IdleExit`] |
//! | it sleeps | [`Part::IdleExit`] where its CPU is in the idle loop | what its waker did until it woke it; [`Part::Slept`] where no task did |
//! | its CPU is in an interrupt | [`Part::Interrupts`] | [`Part::Interrupts`], unless it sleeps |
//! | anything else, and gaps in the recording | [`Part::Unexplained`] | [`Part::Unexplained`] |
//!
//! - *Its CPU*: the one that it runs on; while it waits, the one that it was last put on.
//! - *The idle loop* of a CPU lasts from the entry into an idle state until the next task runs on
//!   it. A kernel reports the end of an idle state when the way out of the hardware's state is
//!   over, a model when it begins: both ways in and out are inside.
//! - *The critical path*: while the task waits for others (threads, children, the far end of a pipe), what
//!   the task that wakes it does is what the window takes: it runs, it waits for a CPU, or it sleeps until
//!   its own waker wakes it. A task that was not there yet is followed to the one that made it.
//! - *Running time* is split by frequency: `f / f_max` of it is work, the rest was added by the
//!   frequency. `f_max` is the highest frequency of that CPU as the run's machine describes it,
//!   else the highest seen on its kind of core. All of the running time counts as scaling with
//!   frequency, so [`Part::Frequency`] is an upper bound: what memory takes does not scale.
//! - *Steal* is known where the window itself recorded it; it is taken out of the running time.
//!
//! A part that nothing in the run could show is absent, not zero (see [`Recorded`]), and its time
//! is in another part: interrupts that nobody recorded are in whatever they interrupted.

mod culprits;
mod frequency;
mod index;
mod line;
mod parts;
mod split;
mod state;
mod window;

pub use culprits::{Culprits, Who};
pub use frequency::Basis;
pub use index::Recorded;
pub use parts::{Part, Parts};
pub use window::{Blame, Clocks, WindowBlame};
