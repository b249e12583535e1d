//! Where the board keeps what it got: `~/.cache/flyball/board`, or FLYBALL_BOARD_DIR.
//!
//! Each tree holds unpacked Debian packages and a file `packages` that is written last: it says
//! that the tree is whole.

use crate::arch::Arch;
use crate::error::{BoardError, Result};
use flyball_host::{Host, check_trusted};
use std::path::{Path, PathBuf};

/// The cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The cache of this user.
    ///
    /// # Errors
    /// Neither HOME nor another place is known.
    pub fn of(host: &dyn Host) -> Result<Cache> {
        let set = |name: &str| host.env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let dir = set("FLYBALL_BOARD_DIR")
            .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("flyball/board")))
            .or_else(|| set("HOME").map(|dir| dir.join(".cache/flyball/board")));
        match dir {
            Some(dir) if dir.is_absolute() => {
                // Programs in it are started, maybe by root: nobody else may have put them there.
                let made = dir.ancestors().find(|part| part.exists());
                match made.map_or(Ok(()), check_trusted) {
                    Ok(()) => Ok(Cache { dir }),
                    Err(error) => Err(BoardError::input("the board's cache", error)
                        .with_hint("set FLYBALL_BOARD_DIR to a folder of your own")),
                }
            }
            Some(dir) => Err(BoardError::input(
                "the board's cache",
                format!("expected an absolute path, found {}", dir.display()),
            )
            .with_hint("set FLYBALL_BOARD_DIR to an absolute path")),
            None => Err(BoardError::missing("the board's cache", "expected HOME, found it unset")
                .with_hint("set FLYBALL_BOARD_DIR to a folder")),
        }
    }

    /// A cache in a folder.
    pub fn at(dir: impl Into<PathBuf>) -> Cache {
        Cache { dir: dir.into() }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The emulator's tree.
    pub fn qemu(&self, arch: Arch) -> Tree {
        self.tree(format!("qemu-{arch}"))
    }

    /// The tree of a static busybox for the guest.
    pub fn busybox(&self, arch: Arch) -> Tree {
        self.tree(format!("busybox-{arch}"))
    }

    /// The tree that is an aarch64 guest's root.
    pub fn root(&self, arch: Arch) -> Tree {
        self.tree(format!("root-{arch}"))
    }

    /// The tree of a Debian kernel.
    pub fn kernel(&self, arch: Arch, version: &str) -> Tree {
        self.tree(format!("kernel-{arch}-{version}"))
    }

    /// The kernels that are whole, as `debian:VERSION`.
    pub fn kernels(&self, arch: Arch) -> Vec<String> {
        let Ok(entries) = fs_err::read_dir(&self.dir) else { return Vec::new() };
        let prefix = format!("kernel-{arch}-");
        let mut found: Vec<String> = entries
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix(&prefix)?.to_owned()))
            .filter(|version| self.kernel(arch, version).is_whole())
            .map(|version| format!("debian:{version}"))
            .collect();
        found.sort();
        found
    }

    /// Of the kernels that are whole, the one that stands for this version: `debian:6.12` for 6.12, else
    /// `debian:7` for 7.3.
    pub fn kernel_for(&self, arch: Arch, version: &str) -> Option<String> {
        let found = self.kernels(arch);
        let major = version.split('.').next()?;
        [version, major]
            .map(|version| format!("debian:{version}"))
            .into_iter()
            .find(|name| found.contains(name))
    }

    /// Where compiled plugins are.
    pub fn plugins(&self) -> PathBuf {
        self.dir.join("plugin")
    }

    /// A program for a guest of `arch` that its root does not have: `flyball`, cross-built.
    pub fn program(&self, arch: Arch, name: &str) -> PathBuf {
        self.dir.join(format!("bin-{arch}")).join(name)
    }

    fn tree(&self, name: String) -> Tree {
        Tree { dir: self.dir.join(&name), name }
    }
}

/// Unpacked packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    name: String,
    dir: PathBuf,
}

impl Tree {
    /// Its name in the cache.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The list of its packages, written when it is whole.
    pub fn list(&self) -> PathBuf {
        self.dir.join("packages")
    }

    /// Whether all of it is there.
    pub fn is_whole(&self) -> bool {
        self.list().is_file()
    }

    /// Its packages as `NAME VERSION` lines; empty where it is not whole.
    pub fn packages(&self) -> String {
        fs_err::read_to_string(self.list()).unwrap_or_default()
    }

    /// The one file in `folder` whose name begins with `prefix`.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn file_in(&self, folder: &str, prefix: &str) -> Result<PathBuf> {
        let dir = self.dir.join(folder);
        let entries = fs_err::read_dir(&dir).map_err(|error| BoardError::io(&error))?;
        let found: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect();
        match found.as_slice() {
            [one] => Ok(one.clone()),
            several => {
                let message = format!("expected one file {prefix}*, found {}", several.len());
                Err(BoardError::input(dir.display(), message)
                    .with_hint("remove the folder and set the board up again"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    /// Programs of it are started: root must not start what somebody else put there, by whichever
    /// variable the folder is named.
    #[test]
    fn a_cache_in_somebody_elses_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs");
        fs_err::create_dir(&theirs).unwrap();
        if std::os::unix::fs::chown(&theirs, Some(65_534), None).is_err() {
            eprintln!("skipped: only root can make a folder of another's");
            return;
        }
        let theirs = theirs.display().to_string();
        for name in ["FLYBALL_BOARD_DIR", "XDG_CACHE_HOME", "HOME"] {
            let host = RecordedHost::from_listing("").unwrap();
            let error = Cache::of(&host.with_env(name, &theirs)).unwrap_err().to_string();
            assert!(error.contains("owner 65534"), "{name}: {error}");
        }
        let ours = dir.path().display().to_string();
        let host = RecordedHost::from_listing("").unwrap().with_env("FLYBALL_BOARD_DIR", &ours);
        assert_eq!(Cache::of(&host).unwrap().dir(), dir.path());
    }

    #[test]
    fn a_tree_counts_when_its_list_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let tree = cache.kernel(Arch::X86_64, "6.12");
        fs_err::create_dir_all(tree.dir().join("boot")).unwrap();
        assert!(!tree.is_whole() && cache.kernels(Arch::X86_64).is_empty());
        fs_err::write(tree.list(), "linux-image 1\n").unwrap();
        assert_eq!(cache.kernels(Arch::X86_64), ["debian:6.12"]);
        let stands_for = |version| cache.kernel_for(Arch::X86_64, version);
        assert_eq!(stands_for("6.12"), Some("debian:6.12".to_owned()));
        assert_eq!((stands_for("6.1"), stands_for("7.3")), (None, None));
        assert!(tree.file_in("boot", "vmlinuz").is_err());
        fs_err::write(tree.dir().join("boot/vmlinuz-6.12"), "").unwrap();
        assert!(tree.file_in("boot", "vmlinuz").is_ok());
    }
}
