//! When a task ran, as a share of time: bounded in size, however often it was switched.

use flyball_events::{Recording, Span};

use super::curve::{Curve, Point};

/// Stretches of a view; more than a figure has pixels cannot be seen.
const STRETCHES: usize = 1000;

/// The share of each of 1000 equal stretches in which the task ran; none where it never did.
pub(super) fn share(recording: &Recording<'_>, tid: u32) -> Option<Curve> {
    let span = recording.span();
    let slices = recording.slices_in_time(tid);
    let spells = slices.iter().filter_map(|ran| span.clip(ran.from_ns, ran.to_ns));
    let points = points(spells, span)?;
    let until_ms = span.length_ns() as f64 / 1e6;
    Some(Curve::new(recording.task(tid).name, "", points.into_iter(), until_ms))
}

/// Where the share changes, in ms from the span's begin. Spells lie within the span.
fn points(spells: impl Iterator<Item = (u64, u64)>, span: Span) -> Option<Vec<Point>> {
    let length = span.length_ns();
    let mut spells = spells.peekable();
    if length == 0 || spells.peek().is_none() {
        return None;
    }
    let stretch = length as f64 / STRETCHES as f64;
    let mut shares = [0.0; STRETCHES];
    for (from_ns, to_ns) in spells {
        let from = from_ns.saturating_sub(span.from_ns) as f64 / stretch;
        let to = to_ns.saturating_sub(span.from_ns) as f64 / stretch;
        // Casts of positive numbers round down.
        for (at, share) in
            shares.iter_mut().enumerate().take(to.ceil() as usize).skip(from as usize)
        {
            let at = at as f64;
            *share += (to.min(at + 1.0) - from.max(at)).max(0.0);
        }
    }
    let mut points: Vec<Point> = Vec::new();
    for (at, share) in shares.into_iter().enumerate() {
        // A thousandth cannot be seen; sums of parts miss a whole by less.
        let value = (share.min(1.0) * 1000.0).round() / 1000.0;
        if points.last().is_none_or(|last| last.value != value) {
            points.push(Point { t_ms: at as f64 * stretch / 1e6, value });
        }
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(spells: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let span = Span { from_ns: 1_000_000, to_ns: 1_001_000_000 };
        let points = points(spells.iter().copied(), span).unwrap_or_default();
        points.iter().map(|point| (point.t_ms, point.value)).collect()
    }

    #[test]
    fn whole_stretches_and_parts() {
        let ms = |ms: u64| 1_000_000 + ms * 1_000_000;
        assert_eq!(shares(&[(ms(0), ms(1000))]), [(0.0, 1.0)]);
        assert_eq!(shares(&[(ms(10), ms(20))]), [(0.0, 0.0), (10.0, 1.0), (20.0, 0.0)]);
        let spells = [(ms(5), ms(5) + 250_000), (ms(5) + 500_000, ms(6) + 500_000)];
        assert_eq!(shares(&spells), [(0.0, 0.0), (5.0, 0.75), (6.0, 0.5), (7.0, 0.0)]);
        assert!(shares(&[]).is_empty());
    }
}
