//! The word that was probably meant: what an error proposes for a name that nothing has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The word of `candidates` that `word` probably stands for, whatever its case; none where nothing
/// is like it, for a far-off proposal misleads more than none.
///
/// A candidate is like `word` where a third of the letters of `word` at most are slips (a letter
/// too many, too few, another one, or two swapped), or where it begins with `word` (three letters
/// at least, of which a fifth at most are slips): `shedutil` is `schedutil`, `rate_limit` is
/// `rate_limit_us`. Fewer slips win, where the rest behind a beginning is one; then the more similar
/// length, the shorter candidate, the earlier one. A version is what matters of a name that has one: `6.12` and `linux-6.12` stand
/// for `debian-6.12` where that is the only one of that version.
///
/// ```
/// use flyball_units::nearest;
/// let governors = ["ondemand", "schedutil", "windowed"];
/// assert_eq!(nearest("shedutil", governors), Some("schedutil"));
/// assert_eq!(nearest("nope", governors), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let slips = slips(&word, length, &candidate.to_lowercase())?;
            let letters = candidate.chars().count();
            Some(((slips, letters.abs_diff(length), letters), candidate))
        })
        .min_by_key(|&(likeness, _)| likeness)
        .map(|(_, candidate)| candidate)
}

/// What stands beside `path`, among the `names` of its folder, under a name like its own.
pub fn nearest_file(path: &Path, names: impl IntoIterator<Item = OsString>) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    let names: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
    let name = nearest(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(name))
}

/// The slips that make `word`, of `length` letters, of `candidate` or of its beginning; none where
/// there are too many.
fn slips(word: &str, length: usize, candidate: &str) -> Option<usize> {
    if version(word).is_some_and(|own| version(candidate) == Some(own)) {
        return Some(0);
    }
    let whole = strsim::damerau_levenshtein(word, candidate);
    let beginning: String = candidate.chars().take(length).collect();
    let begun = strsim::damerau_levenshtein(word, &beginning);
    let whole = Some(whole).filter(|slips| *slips <= length / 3);
    let begun = Some(begun).filter(|slips| length >= 3 && *slips <= length / 5);
    whole.into_iter().chain(begun.map(|slips| slips + 1)).min()
}

/// The last part of a name, where it is a version.
fn version(name: &str) -> Option<&str> {
    let last = name.rsplit('-').next()?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (last.contains('.') && last.split('.').all(digits)).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_version_stands_for_the_name_that_has_it() {
        let kernels = ["linux-6.12", "linux-7.2", "debian-6.12", "debian-7.3", "linux-6.14-asahi"];
        assert_eq!(nearest("7.3", kernels), Some("debian-7.3"));
        assert_eq!(nearest("linux-7.3", kernels), Some("debian-7.3"));
        assert_eq!(nearest("6.12", kernels), Some("linux-6.12"));
        assert_eq!(nearest("debian-7.2", kernels), Some("linux-7.2"));
        assert_eq!(nearest("9.1", kernels), None);
    }

    const GOVERNORS: [&str; 7] =
        ["performance", "ondemand", "schedutil", "powerd++", "powerd", "powerd-paper", "windowed"];
    const METRICS: [&str; 8] =
        ["median", "mean", "sd", "p95", "p99", "response.sd", "response.p99", "lateness.p99"];
    const KEYS: [&str; 8] =
        ["name", "hz", "up", "seed", "gap", "rate_limit_us", "latency_ns", "latency_us"];
    const SCENARIOS: [&str; 5] =
        ["rampup-clamped", "rampup-m1-series", "rampup-m1", "page-load-series", "page-load"];

    #[test]
    fn a_slip_is_understood() {
        for (candidates, word, meant) in [
            (&GOVERNORS[..], "shedutil", "schedutil"),
            (&GOVERNORS, "Ondemand", "ondemand"),
            (&GOVERNORS, "odnemand", "ondemand"),
            (&GOVERNORS, "powerd+", "powerd"),
            (&GOVERNORS, "power_d", "powerd"),
            (&METRICS, "p98", "p95"),
            (&METRICS, "medain", "median"),
            (&METRICS, "latness.p99", "lateness.p99"),
            (&KEYS, "hzz", "hz"),
            (&KEYS, "upp", "up"),
            (&KEYS, "gapp", "gap"),
            (&KEYS, "latncy_us", "latency_us"),
            (&SCENARIOS, "rampup-m2", "rampup-m1"),
            (&["linux-6.1", "linux-6.12", "linux-6.10-series"], "linux-6.13", "linux-6.12"),
            (&["größe"], "grösse", "größe"),
        ] {
            assert_eq!(nearest(word, candidates.iter().copied()), Some(meant), "{word}");
        }
    }

    #[test]
    fn a_beginning_is_understood() {
        for (candidates, word, meant) in [
            (&GOVERNORS[..], "perf", "performance"),
            (&GOVERNORS, "sched", "schedutil"),
            (&KEYS, "rate_limit", "rate_limit_us"),
            (&SCENARIOS, "rampup", "rampup-m1"),
            (&SCENARIOS, "rampp", "rampup-m1"),
            (&SCENARIOS, "page-laod", "page-load"),
        ] {
            assert_eq!(nearest(word, candidates.iter().copied()), Some(meant), "{word}");
        }
    }

    #[test]
    fn what_is_far_off_is_not_proposed() {
        for (candidates, word) in [
            (&GOVERNORS[..], "nope"),
            (&GOVERNORS, "xyz"),
            (&GOVERNORS, "turbo"),
            (&GOVERNORS, "conservative"),
            (&METRICS, "nonsense"),
            (&METRICS, "nope"),
            (&METRICS, "x"),
            (&METRICS, "µ"),
            (&METRICS, "throughput"),
            (&KEYS, ""),
            (&KEYS, "x"),
            (&KEYS, "la"),
            (&KEYS, "colour"),
            (&KEYS, "frequency"),
            (&SCENARIOS, "nowhere.toml"),
            (&SCENARIOS, "runs/today"),
            (&["idle", "medium", "heavy"], "nonsense"),
            (&["idle", "medium", "heavy"], "none"),
        ] {
            assert_eq!(nearest(word, candidates.iter().copied()), None, "{word}");
        }
        assert_eq!(nearest("word", []), None);
    }
}
