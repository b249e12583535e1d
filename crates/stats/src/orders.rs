//! How often chance alone shows as much: a randomisation test within blocks.
//!
//! Where a condition does nothing, the conditions of a block could have changed places and the block would
//! have measured the same. So the signs of the blocks' differences were drawn like coins, and whatever the
//! noise looks like (bursts, tails, modes), the share of all signs that show as much as the ones drawn is an
//! exact probability (Fisher 1935). What is compared is Wilcoxon's signed ranks (1945), which no single block
//! can carry; of a family the largest counts, so that one figure among many needs more.

use crate::Replicated;
use crate::rng::Rng;

/// Up to so many blocks all signs are tried; of more, so many are drawn.
const ALL_UP_TO: usize = 12;
const DRAWN: u32 = 1 << ALL_UP_TO;

/// For each contrast of a family: the share of the orders which could have been drawn in which any contrast
/// of the family differs from zero as much as this one does; in which this one does, where there are too few
/// blocks for the whole family (each contrast adds two orders that show as much as can be). None where too
/// few for one: then no share lies below `1 - level`. 1 where a block's difference is no number.
pub fn share_of_orders(family: &[&Replicated], level: f64, seed: u64) -> Option<Vec<f64>> {
    let ranks: Vec<Vec<f64>> =
        family.iter().map(|contrast| signed_ranks(&contrast.blocks)).collect();
    let blocks = ranks.iter().map(Vec::len).max().unwrap_or(0);
    let least = 2.0_f64.powi(1 - i32::try_from(blocks).unwrap_or(i32::MAX));
    let enough = |contrasts: usize| contrasts as f64 * least <= 1.0 - level;
    if !enough(1) {
        return None;
    }
    let together = enough(family.len());
    let size = |ranks: &[f64], flipped: &[bool]| {
        let signed =
            ranks.iter().zip(flipped).map(|(rank, flip)| if *flip { -rank } else { *rank });
        signed.sum::<f64>().abs()
    };
    let all = blocks <= ALL_UP_TO;
    let orders = if all { 1_u32 << blocks } else { DRAWN };
    let mut rng = Rng::of_seed(seed);
    let (mut seen, mut as_much) = (Vec::new(), vec![0_u32; family.len()]);
    for order in 0..orders {
        let flipped: Vec<bool> = (0..blocks)
            .map(|block| match all {
                true => order >> block & 1 == 1,
                // The order that was drawn is the first of them.
                false => order > 0 && rng.below(2) == 1,
            })
            .collect();
        let sizes: Vec<f64> = ranks.iter().map(|ranks| size(ranks, &flipped)).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        if order == 0 {
            seen.clone_from(&sizes);
        }
        for (at, (count, seen)) in as_much.iter_mut().zip(&seen).enumerate() {
            let own = if together { largest } else { sizes[at] };
            *count += u32::from(own >= seen - 1e-9);
        }
    }
    Some(as_much.into_iter().map(|count| f64::from(count) / f64::from(orders)).collect())
}

/// The ranks of the differences' sizes with their signs, of length one together: contrasts with and without
/// ties weigh alike. Those of equal size share a rank; none of them counts where one is no number.
fn signed_ranks(differences: &[f64]) -> Vec<f64> {
    if differences.iter().any(|difference| !difference.is_finite()) {
        return vec![0.0; differences.len()];
    }
    let rank = |of: f64| {
        let below = differences.iter().filter(|other| other.abs() < of.abs()).count();
        let alike = differences.iter().filter(|other| other.abs() == of.abs()).count();
        match of == 0.0 {
            true => 0.0,
            false => (below as f64 + (alike as f64 + 1.0) / 2.0).copysign(of),
        }
    };
    let ranks: Vec<f64> = differences.iter().map(|difference| rank(*difference)).collect();
    let length = ranks.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
    ranks.into_iter().map(|rank| if length > 0.0 { rank / length } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(blocks: &[f64]) -> Replicated {
        Replicated { value: 0.0, draws: Vec::new(), blocks: blocks.to_vec() }
    }

    fn shares(family: &[&[f64]]) -> Vec<f64> {
        let family: Vec<Replicated> = family.iter().map(|blocks| contrast(blocks)).collect();
        share_of_orders(&family.iter().collect::<Vec<_>>(), 0.9, 1).unwrap_or_default()
    }

    /// By hand: of 2^n signs, those with a sum of ranks at least as large on either side.
    #[test]
    fn few_blocks_are_counted_whole() {
        assert_eq!(shares(&[&[1.0, 2.0, 3.0, 4.0, 5.0]]), [2.0 / 32.0]);
        // The smallest against the others: sums 13 of 15 and more: 15 and 13, and their mirrors.
        assert_eq!(shares(&[&[-1.0, 2.0, 3.0, 4.0, 5.0]]), [4.0 / 32.0]);
        // An outlier has a rank, not its size.
        assert_eq!(shares(&[&[1.0, -2.0, 3.0, 4.0, 5e9]]), shares(&[&[1.0, -2.0, 3.0, 4.0, 5.0]]));
        assert_eq!(shares(&[&[0.0; 6]]), [1.0]);
        assert_eq!(shares(&[&[1.0, f64::NAN, 3.0, 4.0, 5.0]]), [1.0]);
        assert_eq!(shares(&[]), [0.0; 0]);
    }

    #[test]
    fn a_family_needs_more_than_one_contrast() {
        let clear = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let unclear = [-3.0, 2.0, -1.0, 4.0, 5.0, 6.0];
        assert_eq!(shares(&[&clear]), [2.0 / 64.0]);
        let alone = shares(&[&unclear])[0];
        // The signs that make the other as large as can be show as much, too.
        let together = shares(&[&clear, &unclear]);
        assert_eq!(together[0], 4.0 / 64.0);
        assert!(together[1] > alone, "{together:?} {alone}");
        // Three need more orders than five blocks have: each is taken alone.
        let short = &clear[..5];
        assert_eq!(shares(&[short, short, short]), [2.0 / 32.0; 3]);
    }

    /// Noise with tails and bursts, the same for both sides: 5 % stay 5 %.
    #[test]
    fn chance_is_chance_whatever_the_noise() {
        let mut rng = Rng::of_seed(5);
        let mut wrong = 0;
        for trial in 0..600 {
            let mut side = || {
                let burst = if rng.below(4) == 0 { 20.0 * rng.uniform() } else { 0.0 };
                8.0 + burst + rng.uniform().powi(-2) * 1e-3
            };
            let blocks: Vec<f64> = (0..20).map(|_| (side() / side()).ln()).collect();
            let share = share_of_orders(&[&contrast(&blocks)], 0.95, trial);
            wrong += u32::from(share.is_some_and(|shares| shares[0] <= 0.05));
        }
        // 30 expected; four standard deviations.
        assert!((9..=51).contains(&wrong), "{wrong} of 600");
    }

    #[test]
    fn so_many_blocks_are_needed() {
        let decides = |blocks: usize, level: f64| {
            share_of_orders(&[&contrast(&vec![1.0; blocks])], level, 1).is_some()
        };
        assert!(!decides(5, 0.95) && decides(6, 0.95));
        assert!(!decides(6, 0.98) && decides(7, 0.98));
    }
}
