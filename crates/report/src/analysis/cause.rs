//! Because of what: a difference split into the parts that each window is made of.
//!
//! response = backlog + lateness + waiting + other time off the CPU + interrupts + cycles / delivered frequency
//!
//! This is an identity, no model: each part is read off the windows. The mean over windows splits
//! alike, with the mean frequency taken as all cycles over all time on the CPU. A difference of two
//! means of cycles / frequency is the baseline's cycles at the subject's frequency instead of its own,
//! plus what the subject has more of cycles, at its own frequency. For a quantile the mean is taken over
//! the windows around it.

use std::collections::HashMap;

use flyball_events::blame::{self, Basis, Blame};
use flyball_run::{WAKE_DELAY_FROM_NS, Windows};
use flyball_stats::{self as stats, BlockDraws, Replicated, Weight};

use super::blame::called;
use super::cell::CellData;
use super::delivered::Source;
use super::disturbed::has;
use super::effects::in_blocks;
use super::like::CellPair;
use super::rows::CellRows;
use super::source::Context;
use super::words;
use crate::model::{Cause, CausePart, Culprit, Estimate, Judged, Part};
use crate::text;

/// Half width, as a share of the windows, of what lies around the median.
const AROUND_MEDIAN: f64 = 0.05;
/// Of what lies beyond a tail's quantile, the share that lies around it.
const AROUND_TAIL: f64 = 0.5;
/// A part below this share of the whole is named only where its interval excludes zero.
const NEGLIGIBLE: f64 = 0.005;

/// Culprits of a part that are named, and the share of the part from which on one is.
const CULPRITS: usize = 3;
const LEAST_CULPRIT: f64 = 0.05;
/// Those that a sentence names.
const SAID: usize = 2;
/// Natural logarithm of probe after to probe before a window from which on, in half of the windows, the
/// frequency is said to have changed inside them: what lies between is not known then.
const STEADY: f64 = 0.1;

/// What one window is made of, microseconds (cycles: microseconds times the unit of frequency).
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    row: usize,
    block: u32,
    /// What is ranked: response, or execution.
    rank_us: f64,
    means: [f64; QUANTITIES],
}

const QUANTITIES: usize = 8;
/// Places in [`Window::means`].
const WHOLE: usize = 0;
const WAITING: usize = 1;
const LATE: usize = 2;
const OFF: usize = 3;
const ON: usize = 4;
const CYCLES: usize = 5;
const BACKLOG: usize = 6;
const IRQ: usize = 7;

/// What can be told apart on both sides.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Releases are on a schedule.
    released: bool,
    /// Windows were released before the one before had ended.
    backlog: bool,
    /// How much of the lateness was waiting.
    wake_delay: bool,
    /// How much of the execution was on the CPU.
    cpu_time: bool,
    /// Both by the critical path through a program's threads and children.
    path: bool,
    /// How much of the rest was waiting.
    run_delay: bool,
    /// How much of the time on the CPU was interrupts.
    interrupts: bool,
    /// Where frequency and cycles come from.
    speed: Option<Speed>,
}

/// Where a window's cycles come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speed {
    /// The window's own count.
    Counted,
    /// The changes of frequency among the events beside it, over its time on the CPU.
    Followed(Basis),
    /// The probe around it times its time on the CPU.
    Probed(Source),
    /// Probes around it that tell of two frequencies.
    Changing,
}

/// What the events beside a window tell of it.
#[derive(Debug, Clone, Copy)]
struct Aside {
    /// Mean frequency by its recorded changes, megahertz.
    mhz: Option<(f64, Basis)>,
    /// Of its critical path, microseconds: on a CPU, and waiting for one after the dispatch.
    on_us: f64,
    waiting_us: f64,
    /// Of interrupts while it ran; none where they were not recorded.
    interrupted_us: Option<f64>,
}

/// By row of the windows.
type Beside = HashMap<usize, Aside>;

fn beside(context: &Context<'_>) -> Beside {
    let Some(Ok(blame)) = context.blame() else { return Beside::new() };
    let us = |ns: u64| ns as f64 / 1e3;
    let of = |window: &blame::WindowBlame| Aside {
        mhz: (window.basis)
            .filter(|basis| matches!(basis, Basis::Changes | Basis::Claimed))
            .and_then(|basis| Some((us(window.khz?), basis))),
        on_us: us(window.running_ns),
        waiting_us: us(window.parts.get(blame::Part::Preemption).unwrap_or_default()),
        interrupted_us: (window.parts.get(blame::Part::Interrupts))
            .map(|_| us(window.interrupted_ns)),
    };
    blame.windows.iter().map(|window| (window.row, of(window))).collect()
}

/// The cause of a difference around a quantile: the mean over the workloads. None where a side has no
/// window there.
pub(super) fn split(
    context: &Context<'_>,
    pairs: &[CellPair<'_>],
    blocks: &[u32],
    draws: &BlockDraws,
    quantile: f64,
) -> Option<Cause> {
    let windows = &context.run.tables.windows;
    let beside = beside(context);
    let known = Known::of(windows, pairs, &beside)?;
    let mut counts = [0, 0];
    let mut sides = Vec::new();
    let mut culprits = Culprits::of(context, pairs.len());
    for (a, b) in pairs {
        let of = |cell: &CellData| made_of(windows, cell, blocks, known, &beside);
        let (a, b) = (of(a), of(b));
        for (count, side) in counts.iter_mut().zip([&a, &b]) {
            *count += band(side.len() as f64, quantile).1.ceil() as u64;
        }
        culprits.add(&a, quantile, 1.0);
        culprits.add(&b, quantile, -1.0);
        sides.push([a, b].map(|side| draws.replicate(|weights| around(&side, weights, quantile))));
    }
    let parts = known.parts();
    let mut split: Vec<(Part, Replicated)> = Vec::new();
    for part in parts {
        let each: Vec<Replicated> = sides.iter().map(|[a, b]| difference_of(part, a, b)).collect();
        split.push((part, Replicated::mean_of(&each.iter().collect::<Vec<_>>())?));
    }
    let whole: Vec<Replicated> =
        sides.iter().map(|[a, b]| Replicated::difference(&a[WHOLE], &b[WHOLE])).collect();
    let whole = Replicated::mean_of(&whole.iter().collect::<Vec<_>>())?;
    let alone = |figure: &Replicated| -> Option<Estimate> {
        let estimate = stats::together(std::slice::from_ref(figure), draws.blocks(), stats::LEVEL);
        estimate.first().copied().filter(|estimate| estimate.value.is_finite())
    };
    let total_us = alone(&whole)?;
    // What a probe beside the windows does not tell adds to what the draws do not.
    let doubt = match known.speed {
        Some(Speed::Probed(source)) => {
            let bend =
                |cell| source.change(windows, &rows(cell)).map_or(0.0, |(of, _)| of.abs() / 2.0);
            let each = sides.iter().zip(pairs).map(|([a, b], (own, other))| {
                Some(alone(&at_frequency(a, b))?.value * (bend(own) + bend(other)))
            });
            each.sum::<Option<f64>>().map_or(0.0, |sum| sum / pairs.len() as f64)
        }
        _ => 0.0,
    };
    let mut parts: Vec<CausePart> = split
        .iter()
        .map(|(part, figure)| {
            let own = matches!(part, Part::Frequency | Part::Cycles);
            let us = alone(figure)?.widened(if own { doubt } else { 0.0 });
            Some(CausePart { part: *part, us, who: culprits.who(*part, us.value) })
        })
        .collect::<Option<_>>()?;
    // What is shown first, then what is not, the largest before the smaller ones.
    let open = |part: &CausePart| !part.us.excludes(0.0);
    parts.sort_by(|a, b| {
        let size = |part: &CausePart| part.us.value.abs();
        open(a).cmp(&open(b)).then_with(|| size(b).total_cmp(&size(a)))
    });
    Some(Cause {
        of: if known.released { Judged::Response } else { Judged::Execution },
        quantile,
        total_us,
        parts,
        missing: known.missing(),
        windows: counts,
    })
}

impl Known {
    fn of(windows: &Windows, pairs: &[CellPair<'_>], beside: &Beside) -> Option<Known> {
        let cells = || pairs.iter().flat_map(|(a, b)| [*a, *b]);
        let first = cells().next()?;
        let all = |of: &dyn Fn(&CellRows) -> bool| cells().all(|cell| of(&rows(cell)));
        let on_cpu = |rows: &CellRows| {
            rows.rows().all(|row| {
                let time = on_cpu(windows, row);
                // Threads side by side have more CPU time than there is time.
                time.is_some_and(|us| us <= 1.01 * microseconds(windows.exec_ns.get(row)))
            })
        };
        let counted = |rows: &CellRows| rows.rows().all(|row| windows.cycles.get(row).is_some());
        let source = Source::of(windows, &rows(first));
        let mhz = |row: &usize| beside.get(row).and_then(|aside| aside.mhz);
        let followed = |rows: &CellRows| {
            2 * rows.rows().filter(|row| mhz(row).is_some()).count() > rows.rows().count()
        };
        let probed = |source: Source| {
            let steady =
                |rows: &CellRows| source.change(windows, rows).is_some_and(|(_, of)| of < STEADY);
            if all(&steady) { Speed::Probed(source) } else { Speed::Changing }
        };
        let speed = match () {
            () if all(&counted) => Some(Speed::Counted),
            () if all(&followed) => {
                let weakest = beside.values().filter_map(|aside| aside.mhz).map(|(_, basis)| basis);
                weakest.max().map(Speed::Followed)
            }
            () => source
                .filter(|source| all(&|rows: &CellRows| Source::of(windows, rows) == Some(*source)))
                .map(probed),
        };
        // Threads of a program may run side by side: their CPU time is not on the way to its end.
        let program = |row| windows.exit_status.get(row).is_some();
        let on_path =
            |rows: &CellRows| rows.rows().all(|row| program(row) && beside.contains_key(&row));
        let path = all(&on_path);
        let cpu_time = path || all(&on_cpu);
        let late = |cell: &CellData| rows(cell).rows().any(|row| backlog(windows, row) > 0.0);
        let released = cells().all(|cell| cell.model.response.is_some());
        Some(Known {
            released,
            backlog: released && cells().any(late),
            wake_delay: all(&|rows| has(&windows.wake_delay_ns, rows) || prompt(windows, rows)),
            cpu_time,
            path,
            run_delay: path || all(&|rows| rows.rows().all(|row| waited(windows, row).is_some())),
            interrupts: cpu_time
                && all(&|rows| {
                    rows.rows().all(|row| {
                        beside.get(&row).is_some_and(|aside| aside.interrupted_us.is_some())
                    })
                }),
            speed: speed.filter(|_| cpu_time),
        })
    }

    /// The parts that a difference is split into.
    fn parts(self) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.released {
            parts.push(Part::Lateness);
        }
        if self.backlog {
            parts.push(Part::Backlog);
        }
        if (self.cpu_time && self.run_delay) || (self.released && self.wake_delay) {
            parts.push(Part::Waiting);
        }
        if self.interrupts {
            parts.push(Part::Interrupts);
        }
        let off = if self.run_delay { Part::OffCpu } else { Part::WithoutCpu };
        match (self.cpu_time, self.speed) {
            (false, _) => parts.push(Part::Execution),
            (true, None | Some(Speed::Changing)) => parts.extend([off, Part::OnCpu]),
            (true, Some(_)) => parts.extend([off, Part::Frequency, Part::Cycles]),
        }
        parts
    }

    fn missing(self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.released && !self.wake_delay {
            missing.push("how much of the lateness was waiting for the CPU".to_owned());
        }
        if !self.cpu_time {
            missing.push("how much of the execution was on the CPU".to_owned());
        } else if !self.run_delay {
            missing.push(
                "how much of the time without a CPU was waiting for one (of programs with threads or \
                 children, events beside the windows tell)"
                    .to_owned(),
            );
        }
        let speed = match self.speed {
            _ if !self.cpu_time => None,
            None => Some("the delivered frequency of the windows"),
            Some(Speed::Changing) => Some(
                "the frequency inside the windows: it changed between the probes before and after them, \
                 and neither cycles nor changes of frequency were recorded",
            ),
            Some(Speed::Followed(Basis::Claimed)) => Some(
                "whether the CPUs delivered the frequencies that the kernel set: cycles were not counted",
            ),
            Some(_) => None,
        };
        missing.extend(speed.map(str::to_owned));
        missing
    }
}

fn rows(cell: &CellData) -> CellRows {
    CellRows { repeats: cell.rows.clone(), ..CellRows::default() }
}

/// Whether every window of a cell was dispatched so early that there was nothing to look at.
fn prompt(windows: &Windows, rows: &CellRows) -> bool {
    rows.rows()
        .all(|row| windows.lateness_ns.get(row).is_none_or(|&ns| ns < WAKE_DELAY_FROM_NS as i64))
}

fn microseconds(ns: Option<&u64>) -> f64 {
    ns.map_or(0.0, |&ns| ns as f64 / 1e3)
}

/// Time of a window on the CPU, microseconds: as accounted, or the whole execution of a window that
/// was never switched out.
fn on_cpu(windows: &Windows, row: usize) -> Option<f64> {
    if let Some(ns) = windows.cpu_time_ns.get(row) {
        return Some(ns as f64 / 1e3);
    }
    let never = windows.preemptions.get(row) == Some(0) && windows.yields.get(row) == Some(0);
    never.then(|| microseconds(windows.exec_ns.get(row)))
}

/// What a window waited for a CPU after its dispatch, microseconds: as accounted, or nothing in one that
/// was never switched out.
fn waited(windows: &Windows, row: usize) -> Option<f64> {
    if let Some(ns) = windows.run_delay_ns.get(row) {
        return Some(ns as f64 / 1e3);
    }
    let never = windows.preemptions.get(row) == Some(0) && windows.yields.get(row) == Some(0);
    never.then_some(0.0)
}

/// How long after the release of this window the one before still ran, microseconds.
fn backlog(windows: &Windows, row: usize) -> f64 {
    let Some(before) = row.checked_sub(1) else { return 0.0 };
    if windows.trial.get(before) != windows.trial.get(row) {
        return 0.0;
    }
    let ends = windows.end_ns.get(before).zip(windows.release_ns.get(row));
    ends.map_or(0.0, |(end, release)| end.saturating_sub(*release) as f64 / 1e3)
}

/// The windows of a cell in these blocks, ascending in what is ranked.
fn made_of(
    windows: &Windows,
    cell: &CellData,
    blocks: &[u32],
    known: Known,
    beside: &Beside,
) -> Vec<Window> {
    let mut made = Vec::new();
    for (block, repeat) in (0_u32..).zip(in_blocks(cell, blocks)) {
        let speeds: Vec<Option<f64>> =
            repeat.rows().map(|row| speed(windows, row, known, beside)).collect();
        // A window whose probe was disturbed ran, as far as one knows, as fast as its neighbours.
        let usual = stats::median_of(speeds.iter().copied().flatten()).unwrap_or(0.0);
        for (row, speed) in repeat.rows().zip(speeds) {
            let aside = beside.get(&row);
            made.push(window(windows, (row, block), known, (speed.unwrap_or(usual), aside)));
        }
    }
    made.sort_by(|a, b| a.rank_us.total_cmp(&b.rank_us));
    made
}

/// The frequency of a window in megahertz or percent; none where it is not known.
fn speed(windows: &Windows, row: usize, known: Known, beside: &Beside) -> Option<f64> {
    match known.speed? {
        Speed::Counted => {
            let on = on_cpu(windows, row).filter(|us| *us > 0.0)?;
            Some(windows.cycles.get(row)? as f64 / on)
        }
        Speed::Followed(_) => beside.get(&row)?.mhz.map(|(mhz, _)| mhz),
        Speed::Probed(source) => source.value(windows, row),
        Speed::Changing => None,
    }
}

fn window(
    windows: &Windows,
    (row, block): (usize, u32),
    known: Known,
    (speed, aside): (f64, Option<&Aside>),
) -> Window {
    let execution = microseconds(windows.exec_ns.get(row));
    let lateness = match known.released {
        true => windows.lateness_ns.get(row).map_or(0.0, |&ns| ns as f64 / 1e3),
        false => 0.0,
    };
    let path = aside.filter(|_| known.path);
    let accounted = || on_cpu(windows, row).filter(|_| known.cpu_time);
    let on = path.map(|aside| aside.on_us).or_else(accounted).unwrap_or(execution).min(execution);
    let delay = |ns: Option<u64>| ns.map_or(0.0, |ns| ns as f64 / 1e3);
    let backlog = if known.released { backlog(windows, row).min(lateness.max(0.0)) } else { 0.0 };
    let before =
        delay(windows.wake_delay_ns.get(row).filter(|_| known.wake_delay && known.released))
            .min((lateness - backlog).max(0.0));
    let waited = || waited(windows, row).filter(|_| known.run_delay);
    let inside = path.map(|aside| aside.waiting_us).or_else(waited).unwrap_or(0.0);
    let inside = inside.min(execution - on);
    let off = execution - on - inside;
    let irq = aside.filter(|_| known.interrupts).map_or(0.0, |aside| interrupts(aside, on, off));
    // They are in one of the two accounts, as the kernel is built.
    let (on, off) = if accounts_for(aside, on) { (on - irq, off) } else { (on, off - irq) };
    let mut means = [0.0; QUANTITIES];
    means[WHOLE] = lateness + execution;
    means[WAITING] = before + inside;
    means[LATE] = lateness - backlog - before;
    means[BACKLOG] = backlog;
    means[OFF] = off;
    means[IRQ] = irq;
    means[ON] = on;
    means[CYCLES] = on * speed;
    Window { row, block, rank_us: lateness + execution, means }
}

/// Whether interrupts are in the accounted time on the CPU. Kernels that account for them apart leave
/// them out.
fn accounts_for(aside: Option<&Aside>, on: f64) -> bool {
    let Some((aside, irq)) = aside.and_then(|aside| Some((aside, aside.interrupted_us?))) else {
        return true;
    };
    (on - aside.on_us - irq).abs() <= (on - aside.on_us).abs()
}

/// The interrupts of a window, within the account that holds them.
fn interrupts(aside: &Aside, on: f64, off: f64) -> f64 {
    let irq = aside.interrupted_us.unwrap_or(0.0);
    irq.min(if accounts_for(Some(aside), on) { on } else { off })
}

/// First window, and number of windows, that lie around a quantile of `count`.
fn band(count: f64, quantile: f64) -> (f64, f64) {
    let half = match quantile {
        0.5 => AROUND_MEDIAN,
        tail => AROUND_TAIL * (1.0 - tail).min(tail),
    };
    let width = (2.0 * half * count).max(1.0).min(count);
    let first = (quantile * count - width / 2.0).clamp(0.0, (count - width).max(0.0));
    (first, width)
}

/// The means over the windows around a quantile when each block counts as often as `weights` says.
fn around(windows: &[Window], weights: &[Weight], quantile: f64) -> [f64; QUANTITIES] {
    let weight =
        |window: &Window| f64::from(weights.get(window.block as usize).copied().unwrap_or(0));
    let count: f64 = windows.iter().map(weight).sum();
    let (first, width) = band(count, quantile);
    let (mut seen, mut sums) = (0.0, [0.0; QUANTITIES]);
    for window in windows {
        // The part of this window, counted so often, that lies inside the band.
        let own = weight(window);
        let inside = (seen + own).min(first + width) - seen.max(first);
        seen += own;
        if inside > 0.0 {
            for (sum, mean) in sums.iter_mut().zip(window.means) {
                *sum += inside * mean;
            }
        }
        if seen >= first + width {
            break;
        }
    }
    sums.map(|sum| sum / width)
}

/// Who the parts of a difference go to, where events beside the windows tell.
struct Culprits<'a> {
    /// What the events tell, and where in it a row of the windows stands.
    blame: Option<(&'a Blame, HashMap<usize, usize>)>,
    /// Workloads that the difference is the mean of.
    workloads: f64,
    us: HashMap<(Part, String), f64>,
}

impl<'a> Culprits<'a> {
    fn of(context: &'a Context<'_>, workloads: usize) -> Culprits<'a> {
        let blame = context.blame().and_then(|blame| blame.as_ref().ok());
        let rows = |blame: &Blame| blame.windows.iter().map(|w| w.row).zip(0..).collect();
        Culprits {
            blame: blame.map(|blame| (blame, rows(blame))),
            workloads: workloads.max(1) as f64,
            us: HashMap::new(),
        }
    }

    /// Adds the means of one side around the quantile, with its sign.
    fn add(&mut self, windows: &[Window], quantile: f64, sign: f64) {
        let Some((blame, rows)) = &self.blame else { return };
        let (first, width) = band(windows.len() as f64, quantile);
        for (at, window) in windows.iter().enumerate() {
            let at = at as f64;
            let inside = (at + 1.0).min(first + width) - at.max(first);
            let found = rows.get(&window.row).and_then(|at| blame.windows.get(*at));
            let Some(found) = found.filter(|_| inside > 0.0) else { continue };
            let weight = sign * inside / width / self.workloads;
            let queued = |of| matches!(of, blame::Part::Queue | blame::Part::Preemption);
            let all: u64 =
                (found.culprits.iter()).filter(|(of, ..)| queued(*of)).map(|(_, _, ns)| ns).sum();
            // Who had the CPU while the window before was still to end made the backlog.
            let own = (window.means[WAITING] / (all as f64 / 1e3).max(1e-9)).min(1.0);
            let met = found.parts.get(blame::Part::Interrupts).unwrap_or_default() as f64 / 1e3;
            let irq = (window.means[IRQ] / met.max(1e-9)).min(1.0);
            for (of, who, ns) in found.culprits.iter() {
                let us = weight * ns as f64 / 1e3;
                let shares: &[(Part, f64)] = match of {
                    _ if queued(of) => &[(Part::Waiting, own), (Part::Backlog, 1.0 - own)],
                    blame::Part::IdleExit => &[(Part::Lateness, 1.0)],
                    // Those outside the thread's running time are in lateness and waiting.
                    blame::Part::Interrupts => &[(Part::Interrupts, irq)],
                    _ => continue,
                };
                for (part, share) in shares {
                    *self.us.entry((*part, called(blame, of, who))).or_default() += us * share;
                }
            }
        }
    }

    /// Those that make up a part of this size.
    fn who(&self, part: Part, us: f64) -> Vec<Culprit> {
        let own = self.us.iter().filter(|((of, _), _)| *of == part);
        let mut who: Vec<Culprit> = own
            .filter(|(_, own)| **own / us >= LEAST_CULPRIT)
            .map(|((_, name), us)| Culprit { name: name.clone(), us: *us })
            .collect();
        who.sort_by(|a, b| b.us.abs().total_cmp(&a.us.abs()).then_with(|| a.name.cmp(&b.name)));
        who.truncate(CULPRITS);
        who
    }
}

/// What the cycles of `b` take at the frequency of `a`, microseconds.
fn at_frequency(a: &[Replicated; QUANTITIES], b: &[Replicated; QUANTITIES]) -> Replicated {
    Replicated::combine(&[&a[ON], &a[CYCLES], &b[CYCLES]], |of| of[2] * of[0] / of[1])
}

/// A part of the difference of two sides' means.
fn difference_of(
    part: Part,
    a: &[Replicated; QUANTITIES],
    b: &[Replicated; QUANTITIES],
) -> Replicated {
    let simple = |at: usize| Replicated::difference(&a[at], &b[at]);
    match part {
        Part::Waiting => simple(WAITING),
        Part::Backlog => simple(BACKLOG),
        Part::Lateness => simple(LATE),
        Part::OffCpu | Part::WithoutCpu => simple(OFF),
        Part::Interrupts => simple(IRQ),
        // Where the time on the CPU is not known, all of the execution is taken for it.
        Part::OnCpu | Part::Execution => simple(ON),
        // cycles_b / frequency_a - cycles_b / frequency_b
        Part::Frequency => Replicated::difference(&at_frequency(a, b), &b[ON]),
        Part::Cycles => Replicated::difference(&a[ON], &at_frequency(a, b)),
    }
}

/// `` (stress-ng 1720 us)``, where it is known.
fn who(part: &CausePart) -> String {
    let named = part.who.iter().take(SAID);
    let named = named.map(|who| format!("{} {} us", who.name, text::micros(who.us)));
    match named.collect::<Vec<_>>() {
        named if named.is_empty() => String::new(),
        named => format!(" ({})", named.join(", ")),
    }
}

/// Behind a figure: `, +1916 us: +1876 us [1502, 2250] from waiting for the CPU, +40.1 us [31.0, 49.2]
/// from cycles; not decided: lateness +30.0 us [-12.0, 72.0]; nothing from frequency`. One part alone is
/// the whole. `whole`: as the whole is to be told.
pub(super) fn sentence(cause: &Cause, whole: &Estimate) -> String {
    let least = NEGLIGIBLE * cause.total_us.value.abs();
    let is_small = |found: &CausePart| found.us.value.abs() < least;
    let is_shown = |found: &&CausePart| match found.us.low {
        Some(_) => found.us.excludes(0.0),
        None => !is_small(found),
    };
    let (shown, rest): (Vec<&CausePart>, Vec<&CausePart>) = cause.parts.iter().partition(is_shown);
    let (nothing, open): (Vec<&CausePart>, Vec<&CausePart>) =
        rest.into_iter().partition(|found| is_small(found));
    let total = match shown.len() + open.len() {
        0 | 1 => String::new(),
        _ => format!(", {}", words::microseconds(whole)),
    };
    let size = |found: &CausePart| words::microseconds(&found.us);
    let list = |parts: &[&CausePart], word: &dyn Fn(&CausePart) -> String| {
        parts.iter().map(|found| word(found) + &who(found)).collect::<Vec<_>>().join(", ")
    };
    let mut text = total;
    if !shown.is_empty() {
        let from = |found: &CausePart| format!("{} from {}", size(found), found.part.name());
        text += &format!(": {}", list(&shown, &from));
    }
    if !open.is_empty() {
        let named = |found: &CausePart| format!("{} {}", found.part.name(), size(found));
        text += &format!("; not decided: {}", list(&open, &named));
    }
    if !nothing.is_empty() {
        let names: Vec<String> = nothing.iter().map(|f| f.part.name().to_owned()).collect();
        text += &format!("; nothing from {}", words::list(&names));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an interval with zero in it leaves open is no cause.
    #[test]
    fn what_nobody_knows_to_be_waiting_is_not_called_anything_else() {
        let known = |run_delay| Known {
            released: false,
            backlog: false,
            wake_delay: false,
            cpu_time: true,
            path: false,
            run_delay,
            interrupts: false,
            speed: None,
        };
        assert_eq!(known(true).parts(), [Part::Waiting, Part::OffCpu, Part::OnCpu]);
        assert_eq!(known(false).parts(), [Part::WithoutCpu, Part::OnCpu]);
        assert!(known(false).missing()[0].contains("children"), "{:?}", known(false).missing());
    }

    #[test]
    fn parts_are_causes_where_their_intervals_say_so() {
        let part = |part, us| CausePart { part, us, who: Vec::new() };
        let parts = vec![
            part(Part::Waiting, Estimate::between(1876.0, 1502.0, 2250.0)),
            part(Part::Backlog, Estimate::between(30.0, -12.0, 72.0)),
            part(Part::Lateness, Estimate::between(1.0, -2.0, 4.0)),
        ];
        let cause = |parts| Cause {
            of: Judged::Response,
            quantile: 0.99,
            total_us: Estimate::between(1907.0, 1540.0, 2291.0),
            parts,
            missing: Vec::new(),
            windows: [1, 1],
        };
        let told = |parts: &[CausePart]| {
            let cause = cause(parts.to_vec());
            sentence(&cause, &Estimate::bare(cause.total_us.value))
        };
        assert_eq!(
            told(&parts),
            ", +1907 us: +1876 us [1502, 2250] from waiting for the CPU; not decided: the backlog of windows before +30.0 us \
             [-12.0, 72.0]; nothing from lateness"
        );
        assert_eq!(told(&parts[..1]), ": +1876 us [1502, 2250] from waiting for the CPU");
        assert_eq!(
            told(&parts[1..]),
            "; not decided: the backlog of windows before +30.0 us [-12.0, 72.0]; nothing from lateness"
        );
        // A model's parts have none.
        let bare = part(Part::Frequency, Estimate::bare(1907.0));
        assert_eq!(told(&[bare]), ": +1907 us from frequency");
    }

    /// A window of 100 us of its own and 6 of interrupts, as kernels account for it that count them
    /// as the thread's time, and that do not.
    #[test]
    fn interrupts_come_out_of_the_account_that_holds_them() {
        let known = Known {
            released: true,
            backlog: false,
            wake_delay: false,
            cpu_time: true,
            path: false,
            run_delay: true,
            interrupts: true,
            speed: Some(Speed::Followed(Basis::Changes)),
        };
        let aside = Aside { mhz: None, on_us: 100.0, waiting_us: 0.0, interrupted_us: Some(6.0) };
        for cpu_time_ns in [106_000, 100_000] {
            let mut windows = Windows::default();
            windows.push(flyball_run::Window {
                exec_ns: 110_000,
                lateness_ns: 3_000,
                cpu_time_ns: Some(cpu_time_ns),
                run_delay_ns: Some(1_000),
                ..flyball_run::Window::default()
            });
            let means = window(&windows, (0, 0), known, (2.0, Some(&aside))).means;
            assert_eq!((means[ON], means[IRQ], means[OFF]), (100.0, 6.0, 3.0), "{cpu_time_ns}");
            let parts = [WAITING, LATE, OFF, ON, BACKLOG, IRQ].map(|part| means[part]);
            assert!((parts.iter().sum::<f64>() - means[WHOLE]).abs() < 1e-9, "{means:?}");
            assert_eq!(means[CYCLES], 200.0);
        }
    }
}
