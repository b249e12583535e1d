//! `[governor]`: which rule, with which tunables, in which clock domain.

use super::error::{ScenarioError, suggestion};
use super::keys;
use super::model::GovernorSpec;
use super::parse::unknown_name;
use super::reader::{Fields, Item, Key};
use super::tree::Value;
use crate::workload::Amount;
use flyball_governors::{Domain, Governor, TunableError, catalogue, create};
use flyball_platform::{ClockDomain, FrequencyControl, Kernel, Platform, rule};
use flyball_units::{CpuId, GovernorSpec as Written, KiloHertz, Nanos};

/// The names of all governors.
pub fn governor_names() -> Vec<&'static str> {
    catalogue().iter().map(|entry| entry.name).collect()
}

/// Tunables with their values, and where each is written.
type Tunables<'a> = Vec<(String, i64, Item<'a>)>;

/// What `[governor]` says, before it meets a clock domain.
#[derive(Clone, Default)]
struct Wish<'a> {
    name: Option<String>,
    tunables: Tunables<'a>,
    min: Option<Item<'a>>,
    max: Option<Item<'a>>,
    initial: Option<Item<'a>>,
}

/// One governor per clock domain, and what a decision costs on which CPU.
pub fn read(
    top: &Fields<'_>,
    platform: &Platform,
    kernel: &Kernel,
) -> Result<(Vec<GovernorSpec>, (Amount, CpuId)), ScenarioError> {
    let Some(item) = top.get("governor") else {
        let wish = Wish::default();
        let specs = platform.domains.iter().map(|domain| spec(&wish, domain, kernel));
        return Ok((specs.collect::<Result<_, _>>()?, (Amount::Cycles(0), CpuId(0))));
    };
    if platform.domains.iter().all(|domain| domain.control != FrequencyControl::Software) {
        let found = format!("expected a platform that software rules, found {}", platform.name);
        return Err(item
            .wrong(format!("{found}: its hardware chooses the frequency"))
            .hint("leave [governor] out, or take a platform with governors"));
    }
    // The name, with or without tunables, is the short form.
    if let Value::Text(_) = &item.node.value {
        let (name, tunables) = named(&item)?;
        let wish = Wish { name: Some(name), tunables, ..Wish::default() };
        let specs = platform.domains.iter().map(|domain| spec(&wish, domain, kernel));
        return Ok((specs.collect::<Result<_, _>>()?, (Amount::Cycles(0), CpuId(0))));
    }
    let fields = item.any_fields()?;
    let general = wish(&fields, keys::GOVERNOR, &kernel.default_governor)?;
    let per_domain = domains(&fields, platform)?;
    let specs = platform.domains.iter().map(|domain| {
        let own = per_domain.iter().find(|(name, _)| *name == domain.name);
        let wish = match own {
            Some((_, item)) => merged(&general, &item.any_fields()?, kernel)?,
            None => general.clone(),
        };
        spec(&wish, domain, kernel)
    });
    let cost = fields.get("cost").map_or(Ok(Amount::Cycles(0)), |item| item.amount())?;
    let last = platform.cpus.len() as i64 - 1;
    let cpu = fields.integer_or("cost_cpu", 0, 0..=last)? as u32;
    Ok((specs.collect::<Result<_, _>>()?, (cost, CpuId(cpu))))
}

/// `[governor.domain.NAME]`, each a domain of the platform.
fn domains<'a>(
    fields: &Fields<'a>,
    platform: &Platform,
) -> Result<Vec<(String, Item<'a>)>, ScenarioError> {
    let Some(item) = fields.get("domain") else { return Ok(Vec::new()) };
    let names: Vec<&str> = platform.domains.iter().map(|domain| domain.name.as_str()).collect();
    let known = |(entry, item): (&super::tree::Entry, Item<'a>)| {
        if names.contains(&entry.key.as_str()) {
            return Ok((entry.key.clone(), item));
        }
        Err(item
            .wrong(format!("expected a clock domain of {}, found `{}`", platform.name, entry.key))
            .maybe_hint(suggestion(&entry.key, &names)))
    };
    item.any_fields()?.entries().map(known).collect()
}

/// The domain's wishes over the general ones; another governor starts with its own tunables.
fn merged<'a>(
    general: &Wish<'a>,
    fields: &Fields<'a>,
    kernel: &Kernel,
) -> Result<Wish<'a>, ScenarioError> {
    let inherited = general.name.as_deref().unwrap_or(&kernel.default_governor);
    let own = wish(fields, keys::DOMAIN, inherited)?;
    let same = own.name.as_deref().is_none_or(|name| name == inherited);
    let mut tunables = if same { general.tunables.clone() } else { Vec::new() };
    tunables.extend(own.tunables);
    Ok(Wish {
        name: own.name.or_else(|| general.name.clone()),
        tunables,
        min: own.min.or_else(|| general.min.clone()),
        max: own.max.or_else(|| general.max.clone()),
        initial: own.initial.or_else(|| general.initial.clone()),
    })
}

fn wish<'a>(fields: &Fields<'a>, keys: &[Key], inherited: &str) -> Result<Wish<'a>, ScenarioError> {
    let named = fields.get("name").map(|item| named(&item)).transpose()?;
    let (name, mut tunables) = named.map_or((None, Vec::new()), |(name, own)| (Some(name), own));
    let used = name.as_deref().unwrap_or(inherited);
    for (entry, item) in fields.entries() {
        if keys.iter().any(|key| key.name == entry.key) {
            continue;
        }
        let value = tunable_value(&item)?;
        check_tunable(fields, entry, value, used, keys)?;
        tunables.push((entry.key.clone(), value, item));
    }
    let get = |key: &str| fields.get(key);
    Ok(Wish { name, tunables, min: get("min"), max: get("max"), initial: get("initial") })
}

/// A governor as it is written everywhere: `NAME[:tunable=value,...]`.
fn named<'a>(item: &Item<'a>) -> Result<(String, Tunables<'a>), ScenarioError> {
    let text = item.text()?;
    let written = match text.contains(':') {
        true => text.parse::<Written>().map_err(|slip| item.wrong(slip.to_string()))?,
        false => Written::named(text),
    };
    check_name(item, &written.name)?;
    let tunables = written.tunables.into_iter().map(|(name, value)| (name, value, item.clone()));
    Ok((written.name, tunables.collect()))
}

fn check_name(item: &Item<'_>, name: &str) -> Result<(), ScenarioError> {
    match create(name) {
        Ok(_) => Ok(()),
        Err(_) => Err(unknown_name(item, "a governor", name, &governor_names())),
    }
}

fn check_tunable(
    fields: &Fields<'_>,
    entry: &super::tree::Entry,
    value: i64,
    name: &str,
    keys: &[Key],
) -> Result<(), ScenarioError> {
    let Ok(mut governor) = create(name) else { return Ok(()) };
    match governor.set(&entry.key, value) {
        Err(error @ TunableError::Unknown { .. }) => {
            let TunableError::Unknown { known, .. } = &error else { return Ok(()) };
            let mut known: Vec<&str> = known.clone();
            known.extend(keys.iter().map(|key| key.name));
            let mut wrong = fields.unknown(entry, &known);
            wrong.message = format!("{}: {error}", wrong.message);
            Err(wrong)
        }
        // Some ranges depend on other tunables: all are set together in `spec`.
        _ => Ok(()),
    }
}

/// Sets tunables whose ranges may depend on each other: in order, and again those that were
/// refused, as long as any is accepted. The position of one that stays refused, and why.
fn set_all(
    governor: &mut dyn Governor,
    tunables: &[(&str, i64)],
) -> Result<(), (usize, TunableError)> {
    let mut left: Vec<usize> = (0..tunables.len()).collect();
    loop {
        let before = left.len();
        let mut refused = None;
        left.retain(|&at| {
            let Some((name, value)) = tunables.get(at) else { return false };
            match governor.set(name, *value) {
                Ok(()) => false,
                Err(error) => {
                    refused.get_or_insert((at, error));
                    true
                }
            }
        });
        match refused {
            None => return Ok(()),
            Some(refused) if left.len() == before => return Err(refused),
            Some(_) => {}
        }
    }
}

fn tunable_value(item: &Item<'_>) -> Result<i64, ScenarioError> {
    match item.node.value {
        Value::Boolean(value) => Ok(i64::from(value)),
        Value::Integer(value) => Ok(value),
        _ => Err(item.expected("a whole number, true or false")),
    }
}

fn spec(
    wish: &Wish<'_>,
    domain: &ClockDomain,
    kernel: &Kernel,
) -> Result<GovernorSpec, ScenarioError> {
    let mut tunables: Vec<(String, i64)> =
        wish.tunables.iter().map(|(key, value, _)| (key.clone(), *value)).collect();
    let name = wish.name.clone().unwrap_or_else(|| kernel.default_governor.clone());
    if let Ok(mut governor) = create(&name) {
        let values: Vec<(&str, i64)> = tunables.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        if let Err((at, error)) = set_all(governor.as_mut(), &values)
            && let Some((_, _, item)) = wish.tunables.get(at)
        {
            return Err(item.wrong(&error));
        }
    }
    // What the kernel's administrator set holds where the scenario says nothing.
    if let Some((tunable, value)) = rule::tunable_of(&name, kernel)
        && !tunables.iter().any(|(name, _)| name == tunable)
    {
        tunables.push((tunable.to_owned(), value));
    }
    Ok(GovernorSpec {
        name,
        tunables,
        limits: limits(wish, domain)?,
        initial: wish.initial.as_ref().map(|item| initial(item, domain)).transpose()?,
    })
}

fn limits(
    wish: &Wish<'_>,
    domain: &ClockDomain,
) -> Result<Option<(KiloHertz, KiloHertz)>, ScenarioError> {
    let limit = |item: &Option<Item<'_>>, default| {
        item.as_ref().map_or(Ok(default), |item| item.frequency())
    };
    let (min, max) = (limit(&wish.min, domain.opps.min())?, limit(&wish.max, domain.opps.max())?);
    let Some(item) = wish.max.as_ref().or(wish.min.as_ref()) else { return Ok(None) };
    let inside = |opp: &flyball_units::Opp| min <= opp.frequency && opp.frequency <= max;
    if domain.opps.as_slice().iter().any(inside) {
        return Ok(Some((min, max)));
    }
    Err(item
        .wrong(format!("expected limits with an operating point of `{}` between them", domain.name))
        .hint(points(domain)))
}

fn initial(item: &Item<'_>, domain: &ClockDomain) -> Result<KiloHertz, ScenarioError> {
    let frequency = item.frequency()?;
    match domain.opps.index_of(frequency) {
        Some(_) => Ok(frequency),
        None => Err(item
            .expected(&format!("an operating point of `{}`", domain.name))
            .hint(points(domain))),
    }
}

fn points(domain: &ClockDomain) -> String {
    let mhz = |opp: &flyball_units::Opp| format!("{}", opp.frequency.0 as f64 / 1000.0);
    let list: Vec<String> = domain.opps.as_slice().iter().map(mhz).collect();
    format!("operating points in MHz: {}", list.join(", "))
}

impl GovernorSpec {
    /// A fresh governor with these tunables. The names and values were checked when they were
    /// read, so nothing is left that could be refused.
    pub fn build(&self) -> Option<Box<dyn Governor>> {
        let mut governor = create(&self.name).ok()?;
        let values: Vec<(&str, i64)> =
            self.tunables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        set_all(governor.as_mut(), &values).ok()?;
        Some(governor)
    }

    /// Time from poll to poll of a governor that polls.
    pub fn poll_interval(&self, domain: &Domain) -> Option<Nanos> {
        let mut governor = self.build()?;
        governor.start(domain, Nanos::ZERO);
        governor.poll_interval().filter(|interval| interval.0 > 0)
    }
}
