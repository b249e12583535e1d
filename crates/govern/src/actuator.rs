//! Telling the kernel a frequency: by `scaling_setspeed` where its governor is `userspace`, else by
//! two equal limits under whatever governor there is.

use crate::GovernError;
use flyball_host::{Access, Call, Errno, Host, HostError, KeptFile};
use flyball_units::KiloHertz;
use serde::Serialize;
use std::path::Path;

/// How a frequency is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// `scaling_setspeed`.
    Speed,
    /// Equal `scaling_min_freq` and `scaling_max_freq`.
    Limits,
}

/// Longest number with its line feed.
const DIGITS: usize = 21;

/// The files of one policy that are written, kept open. Writing allocates nothing.
#[derive(Debug)]
pub struct Actuator {
    files: Files,
}

#[derive(Debug)]
enum Files {
    Speed(KeptFile),
    Limits { min: KeptFile, max: KeptFile, at: Option<KiloHertz> },
}

impl Actuator {
    /// Opens the files in a policy's folder.
    ///
    /// # Errors
    /// A file that is not there or may not be written.
    pub fn open(host: &dyn Host, folder: &Path, way: Way) -> Result<Actuator, GovernError> {
        let open = |name: &str| {
            let file = host.open_kept(&folder.join(name), Access::Write);
            file.map_err(GovernError::host("opening what is to be written"))
        };
        let files = match way {
            Way::Speed => Files::Speed(open("scaling_setspeed")?),
            Way::Limits => Files::Limits {
                min: open("scaling_min_freq")?,
                max: open("scaling_max_freq")?,
                at: None,
            },
        };
        Ok(Actuator { files })
    }

    /// How it tells.
    pub fn way(&self) -> Way {
        match self.files {
            Files::Speed(_) => Way::Speed,
            Files::Limits { .. } => Way::Limits,
        }
    }

    /// Tells the kernel `khz`. Limits are moved in the order in which the lower one never passes the
    /// upper one; where nothing is known of them, both are written twice.
    ///
    /// # Errors
    /// The kernel's; [`Actuator::error`] names the file.
    pub fn set(&mut self, khz: KiloHertz) -> Result<(), Errno> {
        let mut buffer = [0; DIGITS];
        let text = digits(khz.0, &mut buffer);
        match &mut self.files {
            Files::Speed(file) => file.write(text),
            Files::Limits { min, max, at } => {
                let before = at.take();
                if before.is_none_or(|before| khz >= before) {
                    max.write(text)?;
                    min.write(text)?;
                }
                if before.is_none_or(|before| khz < before) {
                    min.write(text)?;
                    max.write(text)?;
                }
                *at = Some(khz);
                Ok(())
            }
        }
    }

    /// The error of a write.
    pub fn error(&self, errno: Errno) -> HostError {
        match &self.files {
            Files::Speed(file) | Files::Limits { max: file, .. } => file.error(Call::Write, errno),
        }
    }

    /// Forgets where the limits are: somebody else moved them.
    pub fn forget(&mut self) {
        if let Files::Limits { at, .. } = &mut self.files {
            *at = None;
        }
    }
}

/// `number` in decimal, with a line feed.
fn digits(number: u64, buffer: &mut [u8; DIGITS]) -> &[u8] {
    let mut rest = number;
    let mut at = DIGITS - 1;
    buffer[at] = b'\n';
    loop {
        at -= 1;
        // A digit: it fits, and u64 has at most 20 of them.
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 || at == 0 {
            return &buffer[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_do() {
        for number in [0, 7, 600_000, 3_200_000, u64::MAX] {
            let mut buffer = [0; DIGITS];
            assert_eq!(digits(number, &mut buffer), format!("{number}\n").as_bytes());
        }
    }
}
