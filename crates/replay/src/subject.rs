//! What is replayed on which machine.

use crate::error::ReplayError;
use crate::place::Load;
use crate::shadow::create;
use flyball_governors::Governor;
use flyball_platform::{FrequencyControl, Kernel, Platform, rule};
use flyball_sim::scenario::Scenario;
use flyball_sim::setup::Setup;
use flyball_sim::workload::Pace;
use flyball_units::{GovernorSpec, Nanos};

/// What is replayed on which machine; a governor is still to be chosen.
pub enum Subject {
    /// A recording.
    Recorded {
        /// Its work.
        load: Load,
        /// The hardware.
        platform: Box<Platform>,
        /// The kernel.
        kernel: Box<Kernel>,
    },
    /// A scenario, its first phase; an rt-app program is one.
    Scenario(Box<Scenario>),
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Subject::Recorded { load, .. } => &load.name,
            Subject::Scenario(scenario) => &scenario.name,
        }
    }

    /// The hardware.
    pub fn platform(&self) -> &Platform {
        match self {
            Subject::Recorded { platform, .. } => platform,
            Subject::Scenario(scenario) => &scenario.platform,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        match self {
            Subject::Recorded { kernel, .. } => kernel,
            Subject::Scenario(scenario) => &scenario.kernel,
        }
    }

    /// What was assumed or left out.
    pub fn notes(&self) -> &[String] {
        match self {
            Subject::Recorded { load, .. } => &load.notes,
            Subject::Scenario(_) => &[],
        }
    }

    /// Whether work becomes due without regard to what became of the work before.
    pub fn pace(&self) -> Pace {
        match self {
            Subject::Recorded { load, .. } => load.pace,
            Subject::Scenario(_) => Pace::Open,
        }
    }

    /// Relative deadline of all items, where there is one.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        match self {
            Subject::Recorded { load, .. } => load.interval,
            Subject::Scenario(scenario) => {
                let mut deadlines = scenario.tasks.iter().map(|task| task.deadline);
                let first = deadlines.next().flatten();
                first.filter(|_| deadlines.all(|other| other == first))
            }
        }
    }

    /// All items and cycles, where they are known beforehand.
    pub(crate) fn recorded(&self) -> Option<(u64, u64)> {
        match self {
            Subject::Recorded { load, .. } => Some((load.items() as u64, load.cycles())),
            Subject::Scenario(_) => None,
        }
    }

    /// The setup under a governor.
    ///
    /// # Errors
    /// No such governor or tunable; hardware that chooses by itself.
    pub fn setup(&self, choice: &GovernorSpec) -> Result<Setup, ReplayError> {
        let platform = self.platform();
        let software = |d: &flyball_platform::ClockDomain| d.control == FrequencyControl::Software;
        if !platform.domains.iter().any(software) {
            return Err(ReplayError::bad_input(
                &platform.name,
                "a platform that software rules",
                "hardware that chooses the frequency itself",
            )
            .hint("no governor decides there: choose another platform"));
        }
        let one = |_| governor(choice, self.kernel());
        let governors = platform.domains.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        Ok(match self {
            Subject::Recorded { load, platform, kernel } => load.setup(platform, kernel, governors),
            Subject::Scenario(scenario) => {
                let count = platform.domains.len();
                let built = scenario.setup(0).setup;
                Setup { governors, limits: vec![None; count], initial: vec![None; count], ..built }
            }
        })
    }
}

/// A governor with its tunables, and with those that the kernel's administrator set.
fn governor(choice: &GovernorSpec, kernel: &Kernel) -> Result<Box<dyn Governor>, ReplayError> {
    let refused = |found: String| ReplayError::usage("governor", "a governor", found);
    let mut governor = create(choice).map_err(|error| refused(error.to_string()))?;
    if let Some((tunable, value)) = rule::tunable_of(&choice.name, kernel)
        && !choice.tunables.iter().any(|(name, _)| name == tunable)
    {
        governor.set(tunable, value).map_err(|error| refused(error.to_string()))?;
    }
    Ok(governor)
}
