//! Sets of CPUs and the kernel's list notation, `0-3,8`.

use flyball_units::CpuId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A set of logical CPUs. Prints and parses as the kernel's list, `0-3,8`; the empty set is ``.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CpuSet {
    /// Bit `i % 64` of word `i / 64` stands for CPU `i`; the last word is never zero.
    words: Vec<u64>,
}

/// A CPU list that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("CPU list {list:?}: expected {expected}, found {found:?}")]
pub struct CpuSetError {
    /// The whole list, shortened to 80 characters.
    pub list: String,
    /// What should have been there.
    pub expected: String,
    /// The part that is wrong.
    pub found: String,
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
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A set from the bits of a system call.
    pub(crate) fn from_words(words: &[u64]) -> CpuSet {
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
    type Err = CpuSetError;

    /// Parses `0-3,8`, with white space around the whole; an empty text is the empty set, as in
    /// `/sys/devices/system/cpu/isolated`. The kernel's `0-31:2/8` (groups) is read, too.
    fn from_str(list: &str) -> Result<CpuSet, CpuSetError> {
        let text = list.trim();
        let mut set = CpuSet::new();
        if text.is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            let fail = |expected: &str| CpuSetError {
                list: text.chars().take(80).collect(),
                expected: expected.to_owned(),
                found: part.chars().take(80).collect(),
            };
            let (first, last, used, group) =
                parse_part(part).ok_or_else(|| fail("CPU numbers such as 3 or 0-3"))?;
            if last >= CpuSet::LIMIT {
                return Err(fail(&format!("CPU numbers below {}", CpuSet::LIMIT)));
            }
            if first > last || used == 0 || used > group {
                return Err(fail("an ascending range"));
            }
            for cpu in (first..=last).filter(|cpu| (cpu - first) % group < used) {
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

impl From<CpuSet> for String {
    fn from(set: CpuSet) -> String {
        set.to_string()
    }
}

impl TryFrom<String> for CpuSet {
    type Error = CpuSetError;
    fn try_from(text: String) -> Result<CpuSet, CpuSetError> {
        text.parse()
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
        assert_eq!(set(" 0-1,2 \n").to_string(), "0-2");
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
        ] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        let error = "0-3,zwei".parse::<CpuSet>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "CPU list \"0-3,zwei\": expected CPU numbers such as 3 or 0-3, found \"zwei\""
        );
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
