//! What a controller counts.

use flyball_host::HostError;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Threads that were taken in.
    pub threads: u64,
    /// Switches to one of them.
    pub switches: u64,
    /// Clamps that were set.
    pub set: u64,
    /// Clamps that were removed.
    pub removed: u64,
    /// Threads that were left alone, because another program set their clamp meanwhile.
    pub foreign: u64,
    /// Threads that could not be taken in.
    pub left_out: u64,
    /// Why the first of them could not.
    pub left_out_because: Option<String>,
    /// Threads whose nice value, slice or upper clamp could not be changed.
    pub not_lent: u64,
    /// Why the first of them could not.
    pub not_lent_because: Option<String>,
}

impl Counts {
    pub(super) fn leave_out(&mut self, error: &HostError) {
        self.left_out += 1;
        self.left_out_because.get_or_insert_with(|| error.to_string());
    }
}
