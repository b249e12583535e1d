//! What is drawn, kept: a draw depends on the shape of the plan and on numbers alone, and a report asks
//! for the same ones for every figure of every cell.

use super::Weight;
use super::plan::Plan;
use crate::rng::Rng;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Weights that are kept in all; more are drawn again each time.
const KEPT: usize = 16 << 20;

/// Weights of all replicates, behind each other.
pub(crate) struct Drawn {
    /// No two have the same.
    pub(crate) number: u64,
    weights: Vec<Weight>,
    units: usize,
}

impl Drawn {
    /// The weights of one replicate.
    pub(crate) fn replicate(&self, replicate: u32) -> &[Weight] {
        let at = replicate as usize * self.units;
        self.weights.get(at..at + self.units).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    shape: Vec<usize>,
    seed: u64,
    group: usize,
    replicates: u32,
}

struct Memo {
    kept: VecDeque<(Key, Arc<Drawn>)>,
    weights: usize,
}

static DRAWN: AtomicU64 = AtomicU64::new(0);
static MEMO: Mutex<Memo> = Mutex::new(Memo { kept: VecDeque::new(), weights: 0 });

/// The draws of a group of cells by this plan; none where they are too many to keep.
pub(super) fn drawn(plan: &Plan, seed: u64, group: usize, replicates: u32) -> Option<Arc<Drawn>> {
    let units = plan.unit_count();
    let size = units.checked_mul(replicates as usize).filter(|size| *size <= KEPT / 4)?;
    let key = Key { shape: plan.shape(), seed, group, replicates };
    let memo = || MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, drawn)) = memo().kept.iter().find(|(known, _)| *known == key) {
        return Some(Arc::clone(drawn));
    }
    let mut weights = vec![0; size];
    if units > 0 {
        weights.par_chunks_mut(units).zip(0..replicates).for_each(|(weights, replicate)| {
            plan.draw(&mut replicate_of(seed, group, replicate), weights);
        });
    }
    let number = DRAWN.fetch_add(1, Ordering::Relaxed);
    let drawn = Arc::new(Drawn { number, weights, units });
    let mut memo = memo();
    memo.weights += size;
    memo.kept.push_back((key, Arc::clone(&drawn)));
    while memo.weights > KEPT
        && let Some((_, oldest)) = memo.kept.pop_front()
    {
        memo.weights -= oldest.weights.len();
    }
    Some(drawn)
}

/// The stream of random numbers of one replicate.
pub(super) fn replicate_of(seed: u64, group: usize, replicate: u32) -> Rng {
    Rng::new(seed, (group as u64) << 32 | u64::from(replicate))
}
