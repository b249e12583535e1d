//! Rules inside of the kernel (BPF and sched_ext): decided where what they go by happens, and carried out there. Every
//! decision of the first domain is made again here, by the model's own governor.

mod threshold;
mod tick;

use crate::GovernError;
use crate::domain::{Facts, describe};
use crate::prepare::{Wish, nothing};
use flyball_bpf::{BpfError, Loaded, Object, class_is_free, is_in_force, load};
use flyball_control::{Machine, Settings};
use flyball_governors::{Domain, Governor, Threshold, Tick, create};
use flyball_host::{BpfLink, Host, Wake};
use flyball_units::{CpuId, CpuSet, Diagnostic, KiloHertz, Mismatch, Nanos};
use serde::Serialize;
use threshold::ThresholdRule;
use tick::TickRule;

/// What the programs have room for.
const MOST_MEMBERS: usize = 64;
const MOST_LEVELS: usize = 64;
const RING: u64 = 32768;
/// Between two looks at what was decided: the ring holds 16 s of 2000 decisions a second.
const PAUSE: Nanos = Nanos::from_millis(250);

/// What it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exact {
    /// The governor.
    pub governor: String,
    /// Ticks a second of each CPU, where it decides at ticks.
    pub tick_hz: Option<u32>,
    /// The domains.
    pub domains: Vec<ExactDomain>,
    /// Decisions of the first domain that were made again.
    pub compared: u64,
    /// Those of them that came out as another one.
    pub differ: u64,
    /// The first that did.
    pub first_difference: Option<String>,
    /// Decisions that were overwritten before they were read.
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
    /// Decisions.
    pub decisions: u64,
}

struct Ruled {
    name: String,
    domain: Domain,
    points: Vec<KiloHertz>,
    level: usize,
}

/// A rule that is there as a program for the kernel.
trait InKernel {
    /// The program.
    fn object(&self) -> &'static [u8];

    /// The kernel's name of the scheduler meanwhile, and whether no thread is scheduled by it.
    fn scheduler(&self) -> (&'static str, bool);

    /// Ticks a second of each CPU, where it decides at ticks.
    fn tick_hz(&self) -> Option<u32> {
        None
    }

    /// What should be known before it begins.
    fn notes(&self, ruled: &[Ruled]) -> Vec<String>;

    /// `struct domain` of the program, for a domain.
    fn image(&self, ruled: &Ruled) -> Vec<u8>;

    /// Where the number of its decisions is there.
    fn decisions_at(&self) -> usize;

    /// The tracepoints by which it is told of what happens.
    fn tracepoints(&self, _: &Loaded) -> Result<Vec<BpfLink>, BpfError> {
        Ok(Vec::new())
    }

    /// The ring of decisions.
    fn ring(&self) -> &'static str;

    /// The model's governor begins with the first domain.
    fn begin(&mut self, first: &Ruled, now: Nanos);

    /// A decision of the program, decided again by the model's governor: the difference, where there is one.
    fn again(&mut self, record: &[u8]) -> Option<String>;
}

/// The rule of a wish.
fn rule(wish: &Wish, facts: &Facts) -> Result<Box<dyn InKernel>, GovernError> {
    match wish.governor.as_str() {
        Tick::NAME => Ok(Box::new(TickRule::new(wish, facts.tick)?)),
        Threshold::NAME => Ok(Box::new(ThresholdRule::new(wish)?)),
        found => {
            let expected = "a rule that is there as a program for the kernel: tick or threshold";
            Err(GovernError::Unsupported(Mismatch::text(expected, found)))
        }
    }
}

/// The governor with the tunables of a wish; the program knows those that are `known`.
fn governor(wish: &Wish, known: &[&str]) -> Result<Box<dyn Governor>, GovernError> {
    let mut governor = create(&wish.governor)?;
    for (tunable, value) in &wish.tunables {
        governor.set(tunable, *value)?;
    }
    let plain = create(&wish.governor)?;
    for (before, now) in plain.tunables().iter().zip(governor.tunables()) {
        if before.value != now.value && !known.contains(&now.name) {
            let list = known.join(", ");
            let expected = format!("{} = {}: the program knows {list}", now.name, before.value);
            return Err(GovernError::Unsupported(Mismatch::value(expected, now.value)));
        }
    }
    Ok(governor)
}

/// The value of a tunable.
fn value(governor: &dyn Governor, name: &str) -> i64 {
    governor.tunables().iter().find(|it| it.name == name).map_or(0, |it| it.value)
}

/// Rules until `duration` is over or this process is asked to end; with the program, all of it goes. `begun` is
/// told once it rules.
///
/// # Errors
/// A rule that is not there for the kernel, or tunables that its program does not know; a kernel without BPF
/// schedulers, or with one in force; another governor than schedutil; no permission.
pub fn exact(
    host: &dyn Host,
    wish: &Wish,
    duration: Option<Nanos>,
    begun: &mut dyn FnMut(&Exact),
) -> Result<Exact, GovernError> {
    let facts = Facts::read(host, 0);
    let mut rule = rule(wish, &facts)?;
    class_is_free(host).map_err(GovernError::Unsupported)?;
    let facts = Facts { stat_hz: rule.tick_hz().unwrap_or(facts.stat_hz), ..facts };
    let ruled = domains(host, wish, &facts)?;
    let notes = facts.notes.iter().cloned().chain(rule.notes(&ruled)).collect();
    let mut exact = Exact {
        governor: wish.governor.clone(),
        tick_hz: rule.tick_hz(),
        domains: ruled.iter().map(ExactDomain::of).collect(),
        notes,
        ..Exact::default()
    };
    let loaded = Object::parse(rule.object()).and_then(|object| load(host, &object));
    let loaded = loaded.map_err(refused)?;
    fill(&loaded, &ruled, rule.as_ref()).map_err(refused)?;
    let (name, partial) = rule.scheduler();
    let scheduler = loaded.scheduler(name, partial).map_err(refused)?;
    let told = rule.tracepoints(&loaded).map_err(refused)?;
    start(host, &loaded, &ruled).map_err(refused)?;
    begun(&exact);
    let from = host.now();
    rule.begin(ruled.first().ok_or_else(nothing)?, from);
    let until = duration.map(|duration| from + duration);
    let mut follower = Follower { rule: rule.as_mut(), read: 0 };
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
    let at = rule.decisions_at();
    for (number, domain) in (0_u32..).zip(&mut exact.domains) {
        domain.decisions = decisions(&loaded, number, at).map_err(refused)?;
    }
    drop((told, scheduler));
    Ok(exact)
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
            decisions: 0,
        }
    }
}

fn fill(loaded: &Loaded, ruled: &[Ruled], rule: &dyn InKernel) -> Result<(), BpfError> {
    let (domains, cpus) = (loaded.map("domains")?, loaded.map("cpus")?);
    for (number, domain) in (0_u32..).zip(ruled) {
        domains.update(&number.to_ne_bytes(), &rule.image(domain))?;
        for cpu in &domain.domain.cpus {
            let mut value = vec![0; cpus.value_bytes()];
            // Behind the timer's 16 bytes.
            value[16..20].copy_from_slice(&number.to_ne_bytes());
            cpus.update(&cpu.0.to_ne_bytes(), &value)?;
        }
    }
    Ok(())
}

/// The CPUs of a domain, as the programs have them.
fn members(ruled: &Ruled) -> [u16; MOST_MEMBERS] {
    let mut members = [0; MOST_MEMBERS];
    members.iter_mut().zip(&ruled.domain.cpus).for_each(|(to, cpu)| *to = cpu.0 as u16);
    members
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

fn decisions(loaded: &Loaded, number: u32, at: usize) -> Result<u64, BpfError> {
    let value = loaded.map("domains")?.look_up(&number.to_ne_bytes())?.unwrap_or_default();
    Ok(word(&value, at))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    part.map_or(0, u64::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
    part.map_or(0, u32::from_ne_bytes)
}

/// Reads what the program decided.
struct Follower<'a> {
    rule: &'a mut dyn InKernel,
    /// Decisions that were read.
    read: u64,
}

impl Follower<'_> {
    /// Reads what came since, and makes each decision again.
    fn read(&mut self, loaded: &Loaded, exact: &mut Exact) -> Result<(), BpfError> {
        let count = decisions(loaded, 0, self.rule.decisions_at())?;
        if count.saturating_sub(self.read) > RING {
            // What lies between is lost: what was counted is not known from here on.
            exact.unread += count - self.read;
            self.read = count;
            return Ok(());
        }
        let ring = loaded.map(self.rule.ring())?;
        while self.read < count && exact.unread == 0 {
            let slot = (self.read % RING) as u32;
            let record = ring.look_up(&slot.to_ne_bytes())?.unwrap_or_default();
            // All programs have the number there.
            if word(&record, 8) != self.read + 1 {
                // Counted, and not written yet.
                break;
            }
            self.read += 1;
            let differs = self.rule.again(&record);
            note(exact, self.read, differs);
        }
        Ok(())
    }
}

/// A decision that was made again.
fn note(exact: &mut Exact, number: u64, differs: Option<String>) {
    exact.compared += 1;
    if let Some(difference) = differs {
        exact.differ += 1;
        exact.first_difference.get_or_insert_with(|| format!("decision {number}: {difference}"));
    }
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

    #[test]
    fn rules_that_are_not_there_for_the_kernel_are_refused() {
        let host = flyball_host::RecordedHost::from_listing("").unwrap();
        let facts = Facts::read(&host, 0);
        let wish = Wish { governor: "powerd".to_owned(), ..Wish::default() };
        let error = rule(&wish, &facts).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("tick or threshold") && error.contains("powerd"), "{error}");
    }

    #[test]
    fn the_first_difference_is_told() {
        let mut exact = Exact::default();
        note(&mut exact, 1, None);
        note(&mut exact, 2, Some("expected 3, found 4".to_owned()));
        note(&mut exact, 3, Some("expected 5, found 4".to_owned()));
        assert_eq!((exact.compared, exact.differ), (3, 2));
        assert_eq!(exact.first_difference.as_deref(), Some("decision 2: expected 3, found 4"));
    }
}
