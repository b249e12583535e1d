//! What tasks do, one behaviour per file. A behaviour says *what* is executed and when it is due;
//! where and how fast is the machine's business.

mod amount;
mod batch;
mod chance;
mod duty;
pub mod kernels;
mod on_call;
mod page_load;
mod periodic;
mod poisson;
mod rampup;
mod replay;
pub mod rt_app;
mod set_up;
mod way;

pub use amount::{Amount, FullSpeed};
pub use batch::Batch;
pub use chance::{exponential, uniform};
pub use duty::Duty;
pub use on_call::OnCall;
pub use page_load::{PageHelper, PageLoad, PageMain};
pub use periodic::{Overrun, Periodic};
pub use poisson::{Poisson, Service};
pub use rampup::{Rampup, SPIN};
pub use replay::{Pace, Recorded, Replay};
pub use set_up::SetUp;
pub use way::{After, Late, OnItsWay, Way};

#[cfg(test)]
pub(crate) mod testing {
    //! Plays a behaviour without a machine: work takes as long as at full speed.
    use crate::behavior::{Behavior, Step, Work};
    use flyball_units::Nanos;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The steps until `end` with their times, at `khz` reference cycles per millisecond.
    pub fn play(behavior: &mut dyn Behavior, end: Nanos, khz: u64) -> Vec<(Nanos, Step)> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let (mut now, mut steps) = (Nanos::ZERO, Vec::new());
        while now < end && steps.len() < 100_000 {
            let step = behavior.next(now, &mut random);
            steps.push((now, step));
            now = match step {
                Step::Run(work) | Step::Leave { work, .. } => now + time(work, khz),
                Step::SleepUntil(at) | Step::AwaitUntil(at) => now.max(at),
                Step::SleepForInterrupt { expires, interrupt } => {
                    let work = Work { cycles: interrupt.cycles, memory: Nanos::ZERO };
                    now.max(expires + time(work, khz))
                }
                Step::Sleep(time) | Step::WaitForIo(time) => now + time,
                Step::Exit => break,
                _ => now,
            };
        }
        steps
    }

    fn time(work: Work, khz: u64) -> Nanos {
        let cycles = u128::from(work.cycles) * 1_000_000 / u128::from(khz);
        Nanos(u64::try_from(cycles).unwrap_or(u64::MAX)) + work.memory
    }
}
