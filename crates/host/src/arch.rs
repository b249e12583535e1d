//! What the processor gives without asking anybody: a free-running counter, and a chain of
//! multiplications whose length in cycles is known.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{counter, multiply_chain, nominal_counter_hz};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{counter, multiply_chain, nominal_counter_hz};

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub use other::{counter, multiply_chain, nominal_counter_hz};

#[cfg(all(target_os = "linux", not(any(target_arch = "aarch64", target_arch = "x86_64"))))]
compile_error!("flyball-host knows the counters of x86_64 and aarch64 only");

/// Multiplications in one round of [`multiply_chain`]; any count is rounded up to whole rounds.
/// Thirty-two keep the loop's own add-and-branch, which runs beside the chain, off the critical
/// path on every core that can start two instructions per cycle.
pub const CHAIN_ROUND: u64 = 32;

/// Instructions that one round of [`multiply_chain`] executes: its multiplications, and the loop's
/// own subtraction and branch. An emulator that counts instructions turns them into time.
pub const CHAIN_ROUND_INSTRUCTIONS: u64 = CHAIN_ROUND + 2;

/// The latency of one dependent 64-bit multiplication, in cycles, where it is the same on all
/// current cores of the architecture: 3 on x86 (Intel since Nehalem, AMD since Zen; AMD's older
/// K10 and Bulldozer need 4 to 6). Arm's cores differ, 2 to 5, so there is no figure: calibrate
/// against a known frequency, or say "assumed".
pub const MULTIPLY_CYCLES: Option<f64> =
    if cfg!(target_arch = "x86_64") { Some(3.0) } else { None };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_does_not_run_backwards_on_one_cpu() {
        let first = counter();
        let value = multiply_chain(10_000);
        let second = counter();
        assert!(second >= first);
        assert_eq!(value, multiply_chain(10_000), "the chain is pure");
    }

    #[test]
    fn chain_multiplies_as_often_as_told() {
        // x -> 3x from 3: after n steps 3^(n+1), modulo 2^64.
        for rounds in [1u64, 2, 7] {
            let multiplies = rounds * CHAIN_ROUND;
            let expected = 3u64.wrapping_pow(multiplies as u32 + 1);
            assert_eq!(multiply_chain(multiplies), expected);
        }
        assert_eq!(multiply_chain(1), multiply_chain(CHAIN_ROUND), "rounded up to a round");
        assert_eq!(multiply_chain(0), multiply_chain(CHAIN_ROUND), "at least one round");
    }
}
