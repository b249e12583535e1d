//! What can be asked of a recording, one file per question.
//!
//! Every question looks at the recording's span only ([`crate::Recording::between`] narrows it),
//! and every answer says what it does not know: time in gaps, time before the first event, events
//! without a partner. A question that the recording cannot answer returns [`crate::Missing`].

pub mod changes;
pub mod cpu_time;
pub mod distribution;
pub mod frequency;
pub mod idle_residency;
pub mod item_latency;
pub mod residency;
pub mod rise;
pub mod running_frequency;
pub mod stages;
pub mod states;
pub mod transitions;
pub mod utilization;
pub mod wakeup_latency;

pub use changes::{Change, ChangeCause};
pub use cpu_time::CpuTime;
pub use distribution::Distribution;
pub use frequency::{FrequencyOverTime, FrequencyResidency};
pub use idle_residency::IdleResidency;
pub use item_latency::ItemLatency;
pub use residency::Share;
pub use rise::{Outcome, Rise, Target, TimeTo};
pub use running_frequency::RunningFrequency;
pub use stages::{Stage, Stages};
pub use states::States;
pub use transitions::{Cause, Transitions};
pub use utilization::{UtilizationOverTime, UtilizationResidency};
pub use wakeup_latency::WakeupLatency;
