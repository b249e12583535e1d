//! Hartigan and Hartigan's dip: how far a sample is from the nearest unimodal distribution.
//!
//! J. A. Hartigan and P. M. Hartigan, "The Dip Test of Unimodality", Annals of Statistics 13(1),
//! 1985. With the sample ascending and the empirical distribution a staircase of steps 1/n:
//!
//! ```text
//!   1 |              ,--   left of the mode the nearest unimodal distribution is convex: the
//!     |          ,--'      greatest convex minorant; right of it concave: the least concave
//!     |       ,-'          majorant. The modal interval shrinks until the largest gap between the
//!   0 |___,--'             two inside it is no more than the fit's error outside it.
//! ```

use super::dip_table::{PROBABILITIES, QUANTILES, SIZES};

/// The dip of an ascending sample, 1/(2n) at least and 1/4 at most; 0 for fewer than two values
/// or a constant sample. O(n) per shrinking step, and few steps.
pub fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n < 2 || sorted[0] == sorted[n - 1] {
        return 0.0;
    }
    let minorant = convex_predecessors(sorted);
    let majorant = concave_successors(sorted);
    let (mut low, mut high) = (0, n - 1);
    let mut dip = 1.0_f64;
    loop {
        let gcm = chain_down(&minorant, low, high);
        let lcm = chain_up(&majorant, low, high);
        let gap = widest_gap(sorted, &gcm, &lcm);
        if gap.height <= dip {
            break;
        }
        dip = dip.max(error_left(sorted, &gcm, gap.left)).max(error_right(sorted, &lcm, gap.right));
        if gap.left == low && gap.right == high {
            break;
        }
        (low, high) = (gap.left, gap.right);
    }
    dip / (2.0 * n as f64)
}

/// For each point, the previous knot of the greatest convex minorant of the points up to it.
fn convex_predecessors(x: &[f64]) -> Vec<usize> {
    let mut previous = vec![0; x.len()];
    for j in 1..x.len() {
        let mut knot = j - 1;
        while knot > 0 {
            let before = previous[knot];
            // The knot stays where the slope (index over x) rises after it.
            let rises = (x[j] - x[knot]) * ((knot - before) as f64)
                < (x[knot] - x[before]) * ((j - knot) as f64);
            if rises {
                break;
            }
            knot = before;
        }
        previous[j] = knot;
    }
    previous
}

/// For each point, the next knot of the least concave majorant of the points from it on.
fn concave_successors(x: &[f64]) -> Vec<usize> {
    let last = x.len() - 1;
    let mut next = vec![last; x.len()];
    for j in (0..last).rev() {
        let mut knot = j + 1;
        while knot < last {
            let after = next[knot];
            let falls = (x[knot] - x[j]) * ((after - knot) as f64)
                < (x[after] - x[knot]) * ((knot - j) as f64);
            if falls {
                break;
            }
            knot = after;
        }
        next[j] = knot;
    }
    next
}

/// Knots of the minorant on `low..=high`, ascending.
fn chain_down(previous: &[usize], low: usize, high: usize) -> Vec<usize> {
    let mut knots = vec![high];
    let mut at = high;
    while at > low {
        at = previous[at].max(low);
        knots.push(at);
    }
    knots.reverse();
    knots
}

/// Knots of the majorant on `low..=high`, ascending.
fn chain_up(next: &[usize], low: usize, high: usize) -> Vec<usize> {
    let mut knots = vec![low];
    let mut at = low;
    while at < high {
        at = next[at].min(high);
        knots.push(at);
    }
    knots
}

/// The widest gap between majorant and minorant, in steps, and the modal interval there.
struct Gap {
    height: f64,
    left: usize,
    right: usize,
}

/// Walks both chains from the right. The minorant touches the foot of a step, the majorant its
/// top: hence the one step added.
fn widest_gap(x: &[f64], gcm: &[usize], lcm: &[usize]) -> Gap {
    let (low, high) = (lcm[0], lcm[lcm.len() - 1]);
    let mut gap = Gap { height: 0.0, left: low, right: high };
    let mut g = 0;
    for (l, &knot) in lcm.iter().enumerate() {
        // At the majorant's knots: the minorant's segment around it.
        while g + 2 < gcm.len() && gcm[g + 1] <= knot {
            g += 1;
        }
        let height = knot as f64 - line(x, gcm[g], gcm[g + 1], x[knot]) + 1.0;
        if l > 0 && l + 1 < lcm.len() && height > gap.height {
            gap = Gap { height, left: gcm[g], right: knot };
        }
    }
    let mut l = 0;
    for (g, &knot) in gcm.iter().enumerate() {
        while l + 2 < lcm.len() && lcm[l + 1] < knot {
            l += 1;
        }
        let height = line(x, lcm[l], lcm[l + 1], x[knot]) - knot as f64 + 1.0;
        if g > 0 && g + 1 < gcm.len() && height > gap.height {
            gap = Gap { height, left: knot, right: lcm[l + 1] };
        }
    }
    gap
}

/// The straight line through points `i` and `j` of the staircase, at `at`.
fn line(x: &[f64], i: usize, j: usize, at: f64) -> f64 {
    let width = x[j] - x[i];
    if width <= 0.0 { j as f64 } else { i as f64 + (at - x[i]) * ((j - i) as f64 / width) }
}

/// Steps per unit between two distinct values.
fn slope(x: &[f64], i: usize, j: usize) -> f64 {
    (j - i) as f64 / (x[j] - x[i])
}

/// Largest distance of the staircase above the minorant, left of the modal interval.
fn error_left(x: &[f64], gcm: &[usize], end: usize) -> f64 {
    let segments = gcm.windows(2).take_while(|pair| pair[1] <= end);
    let mut worst = 1.0_f64;
    for pair in segments.filter(|pair| x[pair[0]] != x[pair[1]] && pair[1] - pair[0] > 1) {
        let (base, slope) = (x[pair[0]], slope(x, pair[0], pair[1]));
        for (step, at) in x[pair[0]..=pair[1]].iter().enumerate() {
            worst = worst.max(step as f64 - (at - base) * slope + 1.0);
        }
    }
    worst
}

/// Largest distance of the staircase below the majorant, right of the modal interval.
fn error_right(x: &[f64], lcm: &[usize], start: usize) -> f64 {
    let segments = lcm.windows(2).skip_while(|pair| pair[0] < start);
    let mut worst = 1.0_f64;
    for pair in segments.filter(|pair| x[pair[0]] != x[pair[1]] && pair[1] - pair[0] > 1) {
        let (base, slope) = (x[pair[0]], slope(x, pair[0], pair[1]));
        for (step, at) in x[pair[0]..=pair[1]].iter().enumerate() {
            worst = worst.max((at - base) * slope - step as f64 + 1.0);
        }
    }
    worst
}

/// The p-value of a dip among samples of the uniform distribution, which is the least favourable
/// unimodal one: from a table of simulated quantiles of sqrt(n) * dip, interpolated in log n and,
/// between quantiles, in the logarithm of p. The smallest value is that of the table, 1e-4, to be
/// read as "at most".
pub fn dip_p_value(dip: f64, n: usize) -> f64 {
    if n < SIZES[0] {
        return 1.0;
    }
    let scaled = dip * (n as f64).sqrt();
    let row = SIZES.partition_point(|&size| size <= n).saturating_sub(1);
    let above = (row + 1).min(SIZES.len() - 1);
    let weight = if above == row {
        0.0
    } else {
        let (a, b) = ((SIZES[row] as f64).ln(), (SIZES[above] as f64).ln());
        ((n as f64).ln() - a) / (b - a)
    };
    let quantile = |i: usize| QUANTILES[row][i] * (1.0 - weight) + QUANTILES[above][i] * weight;
    let last = PROBABILITIES.len() - 1;
    if scaled >= quantile(last) {
        return 1.0 - PROBABILITIES[last];
    }
    if scaled <= quantile(0) {
        return 1.0;
    }
    let mut i = 0;
    while quantile(i + 1) <= scaled {
        i += 1;
    }
    let (a, b) = ((1.0 - PROBABILITIES[i]).ln(), (1.0 - PROBABILITIES[i + 1]).ln());
    let (left, right) = (quantile(i), quantile(i + 1));
    (a + (b - a) * (scaled - left) / (right - left)).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `diptest.dipstat` of Python's diptest 0.10 (itself checked against R's diptest):
    /// ```python
    /// np.arange(1, 21.) ** 2                                       # 0.025
    /// [i / 10 + (5 if i >= 12 else 0) + (i % 3) * .01 for i in range(40)]  # 0.1229032258064516
    /// [(i * a) % 1 + ((i * b) % 1 > .7) * 1.5 for i in range(300)] # 0.05226769771076198
    /// [(i * a) % 1 + (i * b) % 1 for i in range(1000)]             # 0.0017373809655276667
    /// # a, b = 0.754877666, 0.569840291
    /// ```
    #[test]
    fn agrees_with_the_published_implementation() {
        let (a, b) = (0.754877666, 0.569840291);
        let f = |i: i32| f64::from(i);
        let faculty = [
            30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44,
            45, 45, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57,
            57, 59, 60, 60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72,
        ];
        let cases: [(Vec<f64>, f64); 5] = [
            (faculty.into_iter().map(f).collect(), 0.06048387096774194),
            ((1..21).map(|i| f(i) * f(i)).collect(), 0.025),
            (
                (0..40)
                    .map(|i| f(i) / 10.0 + if i >= 12 { 5.0 } else { 0.0 } + f(i % 3) * 0.01)
                    .collect(),
                0.1229032258064516,
            ),
            (
                (0..300)
                    .map(|i| (f(i) * a) % 1.0 + if (f(i) * b) % 1.0 > 0.7 { 1.5 } else { 0.0 })
                    .collect(),
                0.05226769771076198,
            ),
            (
                (0..1000).map(|i| (f(i) * a) % 1.0 + (f(i) * b) % 1.0).collect(),
                0.0017373809655276667,
            ),
        ];
        for (mut x, expected) in cases {
            x.sort_by(f64::total_cmp);
            assert!((dip(&x) - expected).abs() < 1e-12, "{} {expected}", dip(&x));
        }
    }

    #[test]
    fn edges() {
        assert_eq!(dip(&[]), 0.0);
        assert_eq!(dip(&[1.0]), 0.0);
        assert_eq!(dip(&[2.0; 9]), 0.0);
        assert_eq!(dip(&[0.0, 0.0, 1.0, 1.0]), 0.25);
        assert_eq!(dip_p_value(0.2, 3), 1.0);
        assert!(dip_p_value(0.2, 1000) <= 1e-4);
        assert_eq!(dip_p_value(0.0, 1000), 1.0);
    }
}
