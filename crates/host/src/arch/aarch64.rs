//! AArch64: the virtual counter and `mul`.
#![expect(unsafe_code, reason = "inline assembly: a counter and a chain no compiler may fold")]

use std::arch::asm;

/// The virtual counter, CNTVCT_EL0. `isb` on both sides keeps the reading between the work before
/// and the work after it (Arm ARM, D12.1: reads of the counter may be speculative). Often 24 MHz,
/// 42 ns per tick; 1 GHz from Armv8.6 on.
#[inline(always)]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux opens to user mode (its vDSO needs it).
    unsafe {
        asm!("isb", "mrs {ticks}, cntvct_el0", "isb", ticks = out(reg) ticks,
            options(nostack, preserves_flags));
    }
    ticks
}

/// The counter's rate as the firmware declares it, CNTFRQ_EL0.
pub fn nominal_counter_hz() -> Option<u64> {
    let hz: u64;
    // SAFETY: reads a register that is always open to user mode when CNTVCT_EL0 is.
    unsafe {
        asm!("mrs {hz}, cntfrq_el0", hz = out(reg) hz, options(nomem, nostack, preserves_flags));
    }
    (hz != 0).then_some(hz)
}

/// Executes `multiplies` dependent 64-bit multiplications (rounded up to whole rounds of
/// [`CHAIN_ROUND`](super::CHAIN_ROUND)), 2 to 5 cycles each by core, and returns the product:
/// 3 to the power of their number plus one, modulo 2^64.
#[inline(always)]
pub fn multiply_chain(multiplies: u64) -> u64 {
    let rounds = multiplies.div_ceil(super::CHAIN_ROUND).max(1);
    let mut value = 3u64;
    // SAFETY: registers only; `rounds` is at least 1, so the loop ends.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            ".rept 32",
            "mul {value}, {value}, {factor}",
            ".endr",
            "subs {rounds}, {rounds}, #1",
            "b.ne 2b",
            value = inout(reg) value,
            factor = in(reg) 3u64,
            rounds = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    value
}
