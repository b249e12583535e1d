//! Thomson's rules driven by hand: polls and ticks without a machine around them.

use crate::context::Context;
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::load_tracking::platform;
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::reason;
use flyball_governors::{CpuTimes, Decision, Domain, Event, Governor, Request, create};
use flyball_platform::Platform;
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::borrow::Cow;

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "powerd_decay",
        &[Text, Text],
        "time of powerd in a mode from the maximum, or from its ceiling, to the lowest of 17 levels, s",
        decay,
    ),
    function(
        "powerd_burst_threshold",
        &[Text],
        "smallest busy share of a poll that makes a rule jump to the maximum, %",
        burst_threshold,
    ),
    function(
        "tick_rule_count",
        &[Text],
        "consecutive busy or idle ticks until the tick rule acts",
        tick_count,
    ),
    function(
        "table2_shape",
        &[Number, Number],
        "a downward transition by the shape fitted to Table 2, us",
        shape,
    ),
];

/// More polls and ticks than any rule needs.
const STEPS_MAX: u64 = 10_000;
const POLL: Nanos = Nanos::from_millis(250);

/// A rule and the domain it believes to rule.
struct Driven {
    governor: Box<dyn Governor>,
    domain: Domain,
    frequency: KiloHertz,
    now: Nanos,
    times: CpuTimes,
}

impl Driven {
    fn new(name: &str, tunables: &[(&str, i64)], platform: &Platform) -> Result<Driven, Undecided> {
        let mut governor = create(name).map_err(reason)?;
        for (tunable, value) in tunables {
            governor.set(tunable, *value).map_err(reason)?;
        }
        let opps = platform.domains.first().map(|domain| domain.opps.clone());
        let opps = opps.ok_or_else(|| Undecided::Reason("no clock domain".to_owned()))?;
        let domain = Domain::new(vec![CpuId(0)], opps.clone())
            .current(opps.max())
            .hz(100)
            .transition_latency(None)
            .frequency_invariant(false)
            .fast_switch(false)
            .exact_idle_accounting(false)
            .on_battery(Some(false));
        Ok(Driven {
            governor,
            frequency: domain.current,
            domain,
            now: Nanos::ZERO,
            times: CpuTimes::default(),
        })
    }

    /// Starts at a frequency; the first poll is only what later ones are compared with.
    fn start(&mut self, at: KiloHertz) {
        self.domain.current = at;
        self.frequency = at;
        let decision = self.governor.start(&self.domain, self.now);
        self.apply(decision);
        self.tell(&Event::Poll { times: Cow::Owned(vec![self.times]) });
    }

    fn tell(&mut self, event: &Event<'_>) {
        let decision = self.governor.on(event, self.now);
        self.apply(decision);
    }

    fn apply(&mut self, decision: Decision) {
        if let Some(Request::Frequency { target, relation }) = decision.request {
            let (min, max) = (self.domain.min, self.domain.max);
            let frequency = self.domain.opps.resolve(target, min, max, relation);
            if frequency != self.frequency {
                self.frequency = frequency;
                self.tell(&Event::Applied { frequency });
            }
        }
    }

    /// A poll after an interval of which so many percent were busy.
    fn poll(&mut self, busy_percent: u64) {
        self.now = self.now + POLL;
        let busy = Nanos(POLL.0 / 100 * busy_percent);
        self.times.busy = self.times.busy + busy;
        self.times.idle = self.times.idle + POLL.since(busy);
        self.tell(&Event::Poll { times: Cow::Owned(vec![self.times]) });
    }

    fn tick(&mut self, busy: bool) {
        self.now = self.now + self.domain.tick;
        self.tell(&Event::Tick { cpu: CpuId(0), busy });
    }
}

fn decay(_: &Context<'_>, given: &Arguments) -> Outcome {
    let mode = match given.text(0)? {
        "hadp" => 1,
        "adp" => 2,
        other => return Err(Undecided::Reason(format!("no mode {other}"))),
    };
    let platform = platform("pentium-m-throttled")?;
    let mut driven = Driven::new("powerd", &[("mode", mode)], &platform)?;
    driven.start(driven.domain.max);
    if given.text(1)? == "ceiling" {
        driven.poll(100);
        driven.poll(100);
    }
    let polls = (1..=STEPS_MAX).find(|_| {
        driven.poll(0);
        driven.frequency == driven.domain.min
    });
    let polls = polls.ok_or_else(|| Undecided::Reason("it never gets there".to_owned()))?;
    Ok(Quantity::of(polls as f64 * POLL.as_secs_f64()).note(format!("{polls} polls of 250 ms")))
}

fn burst_threshold(_: &Context<'_>, given: &Arguments) -> Outcome {
    let name = match given.text(0)? {
        "paper" => "powerd-paper",
        other => return Err(Undecided::Reason(format!("no rule {other}"))),
    };
    let platform = platform("pentium-m")?;
    for share in 0..=100 {
        let mut driven = Driven::new(name, &[], &platform)?;
        driven.start(driven.domain.min);
        driven.poll(0);
        driven.poll(share);
        if driven.frequency == driven.domain.max {
            return Ok(Quantity::of(share as f64));
        }
    }
    Err(Undecided::Reason("no share makes it jump".to_owned()))
}

fn tick_count(_: &Context<'_>, given: &Arguments) -> Outcome {
    let busy = match given.text(0)? {
        "busy" => true,
        "idle" => false,
        other => return Err(Undecided::Reason(format!("expected busy or idle, found {other}"))),
    };
    let platform = platform("pentium-m")?;
    let mut driven = Driven::new("tick", &[], &platform)?;
    driven.start(if busy { driven.domain.min } else { driven.domain.max });
    let before = driven.frequency;
    let ticks = (1..=STEPS_MAX).find(|_| {
        driven.tick(busy);
        driven.frequency != before
    });
    let ticks = ticks.ok_or_else(|| Undecided::Reason("it never acts".to_owned()))?;
    Ok(Quantity::of(ticks as f64))
}

/// Least squares of T = a + b * f_from / f_to over the downward cells of Table 2: the shape of a
/// busy-wait that is calibrated at the speed of the source and run at that of the destination.
fn shape(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (from, to) = (given.number(0)?, given.number(1)?);
    let cells: Vec<(f64, f64)> = context
        .catalogue
        .entries
        .iter()
        .filter_map(|entry| {
            let (from, to) = entry.id.strip_prefix("C.table2.")?.split_once('.')?;
            let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
            (to < from).then_some((from / to, entry.published.value))
        })
        .collect();
    let n = cells.len() as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| cells.iter().map(value).sum::<f64>() / n;
    let (x, y) = (mean(|cell| cell.0), mean(|cell| cell.1));
    let slope = cells.iter().map(|cell| (cell.0 - x) * (cell.1 - y)).sum::<f64>()
        / cells.iter().map(|cell| (cell.0 - x).powi(2)).sum::<f64>();
    let start = y - slope * x;
    let value = start + slope * from / to;
    if to >= from {
        let published = context.catalogue.entries.iter().find(|entry| {
            entry.id.strip_prefix("C.table2.") == Some(format!("{from}.{to}").as_str())
        });
        let residual = published.map_or(0.0, |entry| entry.published.value - value);
        let reason = format!(
            "upward: the shape of the downward cells gives {value:.0} us and leaves {residual:.0}; write, stall \
             and waiting were not measured apart"
        );
        return Err(Undecided::Reason(reason));
    }
    let fitted =
        format!("T = {start:.1} + {slope:.1} * f_from / f_to us over the {n} downward cells");
    Ok(Quantity::of(value).fitted(fitted))
}
