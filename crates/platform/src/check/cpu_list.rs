//! CPU lists as the kernel writes them: `0-3,8`.

use crate::error::Problem;
use crate::file::At;
use flyball_units::CpuId;

/// More CPUs than this are a typing error.
pub(super) const MOST_CPUS: u32 = 1024;

/// The numbers of a list, ascending.
pub(super) fn parse(list: &At<String>) -> Result<Vec<CpuId>, Problem> {
    let bad = || {
        Problem::at(
            &list.span,
            format!(
                "expected CPU numbers below {MOST_CPUS}, such as \"0-3,8\", found \"{}\"",
                list.value
            ),
        )
    };
    let mut cpus = Vec::new();
    for part in list.value.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last >= MOST_CPUS {
            return Err(bad());
        }
        cpus.extend((first..=last).map(CpuId));
    }
    cpus.sort_unstable();
    match cpus.windows(2).find(|pair| pair.first() == pair.last()) {
        Some(pair) => Err(Problem::at(
            &list.span,
            format!(
                "expected each CPU once, found {} twice",
                pair.iter().map(|c| c.0).max().unwrap_or(0)
            ),
        )),
        None => Ok(cpus),
    }
}
