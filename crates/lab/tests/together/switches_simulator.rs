//! The model of a clock domain beside the simulated machine: the same schedule, the same work done.
#![allow(missing_docs, clippy::unwrap_used)]

use flyball_lab::protocol::switches::device::Device;
use flyball_lab::protocol::switches::model::Model;
use flyball_platform::Platform;
use flyball_sim::engine::Machine;
use flyball_sim::observe::Observer;
use flyball_sim::scenario::{Source, read};
use flyball_units::{KiloHertz, Nanos};

struct Silent;

impl Observer for Silent {}

const SECONDS: u64 = 2;

fn simulated(platform: &str, levels: (u64, u64), window_us: u64) -> f64 {
    let text = format!(
        "platform = \"{platform}\"\nkernel = \"linux-6.12\"\nduration = \"{SECONDS}s\"\nphases = 1\n\
         [governor]\nname = \"windowed\"\nfirst_khz = {}\nsecond_khz = {}\nwindow_us = {window_us}\n\
         [[task]]\nkind = \"spin\"\ncpus = \"0\"\n",
        levels.0, levels.1
    );
    let scenario = read(&text, Source::text_only("test", "test")).unwrap();
    let mut machine = Machine::new(scenario.setup(0).setup).unwrap();
    machine.run(&mut Silent);
    // Work is counted in cycles of the reference core.
    machine.finish().tasks[0].cycles / Platform::named(platform).unwrap().cpus[0].work_per_cycle
}

fn modelled(platform: &str, levels: (u64, u64), window_us: u64) -> f64 {
    let platform = Platform::named(platform).unwrap();
    let mut model = Model::new(&platform.domains[0]).unwrap();
    model.set(KiloHertz(levels.0)).unwrap();
    let (end, window) = (SECONDS * 1_000_000_000, window_us * 1000);
    let mut cycles = 0.0;
    let mut number = 0;
    while model.now() < Nanos(end) {
        number += 1;
        let until = Nanos((number * window).min(end));
        while model.now() < until {
            model.work(200);
            cycles += 200.0;
        }
        model.set(KiloHertz(if number % 2 == 0 { levels.0 } else { levels.1 })).unwrap();
    }
    cycles
}

#[test]
fn both_do_the_same_work_under_a_schedule() {
    for (platform, levels, window_us) in [
        ("imx8qm", (600_000, 1_200_000), 1000),
        ("imx8qm", (896_000, 1_104_000), 500),
        ("laptop-x86", (400_000, 2_400_000), 1700),
        ("zen2", (1_500_000, 2_500_000), 3300),
        ("pentium-m", (600_000, 1_700_000), 10_000),
    ] {
        let (sim, model) =
            (simulated(platform, levels, window_us), modelled(platform, levels, window_us));
        assert!((model / sim - 1.0).abs() < 0.005, "{platform}: simulated {sim}, modelled {model}");
    }
}
