//! What the fast forms share: the layout of their samples, and one inner product.
//!
//! A window arrives sample-major, `[t][c]`. The fast forms hold it in double precision in *blocks*
//! of eight channels: within a block one [`Row`] per sample, a cache line each, so that time runs
//! along memory and channels along the vector lanes. A last block with fewer channels is filled up
//! with zeros, so no code has a remainder loop over lanes.
//!
//! Eight lanes are two AVX2 registers or four NEON ones. AVX-512 is left out on purpose: on several
//! CPU models its use lowers the clock, and this crate is there to measure what clocks do.

use pulp::Simd;

/// Channels per block.
pub(crate) const LANES: usize = 8;
/// Outputs that [`product`] computes at once: 6 outputs of 2 registers each, with 2 registers of
/// samples and 1 of coefficients, are the 15 of 16 that AVX2 has.
pub(crate) const TILE: usize = 6;
/// Bits of single precision: the sign, and infinity, above which lies all that is not finite.
const SIGN: u32 = 1 << 31;
const INFINITY: u32 = f32::INFINITY.to_bits();

/// One sample of eight channels, or any eight numbers that belong to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Row(pub [f64; LANES]);

impl Row {
    /// No samples.
    pub(crate) const ZERO: Row = Row([0.0; LANES]);

    /// The sum, lane by lane.
    #[inline(always)]
    pub(crate) fn plus(self, other: Row) -> Row {
        Row(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    /// The difference, lane by lane.
    #[inline(always)]
    pub(crate) fn minus(self, other: Row) -> Row {
        Row(std::array::from_fn(|lane| self.0[lane] - other.0[lane]))
    }

    /// Every lane times the same number.
    #[inline(always)]
    pub(crate) fn times(self, factor: f64) -> Row {
        Row(self.0.map(|value| value * factor))
    }

    /// Rounds to single precision; a shorter target takes the first lanes.
    #[inline(always)]
    pub(crate) fn write_to(&self, target: &mut [f32]) {
        if let Ok(target) = <&mut [f32; LANES]>::try_from(&mut *target) {
            *target = self.0.map(|value| value as f32);
        } else {
            for (out, value) in target.iter_mut().zip(self.0) {
                *out = value as f32;
            }
        }
    }
}

/// How many blocks hold this many channels.
pub(crate) fn blocks(channels: usize) -> usize {
    channels.div_ceil(LANES)
}

/// Widens eight samples; what is no finite number becomes 0 and is counted in its lane.
///
/// Masks instead of conditions: the compiler turns these lines into vector code, not branches.
#[inline(always)]
pub(crate) fn widen(samples: &[f32; LANES], missing: &mut [u32; LANES]) -> Row {
    let bits = samples.map(f32::to_bits);
    let keep = bits.map(|bits| if bits & !SIGN < INFINITY { u32::MAX } else { 0 });
    for (missing, keep) in missing.iter_mut().zip(keep) {
        *missing += 1 & !keep;
    }
    Row(std::array::from_fn(|lane| f64::from(f32::from_bits(bits[lane] & keep[lane]))))
}

/// Widens up to eight samples, the rest zeros.
#[inline(always)]
pub(crate) fn widen_part(samples: &[f32], missing: &mut [u32; LANES]) -> Row {
    if let Ok(whole) = samples.try_into() {
        return widen(whole, missing);
    }
    let mut padded = [0.0; LANES];
    for (to, from) in padded.iter_mut().zip(samples) {
        *to = *from;
    }
    widen(&padded, missing)
}

/// The samples of channels `8 block` to `8 block + 7`, for each sample of a window.
#[inline(always)]
pub(crate) fn parts(window: &[f32], channels: usize, block: usize) -> impl Iterator<Item = &[f32]> {
    let first = block * LANES;
    let last = (first + LANES).min(channels);
    window.chunks_exact(channels).map(move |sample| &sample[first..last])
}

/// As [`parts`], to write to.
#[inline(always)]
pub(crate) fn parts_mut(
    output: &mut [f32],
    channels: usize,
    block: usize,
) -> impl Iterator<Item = &mut [f32]> {
    let first = block * LANES;
    let last = (first + LANES).min(channels);
    output.chunks_exact_mut(channels).map(move |sample| &mut sample[first..last])
}

/// Packs one block of a window; returns how many samples were no finite numbers.
#[inline(always)]
pub(crate) fn pack(window: &[f32], channels: usize, block: usize, rows: &mut [Row]) -> u32 {
    let mut missing = [0; LANES];
    for (row, part) in rows.iter_mut().zip(parts(window, channels, block)) {
        *row = widen_part(part, &mut missing);
    }
    missing.iter().sum()
}

/// `out[r] = sum over j of coefficients[j][r] * rows[j]`, in every lane.
///
/// Filters and spectra are this product with their own tables. Uses fused multiply-add where the
/// CPU has it, so the last bit may differ between machines.
#[inline(always)]
pub(crate) fn product<S: Simd>(
    simd: S,
    coefficients: &[[f64; TILE]],
    rows: &[Row],
    out: &mut [Row; TILE],
) {
    let registers = LANES / S::F64_LANES;
    if registers == 1 {
        product_part::<S, 1>(simd, 0, coefficients, rows, out);
        return;
    }
    for first in (0..registers).step_by(2) {
        product_part::<S, 2>(simd, first, coefficients, rows, out);
    }
}

/// [`product`] for `N` registers of each row, which stay in the register file throughout.
#[inline(always)]
fn product_part<S: Simd, const N: usize>(
    simd: S,
    first: usize,
    coefficients: &[[f64; TILE]],
    rows: &[Row],
    out: &mut [Row; TILE],
) {
    let mut sums = [[simd.splat_f64s(0.0); N]; TILE];
    for (factors, row) in coefficients.iter().zip(rows) {
        let (registers, _) = S::as_simd_f64s(&row.0);
        for (sum, &factor) in sums.iter_mut().zip(factors) {
            let factor = simd.splat_f64s(factor);
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = simd.mul_add_e_f64s(factor, registers[first + i], *sum);
            }
        }
    }
    for (row, sum) in out.iter_mut().zip(sums) {
        let (registers, _) = S::as_mut_simd_f64s(&mut row.0);
        registers[first..first + N].copy_from_slice(&sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, Scalar, WithSimd};

    struct Product<'a>(&'a [[f64; TILE]], &'a [Row]);

    impl WithSimd for Product<'_> {
        type Output = [Row; TILE];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [Row; TILE] {
            let mut out = [Row::ZERO; TILE];
            product(simd, self.0, self.1, &mut out);
            out
        }
    }

    #[test]
    fn product_is_the_sum_of_products_on_every_architecture() {
        let coefficients: Vec<[f64; TILE]> =
            (0..5).map(|j| std::array::from_fn(|r| (j * 7 + r) as f64)).collect();
        let rows: Vec<Row> =
            (0..5).map(|j| Row(std::array::from_fn(|lane| (j + 3 * lane) as f64))).collect();
        // Small whole numbers: exact in any order, with or without fused operations.
        let want: [Row; TILE] = std::array::from_fn(|r| {
            Row(std::array::from_fn(|lane| {
                (0..5).map(|j| coefficients[j][r] * rows[j].0[lane]).sum()
            }))
        });
        assert_eq!(Product(&coefficients, &rows).with_simd(Scalar), want);
        assert_eq!(Arch::new().dispatch(Product(&coefficients, &rows)), want);
    }

    #[test]
    fn packing_pads_counts_and_cuts() {
        let window: Vec<f32> = (0..20).map(|i| if i == 19 { f32::NAN } else { i as f32 }).collect();
        let mut rows = [Row([9.0; LANES]); 2];
        assert_eq!(pack(&window, 10, 1, &mut rows), 1);
        assert_eq!(rows[0].0, [8.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rows[1].0, [18.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((blocks(10), blocks(8), blocks(1)), (2, 1, 1));
        let mut out = [0.0_f32; 3];
        rows[0].write_to(&mut out);
        assert_eq!(out, [8.0, 9.0, 0.0]);
    }
}
