//! The page's charts: each one is a [`Scene`] of the same width, so that text has one size.

mod forest;
mod frequency;
mod percentiles;
mod placement;
mod ridge;
mod timeline;
mod waterfall;

pub(super) use forest::forest;
pub(super) use frequency::{frequency, frequency_caption};
pub(super) use percentiles::percentiles;
pub(super) use placement::{placement, placement_in_words};
pub(super) use ridge::ridge;
pub(super) use timeline::timeline;
pub(super) use waterfall::waterfall;

use maud::{Markup, PreEscaped, html};

use crate::draw::axis::Scale;
use crate::draw::{Paint, Scene};
use crate::model::Cell;
use crate::{text, view};

/// Width of a chart, units.
const WIDTH: f64 = 460.0;
/// Size of labels, units.
const LABEL: f64 = 11.5;
/// Room for the labels of a vertical axis.
const LEFT: f64 = 46.0;
/// Most dots of a series: more would only make the page heavy.
const MAX_DOTS: usize = 260;

/// One condition of a workload.
pub(super) struct Member<'a> {
    /// Index of its colour.
    pub series: usize,
    /// Its name.
    pub label: &'a str,
    /// Its figures.
    pub cell: &'a Cell,
}

/// What the charts of these members show, as the beginning of a title.
fn measured(members: &[Member<'_>]) -> String {
    text::capital(view::measured(members.iter().map(|member| member.cell)))
}

/// A chart with its caption.
pub(super) fn figure(title: &str, note: &str, scene: &Scene) -> Markup {
    html! {
        figure {
            figcaption { (title) " " span { (note) } }
            (PreEscaped(scene.themed_svg()))
        }
    }
}

/// What stands where a chart has no data.
pub(super) fn absent(title: &str, why: &str) -> Markup {
    html! { figure { figcaption { (title) } div.none { (why) } } }
}

/// Horizontal grid lines with labels at the left.
fn rows(scene: &mut Scene, scale: Scale, wanted: usize) {
    for (value, label) in scale.ticks(wanted) {
        let y = scale.at(value);
        scene.line((LEFT, y), (WIDTH, y)).stroke(Paint::Grid, 1.0);
        scene.text(LEFT - 7.0, y + 4.0, label, LABEL).end().fill(Paint::Muted);
    }
}

/// Vertical grid lines with labels below.
fn columns(scene: &mut Scene, ticks: &[(f64, String)], top: f64, bottom: f64) {
    for (x, label) in ticks {
        scene.line((*x, top), (*x, bottom)).stroke(Paint::Grid, 1.0);
        scene.text(*x, bottom + 16.0, label, LABEL).middle().fill(Paint::Muted);
    }
}

/// Lowest and highest execution time that the charts of a workload show: single extreme windows
/// would press everything else flat, so it is the 1st to the 95th percentile with some air; the
/// percentile curves show the rest.
fn core_range(members: &[Member<'_>]) -> (f64, f64) {
    let low = members.iter().map(|m| m.cell.execution.p1_us).fold(f64::INFINITY, f64::min);
    let high = members.iter().map(|m| m.cell.execution.p95_us).fold(0.0, f64::max);
    let air = (high / low).powf(0.06).max(1.004);
    (low / air, high * air)
}

/// At most [`MAX_DOTS`] of `points`, evenly thinned.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MAX_DOTS).max(1);
    points.into_iter().step_by(every).collect()
}
