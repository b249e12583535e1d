//! The ACPI table that gives QEMU's x86 CPUs the P-states that `acpi-cpufreq` looks for.
//!
//! All policies share one 32-bit I/O port that no device answers: the kernel writes
//! `policy * 256 + P-state` there, and the plugin sees it. The driver never reads it back.

use super::aml;
use crate::machine::{Machine, Policy, State};

/// The port: above the range of the PC's own devices, below that of PCI devices.
pub const PORT: u16 = 0x0F00;

/// Any CPU of a domain may switch it (ACPI 6.5, 8.4.5.5: SW_ANY).
const SW_ANY: u32 = 0xFD;

/// What is written to [`PORT`] for a P-state.
pub fn control(policy: usize, state: usize) -> u32 {
    (policy as u32) << 8 | state as u32
}

/// The table.
pub fn table(machine: &Machine) -> Vec<u8> {
    let scopes = (0..machine.cpus as u32).filter_map(|cpu| {
        let (number, policy) = machine.policy(cpu)?;
        Some(scope(cpu, number, policy))
    });
    aml::ssdt(&scopes.collect::<Vec<_>>())
}

fn scope(cpu: u32, number: usize, policy: &Policy) -> Vec<u8> {
    let processor = format!("C{cpu:03X}");
    let register = aml::io_register(PORT, 32, 3);
    let us = u32::try_from(policy.latency.0.div_ceil(1000)).unwrap_or(u32::MAX);
    let state = |(state, of): (usize, &State)| {
        // frequency (MHz), power (mW), latency (us), bus master latency (us), control, status
        let control = control(number, state);
        let figures = [of.mhz, of.power_mw.round() as u32, us, us, control, control];
        aml::package(&figures.map(aml::integer))
    };
    let states: Vec<_> = policy.states.iter().enumerate().map(state).collect();
    let dependency = [5, 0, number as u32, SW_ANY, policy.cpus.len() as u32].map(aml::integer);
    aml::scope(
        &aml::path(&["_SB", "CPUS", &processor]),
        &[
            aml::name("_PCT", &aml::package(&[register.clone(), register])),
            aml::name("_PSS", &aml::package(&states)),
            aml::method_returning("_PPC", &aml::integer(0)),
            aml::name("_PSD", &aml::package(&[aml::package(&dependency)])),
        ],
    )
}
