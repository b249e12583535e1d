//! Looking at the programs of an experiment while it runs: whether there is an answer yet.
//!
//! The looks and their level are fixed before the first block, so that stopping at an answer does not
//! make wrong answers more frequent (`stats::look_level`). What is looked at is what the report will
//! judge: execution and CPU time of each program against the first one's, at the same level.

use crate::experiment::Experiment;
use crate::protocol::windows::telemetry::Kept;
use flyball_run::manifest::LooksRecord;
use flyball_stats::{
    BlockDraws, BlockValues, BootstrapOptions, LEAST_BLOCKS, LEVEL, Replicated, Statistic, Verdict,
    judge_contrast, look_level, look_times, quantiles_judged, share_of_orders, together,
};

/// What has been measured of each program, and when to look at it.
#[derive(Debug)]
pub(super) struct Looks {
    /// Windows by program and block.
    programs: Vec<Vec<Vec<Kept>>>,
    margin: f64,
    seed: u64,
    record: LooksRecord,
}

impl Looks {
    /// The looks that an experiment asks for; none where it names no time to be decided within.
    pub(super) fn of(experiment: &Experiment) -> Option<Looks> {
        experiment.within?;
        let programs = experiment.workloads.len();
        Some(Looks::new(programs, experiment.repeats, experiment.margin, experiment.seed))
    }

    /// Looks at `programs` programs in at most `most` blocks.
    pub(super) fn new(programs: usize, most: u32, margin: f64, seed: u64) -> Looks {
        let times = look_times(most as usize);
        let level = look_level(&times, LEVEL);
        let times = times.into_iter().map(|time| u32::try_from(time).unwrap_or(u32::MAX));
        let record = LooksRecord { at: times.collect(), level, made: 0 };
        Looks { programs: vec![Vec::new(); programs], margin, seed, record }
    }

    /// Keeps the windows of one trial of a program in the present block.
    pub(super) fn add(&mut self, program: usize, windows: &[Kept]) {
        if let Some(blocks) = self.programs.get_mut(program) {
            blocks.push(windows.to_vec());
        }
    }

    /// Forgets the last `blocks` blocks: they were disturbed, and are done again.
    pub(super) fn forget(&mut self, blocks: usize) {
        for program in &mut self.programs {
            program.truncate(program.len().saturating_sub(blocks));
        }
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self) -> bool {
        let blocks = self.blocks();
        let planned = u32::try_from(blocks).is_ok_and(|blocks| self.record.at.contains(&blocks));
        planned && blocks >= LEAST_BLOCKS
    }

    /// What the manifest says of the looks.
    pub(super) fn record(&self) -> LooksRecord {
        self.record.clone()
    }

    /// Blocks in which every program ran.
    pub(super) fn blocks(&self) -> usize {
        self.programs.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Looks, if it is time for it; whether every program is decided against the first.
    pub(super) fn decided(&mut self) -> bool {
        if !self.is_due() {
            return false;
        }
        let blocks = self.blocks();
        self.record.made += 1;
        let options = BootstrapOptions { seed: self.seed, ..BootstrapOptions::default() };
        let draws = BlockDraws::new(blocks, &options);
        let windows = self.programs.iter().map(|blocks| blocks.iter().map(Vec::len).sum::<usize>());
        let quantiles = quantiles_judged(windows.min().unwrap_or(0));
        // The report judges it where every window has it.
        let counted = self.programs.iter().flatten().flatten().all(|window| window.cpu_time > 0);
        let figures: Vec<Vec<Replicated>> = (self.programs.iter())
            .map(|program| {
                let values = |of: fn(&Kept) -> u64| {
                    let block =
                        |block: &Vec<Kept>| block.iter().map(|w| of(w) as f64 / 1e3).collect();
                    let blocks = program.iter().take(blocks).map(block);
                    BlockValues::new(&blocks.collect::<Vec<Vec<f64>>>())
                };
                let executions = values(|window| window.execution);
                let of =
                    |quantile: &f64| draws.statistic(&executions, Statistic::Quantile(*quantile));
                let figures = quantiles.iter().map(of);
                let cpu_time = counted
                    .then(|| draws.statistic(&values(|window| window.cpu_time), Statistic::Median));
                figures.chain(cpu_time).collect()
            })
            .collect();
        let (mut family, mut by_chance) = (Vec::new(), Vec::new());
        for (at, program) in figures.iter().enumerate() {
            for other in figures.iter().take(at) {
                let pairs = program.iter().zip(other);
                let own: Vec<Replicated> =
                    pairs.map(|(a, b)| Replicated::log_ratio(a, b)).collect();
                let all: Vec<&Replicated> = own.iter().collect();
                let shares = share_of_orders(&all, self.record.level, self.seed);
                by_chance.push(shares.and_then(|shares| shares.first().copied()));
                family.extend(own);
            }
        }
        let intervals = together(&family, blocks, self.record.level);
        // The median of each program against the first one's stands where a pair's quantiles begin.
        let mut pair = 0;
        for at in 0..figures.len() {
            for other in 0..at {
                let median = intervals.get(pair * (quantiles.len() + usize::from(counted)));
                let (margin, level) = (self.margin.ln_1p(), self.record.level);
                let verdict =
                    median.map(|found| judge_contrast(found, margin, by_chance[pair], level));
                if other == 0 && !matches!(verdict, Some(Verdict::Effect | Verdict::Equivalent)) {
                    return false;
                }
                pair += 1;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six blocks of a program and of one that takes `factor` times as long, with windows that
    /// differ by up to `spread` of their length.
    fn measured(factor: f64, spread: f64) -> Looks {
        let mut looks = Looks::new(2, 40, 0.03, 1);
        for block in 0..6_u64 {
            let run = |factor: f64, salt: u64| -> Vec<Kept> {
                (0..10)
                    .map(|i| {
                        let noise = ((block * 37 + i * salt) % 101) as f64 / 101.0;
                        let execution = (factor * 1e6 * (1.0 + spread * noise)) as u64;
                        Kept { execution, cpu_time: execution }
                    })
                    .collect()
            };
            looks.add(0, &run(1.0, 13));
            assert!(!looks.decided(), "block {block} is not whole");
            looks.add(1, &run(factor, 29));
            if block < 5 {
                assert!(!looks.decided(), "nobody looks at block {block}");
            }
        }
        looks
    }

    #[test]
    fn an_effect_and_an_equality_are_decided_at_the_first_look() {
        let mut slower = measured(1.2, 0.01);
        assert!(slower.decided());
        assert_eq!(slower.record().made, 1);
        assert!(measured(1.0, 0.01).decided(), "equal within the margin");
        assert!(slower.record().level > 0.98);
    }

    #[test]
    fn a_difference_that_drowns_is_not() {
        assert!(!measured(1.05, 0.8).decided());
    }
}
