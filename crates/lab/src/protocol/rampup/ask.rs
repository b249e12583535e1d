//! What is asked of every machine alike: settings as words, gaps, sleeps; and what that means on a
//! real kernel and on a model.

use crate::protocol::rampup::model::Case;
use crate::protocol::rampup::plan::{Condition, Plan};
use crate::protocol::rampup::variant::Variant;
use flyball_sim::scenario::{
    Node, Scenario, ScenarioError, Source, from_tree, keys, kinds, parse_text, set,
};
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};

/// A comparison of variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Settings of all variants, each `KEY=VALUE`, or `series`.
    pub words: Vec<String>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// Length of each spin.
    pub spin: Nanos,
    /// Repetitions per variant and gap, where phases are not chosen but come.
    pub repeats: u32,
    /// Phases of tick and poll, where they are chosen.
    pub phases: u32,
    /// Seed of order and phases.
    pub seed: u64,
    /// Groups of scheduler events to record meanwhile; all that the kernel has where the list is
    /// empty, no events where there is none.
    pub events: Option<Vec<String>>,
}

/// Words that do not read, or not on this machine.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// What no real kernel has.
    #[error("{0}: expected a setting that a real machine has")]
    ModelOnly(String),
    /// A value that does not read.
    #[error(transparent)]
    Setting(Mismatch),
    /// A word without a value.
    #[error("expected `series` or KEY=VALUE, found \"{0}\"")]
    Word(String),
    /// A scenario that cannot be.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl Diagnostic for AskError {
    fn kind(&self) -> ErrorKind {
        match self {
            AskError::Scenario(error) => error.kind(),
            AskError::ModelOnly(_) | AskError::Setting(_) | AskError::Word(_) => ErrorKind::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            AskError::Scenario(error) => error.hint.clone(),
            AskError::ModelOnly(_) => Some("only models have it".to_owned()),
            AskError::Setting(_) => {
                Some("on a machine tunables are whole numbers; patches are for models".to_owned())
            }
            AskError::Word(_) => None,
        }
    }
}

impl Ask {
    /// For a real kernel.
    ///
    /// # Errors
    /// What only a model has; a word that is no setting.
    pub fn plan(&self) -> Result<Plan, AskError> {
        let condition = |variant: &Variant| {
            let mut condition = Condition {
                name: variant.name.clone(),
                sleeps: variant.sleeps,
                gaps: variant.gaps.clone(),
                ..Condition::default()
            };
            for word in self.words.iter().chain(&variant.words) {
                match word.split_once('=') {
                    Some((key, value)) => apply(&mut condition, key.trim(), value.trim())?,
                    None => return Err(AskError::ModelOnly(word.clone())),
                }
            }
            Ok(condition)
        };
        let conditions = self.variants.iter().map(condition).collect::<Result<_, AskError>>()?;
        Ok(Plan { conditions, repeats: self.repeats, spin: self.spin, seed: self.seed })
    }

    /// For a model: a scenario per variant and gap.
    ///
    /// # Errors
    /// A word that no key of a scenario is; a scenario that cannot be.
    pub fn cases(&self, platform: &str, kernel: &str) -> Result<Vec<Case>, AskError> {
        let mut base = parse_text("[[task]]\nkind = \"rampup\"\n", "rampup")?;
        // Texts in quotes, so that no name is taken for a number.
        set(&mut base, "platform", &toml_text(platform))?;
        set(&mut base, "kernel", &toml_text(kernel))?;
        set(&mut base, "phases", &self.phases.to_string())?;
        for word in &self.words {
            place(&mut base, word)?;
        }
        let mut cases = Vec::new();
        for variant in &self.variants {
            for gap in &variant.gaps {
                let mut tree = base.clone();
                for word in &variant.words {
                    place(&mut tree, word)?;
                }
                set(&mut tree, "task.0.sleeps", &variant.sleeps.to_string())?;
                set(&mut tree, "task.0.gap", &toml_text(&format!("{}ns", gap.0)))?;
                let slept = gap.0.saturating_mul(u64::from(variant.sleeps));
                let total = slept.saturating_add(self.spin.0);
                set(&mut tree, "duration", &toml_text(&format!("{total}ns")))?;
                cases.push(Case {
                    condition: variant.name.clone(),
                    gap: *gap,
                    sleeps: variant.sleeps,
                    scenario: with_ramp(tree, self.words.iter().chain(&variant.words))?,
                });
            }
        }
        Ok(cases)
    }
}

fn scenario(tree: &Node) -> Result<Scenario, AskError> {
    let scenario = from_tree(tree, Source::text_only("command line", "rampup"))?;
    scenario.check("command line")?;
    Ok(scenario)
}

/// One setting of a real machine.
fn apply(condition: &mut Condition, key: &str, value: &str) -> Result<(), AskError> {
    let model_only =
        ["hz", "kernel", "platform", "placement", "load", "rampup_multiplier", "clamp_ramp"]
            .contains(&key);
    if model_only || key.contains('.') {
        return Err(AskError::ModelOnly(key.to_owned()));
    }
    condition.set(key, value).map_err(AskError::Setting)
}

/// The key of a ramp, which is the kernel's own or followed by clamps: a matter of the kernel.
const RAMP: &str = "ramp";

/// The scenario with the last ramp among these words.
fn with_ramp<'a>(
    mut tree: Node,
    words: impl DoubleEndedIterator<Item = &'a String>,
) -> Result<Scenario, AskError> {
    let plain = scenario(&tree)?;
    let mut pairs = words.rev().filter_map(|word| word.split_once('='));
    let Some((_, multiplier)) = pairs.find(|(key, _)| *key == RAMP) else { return Ok(plain) };
    let key = if plain.kernel.ramps_by_clamps() { "clamp_ramp" } else { "rampup_multiplier" };
    set(&mut tree, &format!("task.0.{key}"), multiplier)?;
    scenario(&tree)
}

/// One word of a variant: where its key belongs follows from its name. A ramp is left to [`with_ramp`].
fn place(tree: &mut Node, word: &str) -> Result<(), AskError> {
    if word == "series" {
        return Ok(set(tree, "features.series", "true")?);
    }
    let (key, value) = word.split_once('=').ok_or_else(|| AskError::Word(word.to_owned()))?;
    if key == RAMP {
        return Ok(());
    }
    let has = |keys: &[keys::Key]| keys.iter().any(|known| known.name == key);
    let rampup = kinds::KINDS.iter().find(|kind| kind.name == "rampup");
    let path = match key {
        "governor" => "governor.name".to_owned(),
        "hz" | "kernel" | "platform" | "placement" | "load" => key.to_owned(),
        _ if key.contains('.') => key.to_owned(),
        _ if has(keys::FEATURES) => format!("features.{key}"),
        _ if has(keys::TASK) || rampup.is_some_and(|kind| has(kind.keys)) => {
            format!("task.0.{key}")
        }
        _ => format!("governor.{key}"),
    };
    Ok(set(tree, &path, value)?)
}

/// A text in TOML's quotes.
fn toml_text(text: &str) -> String {
    format!("{text:?}")
}
