//! The tick rule inside of the kernel (BPF and sched_ext): decided at each tick, where it happens, and carried out
//! there. Every decision of the first domain is made again here, by the model's own governor.

use crate::GovernError;
use crate::domain::{Facts, describe};
use crate::prepare::{Wish, nothing};
use flyball_bpf::{BpfError, Loaded, Object, TICK, class_is_free, is_in_force, load};
use flyball_control::{Machine, Settings};
use flyball_governors::{Decision, Domain, Event, Governor, Request, Tick, create};
use flyball_host::{Host, Wake};
use flyball_units::{CpuId, CpuSet, Diagnostic, KiloHertz, Mismatch, Nanos};
use serde::Serialize;

/// The kernel's name of the scheduler meanwhile.
const NAME: &str = "flyball_tick";
/// What the program has room for.
const MOST_MEMBERS: usize = 64;
const MOST_LEVELS: usize = 64;
const RING: u64 = 32768;
/// Between two looks at what was decided: the ring holds 16 s of 2000 ticks a second.
const PAUSE: Nanos = Nanos::from_millis(250);

/// What it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exact {
    /// The governor.
    pub governor: String,
    /// Ticks a second of each CPU.
    pub tick_hz: u32,
    /// The domains.
    pub domains: Vec<ExactDomain>,
    /// Ticks of the first domain whose decision was made again.
    pub compared: u64,
    /// Those of them that led to another one.
    pub differ: u64,
    /// The first that did.
    pub first_difference: Option<String>,
    /// Ticks that were overwritten before they were read.
    pub unread: u64,
    /// For how long.
    #[serde(rename = "elapsed_ns")]
    pub elapsed: Nanos,
    /// What should be known.
    pub notes: Vec<String>,
}

/// One clock domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExactDomain {
    /// The policy.
    pub name: String,
    /// Its CPUs.
    pub cpus: Vec<CpuId>,
    /// Its operating points within the policy's limits.
    pub points_khz: Vec<KiloHertz>,
    /// Ticks that were counted.
    pub ticks: u64,
}

struct Ruled {
    name: String,
    domain: Domain,
    points: Vec<KiloHertz>,
    level: usize,
}

/// Rules until `duration` is over or this process is asked to end; with the program, all of it goes. `begun` is
/// told once it rules.
///
/// # Errors
/// Another rule than the tick rule, or tunables that the program does not know; a kernel without BPF schedulers, or
/// with one in force; another governor than schedutil; no permission.
pub fn exact(
    host: &dyn Host,
    wish: &Wish,
    duration: Option<Nanos>,
    begun: &mut dyn FnMut(&Exact),
) -> Result<Exact, GovernError> {
    let facts = Facts::read(host, 0);
    let (n, m, hz) = rule(wish, facts.tick)?;
    class_is_free(host).map_err(GovernError::Unsupported)?;
    let facts = Facts { stat_hz: hz, ..facts };
    let ruled = domains(host, wish, &facts)?;
    let mut notes = facts.notes.clone();
    notes.push(
        "meanwhile all threads of the normal class are scheduled by sched_ext's own defaults: first come, first \
         served, in slices of 20 ms"
            .to_owned(),
    );
    let mut exact = Exact {
        governor: wish.governor.clone(),
        tick_hz: hz,
        domains: ruled.iter().map(ExactDomain::of).collect(),
        compared: 0,
        differ: 0,
        first_difference: None,
        unread: 0,
        elapsed: Nanos::ZERO,
        notes,
    };
    let loaded = Object::parse(TICK).and_then(|object| load(host, &object)).map_err(refused)?;
    fill(&loaded, &ruled, [n, m], hz).map_err(refused)?;
    let scheduler = loaded.scheduler(NAME, false).map_err(refused)?;
    start(host, &loaded, &ruled).map_err(refused)?;
    begun(&exact);
    let from = host.now();
    let mut follower = Follower::new(wish, ruled.first().ok_or_else(nothing)?, from)?;
    let until = duration.map(|duration| from + duration);
    loop {
        let now = host.now();
        let over = until.is_some_and(|until| now >= until) || host.interrupted() > 0;
        follower.read(&loaded, &mut exact).map_err(refused)?;
        if over {
            break;
        }
        if !is_in_force(host) {
            let slip =
                Mismatch::value("the rule in force until the end", "that the kernel ended it");
            return Err(GovernError::Unsupported(slip.hint(
                "a CPU that comes or goes ends it, and a thread that waits for half a minute: see dmesg",
            )));
        }
        let next = until.into_iter().chain([now + PAUSE]).min().unwrap_or(now);
        // A request to end is looked at above.
        let _: Wake = host.sleep_until(next).map_err(GovernError::host("waiting"))?;
    }
    exact.elapsed = host.now().since(from);
    for (number, domain) in exact.domains.iter_mut().enumerate() {
        domain.ticks = ticks(&loaded, number as u32).map_err(refused)?;
    }
    drop(scheduler);
    Ok(exact)
}

/// What the rule asks for: n, m and the clock's rate.
fn rule(wish: &Wish, tick: Nanos) -> Result<(u32, u32, u32), GovernError> {
    if wish.governor != Tick::NAME {
        let found = wish.governor.clone();
        return Err(GovernError::Unsupported(Mismatch::text(
            "a rule that is there as a program for the kernel: tick",
            &found,
        )));
    }
    let governor = governor(wish)?;
    let value =
        |name: &str| governor.tunables().iter().find(|it| it.name == name).map_or(0, |it| it.value);
    let plain = create(Tick::NAME)?;
    for (before, now) in plain.tunables().iter().zip(governor.tunables()) {
        if before.value != now.value && !["n", "m", "tick_hz"].contains(&now.name) {
            let expected =
                format!("{} = {}: the program knows n, m and tick_hz", now.name, before.value);
            return Err(GovernError::Unsupported(Mismatch::value(expected, now.value)));
        }
    }
    let usual = 1_000_000_000 / tick.0.max(1);
    let hz = match value("tick_hz") {
        0 => usual,
        hz => u64::try_from(hz).unwrap_or(usual),
    };
    if !(10..=2000).contains(&hz) {
        return Err(GovernError::Unsupported(Mismatch::value("tick_hz of 10 to 2000", hz)));
    }
    let whole = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    Ok((whole(value("n")), whole(value("m")), hz as u32))
}

fn governor(wish: &Wish) -> Result<Box<dyn Governor>, GovernError> {
    let mut governor = create(Tick::NAME)?;
    for (tunable, value) in &wish.tunables {
        governor.set(tunable, *value)?;
    }
    Ok(governor)
}

fn domains(host: &dyn Host, wish: &Wish, facts: &Facts) -> Result<Vec<Ruled>, GovernError> {
    let whole = Settings { governor: Some("schedutil".to_owned()), ..Settings::default() };
    let machine = Machine::read(host, &whole);
    let machine = machine.map_err(GovernError::host("reading what can be ruled"))?;
    let mut ruled = Vec::new();
    for policy in &machine.policies {
        let unsupported = |expected: &str, found: &str| {
            let slip = Mismatch::text(expected, found).at(policy.path());
            GovernError::Unsupported(slip)
        };
        if wish.cpus.as_ref().is_some_and(|cpus| cpus.intersection(&policy.cpus).is_empty()) {
            continue;
        }
        let Some((record, domain)) = describe(host, policy, &machine.online, facts)? else {
            continue;
        };
        match policy.governor.as_deref() {
            Some("schedutil") => {}
            other => {
                let error = unsupported(
                    "the governor schedutil, which alone heeds BPF schedulers",
                    other.unwrap_or("none"),
                );
                let GovernError::Unsupported(slip) = error else { return Err(error) };
                let slip = slip.hint("set the governor for as long as it runs");
                return Err(GovernError::Unsupported(slip));
            }
        }
        let (low, high) = (record.min_khz, record.max_khz);
        let points: Vec<KiloHertz> =
            record.points_khz.iter().copied().filter(|khz| (low..=high).contains(khz)).collect();
        let level = points.iter().position(|khz| *khz >= record.current_khz);
        if points.is_empty() || points.len() > MOST_LEVELS || record.cpus.len() > MOST_MEMBERS {
            let found = format!("{} and {} CPUs", points.len(), record.cpus.len());
            return Err(unsupported("1 to 64 operating points and CPUs", &found));
        }
        let level = level.unwrap_or(points.len() - 1);
        ruled.push(Ruled { name: format!("policy{}", policy.id), domain, points, level });
    }
    if ruled.is_empty() { Err(nothing()) } else { Ok(ruled) }
}

impl ExactDomain {
    fn of(ruled: &Ruled) -> ExactDomain {
        ExactDomain {
            name: ruled.name.clone(),
            cpus: ruled.domain.cpus.clone(),
            points_khz: ruled.points.clone(),
            ticks: 0,
        }
    }
}

/// The level of 1024 that schedutil makes this frequency of: it adds a quarter and rounds up to a point.
fn level(khz: KiloHertz, highest: KiloHertz, capacity: u32) -> u16 {
    if khz >= highest {
        return 1024;
    }
    let share = u128::from(khz.0) * u128::from(capacity) * 4 / (u128::from(highest.0.max(1)) * 5);
    u16::try_from(share.min(1024)).unwrap_or(1024)
}

/// `struct domain` of `tick.bpf.c`.
fn image(ruled: &Ruled, [n, m]: [u32; 2], hz: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let highest = ruled.domain.opps.max();
    let words = [
        0,
        0,
        0,
        ruled.level as u32,
        ruled.points.len() as u32 - 1,
        n,
        m,
        ruled.domain.cpus.len() as u32,
    ];
    bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    bytes.extend(0_u64.to_ne_bytes());
    bytes.extend((1_000_000_000 / u64::from(hz)).to_ne_bytes());
    let mut members = [0_u16; MOST_MEMBERS];
    members.iter_mut().zip(&ruled.domain.cpus).for_each(|(to, cpu)| *to = cpu.0 as u16);
    let mut levels = [0_u16; MOST_LEVELS];
    let all = ruled.points.iter().map(|khz| level(*khz, highest, ruled.domain.capacity));
    levels.iter_mut().zip(all).for_each(|(to, perf)| *to = perf);
    bytes.extend(members.iter().chain(&levels).flat_map(|half| half.to_ne_bytes()));
    bytes
}

fn fill(loaded: &Loaded, ruled: &[Ruled], rule: [u32; 2], hz: u32) -> Result<(), BpfError> {
    let (domains, cpus) = (loaded.map("domains")?, loaded.map("cpus")?);
    for (number, domain) in (0_u32..).zip(ruled) {
        domains.update(&number.to_ne_bytes(), &image(domain, rule, hz))?;
        for cpu in &domain.domain.cpus {
            let mut value = vec![0; cpus.value_bytes()];
            // Behind the timer's 16 bytes.
            value[16..20].copy_from_slice(&number.to_ne_bytes());
            cpus.update(&cpu.0.to_ne_bytes(), &value)?;
        }
    }
    Ok(())
}

/// Starts each CPU's clock, from that CPU.
fn start(host: &dyn Host, loaded: &Loaded, ruled: &[Ruled]) -> Result<(), BpfError> {
    let before = host.affinity_get()?;
    let started = ruled.iter().flat_map(|ruled| &ruled.domain.cpus).try_for_each(|cpu| {
        host.affinity_set(&CpuSet::from_iter([*cpu]))?;
        match loaded.program("start")?.run()? {
            0 => Ok(()),
            step => {
                Err(BpfError::Object(format!("a clock on CPU {}, found none (step {step})", cpu.0)))
            }
        }
    });
    host.affinity_set(&before)?;
    started
}

fn ticks(loaded: &Loaded, number: u32) -> Result<u64, BpfError> {
    let value = loaded.map("domains")?.look_up(&number.to_ne_bytes())?.unwrap_or_default();
    Ok(word(&value, 32))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    part.map_or(0, u64::from_ne_bytes)
}

/// The model's own governor, given the same ticks.
struct Follower {
    governor: Box<dyn Governor>,
    points: Vec<KiloHertz>,
    level: usize,
    /// Ticks that were read.
    read: u64,
}

impl Follower {
    fn new(wish: &Wish, ruled: &Ruled, now: Nanos) -> Result<Follower, GovernError> {
        let mut governor = governor(wish)?;
        governor.start(&ruled.domain, now);
        Ok(Follower { governor, points: ruled.points.clone(), level: ruled.level, read: 0 })
    }

    /// Reads what came since, and makes each decision again.
    fn read(&mut self, loaded: &Loaded, exact: &mut Exact) -> Result<(), BpfError> {
        let count = ticks(loaded, 0)?;
        if count.saturating_sub(self.read) > RING {
            // What lies between is lost: the counters are not known from here on.
            exact.unread += count - self.read;
            self.read = count;
            return Ok(());
        }
        let ring = loaded.map("ticks")?;
        while self.read < count && exact.unread == 0 {
            let slot = (self.read % RING) as u32;
            let tick = ring.look_up(&slot.to_ne_bytes())?.unwrap_or_default();
            if word(&tick, 8) != self.read + 1 {
                // Counted, and not written yet.
                break;
            }
            let cpu = u16::from_ne_bytes([byte(&tick, 16), byte(&tick, 17)]);
            let (busy, level) = (byte(&tick, 18) != 0, byte(&tick, 19));
            self.compare(Nanos(word(&tick, 0)), CpuId(u32::from(cpu)), busy, level, exact);
            self.read += 1;
        }
        Ok(())
    }

    fn compare(&mut self, at: Nanos, cpu: CpuId, busy: bool, level: u8, exact: &mut Exact) {
        let decision = self.governor.on(&Event::Tick { cpu, busy }, at);
        self.level = self.carried_out(&decision);
        exact.compared += 1;
        if self.level != usize::from(level) {
            exact.differ += 1;
            let here = self.points.get(self.level).map_or(0, |khz| khz.0);
            let there = self.points.get(usize::from(level)).map_or(0, |khz| khz.0);
            exact.first_difference.get_or_insert_with(|| {
                format!("tick {}: expected {here} kHz, found {there}", self.read + 1)
            });
        }
    }

    fn carried_out(&self, decision: &Decision) -> usize {
        match decision.request {
            Some(Request::Frequency { target, .. }) => {
                let found = self.points.iter().position(|khz| *khz >= target);
                found.unwrap_or(self.points.len() - 1)
            }
            _ => self.level,
        }
    }
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn refused(error: BpfError) -> GovernError {
    match error {
        BpfError::Host(source) => GovernError::host("ruling inside of the kernel")(source),
        other => {
            let slip = Mismatch::text("a rule inside of the kernel", &other.to_string());
            GovernError::Unsupported(match other.hint() {
                Some(hint) => slip.hint(hint),
                None => slip,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::OppTable;

    #[test]
    fn schedutil_makes_each_frequency_of_its_level() {
        // Both clusters of the board: its formula is next = highest x 1.25 x level / capacity, rounded up to a point.
        for (points, capacity) in [
            (vec![600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000], 1024_u64),
            (vec![600_000, 1_000_000, 1_400_000, 1_800_000], 409),
        ] {
            let highest = *points.last().unwrap();
            for khz in &points {
                let level = u64::from(level(KiloHertz(*khz), KiloHertz(highest), capacity as u32));
                let wanted = (highest * (level + level / 4) / capacity).min(highest);
                let next = points.iter().copied().find(|point| *point >= wanted).unwrap();
                assert_eq!(next, *khz, "{capacity}");
            }
        }
    }

    fn follower(level: usize) -> (Follower, Exact) {
        let opps = OppTable::from_khz(&[600_000, 1_200_000, 1_800_000]).unwrap();
        let domain = Domain::new(vec![CpuId(0)], opps).current(KiloHertz(600_000)).stat_hz(250);
        let points = [600_000, 1_200_000, 1_800_000].map(KiloHertz).to_vec();
        let ruled = Ruled { name: "policy0".to_owned(), domain, points, level };
        let wish = Wish { governor: "tick".to_owned(), ..Wish::default() };
        let exact = Exact {
            governor: "tick".to_owned(),
            tick_hz: 250,
            domains: vec![ExactDomain::of(&ruled)],
            compared: 0,
            differ: 0,
            first_difference: None,
            unread: 0,
            elapsed: Nanos::ZERO,
            notes: Vec::new(),
        };
        (Follower::new(&wish, &ruled, Nanos::ZERO).unwrap(), exact)
    }

    #[test]
    fn another_decision_than_the_models_is_told() {
        let (mut follower, mut exact) = follower(0);
        // The fourth busy tick raises, the fourth idle one lowers by a point.
        let ticks = [
            (true, 0),
            (true, 0),
            (true, 0),
            (true, 2),
            (false, 2),
            (false, 2),
            (false, 2),
            (false, 1),
        ];
        for (at, (busy, level)) in (0..).zip(ticks) {
            follower.compare(Nanos::from_millis(4 * at), CpuId(0), busy, level, &mut exact);
            follower.read += 1;
        }
        assert_eq!((exact.compared, exact.differ), (8, 0), "{:?}", exact.first_difference);
        follower.compare(Nanos::from_millis(40), CpuId(0), true, 2, &mut exact);
        let first = exact.first_difference.unwrap();
        assert_eq!(
            (exact.differ, first.as_str()),
            (1, "tick 9: expected 1200000 kHz, found 1800000")
        );
    }

    #[test]
    fn what_the_program_does_not_know_is_refused() {
        let wish = |governor: &str, tunables: &[(&str, i64)]| Wish {
            governor: governor.to_owned(),
            tunables: tunables.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..Wish::default()
        };
        let tick = Nanos::from_millis(4);
        assert_eq!(rule(&wish("tick", &[]), tick).unwrap(), (3, 3, 250));
        assert_eq!(rule(&wish("tick", &[("n", 5), ("tick_hz", 128)]), tick).unwrap(), (5, 3, 128));
        let error = |wish: &Wish| rule(wish, tick).unwrap_err().to_string();
        assert!(error(&wish("powerd", &[])).contains("tick"));
        let step = error(&wish("tick", &[("step_up", 1)]));
        assert!(step.contains("step_up = 0: the program knows n, m and tick_hz"), "{step}");
    }
}
