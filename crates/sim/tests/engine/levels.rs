//! Performance levels: what schedutil makes of them, with its rate limit and the hardware's costs.

use crate::common::*;
use flyball_governors::{Decision, Domain, Event, Governor, Needs, Request, Tunable, TunableError};
use flyball_platform::Cost;
use flyball_sim::setup::{Class, Setup};
use flyball_units::{CpuId, KiloHertz, Nanos, Relation};

/// Asks for the highest and the lowest performance in turn, at each update: as levels or as
/// frequencies.
struct Flip {
    levels: bool,
    high: bool,
    ends: (KiloHertz, KiloHertz),
}

impl Flip {
    fn ask(&mut self) -> Decision {
        self.high = !self.high;
        let request = match (self.levels, self.high) {
            (true, true) => Request::Perf(1024),
            (true, false) => Request::Perf(0),
            (false, true) => Request::Frequency { target: self.ends.1, relation: Relation::H },
            (false, false) => Request::Frequency { target: self.ends.0, relation: Relation::L },
        };
        Decision::request(request, "in turn")
    }
}

impl Governor for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }
    fn needs(&self) -> Needs {
        Needs::NOTHING.utilization(true)
    }
    fn start(&mut self, domain: &Domain, _: Nanos) -> Decision {
        self.ends = (domain.opps.min(), domain.opps.max());
        self.ask()
    }
    fn on(&mut self, event: &Event<'_>, _: Nanos) -> Decision {
        match event {
            Event::Util { .. } => self.ask(),
            _ => Decision::NONE,
        }
    }
    fn tunables(&self) -> Vec<Tunable> {
        Vec::new()
    }
    fn set(&mut self, _: &str, _: i64) -> Result<(), TunableError> {
        Ok(())
    }
}

/// A busy P core of an M1, HZ=1000, under [`Flip`].
fn flipping(levels: bool, rate_limit_us: Option<u32>) -> Setup {
    let mut setup = setup("apple-m1", "linux-6.8", "performance", Nanos(100 * MS));
    setup.kernel.rate_limit_us = rate_limit_us;
    let flip = || Flip { levels, high: false, ends: Default::default() };
    setup.governors = vec![Box::new(flip()), Box::new(flip())];
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(4)];
    setup.tasks.push(spin);
    setup
}

/// Times of the changes in the P cores' domain, the start left out.
fn changes(setup: Setup) -> Vec<u64> {
    let (log, _) = run(setup);
    log.frequency.iter().filter(|&&(at, d, _)| d == 1 && at > 0).map(|&(at, ..)| at).collect()
}

fn least_gap(times: &[u64]) -> u64 {
    times.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(u64::MAX)
}

#[test]
fn levels_keep_schedutil_s_rate_limit() {
    // The rule up to 6.8 gives 10 ms on the M1.
    let ruled = changes(without_transitions(flipping(true, None)));
    assert!(ruled.len() >= 5 && ruled.len() <= 11, "{ruled:?}");
    assert!(least_gap(&ruled) >= 10 * MS, "{ruled:?}");
    let set = changes(without_transitions(flipping(true, Some(4000))));
    assert!(set.len() > ruled.len() && least_gap(&set) >= 4 * MS, "{set:?}");
    // A governor that asks for frequencies has a rate limit of its own, or none.
    let free = changes(without_transitions(flipping(false, None)));
    assert!(least_gap(&free) < 2 * MS, "{free:?}");
}

#[test]
fn levels_pay_for_their_changes_like_frequencies() {
    let stalled = |levels| {
        let mut setup = without_transitions(flipping(levels, Some(1)));
        for domain in &mut setup.platform.domains {
            domain.transition.stall = Cost::Constant(Nanos(50_000));
        }
        let (log, summary) = run(setup);
        let changes = log.frequency.iter().filter(|&&(at, d, _)| d == 1 && at > 0).count();
        (changes, summary.cpus[4].stalled)
    };
    let (by_level, by_frequency) = (stalled(true), stalled(false));
    assert!(by_level.0 > 20);
    assert_eq!(by_level, by_frequency);
}

/// A FIFO task under schedutil: 40 million cycles every 50 ms on CPU 1. The operating points, and each frequency
/// with whether the task ran when it came.
fn real_time(platform: &str, kernel: &str) -> (Vec<u64>, Vec<(u64, bool)>) {
    let mut setup = setup(platform, kernel, "schedutil", Nanos(200 * MS));
    let mut fifo = task("fifo", Periodic::new(50 * MS, 40_000_000));
    fifo.class = Class::Fifo { priority: 80 };
    fifo.allowed = vec![CpuId(1)];
    setup.tasks.push(fifo);
    let points = &setup.platform.domains[0].points;
    let points = points.iter().map(|point| point.frequency.0).collect();
    let (log, _) = run(setup);
    let mut running = false;
    let changes = log.lines.iter().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        match (words.next()?, words.next()?, words.next()?) {
            ("in", ..) => running = true,
            ("out", ..) => running = false,
            ("frequency", "0", khz) => return Some((khz.parse().unwrap(), running)),
            _ => {}
        }
        None
    });
    (points, changes.collect())
}

#[test]
fn a_real_time_task_begins_at_the_top_only_where_utilisation_is_invariant() {
    let (points, changes) = real_time("board-aarch64", "debian-7.2");
    assert_eq!(changes[1].0, *points.last().unwrap(), "{changes:?}");
    // As recorded on that board: from each point to the lowest one at 1.25 times it.
    let (points, changes) = real_time("board-x86", "debian-6.12");
    let ups = changes.windows(2).filter(|pair| pair[1].1 && pair[1].0 > pair[0].0);
    let ups: Vec<(u64, u64)> = ups.map(|pair| (pair[0].0, pair[1].0)).collect();
    assert!(ups.len() >= 6, "{changes:?}");
    for (from, to) in ups {
        let wanted = points.iter().find(|khz| **khz >= from * 5 / 4).or(points.last());
        assert_eq!(Some(&to), wanted, "{changes:?}");
    }
}

/// Asks for levels at given times, of what schedutil carries out.
struct Levels(Vec<(u64, u32)>);

impl Governor for Levels {
    fn name(&self) -> &'static str {
        "levels"
    }
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
    fn start(&mut self, _: &Domain, now: Nanos) -> Decision {
        self.0.iter_mut().for_each(|(at, _)| *at += now.0);
        self.ask()
    }
    fn on(&mut self, event: &Event<'_>, _: Nanos) -> Decision {
        match event {
            Event::Timer => self.ask(),
            _ => Decision::NONE,
        }
    }
    fn tunables(&self) -> Vec<Tunable> {
        Vec::new()
    }
    fn set(&mut self, _: &str, _: i64) -> Result<(), TunableError> {
        Ok(())
    }
}

impl Levels {
    fn ask(&mut self) -> Decision {
        let (_, level) = self.0.remove(0);
        let decision = Decision::request(Request::Perf(level), "as listed");
        self.0.first().map_or(decision, |&(at, _)| decision.wake_at(Nanos(at)))
    }
}

/// A FIFO task runs at the maximum under sched_ext, too, and a level that comes within the rate limit
/// is kept until it goes. By hand on an M1's large cores: 300 and a quarter of 1024 are 1173 MHz, the
/// point 1284; 600 are 2347, the point 2388; 512, too early at 10.2 ms, are 2002, the point 2184.
#[test]
fn real_time_is_at_the_maximum_and_a_level_is_kept() {
    let mut setup = setup("apple-m1", "linux-6.12", "performance", Nanos(100 * MS));
    setup.kernel.rate_limit_us = Some(500);
    let asked = vec![(0, 300), (10 * MS, 600), (10 * MS + 200_000, 512)];
    setup.governors[1] = Box::new(Levels(asked));
    let mut fifo = task("fifo", Periodic::new(200 * MS, 3_204_000));
    fifo.class = Class::Fifo { priority: 1 };
    fifo.start = Nanos(50 * MS);
    fifo.allowed = vec![CpuId(4)];
    setup.tasks.push(fifo);
    let (log, _) = run(without_transitions(setup));
    let seen: Vec<(u64, u64)> = log
        .frequency
        .iter()
        .filter(|&&(_, d, _)| d == 1)
        .map(|&(at, _, khz)| (at / MS, khz / 1000))
        .collect();
    assert_eq!(seen, [(0, 1284), (10, 2388), (50, 3204), (51, 2184)]);
}
