//! The virtual board under a run: what its speeds mean, and whether they were kept.

use serde::{Deserialize, Serialize};

/// A virtual board: a real kernel on an emulated machine whose speed follows its P-state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BoardRecord {
    /// The platform that it was built from.
    pub platform: String,
    /// The emulator and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// Speed is right over this many guest instructions: an interrupt waits for the end of such a
    /// step, and nothing shorter than some 20 of them means anything.
    pub step_instructions: u64,
    /// P-states changed nothing: every CPU was as fast as its host could make it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full_speed: bool,
    /// CPUs that share a P-state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<BoardPolicyRecord>,
    /// What the platform says and the board does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// Time that CPUs lost because the host could not keep up; seen from outside, so absent in a run
    /// that was started inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pace: Vec<BoardPaceRecord>,
}

/// CPUs of a board that share a P-state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BoardPolicyRecord {
    /// The CPUs.
    pub cpus: Vec<u32>,
    /// Guest instructions per cycle of the P-state's frequency, the same for every instruction.
    pub instructions_per_cycle: f64,
    /// Millions of instructions per second in the slowest P-state.
    pub lowest_mips: f64,
    /// Millions of instructions per second in the fastest.
    pub highest_mips: f64,
}

/// How well a CPU of a board kept its pace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BoardPaceRecord {
    /// The CPU.
    pub cpu: u32,
    /// Time that its instructions took, in seconds.
    pub busy_s: f64,
    /// Of that, what was lost.
    pub lost_s: f64,
    /// Time that waking up from idle took beyond its instructions', in seconds; windows begin after
    /// that.
    #[serde(default)]
    pub waking_s: f64,
}

impl BoardRecord {
    /// Where a guest finds its board's record.
    pub const GUEST_PATH: &str = "/run/board/facts.toml";

    /// Steps that anything measured on a board should last.
    pub const LEAST_STEPS: u64 = 60;

    /// Guest instructions that anything measured should last.
    pub fn least_instructions(&self) -> u64 {
        self.step_instructions.saturating_mul(BoardRecord::LEAST_STEPS)
    }

    /// Guest instructions per cycle of a CPU; none for a CPU that the board does not have.
    pub fn instructions_per_cycle(&self, cpu: u32) -> Option<f64> {
        let policy = self.policies.iter().find(|policy| policy.cpus.contains(&cpu))?;
        Some(policy.instructions_per_cycle).filter(|ipc| *ipc > 0.0)
    }
}
