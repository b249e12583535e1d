//! x86-64: the time stamp counter and `imul`.
#![expect(unsafe_code, reason = "inline assembly: a counter and a chain no compiler may fold")]

use std::arch::asm;

/// The time stamp counter. `lfence` on both sides keeps the reading between the work before and
/// the work after it (Intel SDM 17.17: RDTSC is not serialising; AMD: `lfence` is dispatch
/// serialising under Linux).
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: `lfence` and `rdtsc` touch no memory; Linux leaves RDTSC allowed in user mode unless
    // a program asks for SIGSEGV with PR_SET_TSC, which this one never does.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let ticks = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        ticks
    }
}

/// The counter's rate as the processor declares it: never here, since the TSC's is to be measured.
pub fn nominal_counter_hz() -> Option<u64> {
    None
}

/// Executes `multiplies` dependent 64-bit multiplications (rounded up to whole rounds of
/// [`CHAIN_ROUND`](super::CHAIN_ROUND)), 3 cycles each on current cores, and returns the product:
/// 3 to the power of their number plus one, modulo 2^64.
///
/// Multiplications, since recent cores fold chains of additions of constants.
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
            "imul {value}, {factor}",
            ".endr",
            "dec {rounds}",
            "jnz 2b",
            value = inout(reg) value,
            factor = in(reg) 3u64,
            rounds = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    value
}
