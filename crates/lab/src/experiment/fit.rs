//! A load that fits beside what others already run.

use super::Experiment;
use flyball_load::{CpuChoice, Group, Profile};

/// A fifth of a CPU is what fairness gives a thread beside four others that want all of it.
const LEAST: u8 = 20;

/// Replaces heavy load, of which nothing would be proven where others use this share of all CPUs' time, by one of each CPU
/// that leaves half of what is free to what is measured. Returns its percentage; none where no load is heavy.
pub(crate) fn fit_loads(experiment: &mut Experiment, others: f64) -> Option<u8> {
    let half = (50.0 * (1.0 - others.clamp(0.0, 1.0))) as u8;
    let percent = (half / 10 * 10).max(LEAST);
    let mut fitted = None;
    for condition in &mut experiment.conditions {
        if condition.load == Profile::heavy() {
            condition.load = Profile { groups: vec![Group::new(CpuChoice::All, percent)] };
            fitted = Some(percent);
        }
    }
    if let (Some(percent), Some(question)) = (fitted, &mut experiment.question) {
        *question += &format!(
            " (Others used {:.0} % of the CPUs: the load is {percent} % of each, not 90.)",
            100.0 * others
        );
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::quick;

    #[test]
    fn heavy_load_becomes_half_of_what_others_leave_and_never_less_than_fairness_gives() {
        let fitted = |others: f64| {
            let mut experiment = quick().unwrap();
            let percent = fit_loads(&mut experiment, others);
            let loads = experiment.conditions.iter().map(|condition| condition.load.to_string());
            (percent, loads.collect::<Vec<_>>())
        };
        assert_eq!(fitted(0.1), (Some(40), vec!["idle".to_owned(), "allx40%".to_owned()]));
        assert_eq!(fitted(0.45).0, Some(20));
        assert_eq!(fitted(1.3).0, Some(20), "accounts of children that ended at once");
        let mut idle = quick().unwrap();
        idle.conditions.truncate(1);
        assert_eq!(fit_loads(&mut idle, 0.5), None);
    }
}
