//! How much a condition cost, and because of what.

use flyball_stats::Estimate;
use serde::{Deserialize, Serialize};

use super::{Comparison, VerdictWord};

/// What is judged of a window.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// From the scheduled release to the end.
    #[default]
    Response,
    /// From dispatch to the end.
    Execution,
    /// From the scheduled release to dispatch.
    Lateness,
    /// CPU time of a program with its threads and children.
    CpuTime,
    /// Whether the deadline was missed.
    Missed,
}

/// The total effect of a condition on one quantity: what changed because the condition was set,
/// through whatever path. Intervals of all effects of a run hold at once with 95 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// The workload; `None` is the mean over all of them.
    pub workload: Option<String>,
    /// What is judged.
    pub of: Judged,
    /// Which quantile of it, 0 to 1; `None` for a share of windows.
    pub quantile: Option<f64>,
    /// Under the subject, microseconds, or a share from 0 to 1. Over several workloads the geometric
    /// mean of response and execution, the mean of the others.
    pub subject: f64,
    /// Under the baseline.
    pub baseline: f64,
    /// Subject over baseline, of response, execution and CPU time.
    pub ratio: Option<Estimate>,
    /// Subject minus baseline, of lateness (microseconds) and of missed deadlines (share).
    pub difference: Option<Estimate>,
    /// Share of the orders that could have been drawn in which chance alone shows as much, 0 to 1: above
    /// 5 % it is no effect whatever the interval says. None with too few blocks for that (fewer than 6).
    #[serde(default)]
    pub by_chance: Option<f64>,
    /// What both say.
    pub verdict: VerdictWord,
}

/// Where a difference comes from. The parts sum to `total_us` exactly, since each window is
/// lateness + waiting + other time off the CPU + cycles / delivered frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// The quantity whose difference is split: response, or execution where no release is known.
    pub of: Judged,
    /// The quantile around which the windows were taken, 0 to 1.
    pub quantile: f64,
    /// Mean of the windows around the quantile, subject minus baseline, microseconds. Its interval and
    /// those of the parts hold each by itself with 95 %.
    pub total_us: Estimate,
    /// The parts, the largest first.
    pub parts: Vec<CausePart>,
    /// What was not recorded, so that parts had to be left together.
    pub missing: Vec<String>,
    /// Windows that the means are taken over, of the subject and of the baseline.
    pub windows: [u64; 2],
}

/// One part of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CausePart {
    /// What it is.
    pub part: Part,
    /// Its size, microseconds; below zero where it made the subject faster.
    pub us: Estimate,
    /// Who it was, where events beside the windows tell: the largest first, those that matter.
    #[serde(default)]
    pub who: Vec<Culprit>,
}

/// Somebody's share of a part of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// A task, an idle state.
    pub name: String,
    /// The subject's mean minus the baseline's around the quantile, microseconds.
    pub us: f64,
}

/// The paths from a condition to the latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Ready to run without a CPU: before dispatch, preempted, queued, throttled.
    Waiting,
    /// Late because the window before had not ended.
    Backlog,
    /// Late for another reason than waiting: the timer, the way out of an idle state. All lateness
    /// where nobody looked at how much of it was waiting.
    Lateness,
    /// Off the CPU inside the window and not ready: sleep, I/O, page faults.
    OffCpu,
    /// Off the CPU inside the window, where nobody knows how much of it was waiting: a program whose threads or
    /// children did some of its work, a kernel that does not account for it.
    WithoutCpu,
    /// Interrupts on its CPU while it ran, where events beside the windows tell of them: a window that
    /// takes longer has more ticks of the timer, too.
    Interrupts,
    /// The baseline's cycles at the subject's frequency instead of its own.
    Frequency,
    /// More or fewer cycles for the same work: a shared core, cold caches, memory, another kind of core.
    Cycles,
    /// Time on the CPU, where frequency and cycles cannot be told apart.
    OnCpu,
    /// Execution as a whole, where the time on the CPU is not known.
    Execution,
}

impl Part {
    /// In a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Waiting => "waiting for the CPU",
            Part::Backlog => "the backlog of windows before",
            Part::Lateness => "lateness",
            Part::OffCpu => "time off the CPU",
            Part::WithoutCpu => "time without a CPU (waiting for one, or asleep)",
            Part::Interrupts => "interrupts",
            Part::Frequency => "frequency",
            Part::Cycles => "cycles",
            Part::OnCpu => "time on the CPU",
            Part::Execution => "execution",
        }
    }
}

impl Judged {
    /// In a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Judged::Response => "response",
            Judged::Execution => "execution",
            Judged::Lateness => "lateness",
            Judged::CpuTime => "CPU time",
            Judged::Missed => "missed deadlines",
        }
    }
}

impl Effect {
    /// `response p99`, `execution median`, `missed deadlines`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.quantile {
            Some(quantile) => format!("{} {}", self.of.name(), quantile_name(quantile)),
            None => self.of.name().to_owned(),
        }
    }

    /// Its interval: a ratio or a difference.
    #[must_use]
    pub fn change(&self) -> Option<&Estimate> {
        self.ratio.as_ref().or(self.difference.as_ref())
    }
}

/// `median`, `p99`, `p99.9`.
#[must_use]
pub fn quantile_name(quantile: f64) -> String {
    match quantile {
        0.5 => "median".to_owned(),
        quantile => {
            // One part in a hundred thousand is finer than any quantile that is judged.
            let percent = (quantile * 1e5).round() / 1e3;
            format!("p{percent}")
        }
    }
}

/// How the subject of a comparison stands to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Any difference lies within the margin.
    Equivalent,
    /// So do those of the medians of all workloads together; a tail was not decided.
    EqualMedians,
    /// An effect: it takes longer.
    Slower,
    /// An effect: it takes less long.
    Faster,
    /// The data do not say.
    Undecided,
}

impl Relation {
    /// What stands between subject and baseline in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Relation::Equivalent => "equivalent to",
            Relation::EqualMedians => "equal in its medians to",
            Relation::Slower => "slower than",
            Relation::Faster => "faster than",
            Relation::Undecided => "not to be told from",
        }
    }
}

impl Comparison {
    /// How the subject stands to the baseline, by the effect that the headline names.
    #[must_use]
    pub fn relation(&self) -> Relation {
        match self.verdict {
            VerdictWord::Equivalent => Relation::Equivalent,
            VerdictWord::Effect if self.is_slower() => Relation::Slower,
            VerdictWord::Effect => Relation::Faster,
            VerdictWord::Undecided if self.medians_are_equal() => Relation::EqualMedians,
            _ => Relation::Undecided,
        }
    }

    fn is_slower(&self) -> bool {
        let named = headline(&self.effects);
        let ratio = named.and_then(|effect| Some(effect.ratio.as_ref()?.value > 1.0));
        let difference = || named.and_then(|effect| Some(effect.difference.as_ref()?.value > 0.0));
        ratio.or_else(difference).unwrap_or(self.ratio.value > 1.0)
    }

    fn medians_are_equal(&self) -> bool {
        let medians: Vec<VerdictWord> = (self.effects.iter())
            .filter(|effect| effect.workload.is_none() && effect.quantile == Some(0.5))
            .map(|effect| effect.verdict)
            .collect();
        !medians.is_empty() && medians.iter().all(|word| *word == VerdictWord::Equivalent)
    }
}

/// The effect that a headline names: on the response where there is one, its tail before its median,
/// then execution, CPU time, lateness, missed deadlines. Where there is no effect, the response's median.
#[must_use]
pub fn headline(effects: &[Effect]) -> Option<&Effect> {
    let all = || effects.iter().filter(|effect| effect.workload.is_none());
    let rank = |effect: &&Effect| {
        let tail = effect.quantile != Some(0.5);
        match effect.of {
            Judged::Response => u8::from(!tail),
            Judged::Execution => 2 + u8::from(!tail),
            Judged::CpuTime => 4,
            Judged::Lateness => 5 + u8::from(!tail),
            Judged::Missed => 7,
        }
    };
    let shown = all().filter(|effect| effect.verdict == VerdictWord::Effect).min_by_key(rank);
    shown.or_else(|| all().filter(|effect| effect.quantile == Some(0.5)).min_by_key(rank))
}
