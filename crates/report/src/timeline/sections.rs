//! The sections below the summary, each with all runs on common axes.

use flyball_events::questions::Share;

use super::bars::{self, Bar};
use super::curve::Curve;
use super::plot::{self, Axes};
use super::view::RunView;
use super::{Options, layout};
use crate::terminal::Style;
use crate::text;

/// Values of utilisation in one bin, where there are too many to show one by one.
const BIN: u32 = 64;

/// Top of the utilisation scale.
const SCALE: f64 = 1024.0;

/// Bars with their title.
type Titled = (String, Vec<Bar>);

/// What all sections of one rendering share.
struct Page<'a> {
    runs: &'a [RunView],
    width: usize,
    options: &'a Options,
    style: Style,
}

/// Every section that has anything to show.
pub(super) fn blocks(
    runs: &[RunView],
    width: usize,
    options: &Options,
    style: Style,
) -> Vec<Vec<String>> {
    let page = Page { runs, width, options, style };
    let mut blocks = vec![page.utilization()];
    blocks.extend(page.frequencies());
    blocks.push(page.bars(cpu_time));
    blocks.push(page.bars(running_frequency));
    blocks.push(page.bars(utilization_residency));
    blocks
}

impl Page<'_> {
    fn utilization(&self) -> Vec<String> {
        let mut shown: Vec<(String, &Curve)> = Vec::new();
        for run in self.runs {
            let estimate = run.util_est.as_ref().filter(|_| self.options.estimates);
            let curves = [("util_avg", run.utilization.as_ref()), ("util_est", estimate)];
            shown.extend(curves.into_iter().filter_map(|(signal, curve)| {
                let curve = curve?;
                Some((format!("{}: {signal} of {}", run.name, curve.name), curve))
            }));
        }
        self.plots(&shown, SCALE, 0)
    }

    /// One section per clock domain.
    fn frequencies(&self) -> Vec<Vec<String>> {
        let mut domains: Vec<&str> = Vec::new();
        for curve in self.runs.iter().flat_map(|run| &run.frequency) {
            if !domains.contains(&curve.name.as_str()) {
                domains.push(&curve.name);
            }
        }
        let section = |domain: &str| {
            let mut shown = Vec::new();
            for run in self.runs {
                let curves = run.frequency.iter().filter(|curve| curve.name == domain);
                shown.extend(curves.map(|c| (format!("{}: GHz of {domain}", run.name), c)));
            }
            let top = shown.iter().map(|(_, curve)| curve.max()).fold(0.0, f64::max);
            self.plots(&shown, top, 2)
        };
        domains.into_iter().map(section).collect()
    }

    fn plots(&self, shown: &[(String, &Curve)], top: f64, decimals: usize) -> Vec<String> {
        let (per_row, width) = layout::columns(shown.len(), self.width);
        let to_ms = self.runs.iter().map(RunView::length_ms).fold(0.0, f64::max);
        let axes = Axes { from_ms: 0.0, to_ms, top: top.max(f64::MIN_POSITIVE), decimals };
        let size = (width, self.options.height.clamp(4, 60));
        let plots: Vec<Vec<String>> = shown
            .iter()
            .map(|(title, curve)| {
                plot::lines(
                    &text::plain(title),
                    curve,
                    axes,
                    size,
                    self.options.charset,
                    self.style,
                )
            })
            .collect();
        layout::place(&plots, per_row, width)
    }

    /// Blocks of bars: `of` gives those of a run, each with its title.
    fn bars(&self, of: fn(&RunView) -> Vec<Titled>) -> Vec<String> {
        let all: Vec<Titled> = self
            .runs
            .iter()
            .flat_map(|run| {
                let name = text::plain(&run.name);
                of(run).into_iter().map(move |(title, bars)| (format!("{name}: {title}"), bars))
            })
            .filter(|(_, bars)| !bars.is_empty())
            .collect();
        let longest = all.iter().flat_map(|(_, bars)| bars).map(|bar| bar.ns).max().unwrap_or(0);
        let (per_row, width) = layout::columns(all.len(), self.width);
        let charset = self.options.charset;
        let blocks: Vec<Vec<String>> = all
            .iter()
            .map(|(title, bars)| bars::lines(title, bars, longest, width, charset, self.style))
            .collect();
        layout::place(&blocks, per_row, width)
    }
}

fn task(run: &RunView) -> String {
    run.task.as_ref().map_or_else(|| "all tasks".to_owned(), |task| text::plain(&task.name))
}

fn cpu_time(run: &RunView) -> Vec<Titled> {
    let bar = |time: &flyball_events::questions::CpuTime| {
        let kind = time.core_type.as_ref().map_or_else(String::new, |kind| format!(" {kind}"));
        Bar { label: text::plain(&format!("cpu{}{kind}", time.cpu)), ns: time.busy_ns }
    };
    let title = format!("running time of {} per CPU", task(run));
    vec![(title, run.cpu_time.iter().map(bar).collect())]
}

fn running_frequency(run: &RunView) -> Vec<Titled> {
    let bar = |share: &Share<u64>| Bar { label: ghz(share.value), ns: share.residency_ns };
    match &run.running_frequency {
        Some(answer) => {
            let block = |core: &flyball_events::questions::running_frequency::CoreFrequency| {
                let kind = core.core_type.clone().unwrap_or_else(|| "any core".to_owned());
                let title = format!("GHz on {} while {} ran", text::plain(&kind), task(run));
                (title, core.values.iter().map(bar).collect())
            };
            let mut blocks: Vec<Titled> = answer.cores.iter().map(block).collect();
            let unknown = [("unknown", answer.unknown_ns), ("lost", answer.lost_ns)];
            if let Some((_, bars)) = blocks.last_mut() {
                let untold = unknown.into_iter().filter(|(_, ns)| *ns > 0);
                bars.extend(untold.map(|(label, ns)| Bar { label: label.to_owned(), ns }));
            }
            blocks
        }
        None => run
            .frequency_residency
            .iter()
            .map(|domain| {
                let title = format!("GHz of {}", text::plain(&domain.domain));
                (title, domain.values.iter().map(bar).collect())
            })
            .collect(),
    }
}

/// `1.728`: the frequency without trailing zeros beyond one decimal.
fn ghz(khz: u64) -> String {
    let text = text::number(khz as f64 / 1e6, 3);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

fn utilization_residency(run: &RunView) -> Vec<Titled> {
    let Some(answer) = &run.utilization_residency else { return Vec::new() };
    let title = format!("util_avg of {} while it ran", task(run));
    if answer.values.len() <= bars::MOST {
        let bar = |s: &Share<u32>| Bar { label: s.value.to_string(), ns: s.residency_ns };
        return vec![(title, answer.values.iter().map(bar).collect())];
    }
    let mut bins = std::collections::BTreeMap::<u32, u64>::new();
    for share in &answer.values {
        let sum = bins.entry(share.value / BIN).or_default();
        *sum = sum.saturating_add(share.residency_ns);
    }
    let bar = |(bin, ns): (u32, u64)| Bar {
        label: format!("{}-{}", bin * BIN, bin * BIN + (BIN - 1)),
        ns,
    };
    vec![(title, bins.into_iter().map(bar).collect())]
}
