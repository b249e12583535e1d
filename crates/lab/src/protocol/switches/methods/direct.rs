//! Direct (Thomson 2010, section B.2): the write of every ordered pair, timed; and that of the level
//! that is set already, which is the way to the driver alone.

use super::{Bench, Method, named};
use crate::protocol::switches::TransitionError;
use flyball_run::SwitchTrial;
use flyball_units::KiloHertz;

pub(super) fn run(bench: &mut Bench<'_>) -> Result<(), TransitionError> {
    let directions = bench.directions();
    let same = bench.levels.iter().map(|level| (*level, *level));
    let all: Vec<(KiloHertz, KiloHertz)> = same.chain(directions).collect();
    for (number, (from, to)) in all.iter().copied().enumerate() {
        bench.sink.progress(number, all.len(), &format!("direct: {}", named(from, to)));
        for _ in 0..bench.plan.trials {
            bench.set(from)?;
            let settle = bench.plan.settle;
            bench.device.busy_for(settle);
            let waited = bench.wait();
            let written = bench.write(to)?;
            let trial = SwitchTrial {
                from_khz: from.0,
                to_khz: to.0,
                attempt: 1,
                t_ns: Some(written.start.0),
                waited_ns: Some(waited.0),
                since_last_ns: written.since_last.map(|time| time.0),
                write_ns: Some(written.end.since(written.start).0),
                ..SwitchTrial::default()
            };
            bench.keep(Method::Direct, trial)?;
        }
    }
    Ok(())
}
