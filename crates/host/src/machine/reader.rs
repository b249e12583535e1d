//! Reading small files that may be absent, and parsing what they hold.

use crate::{Errno, Host, HostError};
use flyball_units::{CpuSet, Mismatch};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// Reads a machine's files; remembers those that were there and refused.
pub(crate) struct Reader<'a> {
    host: &'a dyn Host,
    unreadable: RefCell<BTreeMap<String, Errno>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Reader<'a> {
        Reader { host, unreadable: RefCell::new(BTreeMap::new()) }
    }

    /// What was there and could not be read, so far.
    pub(crate) fn into_unreadable(self) -> BTreeMap<String, Errno> {
        self.unreadable.into_inner()
    }

    /// The trimmed text of a file. None where it is absent, refused (then it is remembered), or
    /// where the kernel says that it has no value (`<unsupported>`, `<unknown>`).
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        match self.host.read(Path::new(path)) {
            Ok(text) => {
                // Device tree strings end in NUL.
                let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
                (!text.starts_with('<')).then(|| text.to_owned())
            }
            Err(error) => {
                if let Some(errno) = error.errno().filter(|_| !error.is_absent()) {
                    self.unreadable.borrow_mut().insert(path.to_owned(), errno);
                }
                None
            }
        }
    }

    /// As [`Reader::text`]; an empty text counts as absent.
    pub(crate) fn name(&self, path: &str) -> Option<String> {
        self.text(path).filter(|text| !text.is_empty())
    }

    /// The words of a file; none where it is absent.
    pub(crate) fn words(&self, path: &str) -> Vec<String> {
        let text = self.text(path).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// A value, parsed; `expected` says what in the error.
    pub(crate) fn value<T: FromStr>(
        &self,
        path: &str,
        expected: impl Display,
    ) -> Result<Option<T>, HostError> {
        self.text(path)
            .map(|text| text.parse().map_err(|_| HostError::malformed(path, expected, &text)))
            .transpose()
    }

    /// A natural number.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Result<Option<T>, HostError> {
        self.value(path, "a natural number")
    }

    /// 0 or 1.
    pub(crate) fn flag(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.text(path)
            .map(|text| match text.as_str() {
                "0" => Ok(false),
                "1" => Ok(true),
                _ => Err(HostError::malformed(path, "0 or 1", &text)),
            })
            .transpose()
    }

    /// A CPU list.
    pub(crate) fn cpus(&self, path: &str) -> Result<Option<CpuSet>, HostError> {
        // A kernel without nohz_full= says "(null)".
        let text = self.text(path).filter(|text| text != "(null)");
        text.map(|text| parse_cpus(path, &text)).transpose()
    }

    /// A CPU list without which nothing can be said.
    pub(crate) fn required_cpus(&self, path: &str) -> Result<CpuSet, HostError> {
        let text = self.host.read(Path::new(path))?;
        let cpus = parse_cpus(path, &text)?;
        if cpus.is_empty() {
            return Err(HostError::malformed(path, "at least one CPU", &text));
        }
        Ok(cpus)
    }

    /// The names in a folder; none where it is absent.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        match self.host.list(Path::new(path)) {
            Ok(names) => names,
            Err(error) => {
                if let Some(errno) = error.errno().filter(|_| !error.is_absent()) {
                    self.unreadable.borrow_mut().insert(path.to_owned(), errno);
                }
                Vec::new()
            }
        }
    }

    /// The entries `PREFIXn` of a folder as (n, path), ascending.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<(u32, String)> {
        let names = self.names(folder);
        let number = |name: &String| name.strip_prefix(prefix)?.parse().ok();
        names.iter().filter_map(|name| Some((number(name)?, format!("{folder}/{name}")))).collect()
    }
}

fn parse_cpus(path: &str, text: &str) -> Result<CpuSet, HostError> {
    text.parse().map_err(|slip: Mismatch| {
        HostError::malformed(path, format!("a CPU list ({})", slip.expected), text)
    })
}
