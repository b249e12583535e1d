//! How long something takes of which not every instance was seen to its end: the product-limit estimate
//! (Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", JASA 53, 1958).

/// An instance: for how long it was seen, and whether what is waited for came then, or it was never seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The time.
    pub time: f64,
    /// Whether it came then.
    pub came: bool,
}

/// The mean time until it comes, those that were not seen to their end taken for as likely to go on as those that
/// were: the area under the curve of those still waiting, up to the longest time of all. None where it never came.
pub fn mean_wait(waits: impl IntoIterator<Item = Wait>) -> Option<f64> {
    let mut waits: Vec<Wait> = waits.into_iter().filter(|wait| !wait.time.is_nan()).collect();
    waits.iter().any(|wait| wait.came).then_some(())?;
    // Of equal times what came counts first: who was seen no longer was still waiting then.
    waits.sort_by(|a, b| a.time.total_cmp(&b.time).then(b.came.cmp(&a.came)));
    let (mut left, mut waiting, mut before, mut area) = (waits.len(), 1.0, 0.0, 0.0);
    for wait in waits {
        area += waiting * (wait.time - before);
        before = wait.time;
        if wait.came {
            waiting *= (left - 1) as f64 / left as f64;
        }
        left -= 1;
    }
    Some(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(waits: &[(f64, bool)]) -> Option<f64> {
        mean_wait(waits.iter().map(|&(time, came)| Wait { time, came }))
    }

    #[test]
    fn where_all_were_seen_it_is_a_mean() {
        assert!((mean(&[(3.0, true), (1.0, true), (2.0, true)]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(mean(&[(0.0, true), (0.0, true)]), Some(0.0));
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[(5.0, false)]), None);
    }

    #[test]
    fn those_that_ended_before_say_nothing_of_later() {
        // Six are seen for 1; of the two that are left one comes at 5, half are waiting until 9.
        let mut waits = vec![(1.0, false); 6];
        waits.extend([(5.0, true), (9.0, false)]);
        assert_eq!(mean(&waits), Some(7.0));
        // The example of Kaplan and Meier: 0.8, 1.0+, 2.7+, 3.1, 5.4, 7.0+, 9.2, 12.1+. Waiting are 1 until 0.8,
        // 7/8 until 3.1, 7/10 until 5.4, 21/40 until 9.2, 21/80 until 12.1.
        let published = [
            (0.8, true),
            (1.0, false),
            (2.7, false),
            (3.1, true),
            (5.4, true),
            (7.0, false),
            (9.2, true),
            (12.1, false),
        ];
        let by_hand = 0.8 + 0.875 * 2.3 + 0.7 * 2.3 + 0.525 * 3.8 + 0.2625 * 2.9;
        assert!((mean(&published).unwrap() - by_hand).abs() < 1e-12);
    }
}
