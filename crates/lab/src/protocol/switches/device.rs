//! What a method needs of a machine: a clock, a level to set, and work whose speed follows it.

use crate::protocol::switches::TransitionError;
use flyball_units::{KiloHertz, Nanos};

/// One clock domain of a machine, with one CPU of it at work.
pub trait Device {
    /// The levels to switch between, ascending, at least two.
    fn levels(&self) -> Vec<KiloHertz>;

    /// The clock domain's name.
    fn domain(&self) -> String;

    /// The CPU that writes and works; none where it has no number.
    fn cpu(&self) -> Option<u32>;

    /// The time.
    fn now(&mut self) -> Nanos;

    /// Asks for a level; returns when the call does.
    ///
    /// # Errors
    /// Where the machine refuses.
    fn set(&mut self, to: KiloHertz) -> Result<(), TransitionError>;

    /// Works off `units`, all of the same length at one speed.
    fn work(&mut self, units: u64);

    /// Lets time pass with the CPU busy, so that neither idle states nor a governor come in between.
    fn busy_for(&mut self, time: Nanos);

    /// The shortest loop that means something here.
    fn shortest_loop(&self) -> Nanos;

    /// Share by which single loops at one speed differ at most from their mean, where the machine's
    /// own pacing makes them (a virtual board); 0 on a machine whose clock is right at every moment.
    fn loop_scatter(&self) -> f64 {
        0.0
    }

    /// Whether the user asked to end.
    fn interrupted(&self) -> bool {
        false
    }
}
