//! Reading on where a file makes no sense: an audit that stops at the first oddity tells nothing
//! about the rest.

use crate::machine::reader::Reader;
use crate::{Errno, Host, HostError};
use flyball_units::CpuSet;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// A [`Reader`] that remembers what made no sense instead of failing.
pub(crate) struct Tolerant<'a> {
    host: &'a dyn Host,
    reader: Reader<'a>,
    malformed: RefCell<Vec<HostError>>,
}

impl<'a> Tolerant<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Tolerant<'a> {
        Tolerant { host, reader: Reader::new(host), malformed: RefCell::default() }
    }

    /// What made no sense so far.
    pub(crate) fn take_malformed(&self) -> Vec<HostError> {
        self.malformed.take()
    }

    /// What was there and could not be read.
    pub(crate) fn into_unreadable(self) -> BTreeMap<String, Errno> {
        self.reader.into_unreadable()
    }

    /// Keeps an error for later.
    pub(crate) fn keep(&self, error: HostError) {
        self.malformed.borrow_mut().push(error);
    }

    fn kept<T>(&self, result: Result<Option<T>, HostError>) -> Option<T> {
        result.unwrap_or_else(|error| {
            self.keep(error);
            None
        })
    }

    /// The trimmed text, unless it is empty.
    pub(crate) fn name(&self, path: &str) -> Option<String> {
        self.reader.name(path)
    }

    /// The text of a file whose refusal says nothing: sensors that sleep answer with an error.
    pub(crate) fn quiet(&self, path: &str) -> Option<String> {
        let text = self.host.read(Path::new(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A number as text that may be absent.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.kept(self.reader.number(path))
    }

    /// 0 or 1.
    pub(crate) fn flag(&self, path: &str) -> Option<bool> {
        self.kept(self.reader.flag(path))
    }

    /// A CPU list.
    pub(crate) fn cpus(&self, path: &str) -> Option<CpuSet> {
        self.kept(self.reader.cpus(path))
    }

    /// The names in a folder; none where it is absent.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        self.reader.names(path)
    }

    /// The entries `PREFIXn` of a folder as (n, path), ascending.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<(u32, String)> {
        self.reader.numbered(folder, prefix)
    }
}
