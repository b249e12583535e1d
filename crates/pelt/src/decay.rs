//! Geometric decay, y^32 = 1/2, in fixed point.

/// Length of a period, in units of 1024 ns: 1.048576 ms.
pub const PERIOD: u32 = 1024;

/// Largest sum that a signal which is always on reaches: the integer limit of the sum of
/// 1024 * y^n over all periods.
pub const LOAD_AVG_MAX: u32 = 47742;

/// The part of [`LOAD_AVG_MAX`] that does not belong to the running period: what a sum is divided
/// by at the start of a period.
pub const MIN_DIVIDER: u32 = LOAD_AVG_MAX - PERIOD;

/// Periods after which nothing is left (63 half-lives).
const FORGOTTEN: u64 = 2016;

/// y^k for k = 0 to 31, as a fraction of 2^32.
const INVERSE: [u32; 32] = [
    0xffff_ffff,
    0xfa83_b2da,
    0xf525_7d14,
    0xefe4_b99a,
    0xeac0_c6e6,
    0xe5b9_06e6,
    0xe0cc_deeb,
    0xdbfb_b796,
    0xd744_fcc9,
    0xd2a8_1d91,
    0xce24_8c14,
    0xc9b9_bd85,
    0xc567_2a10,
    0xc12c_4cc9,
    0xbd08_a39e,
    0xb8fb_af46,
    0xb504_f333,
    0xb123_f581,
    0xad58_3ee9,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4302,
    0x9ef5_325f,
    0x9b8d_39b9,
    0x9837_f050,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398a,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
];

/// The same as a fraction of 2^64, of which the upper half of a product is the result.
static FACTOR: [u64; 32] = {
    let mut table = [0; 32];
    let mut k = 0;
    while k < 32 {
        table[k] = (INVERSE[k] as u64) << 32;
        k += 1;
    }
    table
};

/// What is left of `value` after `periods` periods.
///
/// The fixed-point product is used as it is: no period at all takes 1 from any value of 1 to
/// 2^32, and more from larger ones.
#[inline]
#[must_use]
pub const fn decay(value: u64, periods: u64) -> u64 {
    Fading::over(periods).left_of(value)
}

/// What periods leave of any value.
#[derive(Clone, Copy)]
pub(crate) struct Fading {
    halvings: u32,
    factor: u64,
}

impl Fading {
    #[inline]
    pub(crate) const fn over(periods: u64) -> Fading {
        if periods > FORGOTTEN {
            return Fading { halvings: 0, factor: 0 };
        }
        // `periods / 32` is at most 63 here.
        Fading { halvings: (periods / 32) as u32, factor: FACTOR[(periods % 32) as usize] }
    }

    #[inline]
    pub(crate) const fn left_of(self, value: u64) -> u64 {
        (((value >> self.halvings) as u128 * self.factor as u128) >> 64) as u64
    }
}

/// Contribution of a signal that was on for the whole of a stretch of time: the rest of the period
/// in which it began (`first` units), the full periods between, and the beginning of the present
/// one (`last` units). `faded` is over the boundaries that were crossed, at least one.
///
/// ```text
///             d1                        d3
///          |<-->|<------- d2 ------->|<-->|
///   ... |--x----|--- ... ---|-------|----x (now)
///
///   d1 * y^p  +  1024 * sum(y^n, n = 1 .. p-1)  +  d3
///   and the sum is MAX - MAX * y^p - 1024
/// ```
#[inline]
pub(crate) const fn segments(faded: Fading, first: u32, last: u32) -> u32 {
    let oldest = faded.left_of(first as u64) as u32;
    let left_of_all = faded.left_of(LOAD_AVG_MAX as u64) as u32;
    let between = LOAD_AVG_MAX.wrapping_sub(left_of_all).wrapping_sub(PERIOD);
    oldest.wrapping_add(between).wrapping_add(last)
}

/// What a sum is divided by to become an average, `contrib` units into a period.
#[inline]
#[must_use]
pub const fn divider(contrib: u32) -> u32 {
    MIN_DIVIDER.wrapping_add(contrib)
}

/// `floor(2^64 / divider(c)) + 1` for every position c in a period.
static RECIPROCAL: [u64; PERIOD as usize] = {
    let mut table = [0; PERIOD as usize];
    let mut contrib = 0;
    while contrib < PERIOD {
        // No divider is a power of two, so 2^64 - 1 has the same quotient as 2^64.
        table[contrib as usize] = u64::MAX / divider(contrib) as u64 + 1;
        contrib += 1;
    }
    table
};

/// Division of sums by [`divider`], without dividing where that is exact.
///
/// With m = floor(2^64 / d) + 1 the product n * m exceeds n * 2^64 / d by n * e / d, e <= d: its
/// upper half is the exact quotient as long as n * e < 2^64, hence for all n below 2^48, as every
/// divider is below 2^16.
#[derive(Clone, Copy)]
pub(crate) struct Divider {
    reciprocal: u64,
    divider: u32,
}

impl Divider {
    #[inline]
    pub(crate) const fn new(contrib: u32) -> Divider {
        // A contribution outside the period (only a caller can put one there) divides slowly.
        let reciprocal = if contrib < PERIOD { RECIPROCAL[contrib as usize] } else { 0 };
        Divider { reciprocal, divider: divider(contrib) }
    }

    /// `sum / divider` for a sum of any size.
    #[inline]
    pub(crate) const fn divide(self, sum: u64) -> u64 {
        if sum >> 48 == 0 && self.reciprocal != 0 { self.multiply(sum) } else { self.slowly(sum) }
    }

    /// The same for each of three.
    #[inline]
    pub(crate) const fn divide_all(self, [a, b, c]: [u64; 3]) -> [u64; 3] {
        if (a | b | c) >> 48 == 0 && self.reciprocal != 0 {
            [self.multiply(a), self.multiply(b), self.multiply(c)]
        } else {
            [self.divide(a), self.divide(b), self.divide(c)]
        }
    }

    #[inline]
    const fn multiply(self, sum: u64) -> u64 {
        ((sum as u128 * self.reciprocal as u128) >> 64) as u64
    }

    #[cold]
    const fn slowly(self, sum: u64) -> u64 {
        match sum.checked_div(self.divider as u64) {
            Some(quotient) => quotient,
            None => sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_takes_one() {
        assert_eq!(decay(0, 0), 0);
        for value in [1, 2, 1024, 47742, 1 << 32] {
            assert_eq!(decay(value, 0), value - 1);
        }
        assert_eq!(decay((1 << 32) + 1, 0), (1 << 32) - 1, "larger values lose more");
        assert_eq!(decay(u64::MAX, 0), u64::MAX - (1 << 32));
    }

    #[test]
    fn whole_half_lives_take_one_more() {
        for halvings in 0..=63 {
            for value in [1_u64, 48_887_808, 1 << 32, (1 << 32) + 5, 1 << 50, u64::MAX] {
                let halved = value >> halvings;
                if halved <= 1 << 32 {
                    assert_eq!(decay(value, 32 * halvings), halved.saturating_sub(1));
                }
            }
        }
        assert_eq!(decay(u64::MAX, 2017), 0);
        assert_eq!(decay(u64::MAX, u64::MAX), 0);
    }

    #[test]
    fn the_sum_never_exceeds_its_limit() {
        for periods in 1..3000 {
            let sum = segments(Fading::over(periods), PERIOD, 0);
            assert!(sum <= LOAD_AVG_MAX, "{periods} periods: {sum}");
        }
        assert_eq!(segments(Fading::over(1), PERIOD, 0), 1002);
        assert_eq!(segments(Fading::over(2017), PERIOD, PERIOD - 1), LOAD_AVG_MAX - 1);
    }

    #[test]
    fn multiplying_divides_exactly() {
        for contrib in 0..PERIOD {
            let by = Divider::new(contrib);
            let d = u64::from(divider(contrib));
            for quotient in [0, 1, 2, 1023, 1024, (1 << 32) / d, (1 << 47) / d, ((1 << 48) - 1) / d]
            {
                let exact = quotient * d;
                for sum in [exact.saturating_sub(1), exact, exact + 1, exact + d - 1] {
                    assert_eq!(by.divide(sum), sum / d, "{sum} / {d}");
                }
            }
            assert_eq!(by.divide(u64::MAX), u64::MAX / d);
        }
    }

    #[test]
    fn a_contribution_outside_the_period_divides_too() {
        assert_eq!(Divider::new(5000).divide(1 << 20), (1 << 20) / (46718 + 5000));
        // The divider wraps to 0.
        assert_eq!(Divider::new(0_u32.wrapping_sub(MIN_DIVIDER)).divide(7), 7);
    }
}
