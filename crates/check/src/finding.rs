//! One finding: what, how bad, where, from which evidence, to what effect, and the remedy.

use crate::catalogue::Id;
use serde::{Deserialize, Serialize};

/// How bad a finding is. Ordered from harmless to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Looked at, and nothing distorts.
    Ok,
    /// Worth knowing; small, or under control.
    Note,
    /// Distorts figures visibly under some conditions.
    Warn,
    /// Figures measured like this mislead.
    Bad,
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Note => "note",
            Severity::Warn => "warn",
            Severity::Bad => "bad",
        }
    }
}

/// Where a fact was read, and what was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// A path, a system call, or the probe.
    pub source: String,
    /// What it said.
    pub value: String,
}

/// The remedy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fix {
    /// A command that mends it until the next boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What makes it last, or what to do where no command helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<String>,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What it is about: stable names.
    pub id: Id,
    /// How bad it is.
    pub severity: Severity,
    /// What it concerns: `all CPUs`, `CPUs 0-7`, `policy4 (CPU 4)`, `machine`, a path.
    pub object: String,
    /// What was found, in one line.
    pub found: String,
    /// What it does to latency and benchmarks, in plain words; empty where all is well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub effect: String,
    /// Where it was read.
    pub evidence: Vec<Evidence>,
    /// The remedy, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding about `object`; effect, evidence and remedy are added.
    pub(crate) fn new(
        id: Id,
        severity: Severity,
        object: impl Into<String>,
        found: impl Into<String>,
    ) -> Finding {
        Finding {
            id,
            severity,
            object: object.into(),
            found: found.into(),
            effect: String::new(),
            evidence: Vec::new(),
            fix: None,
        }
    }

    pub(crate) fn effect(mut self, effect: impl Into<String>) -> Finding {
        self.effect = effect.into();
        self
    }

    pub(crate) fn seen(mut self, source: impl Into<String>, value: impl ToString) -> Finding {
        self.evidence.push(Evidence { source: source.into(), value: value.to_string() });
        self
    }

    pub(crate) fn seen_all<S: Into<String>, V: ToString>(
        self,
        all: impl IntoIterator<Item = (S, V)>,
    ) -> Finding {
        all.into_iter().fold(self, |finding, (source, value)| finding.seen(source, value))
    }

    /// A command that mends it.
    pub(crate) fn fix(mut self, command: impl Into<String>) -> Finding {
        self.fix.get_or_insert_default().command = Some(command.into());
        self
    }

    /// What makes it last, or what to do where no command helps.
    pub(crate) fn lasting(mut self, text: impl Into<String>) -> Finding {
        self.fix.get_or_insert_default().persistent = Some(text.into());
        self
    }
}
