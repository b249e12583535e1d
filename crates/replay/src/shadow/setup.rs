//! The clock domains that governors are set over: a platform's under a kernel, or those that the
//! recording itself shows.

use flyball_governors::Domain;
use flyball_platform::{ClockDomain, FrequencyControl, Kernel, Platform, rule};
use flyball_units::{CpuId, GovernorSpec, Nanos, OppTable};

use super::{Seen, SeenDomain, ShadowError, choice};

/// schedutil's tunable of the least time between changes.
const RATE_LIMIT: &str = "rate_limit_us";
/// Scale of capacities.
const SCALE: u32 = 1024;

/// A clock domain with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Governed {
    /// Its name.
    pub name: String,
    /// What the governor is told of it.
    pub domain: Domain,
}

/// Clock domains to set governors over, and what to know about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The domains, by their lowest CPU.
    pub domains: Vec<Governed>,
    /// The governor, with what the kernel's description adds to it.
    pub choice: GovernorSpec,
    /// Where the domains come from, in a line.
    pub origin: String,
    /// What is assumed, and what does not fit.
    pub notes: Vec<String>,
}

impl Setup {
    /// The domains of a platform under a kernel.
    ///
    /// # Errors
    /// The hardware chooses its frequency itself, or its domains are not those of the recording.
    pub fn of_platform(
        choice: &GovernorSpec,
        platform: &Platform,
        kernel: &Kernel,
        seen: &Seen,
    ) -> Result<Setup, ShadowError> {
        let ruled = |domain: &&ClockDomain| domain.control == FrequencyControl::Software;
        let domains: Vec<&ClockDomain> = platform.domains.iter().filter(ruled).collect();
        if domains.is_empty() {
            return Err(ShadowError::Hardware { platform: platform.name.clone() });
        }
        let mut choice = choice.clone();
        if let Some((tunable, value)) = rule::tunable_of(&choice.name, kernel)
            && !choice::sets(&choice, tunable)
        {
            choice.tunables.push((tunable.to_owned(), value));
        }
        let mut notes = Vec::new();
        for own in &seen.domains {
            let holds = |domain: &&&ClockDomain| {
                own.cpus.iter().all(|cpu| domain.cpus.contains(&CpuId(*cpu)))
            };
            let Some(domain) = domains.iter().find(holds) else {
                return Err(mismatch(platform, &domains, own));
            };
            let known = |khz: &&u64| domain.points.iter().any(|point| point.frequency.0 == **khz);
            let strange: Vec<String> =
                own.khz.iter().filter(|khz| !known(khz)).map(u64::to_string).collect();
            if !strange.is_empty() {
                let list = strange.join(", ");
                notes.push(format!(
                    "{}: {list} kHz seen, no operating point of {}: no decision can meet it",
                    domain.name, platform.name
                ));
            }
        }
        for (cpu, capacity) in &seen.capacities {
            let described = usize::try_from(*cpu).ok().and_then(|at| platform.cpus.get(at));
            if let Some(described) = described.filter(|own| own.capacity.0 != *capacity) {
                notes.push(format!(
                    "cpu{cpu}: capacity {capacity} in the recording, {} in {}",
                    described.capacity.0, platform.name
                ));
            }
        }
        let governed = domains.iter().map(|domain| Governed {
            name: domain.name.clone(),
            domain: rule::domain(platform, domain, kernel, false),
        });
        Ok(Setup {
            domains: governed.collect(),
            choice,
            origin: format!("platform {}, kernel {}", platform.name, kernel.name),
            notes,
        })
    }

    /// The domains that the recording shows, frequency-invariant or not.
    ///
    /// # Errors
    /// It shows no domain with two frequencies.
    pub fn of_seen(
        choice: &GovernorSpec,
        seen: &Seen,
        kernel: Option<&Kernel>,
        invariant: bool,
    ) -> Result<Setup, ShadowError> {
        let mut notes = Vec::new();
        let mut domains = Vec::new();
        for own in &seen.domains {
            match of_seen(own, seen, kernel, invariant) {
                Some(domain) => {
                    let mhz: Vec<String> =
                        own.khz.iter().map(|khz| (khz / 1000).to_string()).collect();
                    let mut note = format!("{}: points {} MHz", own.name, mhz.join(", "));
                    if let Some(limit) =
                        domain.transition_delay.filter(|_| !choice::sets(choice, RATE_LIMIT))
                    {
                        note += &format!(
                            ", rate limit {} us, the shortest time between two changes",
                            limit.0 / 1000
                        );
                    }
                    notes.push(note);
                    domains.push(Governed { name: own.name.clone(), domain });
                }
                None => notes
                    .push(format!("{}: left out, one frequency only: nothing to decide", own.name)),
            }
        }
        if domains.is_empty() {
            return Err(ShadowError::NoDomain);
        }
        let known = seen.domains.iter().flat_map(|own| &own.cpus);
        let untold: Vec<&u32> = known.filter(|cpu| !seen.capacities.contains_key(cpu)).collect();
        if !untold.is_empty() {
            notes.push("capacities were not recorded: 1024 each".to_owned());
        }
        notes.push(
            "limits and operating points are those seen: a higher one that was never in force shifts every decision, unless the platform is named".to_owned(),
        );
        let origin = match kernel {
            Some(kernel) => format!("domains as recorded, kernel {}", kernel.name),
            None => "domains as recorded".to_owned(),
        };
        Ok(Setup { domains, choice: choice.clone(), origin, notes })
    }
}

fn mismatch(platform: &Platform, domains: &[&ClockDomain], own: &SeenDomain) -> ShadowError {
    let list = |cpus: &mut dyn Iterator<Item = u32>| {
        cpus.map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")
    };
    let expected = domains.iter().map(|domain| {
        format!("{} (cpu {})", domain.name, list(&mut domain.cpus.iter().map(|cpu| cpu.0)))
    });
    ShadowError::Domains {
        platform: platform.name.clone(),
        expected: expected.collect::<Vec<_>>().join(" and "),
        found: format!("{} (cpu {})", own.name, list(&mut own.cpus.iter().copied())),
    }
}

/// None where it had one frequency only: a governor has nothing to choose there.
fn of_seen(
    own: &SeenDomain,
    seen: &Seen,
    kernel: Option<&Kernel>,
    frequency_invariant: bool,
) -> Option<Domain> {
    let opps = OppTable::from_khz(&own.khz).ok().filter(|_| own.khz.len() > 1)?;
    let capacity = own.cpus.iter().filter_map(|cpu| seen.capacities.get(cpu)).max();
    let hz = kernel.map_or(250, |kernel| kernel.hz.max(1));
    let domain = Domain::new(own.cpus.iter().map(|cpu| CpuId(*cpu)).collect(), opps)
        .capacity(capacity.copied().unwrap_or(SCALE).max(1))
        .hz(hz)
        .transition_latency(None)
        .transition_delay(own.closest_ns.map(Nanos))
        .frequency_invariant(frequency_invariant);
    Some(match kernel {
        Some(kernel) => domain
            .stat_hz(kernel.stat_hz)
            .rate_limit_rule(kernel.rate_limit_rule)
            .features(kernel.features),
        None => domain,
    })
}
