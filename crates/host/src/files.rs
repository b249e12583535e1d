//! Reading files and folders of the real machine, or of the folder of a recording.
#![expect(
    clippy::disallowed_methods,
    reason = "the door opens here: HostError names the path, and fs_err would hide the error number"
)]

use crate::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// The text of a file; bytes that are not UTF-8 become U+FFFD (DMI strings may hold any).
pub(crate) fn read(path: &Path) -> Result<String, Errno> {
    Ok(match String::from_utf8(read_bytes(path)?) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Bytes for which there is room from the start. Some of the kernel's files (tracefs' `header_page`)
/// answer the first reading only, so nothing may begin with a small one.
const ROOM: usize = 8 * 1024;

/// The bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::with_capacity(ROOM);
    open(path)?.read_to_end(&mut bytes).map_err(|error| Errno::of(&error))?;
    Ok(bytes)
}

/// Writes `text` to a file that is there, in one call: the kernel takes every write for itself.
/// Without truncation, which would empty such lists as tracefs' `dynamic_events`.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Errno> {
    let of = |error: std::io::Error| Errno::of(&error);
    let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(of)?;
    loop {
        match file.write(text.as_bytes()) {
            Ok(length) if length == text.len() => return Ok(()),
            // A part of a command would be another command: the rest is not written after it.
            Ok(_) => return Err(Errno::EIO),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(of(error)),
        }
    }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, Errno> {
    File::open(path).map_err(|error| Errno::of(&error))
}

/// The names in a folder, sorted with numbers by value.
pub(crate) fn list(path: &Path) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| Errno::of(&error))? {
        let entry = entry.map_err(|error| Errno::of(&error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    sort(&mut names);
    Ok(names)
}

/// Sorts names so that `cpu2` comes before `cpu10`.
pub(crate) fn sort(names: &mut [String]) {
    names.sort_by_cached_key(|name| natural_key(name));
}

/// Cuts a name into text and numbers: `policy12_x` becomes `[("policy", 12), ("_x", 0)]`. The name
/// itself comes last and decides between names with equal parts, such as `a1` and `a01`.
fn natural_key(name: &str) -> (Vec<(String, u128)>, String) {
    let mut parts: Vec<(String, u128)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for character in name.chars() {
        let digit = character.to_digit(10).map(u128::from);
        if in_number && digit.is_none() {
            parts.push((String::new(), 0));
        }
        in_number = digit.is_some();
        if let Some(last) = parts.last_mut() {
            match digit {
                Some(digit) => last.1 = last.1.saturating_mul(10).saturating_add(digit),
                None => last.0.push(character),
            }
        }
    }
    (parts, name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_sort_by_value() {
        let mut names = ["cpu10", "cpu2", "cpufreq", "cpu1"].map(str::to_owned);
        sort(&mut names);
        assert_eq!(names, ["cpu1", "cpu2", "cpu10", "cpufreq"]);
    }

    proptest! {
        #[test]
        fn any_name_sorts(mut names in proptest::collection::vec(".{0,50}", 0..8)) {
            sort(&mut names);
            let once = names.clone();
            names.reverse();
            sort(&mut names);
            prop_assert_eq!(names, once);
        }
    }
}
