//! The memory behind the arm64 board's performance controller: what
//! `drivers/cpufreq/mediatek-cpufreq-hw.c` reads when it starts. It is the one mainline cpufreq
//! driver that needs no more than memory: a table of operating points, and a word to write the
//! wanted row to, which the plugin sees.

use crate::machine::{Machine, Policy};

/// Bytes of one policy's registers.
pub const PAGE: usize = 0x1000;
/// Bytes kept for all of them, at the end of the guest's memory.
pub const RESERVED: u64 = 0x10_0000;
/// Where the `virt` machine's memory begins.
pub const RAM_BASE: u64 = 0x4000_0000;

const ROWS: usize = 32; // a repeated frequency ends the table
const FREQUENCY: usize = 0x000; // MHz, 12 bits a row
const POWER: usize = 0x090; // microwatts
const HW_STATE: usize = 0x08C;
const HW_READY: u32 = 3;
const LATENCY: usize = 0x110; // microseconds

/// The guest-physical address of the first policy's registers, with `memory` bytes of RAM.
pub fn address(memory: u64) -> u64 {
    RAM_BASE + memory.saturating_sub(RESERVED)
}

/// The contents of all pages.
pub fn pages(machine: &Machine) -> Vec<u8> {
    machine.policies.iter().flat_map(page).collect()
}

fn page(policy: &Policy) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    let mut put = |offset: usize, value: u32| {
        if let Some(word) = page.get_mut(offset..offset + 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    };
    for row in 0..ROWS {
        let Some(state) = policy.states.get(row).or(policy.states.last()) else { break };
        put(FREQUENCY + 4 * row, state.mhz);
        put(POWER + 4 * row, (state.power_mw * 1000.0).round() as u32);
    }
    put(HW_STATE, HW_READY);
    put(LATENCY, u32::try_from(policy.latency.0.div_ceil(1000)).unwrap_or(u32::MAX));
    page
}
