//! An architecture without a counter that is known here: nothing is measured on it, models run.

/// No counter.
pub fn counter() -> u64 {
    0
}

/// No rate.
pub fn nominal_counter_hz() -> Option<u64> {
    None
}

/// The product of [`multiply_chain`](super::multiply_chain) elsewhere, at no known speed.
pub fn multiply_chain(multiplies: u64) -> u64 {
    let rounds = multiplies.div_ceil(super::CHAIN_ROUND).max(1);
    (0..rounds * super::CHAIN_ROUND).fold(3, |value: u64, _| value.wrapping_mul(3))
}
