//! What the comments at the top of a trace say.

use super::fields::{number, trim};

/// The top of a trace, as far as it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The tracer: `nop` for events alone.
    pub tracer: Option<String>,
    /// Events that the file holds.
    pub entries: Option<u64>,
    /// Events that were written; those beyond `entries` were overwritten before anybody read them.
    pub written: Option<u64>,
    /// CPUs of the machine.
    pub cpus: Option<u32>,
    /// The clock, where a comment `clock: NAME` names it; the kernel does not write one.
    pub clock: Option<String>,
}

impl Header {
    /// Takes over what a comment says (without its `#`).
    pub(super) fn read(&mut self, comment: &[u8]) {
        let comment = comment.trim_ascii();
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes.trim_ascii()).into_owned());
        if let Some(tracer) = comment.strip_prefix(b"tracer:") {
            self.tracer = text(tracer);
        } else if let Some(clock) = comment.strip_prefix(b"clock:") {
            self.clock = text(clock);
        } else if let Some(entries) = comment.strip_prefix(b"entries-in-buffer/entries-written:") {
            self.entries(trim(entries));
        }
    }

    fn entries(&mut self, text: &[u8]) {
        let Some((entries, rest)) = number(text) else { return };
        self.entries = Some(entries);
        let Some((written, rest)) = rest.strip_prefix(b"/").and_then(number) else { return };
        self.written = Some(written);
        let cpus = trim(rest).strip_prefix(b"#P:").and_then(number);
        self.cpus = cpus.and_then(|(cpus, _)| u32::try_from(cpus).ok());
    }

    /// Events that were overwritten before anybody read them.
    pub fn overwritten(&self) -> u64 {
        let (written, entries) = (self.written.unwrap_or(0), self.entries.unwrap_or(0));
        written.saturating_sub(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_trace() {
        let mut header = Header::default();
        header.read(b" tracer: nop");
        header.read(b"");
        header.read(b" entries-in-buffer/entries-written: 4892/5000   #P:4");
        header.read(b" clock: mono");
        assert_eq!(
            (header.tracer.as_deref(), header.clock.as_deref()),
            (Some("nop"), Some("mono"))
        );
        assert_eq!((header.entries, header.cpus, header.overwritten()), (Some(4892), Some(4), 108));
    }
}
