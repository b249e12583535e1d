//! Text of a boot for people.

use crate::guest::{Options, Outcome};
use crate::qemu::Qemu;
use flyball_units::Nanos;

/// Share of the busiest CPU's time for which the clock may have gone on without its work.
const FORCED_SHARE: f64 = 0.02;

/// The machine that is booted, and where it is unlike its platform, a line each.
pub fn machine(options: &Options, qemu: &Qemu) -> Vec<String> {
    let mut lines = Vec::new();
    let machine = &options.machine;
    lines.push(format!(
        "{} on {}: {} CPUs, QEMU {}, kernel {}",
        machine.name,
        machine.arch,
        machine.cpus,
        qemu.version,
        options.kernel.image.display()
    ));
    for policy in &machine.policies {
        lines.push(format!(
            "policy{} ({}): {:.0} million instructions per second at the top, {} P-states",
            policy.first(),
            policy.name,
            policy.top_mips(),
            policy.states.len()
        ));
    }
    lines.push(format!("all CPUs at the top: {:.0} million", machine.budget_mips()));
    if options.kernel.config.is_none() {
        lines.push("the kernel's configuration is not known and was not checked".to_owned());
    }
    for difference in &machine.differences {
        lines.push(format!("unlike the platform: {difference}"));
    }
    lines
}

/// What the user should know of a run that went well otherwise, a line each.
pub fn remarks(outcome: &Outcome, full_speed: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for note in &outcome.notes {
        lines.push(format!("note: {note}"));
    }
    if full_speed {
        return lines;
    }
    let (clock, took) = (outcome.account.clock, outcome.account.cpus.iter().map(|cpu| cpu.took()));
    let busy = took.max().unwrap_or(Nanos::ZERO);
    if !clock.holds() {
        lines.push(
            "note: the board's clock is this computer's: what others take from a CPU is lost to it"
                .to_owned(),
        );
    } else if clock.forced.as_secs_f64() > FORCED_SHARE * busy.as_secs_f64() {
        lines.push(format!(
            "note: the board's clock went on for {:.2} s while somebody had work to do: this computer \
             stood still; times of this run are not to be trusted",
            clock.forced.as_secs_f64()
        ));
    }
    for (cpu, of) in outcome.account.cpus.iter().enumerate().filter(|(_, of)| of.fell_behind()) {
        lines.push(format!(
            "note: the host could not keep up: cpu{cpu} lost {:.2} s of {:.2} s ({:.0} %); its speed \
             in this run is not to be trusted",
            of.late.as_secs_f64(),
            of.took().as_secs_f64(),
            100.0 * of.late_share()
        ));
    }
    lines
}
