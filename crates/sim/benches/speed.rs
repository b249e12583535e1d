//! How many seconds a machine simulates per second of one core.
//!
//! Measures CPU time, not wall time, where the system tells it: what else runs on a shared machine
//! does not count.

#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench stops at a broken setup")]

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flyball_platform::{Kernel, Platform};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::engine::Machine;
use flyball_sim::setup::{
    Class, Controller, Creator, GovernorCost, Placement, Prescribed, Setup, TaskSetup,
};
use flyball_units::{CpuId, Nanos};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;
use std::time::Duration;

/// Time that this thread executed (the first number of `schedstat`, in ns; the kernel brings it up
/// to date at its ticks).
struct CpuTime;

impl CpuTime {
    fn now() -> Duration {
        #[allow(clippy::disallowed_methods, reason = "a bench has no recorded machine")]
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
    }
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        CpuTime::now()
    }
    fn end(&self, start: Duration) -> Duration {
        // Shorter than a tick it may seem nothing, which no statistics bear.
        (CpuTime::now() - start).max(Duration::from_nanos(1))
    }
    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }
    fn zero(&self) -> Duration {
        Duration::ZERO
    }
    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

struct Spin;

impl Behavior for Spin {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        Step::Run(Work::FOREVER)
    }
}

struct Periodic {
    period: u64,
    cycles: u64,
    released: u64,
    sleeps: bool,
}

impl Behavior for Periodic {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.sleeps = !self.sleeps;
        if self.sleeps {
            self.released += self.period;
            Step::SleepUntil(Nanos(self.released))
        } else {
            Step::Run(Work { cycles: self.cycles, memory: Nanos::ZERO })
        }
    }
}

fn task(allowed: Vec<CpuId>, behavior: Box<dyn Behavior>) -> TaskSetup {
    TaskSetup {
        name: "task".to_owned(),
        class: Class::Fair { nice: 0 },
        allowed,
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start: Nanos::ZERO,
        creator: Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior,
    }
}

/// The platform with `tasks` under schedutil.
fn setup(platform: Platform, tasks: Vec<TaskSetup>) -> Setup {
    let domains = platform.domains.len();
    Setup {
        governors: (0..domains).map(|_| flyball_governors::create("schedutil").unwrap()).collect(),
        kernel: Kernel::named("linux-6.12").unwrap(),
        platform,
        governor_cost: GovernorCost::default(),
        tasks,
        cgroups: Vec::new(),
        hints: Vec::new(),
        placement: Placement::CapacityAware,
        before: None,
        tick_phase: Nanos(300_000),
        poll_phase: Nanos::ZERO,
        prescribed: Prescribed::default(),
        controller: Controller::default(),
        limits: vec![None; domains],
        initial: vec![None; domains],
        duration: Nanos::from_secs(1_000_000),
        seed: 1,
    }
}

/// One large CPU of an M1 that is always busy.
fn one_busy() -> Machine {
    let mut setup =
        setup(Platform::named("apple-m1").unwrap(), vec![task(vec![CpuId(4)], Box::new(Spin))]);
    setup.kernel.hz = 1000;
    Machine::new(setup).unwrap()
}

/// Tasks with periods of 10 to 16 ms, each busy for some `cycles`.
fn periodic(count: u64, cycles: u64) -> Vec<TaskSetup> {
    let periodic = |n: u64| {
        let period = 10_000_000 + n % 16 * 400_000;
        task(Vec::new(), Box::new(Periodic { period, cycles, released: 0, sleeps: true }))
    };
    (0..count).map(periodic).collect()
}

/// The M1 with 8 CPUs and 16 tasks, each busy for 2 ms at 1 GHz.
fn m1_with_16_tasks() -> Machine {
    let platform = Platform::named("apple-m1").unwrap();
    Machine::new(setup(platform, periodic(16, 2_000_000))).unwrap()
}

/// 128 CPUs with a clock each, and 1000 tasks that keep them busy for half of the time.
fn server_with_1000_tasks() -> Machine {
    let mut platform = Platform::named("board-x86").unwrap();
    let (cpu, domain) = (platform.cpus.remove(0), platform.domains.remove(0));
    for c in 0..128 {
        let mut own = domain.clone();
        (own.name, own.cpus) = (format!("cpu{c}"), vec![CpuId(c)]);
        platform.domains.push(own);
    }
    let numbered = |c| flyball_platform::Cpu { id: CpuId(c), domain: c as usize, ..cpu.clone() };
    platform.cpus = (0..128).map(numbered).collect();
    let cycles = platform.domains[0].opps.max().0 * 13 / 2 / 8;
    Machine::new(setup(platform, periodic(1000, cycles))).unwrap()
}

fn speed(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("simulated seconds");
    for (name, make, seconds) in [
        ("M1, one busy CPU, HZ=1000, schedutil", one_busy as fn() -> Machine, 2000),
        ("M1, 8 CPUs, 16 periodic tasks, schedutil", m1_with_16_tasks, 100),
        ("128 CPUs, 1000 periodic tasks, schedutil", server_with_1000_tasks, 1),
    ] {
        group.throughput(Throughput::Elements(seconds));
        let mut machine = make();
        machine.run_unseen(Nanos::from_secs(5));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let until = machine.now() + Nanos::from_secs(seconds);
                machine.run_unseen(black_box(until));
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime).sample_size(20);
    targets = speed
}
criterion_main!(benches);
