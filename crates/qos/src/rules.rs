//! Which threads get what: rules of a file, and the classes that they name.

use crate::limits::{Limits, SocketEntry};
use crate::schedqos;
use flyball_governors::ResponseRamp;
use flyball_host::FairShare;
use flyball_units::described::slip;
use flyball_units::{Mismatch, Nanos, Pattern, nearest};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole scale of utilisation.
const FULL: u32 = 1024;
/// What the kernel takes for a slice.
const SLICES: [Nanos; 2] = [Nanos(100_000), Nanos(100_000_000)];
/// How often processes that came later are looked for, by default.
const EVERY: Nanos = Nanos::from_secs(2);

/// What a thread gets; what is none stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// The ramp that its lower clamp follows while it runs.
    pub ramp: Option<ResponseRamp>,
    /// Its lower clamp at any time.
    pub least: Option<u32>,
    /// Its upper clamp.
    pub most: Option<u32>,
    /// Time for which it runs among equals.
    pub slice: Option<Nanos>,
    /// Its nice value.
    pub nice: Option<i32>,
}

impl Treatment {
    /// A ramp alone.
    #[must_use]
    pub fn ramp(ramp: ResponseRamp) -> Treatment {
        Treatment { ramp: Some(ramp), ..Treatment::default() }
    }

    /// The lower clamp for a demand of its ramp; 0 where it asks for none.
    pub(crate) fn clamp(&self, demand: Option<u32>) -> u32 {
        let wanted = demand.unwrap_or(0).max(self.least.unwrap_or(0));
        wanted.min(self.most.unwrap_or(FULL))
    }

    /// What a thread that has `before` is to have. What the kernel does not have stays 0.
    pub(crate) fn share(&self, before: FairShare) -> FairShare {
        FairShare {
            nice: self.nice.unwrap_or(before.nice),
            slice: self.slice.filter(|_| before.slice.0 > 0).unwrap_or(before.slice),
            most: self.most.filter(|_| before.most > 0).unwrap_or(before.most),
        }
    }

    fn over(self, base: Treatment) -> Treatment {
        Treatment {
            ramp: self.ramp.or(base.ramp),
            least: self.least.or(base.least),
            most: self.most.or(base.most),
            slice: self.slice.or(base.slice),
            nice: self.nice.or(base.nice),
        }
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// None fits all, as for the thread.
    process: Option<Pattern>,
    thread: Option<Pattern>,
    treatment: Treatment,
}

impl Rule {
    /// For a process, or one of its threads, of this name.
    pub fn of(process: &str, thread: Option<&String>, treatment: Treatment) -> Rule {
        Rule {
            process: Some(Pattern(process.to_owned())),
            thread: thread.cloned().map(Pattern),
            treatment,
        }
    }
}

fn fits(pattern: &Option<Pattern>, name: &str) -> bool {
    pattern.as_ref().is_none_or(|pattern| pattern.fits(name))
}

/// A value within its bounds.
///
/// # Errors
/// It is not, with its key.
pub(crate) fn in_range(key: &str, value: i64, low: i64, high: i64) -> Result<i64, Mismatch> {
    match (low..=high).contains(&value) {
        true => Ok(value),
        false => Err(Mismatch::value(format!("{low} to {high}"), value).at(key)),
    }
}

/// Rules; the first that fits a thread decides, and a thread that none fits is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    /// How often processes that came later are looked for.
    pub every: Nanos,
    /// What programs may ask for at the socket.
    pub limits: Limits,
}

impl Rules {
    /// The same for every thread.
    #[must_use]
    pub fn all(treatment: Treatment) -> Rules {
        let all = Rule { process: None, thread: None, treatment };
        Rules { rules: vec![all], every: EVERY, limits: usual_limits() }
    }

    /// None: every thread is left alone, but for what its program asks for.
    #[must_use]
    pub fn none() -> Rules {
        Rules { rules: Vec::new(), every: EVERY, limits: usual_limits() }
    }

    /// Reads a file of rules: TOML of ours, or the JSON of schedqos, which begins with a brace.
    ///
    /// # Errors
    /// What is none, with its place.
    pub fn read(text: &str) -> Result<Rules, Mismatch> {
        if text.trim_start().starts_with('{') {
            return schedqos::read(text);
        }
        let file: File = toml::from_str(text).map_err(|error| {
            slip("a file of rules", text, error.message(), error.span().map(|at| at.start))
        })?;
        let mut classes: BTreeMap<String, Treatment> =
            CLASSES.iter().map(|(name, class)| ((*name).to_owned(), class())).collect();
        for (name, entry) in &file.class {
            let own = entry.treatment().map_err(|slip| slip.at(format!("class.{name}")))?;
            let base = classes.get(name).copied().unwrap_or_default();
            classes.insert(name.clone(), own.over(base));
        }
        let rule = |(number, entry): (usize, &RuleEntry)| {
            let place = format!("rule {}", number + 1);
            entry.rule(&classes).map_err(|slip| slip.at(place))
        };
        let rules: Result<Vec<Rule>, Mismatch> = file.rule.iter().enumerate().map(rule).collect();
        let rules = rules?;
        if rules.is_empty() && file.socket.is_none() {
            return Err(Mismatch::value("a [[rule]] or more, or a [socket]", "none"));
        }
        let classes: Vec<Class> = classes.into_iter().collect();
        let limits = Limits::of(&file.socket.unwrap_or_default(), &classes);
        let limits = limits.map_err(|slip| slip.at("socket"))?;
        let every = file.every.as_deref().map(str::parse).transpose();
        let every = every.map_err(|slip: Mismatch| slip.at("every"))?.unwrap_or(EVERY);
        if every < Nanos::from_millis(100) {
            return Err(Mismatch::value(
                "100ms or more",
                format_args!("{} ms", every.0 as f64 / 1e6),
            )
            .at("every"));
        }
        Ok(Rules { rules, every, limits })
    }

    /// These, the first that fits deciding.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn of_rules(rules: Vec<Rule>) -> Result<Rules, Mismatch> {
        match rules.is_empty() {
            true => Err(Mismatch::value("a rule or more", "none")),
            false => Ok(Rules { rules, every: EVERY, limits: usual_limits() }),
        }
    }

    /// The class of this name, for every thread.
    ///
    /// # Errors
    /// No such class.
    pub fn class(name: &str) -> Result<Rules, Mismatch> {
        match CLASSES.iter().find(|(known, _)| *known == name) {
            Some((_, class)) => Ok(Rules::all(class())),
            None => Err(no_class(name, CLASSES.iter().map(|(known, _)| *known))),
        }
    }

    /// What a thread gets; none where it is left alone.
    pub(crate) fn of(&self, process: &str, thread: &str) -> Option<Treatment> {
        let both = |rule: &&Rule| fits(&rule.process, process) && fits(&rule.thread, thread);
        self.rules.iter().find(both).map(|rule| rule.treatment)
    }

    /// Whether every thread gets the same, whatever its name.
    pub(crate) fn is_uniform(&self) -> bool {
        let first = self.rules.first();
        first.is_none_or(|rule| rule.process.is_none() && rule.thread.is_none())
    }

    /// Whether one of them gives a ramp.
    pub(crate) fn has_ramps(&self) -> bool {
        self.rules.iter().any(|rule| rule.treatment.ramp.is_some())
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a rule names processes, and one of them has this name.
    pub(crate) fn name_process(&self, name: &str) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.process.as_ref().is_some_and(|pattern| pattern.fits(name)))
    }

    /// Whether a rule could fit threads of a process of this name.
    pub(crate) fn concern(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| fits(&rule.process, name))
    }

    /// The multiplier that all have in common; none where they differ.
    pub(crate) fn multiplier(&self) -> Option<u32> {
        let mut all =
            self.rules.iter().map(|rule| rule.treatment.ramp.map(ResponseRamp::multiplier));
        let first = all.next()?;
        if all.all(|other| other == first) { first } else { None }
    }
}

/// A name, and what its threads get.
pub(crate) type Class = (String, Treatment);
/// One that ships.
type Shipped = (&'static str, fn() -> Treatment);

/// The classes that ship. None has a nice value below 0, which only root may give.
const CLASSES: [Shipped; 4] = [
    ("ui", || Treatment::ramp(ResponseRamp::new(4))),
    ("audio", || Treatment {
        slice: Some(Nanos::from_millis(1)),
        ..Treatment::ramp(ResponseRamp::new(8))
    }),
    ("render", || Treatment {
        slice: Some(Nanos::from_millis(3)),
        ..Treatment::ramp(ResponseRamp::new(4))
    }),
    ("background", || Treatment { most: Some(512), nice: Some(10), ..Treatment::default() }),
];

/// What may be asked for without a file that says so.
fn usual_limits() -> Limits {
    let mut known: Vec<Class> =
        CLASSES.iter().map(|(name, class)| ((*name).to_owned(), class())).collect();
    known.sort_by(|a, b| a.0.cmp(&b.0));
    Limits::usual(&known)
}

pub(crate) fn no_class<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Mismatch {
    let list = known.clone().collect::<Vec<_>>().join(", ");
    let slip = Mismatch::text(format!("a class ({list})"), name);
    match nearest(name, known) {
        Some(near) => slip.hint(format!("did you mean \"{near}\"?")),
        None => slip,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    every: Option<String>,
    #[serde(default)]
    rule: Vec<RuleEntry>,
    #[serde(default)]
    class: BTreeMap<String, Entry>,
    socket: Option<SocketEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    ramp: Option<u32>,
    least: Option<u32>,
    most: Option<u32>,
    slice: Option<String>,
    nice: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    process: Option<String>,
    thread: Option<String>,
    class: Option<String>,
    ramp: Option<u32>,
    least: Option<u32>,
    most: Option<u32>,
    slice: Option<String>,
    nice: Option<i32>,
}

impl Entry {
    fn treatment(&self) -> Result<Treatment, Mismatch> {
        let Entry { ramp, least, most, slice, nice } = self;
        let within = |key: &str, value: Option<i64>, low: i64, high: i64| match value {
            Some(value) => in_range(key, value, low, high).map(drop),
            None => Ok(()),
        };
        let whole = i64::from(FULL);
        within("ramp", ramp.map(i64::from), 1, i64::from(ResponseRamp::LARGEST))?;
        within("least", least.map(i64::from), 0, whole)?;
        within("most", most.map(i64::from), 1, whole)?;
        within("nice", nice.map(i64::from), -20, 19)?;
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            return Err(Mismatch::value(format!("up to most, {most}"), least).at("least"));
        }
        let slice = slice.as_deref().map(str::parse::<Nanos>).transpose();
        let slice = slice.map_err(|slip| slip.at("slice"))?;
        let [shortest, longest] = SLICES;
        if slice.is_some_and(|slice| slice < shortest || slice > longest) {
            let found = self.slice.as_deref().unwrap_or_default();
            return Err(Mismatch::text("100us to 100ms", found).at("slice"));
        }
        let ramp = ramp.map(ResponseRamp::new);
        Ok(Treatment { ramp, least: *least, most: *most, slice, nice: *nice })
    }
}

impl RuleEntry {
    fn rule(&self, classes: &BTreeMap<String, Treatment>) -> Result<Rule, Mismatch> {
        let base = match &self.class {
            None => Treatment::default(),
            Some(name) => *classes
                .get(name)
                .ok_or_else(|| no_class(name, classes.keys().map(String::as_str)).at("class"))?,
        };
        let (ramp, least, most, nice) = (self.ramp, self.least, self.most, self.nice);
        let own = Entry { ramp, least, most, slice: self.slice.clone(), nice }.treatment()?;
        let treatment = own.over(base);
        if treatment == Treatment::default() {
            let expected = "a class, or one of ramp, least, most, slice, nice";
            return Err(Mismatch::value(expected, "none"));
        }
        let pattern = |name: &Option<String>| name.clone().filter(|name| name != "*").map(Pattern);
        let (process, thread) = (pattern(&self.process), pattern(&self.thread));
        Ok(Rule { process, thread, treatment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        every = "5s"
        [[rule]]
        process = "pipewire*"
        thread = "data-loop*"
        class = "audio"
        nice = -5
        [[rule]]
        process = "make"
        class = "background"
        [[rule]]
        thread = "RenderThread"
        class = "frames"
        [class.frames]
        ramp = 6
        least = 100
        [class.background]
        most = 300
    "#;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = Rules::read(FILE).unwrap();
        let audio = rules.of("pipewire-pulse", "data-loop.0").unwrap();
        assert_eq!(audio.ramp.unwrap().multiplier(), 8);
        assert_eq!((audio.nice, audio.slice), (Some(-5), Some(Nanos::from_millis(1))));
        let background = rules.of("make", "make").unwrap();
        assert_eq!(
            (background.most, background.nice),
            (Some(300), Some(10)),
            "changed, not replaced"
        );
        let frames = rules.of("game", "RenderThread").unwrap();
        assert_eq!((frames.clamp(None), frames.clamp(Some(900))), (100, 900));
        assert_eq!(background.clamp(Some(900)), 300);
        assert_eq!(rules.of("game", "main"), None);
        assert!(rules.name_process("make") && !rules.name_process("game"));
        assert_eq!((rules.every, rules.multiplier()), (Nanos::from_secs(5), None));
        assert_eq!(Rules::class("ui").unwrap().multiplier(), Some(4));
    }

    #[test]
    fn what_is_no_rule_is_named_with_its_place() {
        let error = |text: &str| Rules::read(text).unwrap_err().to_string();
        assert!(error("").contains("a [[rule]] or more, or a [socket]"));
        assert!(error("[[rule]]\n").starts_with("rule 1: expected a class, or one of ramp"));
        let class = error("[[rule]]\nclass = \"audo\"\n");
        assert!(class.starts_with("rule 1: class: expected a class (audio, background"), "{class}");
        assert!(error("[[rule]]\nnice = 20\n").contains("rule 1: nice: expected -20 to 19"));
        assert!(error("[[rule]]\nslice = \"1s\"\n").contains("slice: expected 100us to 100ms"));
        assert!(error("[[rule]]\nleast = 9\nmost = 8\n").contains("least: expected up to most, 8"));
        assert!(error("[class.x]\nramp = 65\n").contains("class.x: ramp: expected 1 to 64"));
        assert!(error("[[rules]]\n").contains("unknown field `rules`"));
        assert!(Rules::class("x").is_err());
    }
}
