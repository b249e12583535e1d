//! Sets of CPUs and the kernel's list notation, `0-3,8`.

use crate::{CpuId, Mismatch};
use std::fmt;
use std::str::FromStr;

/// A set of logical CPUs. Prints and reads as the kernel's list, `0-3,8`; the empty set is ``.
///
/// ```
/// use flyball_units::CpuSet;
/// for text in ["1", "cpu1", "cpu=1", "cpus=1", "1-1"] {
///     assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), "1");
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// Bit `i % 64` of word `i / 64` stands for CPU `i`; the last word is never zero.
    words: Vec<u64>,
}

impl CpuSet {
    /// One more than the highest CPU number that a set holds. Linux is built for at most 8192
    /// CPUs (`NR_CPUS` on x86); the bound keeps a typing error from filling the memory.
    pub const LIMIT: u32 = 8192;

    /// The empty set.
    pub const fn new() -> CpuSet {
        CpuSet { words: Vec::new() }
    }

    /// Adds `cpu`; false (and no change) where it is at or above [`CpuSet::LIMIT`].
    pub fn insert(&mut self, cpu: CpuId) -> bool {
        if cpu.0 >= CpuSet::LIMIT {
            return false;
        }
        let word = (cpu.0 / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu.0 % 64);
        true
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words.get((cpu.0 / 64) as usize).is_some_and(|word| word >> (cpu.0 % 64) & 1 == 1)
    }

    /// The CPUs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            (0..64u32)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| CpuId(index as u32 * 64 + bit))
        })
    }

    /// How many CPUs are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// The CPUs of either set.
    pub fn union(&self, other: &CpuSet) -> CpuSet {
        self.iter().chain(other.iter()).collect()
    }

    /// The CPUs of both sets.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        self.iter().filter(|&cpu| other.contains(cpu)).collect()
    }

    /// The CPUs of this set that are not in `other`.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        self.iter().filter(|&cpu| !other.contains(cpu)).collect()
    }

    /// The bits as the system calls take them: 64 CPUs per word, the lowest first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// A set from the bits of a system call.
    pub fn from_words(words: &[u64]) -> CpuSet {
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        CpuSet { words: words[..used].to_vec() }
    }
}

impl FromIterator<CpuId> for CpuSet {
    /// Numbers at or above [`CpuSet::LIMIT`] are left out.
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl From<CpuId> for CpuSet {
    fn from(cpu: CpuId) -> CpuSet {
        [cpu].into_iter().collect()
    }
}

impl FromStr for CpuSet {
    type Err = Mismatch;

    /// Reads `0-3,8` with white space around each part, behind the word `cpu` or `cpus` and `=` where
    /// they are given. An empty text is the empty set, as in `/sys/devices/system/cpu/isolated`; the
    /// kernel's `0-31:2/8` (groups) is read, too.
    fn from_str(text: &str) -> Result<CpuSet, Mismatch> {
        let mut list = text.trim();
        let mut set = CpuSet::new();
        if list.is_empty() {
            return Ok(set);
        }
        if let Some(rest) = list.strip_prefix("cpu") {
            let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start();
            list = rest.strip_prefix('=').unwrap_or(rest);
        }
        for part in list.split(',').map(str::trim) {
            let fail = |expected: &str| {
                let slip = Mismatch::text(expected, part);
                if part == text.trim() { slip } else { slip.hint(format!("in \"{text:.80}\"")) }
            };
            let (first, last, used, group) =
                parse_part(part).ok_or_else(|| fail("CPU numbers such as 3 or 0-3"))?;
            if last >= CpuSet::LIMIT {
                return Err(fail(&format!("CPU numbers below {}", CpuSet::LIMIT)));
            }
            if first > last || used == 0 || used > group {
                return Err(fail("CPU numbers as an ascending range"));
            }
            for cpu in (first..=last).filter(|cpu| (cpu - first) % group < used) {
                if set.contains(CpuId(cpu)) {
                    return Err(Mismatch::value("each CPU once", format_args!("{cpu} twice")));
                }
                set.insert(CpuId(cpu));
            }
        }
        Ok(set)
    }
}

/// Reads `A`, `A-B` or `A-B:USED/GROUP` as (first, last, used, group).
fn parse_part(part: &str) -> Option<(u32, u32, u32, u32)> {
    let number = |digits: &str| -> Option<u32> {
        if digits.starts_with('+') { None } else { digits.parse().ok() }
    };
    let (range, groups) = match part.split_once(':') {
        Some((range, groups)) => (range, Some(groups)),
        None => (part, None),
    };
    let (first, last) = match range.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(range)?, number(range)?),
    };
    match groups {
        None => Some((first, last, 1, 1)),
        Some(groups) => {
            let (used, group) = groups.split_once('/')?;
            Some((first, last, number(used)?, number(group)?))
        }
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().map(|cpu| cpu.0).peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

crate::as_text!(CpuSet);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CpuSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CpuSet".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "CPU numbers such as \"0-3,8\"."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn lists_round_trip() {
        for text in ["", "0", "0-3", "0-3,8", "1,3,5", "63-64", "0-8191"] {
            assert_eq!(set(text).to_string(), text);
        }
        assert_eq!(set(" 0-1, 2 \n").to_string(), "0-2");
        for text in ["1", "cpu1", "cpu=1", "cpus=1", "cpu 1", "cpus = 1"] {
            assert_eq!(set(text), set("1"), "{text}");
        }
        assert_eq!(set("cpus=0-3,6").to_string(), "0-3,6");
        assert_eq!(set("0-7:2/4").to_string(), "0-1,4-5");
    }

    #[test]
    fn wrong_lists_are_refused() {
        for text in [
            "x",
            "3-1",
            "0-",
            "-1",
            ",",
            "0,,1",
            "8192",
            "0-4294967295",
            "+1",
            "0-3:0/2",
            "0-3:3/0",
            "1:2",
            "cpu",
            "cpus=",
            "cpux",
            "core1",
        ] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        let error = |text: &str| text.parse::<CpuSet>().unwrap_err();
        assert_eq!(error("zwei").line(), "expected CPU numbers such as 3 or 0-3, found \"zwei\"");
        assert_eq!(
            error("0-3,zwei").line(),
            "expected CPU numbers such as 3 or 0-3, found \"zwei\"; in \"0-3,zwei\""
        );
        assert_eq!(error("0-3,2").line(), "expected each CPU once, found 2 twice");
    }

    #[test]
    fn set_operations() {
        assert_eq!(set("0-5").intersection(&set("4-9")), set("4-5"));
        assert_eq!(set("0-5").difference(&set("1-5,9")), set("0"));
        assert_eq!(set("70,71").len(), 2);
        assert_eq!(set("70,71").first(), Some(CpuId(70)));
        assert!(!CpuSet::new().insert(CpuId(CpuSet::LIMIT)));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<CpuSet>();
        }

        #[test]
        fn near_lists_never_panic(text in "[0-9,:/ -]{0,24}") {
            let _ = text.parse::<CpuSet>();
        }

        #[test]
        fn printing_then_parsing_is_identity(cpus in proptest::collection::vec(0u32..600, 0..80)) {
            let set: CpuSet = cpus.into_iter().map(CpuId).collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set.clone());
            prop_assert_eq!(CpuSet::from_words(set.words()), set);
        }
    }
}
