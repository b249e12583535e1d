//! A machine from a setup that was checked.

use super::Machine;
use super::agenda::Agenda;
use super::arrival::{Arriving, Told};
use super::balance;
use super::cgroup::Cgroup;
use super::cpu::{self, Activity, Cpu};
use super::cpu_bits::CpuBits;
use super::deadline::Budget;
use super::domain::{Domain, EnergyPoint};
use super::govern::{of_simulation, since_boot};
use super::hints;
use super::idle::{IdleRules, Sleeps};
use super::interrupt::TimerInterrupt;
use super::new_idle::NewIdle;
use super::power::{TEMPERATURE_PERIOD, Temperature};
use super::prescribed::Prescriptions;
use super::ramped::Ramped;
use super::task::{self, Allowed, Decision, Program, State, Task};
use super::timers::{OwnTimers, Timers};
use super::way_out::WayOut;
use crate::setup::{
    Cgroup as CgroupSetup, Class, Creator, GovernorCost, Left, Setup, TaskSetup, random_stream,
};
use crate::workload::uniform;
use flyball_governors::schedutil::Schedutil;
use flyball_governors::{CpuSignals, CpuTimes, Event, Governor, Needs};
use flyball_pelt::{ClockPelt, Features, QueueUtilEst, QueueWaitingAvg, SchedAvg, frequency_scale};
use flyball_platform::{
    Architecture, ClockDomain, Cpu as PlatformCpu, FrequencyControl, IdleTick, Kernel, Platform,
    SamplerCost, rule,
};
use flyball_units::{KernelRule, KiloHertz, Nanos, Relation};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::borrow::Cow;

/// Sets everything up at time 0.
pub(super) fn build(setup: Setup) -> Machine {
    let Setup { platform, kernel, tasks, governors, .. } = setup;
    let tick = 1_000_000_000 / u64::from(kernel.hz);
    let uclamp_used = kernel.uclamp
        && tasks
            .iter()
            .any(|task| task.clamp_ramp.is_some() || task.clamps(&setup.cgroups) != (0, 1024));
    let mut domains: Vec<Domain> = platform
        .domains
        .iter()
        .zip(governors)
        .map(|(d, g)| domain(d, &platform.cpus, g, &kernel))
        .collect();
    for (domain, limits) in domains.iter_mut().zip(&setup.limits) {
        if let &Some((min, max)) = limits {
            domain.min = domain.opps.min().max(min);
            domain.max = domain.opps.max().min(max);
        }
    }
    let mut tasks: Vec<Task> = tasks
        .into_iter()
        .enumerate()
        .map(|(t, task)| new_task(t, task, &setup.cgroups, &platform, &kernel.features, setup.seed))
        .collect();
    add_governor_tasks(&mut domains, &mut tasks, setup.governor_cost, &platform);
    let governed_by_tasks =
        (0..domains.len()).filter(|&d| domains[d].governor_task.is_some()).collect();
    let idle_rules = IdleRules {
        governor: kernel.idle_governor,
        rules: kernel.rules,
        tick,
        idle_tick: kernel.idle_tick,
        latency_limit: kernel.latency_limit.unwrap_or(Nanos(u64::MAX)),
    };
    let mut cpus: Vec<Cpu> =
        (0..platform.cpus.len()).map(|c| new_cpu(c, &platform, &kernel, idle_rules)).collect();
    let mut random = random_stream(setup.seed, tasks.len());
    let before = setup.before.as_ref();
    let mut left = before.map_or(&[][..], |before| &before.left).iter();
    for cpu in &mut cpus {
        let left = left.next();
        if before.is_some() {
            let random = uniform(&mut random, 1024) as u32;
            let contrib = left.and_then(|left| left.period_contrib).unwrap_or(random);
            for avg in [&mut cpu.cfs, &mut cpu.rt, &mut cpu.dl] {
                *avg = avg.with_period_contrib(contrib);
            }
        }
        if let Some(left) = left {
            leave(cpu, left, (setup.tick_phase.0, tick));
        }
        // Every task may come to wait there; nothing is to be allocated while time passes.
        cpu.fair.reserve(tasks.len());
        cpu.urgent.reserve(tasks.len());
        if !setup.cgroups.is_empty() {
            cpu.parked.reserve(tasks.len());
        }
        cpu.delayed.reserve(tasks.len());
        cpu.timers = OwnTimers::with_capacity(tasks.len());
    }
    // A deadline task has a second one, for its period; a control group has two.
    let mut timers = Timers::with_capacity(2 * (tasks.len() + setup.cgroups.len()));
    let cgroups = setup.cgroups.into_iter().enumerate();
    let cgroups = cgroups.map(|(g, from)| Cgroup::new(g, from, setup.seed, cpus.len())).collect();
    for (t, task) in tasks.iter().enumerate().filter(|(_, task)| task.timer != u64::MAX) {
        timers.insert(task.timer, t);
        if task.is_known_to_idle() {
            cpus[task.cpu].timers.insert(task.timer, t);
        }
    }
    let stat_period = 1_000_000_000 / u64::from(kernel.stat_hz);
    let samples = kernel.idle_tick == IdleTick::Continues && domains.iter().any(|d| d.needs.poll);
    let counts = samples || domains.iter().any(|domain| domain.needs.tick_hz.is_some());
    let phase = setup.tick_phase.0;
    let stat_phase = phase % stat_period;
    let first_stat = if stat_phase == 0 { stat_period } else { stat_phase };
    let capacities_equal = platform.capacities_equal();
    // Not with SMT, and schedutil alone tells the estimate what frequency a utilisation leads to
    // (`sched_is_eas_possible`).
    let heeds_energy = platform.cpus.iter().all(|cpu| cpu.siblings.is_empty())
        && domains
            .iter()
            .all(|domain| domain.frequency_invariant && domain.governor.name() == Schedutil::NAME);
    let moves = |task: &Task| task.rank > 0 && !task.is_interrupt() && task.pinned.is_none();
    let urgent_moves = tasks.iter().any(moves);
    for (domain, changes) in domains.iter_mut().zip(&setup.prescribed.frequencies) {
        domain.prescribed = !changes.is_empty();
    }
    let point =
        |d: usize, khz| domains.get(d).and_then(|domain: &Domain| domain.opps.index_of(khz));
    let prescriptions = Prescriptions::of(&setup.prescribed, point);
    let ramped = (0..tasks.len()).filter(|&t| tasks[t].ramped.is_some()).collect();
    let mut machine = Machine {
        now: 0,
        duration: setup.duration.0,
        events: 0,
        announced: false,
        next: Agenda::new(domains.len() + 2 + platform.cpus.len()),
        capacities_equal,
        largest: cpus.iter().map(|cpu| cpu.capacity).max().unwrap_or(0),
        idle_cpus: CpuBits::all(cpus.len()),
        crowded: CpuBits::none(cpus.len()),
        idle_search: cpus.len(),
        cpus,
        domains,
        governed_by_tasks,
        timers,
        fair_waiting: 0,
        overloaded: false,
        slice_timer: kernel.rules.has(KernelRule::SliceByTimer)
            && !kernel.rules.has(KernelRule::Cfs)
            && platform.architecture == Some(Architecture::X86_64),
        readings: platform.clock_readings,
        paths: platform.paths,
        interrupts: platform.cpus.iter().map(|_| TimerInterrupt::none()).collect(),
        interrupted: 0,
        question: platform.question_cycles,
        simple_calls: false,
        idle_before_samples: 0,
        sampler_wake: platform.sampler.wake_cycles,
        tick_reading: platform.tick_reading,
        tick_spread: platform.tick_spread,
        round_spread: platform.round_spread,
        tick_begins: false,
        begins_after: 0,
        round: None,
        tick_wakes_cpu: false,
        balancer_latency: platform.balancer_latency.0,
        caller: None,
        pending: Vec::with_capacity(4 * (platform.cpus.len() + tasks.len())),
        tasks,
        cgroups,
        seed: setup.seed,
        tick,
        tick_phase: phase,
        stat_period,
        stat_at: if counts { first_stat } else { u64::MAX },
        slice: kernel.slice.0.max(1),
        idle_tick: kernel.idle_tick,
        energy_aware: kernel.energy_aware
            && kernel.capacity_aware
            && !capacities_equal
            && heeds_energy,
        urgent_moves,
        uclamp_used,
        uclamp_built: kernel.uclamp,
        placement: setup.placement,
        features: kernel.features,
        rules: kernel.rules,
        ramped,
        controller: setup.controller,
        controller_called: None,
        hints: hints::in_order(setup.hints),
        prescriptions,
        care_is_prescribed: !setup.prescribed.care.is_empty(),
        decay_at: before.map_or(0, |before| {
            super::idle_care::DECAY_PERIOD.saturating_sub(before.looked_after.0)
        }),
        idle_blocked: before.is_some_and(|before| before.left.iter().any(|left| left.util_avg > 0)),
        idle_came: false,
        kick_at: 0,
        fair_server: kernel.version.is_some(),
        base_power: platform.base_power_mw,
        nanowatts: 0,
        temperature_at: if platform.thermal.is_some() { TEMPERATURE_PERIOD } else { u64::MAX },
        temperature: platform.thermal.map(Temperature::new),
        throttled: 0,
        leaping: false,
        leap_energy: 0.0,
    };
    let prescribed = |d: usize| setup.prescribed.frequencies.get(d)?.first().map(|&(_, khz)| khz);
    let initial = setup.initial.iter().enumerate().map(|(d, &initial)| prescribed(d).or(initial));
    let initial: Vec<_> = initial.collect();
    start(&mut machine, &platform, &kernel, &initial, setup.poll_phase.0);
    // Births at time 0 are later than what holds from then on.
    machine.do_prescribed(&mut crate::observe::Blind);
    if setup.before.is_some() {
        (0..machine.domains.len()).for_each(|d| has_sampled(&mut machine, d));
    }
    machine.simple_calls = machine.cannot_leap().is_none();
    machine
}

/// Frequencies, governors, idle CPUs, first ticks.
fn start(
    machine: &mut Machine,
    platform: &Platform,
    kernel: &Kernel,
    initial: &[Option<KiloHertz>],
    poll_phase: u64,
) {
    for (d, initial) in initial.iter().enumerate() {
        let domain = &mut machine.domains[d];
        let lowest = domain.opps.resolve(domain.min, domain.min, domain.max, Relation::L);
        let at = domain.opps.index_of(initial.unwrap_or(lowest)).unwrap_or(0);
        place_at(machine, d, at);
        machine.cap_capacities(d);
        let view = rule::domain(platform, &platform.domains[d], kernel, machine.uclamp_used);
        start_governor(machine, d, view, initial.is_none(), poll_phase);
        machine.requeue_domain(d);
    }
    for c in 0..machine.cpus.len() {
        if machine.idle_tick == IdleTick::Continues {
            machine.cpus[c].tick_at = machine.next_tick();
        }
        machine.enter_idle(c, &mut crate::observe::Blind);
    }
    machine.requeue_timers();
    machine.requeue_periodic();
}

/// Puts a domain at an operating point before time begins.
fn place_at(machine: &mut Machine, d: usize, at: usize) {
    let domain = &mut machine.domains[d];
    domain.be_at(at);
    domain.wanted = (domain.points[at].frequency, Relation::H);
    for &c in &domain.cpus {
        machine.cpus[c].be_at(at);
    }
    if domain.frequency_invariant {
        let scale = frequency_scale(domain.points[at].frequency.0, domain.opps.max().0);
        for &c in &domain.cpus {
            machine.cpus[c].frequency_scale = scale;
        }
    }
}

/// Hands the domain to its governor. `free`: what it asks for at the start holds at once, and it
/// sees an idle machine before time begins.
fn start_governor(
    machine: &mut Machine,
    d: usize,
    view: flyball_governors::Domain,
    free: bool,
    poll_phase: u64,
) {
    if machine.domains[d].control != FrequencyControl::Software {
        return;
    }
    let domain = &mut machine.domains[d];
    let current = domain.points[domain.point].frequency;
    let view = view.min(domain.min).max(domain.max).current(current);
    let writer = domain.cpus[0];
    let mut decision = domain.governor.start(&view, since_boot(0));
    if domain.needs.poll && poll_phase > 0 {
        decision.wake_at = decision.wake_at.map(|_| since_boot(poll_phase));
    }
    // A first look at time 0 is allowed here, and only here.
    let first = decision.wake_at.take();
    machine.apply(d, &decision, writer);
    machine.domains[d].wake_at = first.map_or(u64::MAX, of_simulation);
    if free && let Some(change) = machine.domains[d].change.take() {
        place_at(machine, d, change.to);
        let domain = &mut machine.domains[d];
        let frequency = domain.points[change.to].frequency;
        let decision = domain.governor.on(&Event::Applied { frequency }, since_boot(0));
        for &c in &machine.domains[d].cpus {
            machine.cpus[c].frozen_until = 0;
        }
        machine.apply(d, &decision, writer);
        machine.domains[d].level_changed = None;
    }
}

/// A sampler has last looked long ago, and does so when the scheduler next calls.
fn has_sampled(machine: &mut Machine, d: usize) {
    if !machine.waits_for_calls(d) {
        return;
    }
    machine.idle_before_samples = SAMPLED_BEFORE;
    let domain = &mut machine.domains[d];
    let event = Event::Poll { times: Cow::Borrowed(&domain.times) };
    let then = Nanos(since_boot(0).0 - SAMPLED_BEFORE);
    // Nobody was busy: there is nothing to change.
    let _ = domain.governor.on(&event, then);
    domain.governor_wakeups = 1;
    domain.deferred = true;
    domain.wake_at = u64::MAX;
    machine.requeue_domain(d);
}

/// How long ago samplers last looked on a machine that has been idle for long, in ns: longer than any of their periods.
const SAMPLED_BEFORE: u64 = 100_000_000;

fn domain(
    from: &ClockDomain,
    all: &[PlatformCpu],
    governor: Box<dyn Governor>,
    kernel: &Kernel,
) -> Domain {
    let software = from.control == FrequencyControl::Software;
    let needs = if software { governor.needs() } else { Needs::default() };
    let demand_at = match from.control {
        FrequencyControl::Software => u64::MAX,
        FrequencyControl::Demand { period, .. } => period.0,
    };
    let cpus: Vec<usize> = from.cpus.iter().map(|cpu| cpu.0 as usize).collect();
    let capacity = cpus.first().map_or(0, |&c| all[c].capacity.0);
    Domain {
        name: from.name.clone(),
        opps: from.opps.clone(),
        points: from.points.clone(),
        energy: EnergyPoint::of(&from.points, capacity, from.opps.max()),
        idle_states: from.idle.clone(),
        transition: from.transition.clone(),
        control: from.control,
        frequency_invariant: from.frequency_invariant,
        from_any_cpu: from.from_any_cpu,
        governor,
        needs,
        signals: vec![CpuSignals::default(); cpus.len()],
        // A CPU is on the way to few at once.
        questions: Vec::with_capacity(4 * cpus.len()),
        times: vec![CpuTimes::default(); if needs.whole_machine { all.len() } else { cpus.len() }],
        wake_at: u64::MAX,
        deferred: false,
        called: false,
        governor_task: None,
        worker_lags: Vec::new(),
        daemon: false,
        called_at: 0,
        called_late: 0,
        period_ends_at: 0,
        point: 0,
        powers: [0.0; 2],
        busy_now: 0,
        wanted: (from.opps.min(), Relation::L),
        prescribed: false,
        level_limit: u64::from(rule::rate_limit_us(from, kernel)) * 1000,
        level: None,
        level_changed: None,
        change: None,
        min: from.opps.min(),
        max: from.opps.max(),
        thermal_cap: from.points.len() - 1,
        since: 0,
        residency: vec![0; from.points.len()],
        busy: vec![0; from.points.len()],
        transitions: 0,
        governor_events: 0,
        asked: (u64::MAX, 0, 0),
        governor_wakeups: 0,
        throttled_since: None,
        demand_at,
        demand_busy: vec![0; cpus.len()],
        cpus,
    }
}

fn new_cpu(c: usize, platform: &Platform, kernel: &Kernel, idle: IdleRules) -> Cpu {
    let tick = idle.tick;
    let from = &platform.cpus[c];
    let domain = &platform.domains[from.domain];
    let multiplier = kernel.features.pelt_multiplier;
    let capacity = from.capacity.0;
    let siblings: Vec<usize> = from.siblings.iter().map(|cpu| cpu.0 as usize).collect();
    let cluster: Vec<usize> = domain.cpus.iter().map(|cpu| cpu.0 as usize).collect();
    // Cycles per nanosecond are kHz / 10^6.
    let ns_per_cycle = |khz: u64| 1e6 / (khz as f64 * from.work_per_cycle);
    Cpu {
        domain: from.domain,
        capacity,
        capacity_capped: capacity,
        fit_rule: kernel.features.migration_margin.rule(capacity, tick / 1000, multiplier),
        ns_per_cycle_now: 0.0,
        ns_per_cycle: domain.points.iter().map(|point| ns_per_cycle(point.effective.0)).collect(),
        activity: Activity::Idle(None),
        runs: cpu::Runs::default(),
        current: None,
        alone: None,
        fair: Vec::new(),
        parked: Vec::new(),
        delayed: Vec::new(),
        urgent: Vec::new(),
        timers: OwnTimers::default(),
        fair_count: 0,
        fifo_count: 0,
        dl_count: 0,
        dl_bandwidth: 0,
        fair_at: None,
        pushed_to: 0,
        weight: 0,
        min_vruntime: 0,
        clock: ClockPelt::starting_at(0, multiplier),
        clock_at: 0,
        frequency_scale: flyball_pelt::CAPACITY_SCALE,
        cfs: SchedAvg::default(),
        removed: flyball_pelt::RemovedLoad::default(),
        rt: SchedAvg::default(),
        dl: SchedAvg::default(),
        irq: SchedAvg::default(),
        waiting: QueueWaitingAvg::default(),
        util_est: QueueUtilEst::default(),
        uclamp_min: 0,
        uclamp_max: 1024,
        stale: true,
        misfit: false,
        move_at: u64::MAX,
        slice_at: u64::MAX,
        noted_capacity: capacity,
        moved_in_vain: 0,
        levels: balance::levels(c, &siblings, (&cluster, platform.cpus.len()), tick),
        siblings,
        told: Told::nothing(),
        thread_speed: from.thread_speed,
        share: 1.0,
        balance_at: 0,
        decayed: None,
        decayed_in: 0,
        is_tickless: true,
        has_blocked: false,
        server: cpu::FairServer::OFF,
        tick_at: u64::MAX,
        ticks: Vec::new(),
        tick_late: 0,
        complete_at: u64::MAX,
        awake_at: u64::MAX,
        frozen_until: 0,
        ns_per_unit: 0.0,
        progress_at: 0,
        idle_since: 0,
        got_tick: false,
        idle_calls: 0,
        idle_until: u64::MAX,
        interrupted_for: 0,
        tick_stopped: false,
        calls: 0,
        sleeps: Sleeps::new(&domain.idle, idle),
        new_idle: NewIdle::costing(platform.idle_balance_cost),
        iowait_count: 0,
        power: 0.0,
        nanowatts: 0,
        power_since: 0,
        totals: cpu::Totals {
            residency: vec![0; domain.idle.len()],
            entries: vec![0; domain.idle.len()],
            ..cpu::Totals::default()
        },
        sampled: CpuTimes::default(),
        kernel_timers: Vec::new(),
        wakes_for: 0,
        asked: (u64::MAX, 0),
        seen_from: 0,
        leaving: None,
    }
}

/// What ran before left something on an idle CPU. `ticks`: where in its period the first is, and the period.
fn leave(cpu: &mut Cpu, left: &Left, ticks: (u64, u64)) {
    let (load, weight) = (left.util_avg.into(), task::weight(Class::Fair { nice: 0 }));
    cpu.cfs.attach(&mut SchedAvg::new_task(load, left.util_avg), weight.into());
    cpu.clock.advance_idle(left.updated.0);
    cpu.has_blocked = left.util_avg > 0;
    if let Some(cost) = left.idle_balance_cost {
        cpu.new_idle = NewIdle::costing(cost);
    }
    cpu.new_idle.began_before(left.idle);
    cpu.new_idle.remember(&left.idle_times);
    cpu.pushed_to = left.pushed_to.map_or(cpu.pushed_to, |to| to.0 as usize);
    cpu.kernel_timers = left.timers.iter().rev().map(|at| at.0).collect();
    let (phase, tick) = ticks;
    cpu.ticks = left.ticks.iter().map(|at| at.0).collect();
    let mut late: Vec<u64> = cpu.ticks.iter().map(|at| (at + tick - phase) % tick).collect();
    late.sort_unstable();
    cpu.tick_late = late.get(late.len() / 2).copied().unwrap_or(0);
}

fn new_task(
    t: usize,
    mut from: TaskSetup,
    cgroups: &[CgroupSetup],
    platform: &Platform,
    features: &Features,
    seed: u64,
) -> Task {
    let cpus = platform.cpus.len();
    let named = |c: usize| from.allowed.iter().any(|cpu| cpu.0 as usize == c);
    let allowed: Vec<bool> = (0..cpus).map(|c| from.allowed.is_empty() || named(c)).collect();
    let (own, _) = from.clamps(cgroups);
    let ramped = from.clamp_ramp.map(|ramp| Box::new(Ramped::new(ramp, own)));
    if let (Class::Fifo { .. }, 0) = (from.class, from.uclamp_min) {
        // `sched_util_clamp_min_rt_default`; it counts only where uclamp is in use.
        from.uclamp_min = 1024;
    }
    let (uclamp_min, uclamp_max) = from.clamps(cgroups);
    Task {
        cgroup: from.cgroup,
        uclamp_min,
        uclamp_max,
        multiplier: from.rampup_multiplier.unwrap_or(features.default_rampup_multiplier),
        ramped,
        creator: from.creator,
        initial_util: from.initial_util,
        util_est: flyball_pelt::UtilEst::from_raw(from.initial_util_est),
        random: random_stream(seed, t),
        timer: from.start.0,
        ..blank(from.name, from.class, allowed, Program::Behavior(from.behavior))
    }
}

/// A task that was not created yet.
fn blank(name: String, class: Class, allowed: Vec<bool>, program: Program) -> Task {
    let running_on = vec![0; allowed.len()];
    let allowed = Allowed::new(allowed);
    let pinned = allowed.only_one();
    Task {
        name,
        class,
        rank: task::rank(class),
        own_weight: task::weight(class),
        weight: task::weight(class),
        cgroup: None,
        parked_at: 0,
        pinned,
        uclamp_min: 0,
        uclamp_max: 1024,
        multiplier: 1,
        ramped: None,
        budget: Budget::of(class),
        creator: Creator::Nobody,
        initial_util: None,
        program,
        random: Xoshiro256PlusPlus::seed_from_u64(0),
        state: State::Unborn,
        since: 0,
        cpu: pinned.unwrap_or(0),
        recent: None,
        segment: None,
        way_out: WayOut::default(),
        wake_pending: false,
        arriving: Arriving::default(),
        in_iowait: false,
        timer: u64::MAX,
        interrupt: None,
        announced: true,
        avg: SchedAvg::default(),
        attached: false,
        util_est: flyball_pelt::UtilEst::default(),
        waiting: flyball_pelt::WaitingAvg::default(),
        util_at_dequeue: 0,
        exec_start: 0,
        ungrown: 0,
        ran: 0,
        vruntime: 0,
        deadline: 0,
        lag: 0,
        delayed: false,
        protected: false,
        totals: task::Totals { running_on, ..task::Totals::default() },
        allowed,
    }
}

/// A task per polling governor that costs something: it sleeps until its governor's next poll.
fn add_governor_tasks(
    domains: &mut [Domain],
    tasks: &mut Vec<Task>,
    cost: GovernorCost,
    platform: &Platform,
) {
    for (d, domain) in domains.iter_mut().enumerate().filter(|(_, domain)| domain.needs.poll) {
        domain.daemon = cost.cycles_per_poll > 0;
        let sampler = platform.domains[d].measured_sampler.unwrap_or(platform.sampler);
        let (cycles, cpu) = match domain.daemon {
            true => (cost.cycles_per_poll, cost.cpu.0 as usize),
            false if domain.needs.deferrable => (sampler.cycles, domain.cpus[0]),
            false => continue,
        };
        if cycles == 0 {
            continue;
        }
        let name = format!("{}:{}", domain.governor.name(), domain.name);
        let allowed = (0..platform.cpus.len()).map(|c| c == cpu).collect();
        let sampler = match domain.daemon {
            true => SamplerCost { cycles, ..SamplerCost::default() },
            false => sampler,
        };
        let until = sampler.decision_cycles.unwrap_or(cycles).min(cycles);
        let program = Program::Governor {
            domain: d,
            cycles: until,
            rest: cycles - until,
            change: sampler.change_cycles,
            at: Decision::Due,
        };
        domain.governor_task = Some(tasks.len());
        domain.worker_lags = vec![0; domain.cpus.len()];
        let initial_util = Some(0);
        let class = Class::Fair { nice: 0 };
        let state = State::Sleeping;
        tasks.push(Task { initial_util, state, ..blank(name, class, allowed, program) });
    }
}
