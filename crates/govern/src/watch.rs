//! What others change: limits, governors, CPUs. Looked at every second; no allocation while nothing
//! changes.

use crate::domain::khz;
use flyball_host::{Access, Host, HostError, KeptFile};
use flyball_units::{CpuSet, KiloHertz};
use std::path::{Path, PathBuf};

/// Longest name of a governor, and longest limit.
const WORD: usize = 64;
/// Longest list of CPUs.
const LIST: usize = 1_024;

/// A small file and what it had when it was last looked at.
#[derive(Debug)]
struct Remembered<const N: usize> {
    file: KeptFile,
    text: [u8; N],
    length: usize,
}

impl<const N: usize> Remembered<N> {
    fn open(host: &dyn Host, path: &Path) -> Result<Remembered<N>, HostError> {
        let file = host.open_kept(path, Access::Read)?;
        let mut new = Remembered { file, text: [0; N], length: 0 };
        new.look();
        Ok(new)
    }

    /// Whether it has changed. One that cannot be read has not: [`Watch::is_there`] says that.
    fn look(&mut self) -> bool {
        let mut buffer = [0; N];
        let Ok(text) = self.file.read(&mut buffer) else { return false };
        if text == &self.text[..self.length] {
            return false;
        }
        self.length = text.len();
        self.text = buffer;
        true
    }

    fn text(&self) -> &[u8] {
        self.text[..self.length].trim_ascii()
    }
}

/// The files of one policy that others may change.
#[derive(Debug)]
pub(crate) struct Watch {
    governor: Remembered<WORD>,
    min: Remembered<WORD>,
    max: Remembered<WORD>,
    current: Option<KeptFile>,
}

/// What has changed since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub governor: bool,
    pub limits: bool,
}

impl Watch {
    pub fn open(host: &dyn Host, folder: &Path) -> Result<Watch, HostError> {
        let current = folder.join("scaling_cur_freq");
        Ok(Watch {
            governor: Remembered::open(host, &folder.join("scaling_governor"))?,
            min: Remembered::open(host, &folder.join("scaling_min_freq"))?,
            max: Remembered::open(host, &folder.join("scaling_max_freq"))?,
            current: host.open_kept(&current, Access::Read).ok(),
        })
    }

    /// Whether the policy's files can be read: not while all of its CPUs are offline.
    pub fn is_there(&self) -> bool {
        let mut buffer = [0; WORD];
        self.governor.file.read(&mut buffer).is_ok()
    }

    pub fn look(&mut self) -> Changed {
        let (min, max) = (self.min.look(), self.max.look());
        Changed { governor: self.governor.look(), limits: min || max }
    }

    /// The policy's governor as last seen.
    pub fn governor(&self) -> &[u8] {
        self.governor.text()
    }

    /// The policy's limits as last seen.
    pub fn limits(&self) -> Option<(KiloHertz, KiloHertz)> {
        Some((khz(self.min.text())?, khz(self.max.text())?))
    }

    /// The frequency that the machine claims now.
    pub fn claimed(&self) -> Option<KiloHertz> {
        let mut buffer = [0; WORD];
        khz(self.current.as_ref()?.read(&mut buffer).ok()?)
    }
}

/// The CPUs that are online.
#[derive(Debug)]
pub(crate) struct Online(Remembered<LIST>);

impl Online {
    pub fn open(host: &dyn Host) -> Result<Online, HostError> {
        Ok(Online(Remembered::open(host, &PathBuf::from("/sys/devices/system/cpu/online"))?))
    }

    /// The CPUs, where they have changed.
    pub fn look(&mut self) -> Option<CpuSet> {
        if !self.0.look() {
            return None;
        }
        std::str::from_utf8(self.0.text()).ok()?.parse().ok()
    }
}
