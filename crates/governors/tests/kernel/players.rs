//! Our code behind the events of `scripts/kernel-diff`, which plays them to the kernel's own files.
//!
//! An event is [`WORDS`] numbers; what they mean is written in `scripts/kernel-diff.d/events.c`. A
//! player answers with the numbers that the kernel's side answers with, in the same order.

mod dbs;
mod idle;
mod pelt;
mod schedutil;

use flyball_governors::Domain;
use flyball_governors::units::{
    CpuId, KernelRule, KernelRules, KernelVersion, KiloHertz, Nanos, OppTable,
};

/// Numbers of an event.
pub const WORDS: usize = 6;

/// One event.
pub type Event = [u64; WORDS];

/// Our code for one file of the kernel.
pub trait Player {
    /// What it makes of an event.
    fn play(&mut self, event: &Event, values: &mut Vec<u64>);
}

/// The player for a file of a kernel's release (`6.12.117-1`); None where there is none.
pub fn player(file: &str, release: &str) -> Option<Box<dyn Player>> {
    let version = release.parse().ok()?;
    let rules = rules_of(version, release);
    match file {
        "pelt" => Some(Box::new(pelt::Pelt::new(version, rules))),
        "schedutil" => Some(Box::new(schedutil::Schedutil::new(rules))),
        "ondemand" => Some(Box::new(dbs::Dbs::new("ondemand", rules))),
        "conservative" => Some(Box::new(dbs::Dbs::new("conservative", rules))),
        "menu" => Some(Box::new(idle::Idle::new(idle::Kind::Menu, rules))),
        "teo" => Some(Box::new(idle::Idle::new(idle::Kind::Teo, rules))),
        "haltpoll" => Some(Box::new(idle::Idle::new(idle::Kind::Haltpoll, rules))),
        _ => None,
    }
}

/// The rules of a version with what its stable releases took over from later ones.
fn rules_of(version: KernelVersion, release: &str) -> KernelRules {
    let patch = release.split(['.', '-']).nth(2).and_then(|patch| patch.parse::<u32>().ok());
    let changes = [
        (6, 1, 192, KernelRule::ConservativeStopsAtEnds),
        (6, 1, 176, KernelRule::ConservativeKeepsRequest),
        (6, 12, 80, KernelRule::ConservativeKeepsRequest),
        (6, 12, 97, KernelRule::ConservativeStopsAtEnds),
        (6, 12, 117, KernelRule::DeferredStepsAtAnyLoad),
        (7, 3, 4, KernelRule::DeferredStepsAtAnyLoad),
    ];
    let over = |&&(major, minor, from, _): &&(u32, u32, u32, KernelRule)| {
        version == KernelVersion::new(major, minor) && patch.is_some_and(|patch| patch >= from)
    };
    changes
        .iter()
        .filter(over)
        .fold(KernelRules::of(version), |rules, change| rules.set(change.3, false))
}

/// The domain of an event 0.
fn domain(event: &Event, rules: KernelRules) -> Option<Domain> {
    let halves = event[2..5].iter().flat_map(|pair| [pair & 0xffff_ffff, pair >> 32]);
    let khz: Vec<u64> = halves.filter(|&khz| khz > 0).collect();
    let cpus = (0..event[1] as u32 & 0xff).map(CpuId).collect();
    let flag = |bit: u64| event[1] >> (8 + bit) & 1 == 1;
    let domain = Domain::new(cpus, OppTable::from_khz(&khz).ok()?)
        .capacity((event[1] >> 16 & 0xffff) as u32)
        .hz(250)
        .frequency_invariant(flag(0))
        .need_update_limits(flag(1))
        .uclamp_used(flag(2))
        .rules(rules);
    Some(domain)
}

/// The limits of an event 2.
fn limits(event: &Event) -> (KiloHertz, KiloHertz) {
    let khz = |word: u64| KiloHertz(word & 0xffff_ffff);
    (khz(event[2]), khz(event[3]))
}

/// A clock that events advance.
fn advance(now: &mut Nanos, event: &Event) {
    now.0 = now.0.wrapping_add(event[1]);
}
