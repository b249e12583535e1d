//! Lists of CPUs, within what a description may have.

use crate::error::Problem;
use crate::file::At;
use flyball_units::{CpuId, CpuSet, Mismatch};

/// More CPUs than this are a typing error.
const MOST_CPUS: u32 = 1024;

/// The numbers of a list, ascending.
pub(super) fn parse(list: &At<String>) -> Result<Vec<CpuId>, Problem> {
    let wrong = |slip: Mismatch| Problem::at(&list.span, slip.to_string());
    let cpus: Vec<CpuId> = list.value.parse::<CpuSet>().map_err(wrong)?.iter().collect();
    match cpus.last() {
        Some(CpuId(0..MOST_CPUS)) => Ok(cpus),
        _ => {
            let such = format!("CPU numbers below {MOST_CPUS}, such as \"0-3,8\"");
            Err(wrong(Mismatch::text(such, &list.value)))
        }
    }
}
