//! The emulator: a system's own of version 10 or newer with plugins, or the one in the cache.

use crate::arch::Arch;
use crate::cache::{Cache, Tree};
use crate::error::{BoardError, Result};
use flyball_host::{Host, ProcessSpec};
use std::ffi::OsString;
use std::path::PathBuf;

/// The oldest version whose plugin interface the board uses.
pub const OLDEST: u32 = 10;

/// An emulator that can run a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    /// The program.
    pub program: PathBuf,
    /// Its version, as it says it.
    pub version: String,
    /// Folders of its firmware, where it does not know them.
    pub data: Vec<PathBuf>,
    /// Variables that it needs.
    pub environment: Vec<(OsString, OsString)>,
}

impl Qemu {
    /// The emulator for `arch`: the system's where it will do, else that of the cache.
    ///
    /// # Errors
    /// Neither; with what was found on the system.
    pub fn find(host: &dyn Host, cache: &Cache, arch: Arch) -> Result<Qemu> {
        let system = Qemu::system(host, arch);
        if system.is_ok() || !cache.qemu(arch).is_whole() {
            return system;
        }
        Qemu::of_tree(host, &cache.qemu(arch), arch)
    }

    /// The system's own.
    ///
    /// # Errors
    /// There is none, or it is too old, or was built without plugins or without shared folders.
    pub fn system(host: &dyn Host, arch: Arch) -> Result<Qemu> {
        let program = PathBuf::from(arch.qemu());
        Qemu { program, version: String::new(), data: Vec::new(), environment: Vec::new() }
            .checked(host, arch)
    }

    /// That of a tree of unpacked packages.
    ///
    /// # Errors
    /// It does not start.
    pub fn of_tree(host: &dyn Host, tree: &Tree, arch: Arch) -> Result<Qemu> {
        let inside = |path: &str| tree.dir().join(path);
        let libraries = ["usr/lib", "lib"].iter().flat_map(|folder| {
            let entries = fs_err::read_dir(inside(folder)).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-linux-gnu"))
            })
        });
        let libraries: Vec<String> = libraries
            .flat_map(|path| [path.clone(), path.join("pulseaudio")])
            .filter(|path| path.is_dir())
            .map(|path| path.display().to_string())
            .collect();
        let mut environment = Vec::new();
        if !libraries.is_empty() {
            environment.push(("LD_LIBRARY_PATH".into(), libraries.join(":").into()));
        }
        let data = ["usr/share/qemu", "usr/share/seabios"].map(inside).to_vec();
        let program = inside("usr/bin").join(arch.qemu());
        Qemu { program, version: String::new(), data, environment }.checked(host, arch)
    }

    /// What to start, with these arguments.
    pub fn command(&self, arguments: impl IntoIterator<Item = OsString>) -> ProcessSpec {
        let data = self.data.iter().flat_map(|dir| ["-L".into(), dir.clone().into_os_string()]);
        let mut spec = ProcessSpec::new(&self.program, data.chain(arguments)).captured();
        spec.environment.clone_from(&self.environment);
        spec
    }

    /// Asks it what it is.
    fn checked(mut self, host: &dyn Host, arch: Arch) -> Result<Qemu> {
        let name = self.program.display().to_string();
        let missing = |found: String| {
            let expected = format!("expected QEMU {OLDEST} or newer with plugins, found {found}");
            BoardError::missing(&name, expected)
                .with_setup(arch, None)
                .with_hint(format!("install QEMU {OLDEST} or newer: {}", package(arch)))
        };
        let ask = |question: &str| {
            let exit = host
                .spawn(&self.command([question.into()]))
                .and_then(|mut child| child.wait(None))
                .map_err(|error| missing(error.to_string()))?
                .ok_or_else(|| BoardError::interrupted(&name))?;
            let (out, err) = (&exit.stdout, String::from_utf8_lossy(&exit.stderr));
            if !exit.is_success() {
                return Err(missing(format!("that it does not start: {}", err.trim())));
            }
            Ok(String::from_utf8_lossy(out).into_owned())
        };
        let version =
            version(&ask("--version")?).ok_or_else(|| missing("no version".to_owned()))?;
        if version.split('.').next().and_then(|major| major.parse().ok()) < Some(OLDEST) {
            return Err(missing(format!("version {version}")));
        }
        let help = ask("--help")?;
        for (option, what) in [("-plugin", "plugins"), ("-virtfs", "shared folders (virtfs)")] {
            if !help.lines().any(|line| line.split_whitespace().next() == Some(option)) {
                return Err(missing(format!("version {version} built without {what}")));
            }
        }
        self.version = version;
        Ok(self)
    }
}

/// `QEMU emulator version 10.0.2 (Debian ...)`.
fn version(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().skip_while(|word| *word != "version");
    words.nth(1).map(|word| word.trim_end_matches(',').to_owned())
}

/// What distributions call it.
fn package(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => {
            "qemu-system-x86 (Debian, Ubuntu), qemu-system-x86-core (Fedora), qemu-system-x86 (Arch)"
        }
        Arch::Aarch64 => {
            "qemu-system-arm (Debian, Ubuntu), qemu-system-aarch64-core (Fedora), qemu-system-aarch64 (Arch)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_its_line() {
        let text = "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)\nCopyright (c) 2003\n";
        assert_eq!(version(text).as_deref(), Some("10.0.2"));
        assert_eq!(version("something else"), None);
    }

    #[test]
    fn an_old_or_absent_emulator_is_refused_with_a_way_out() {
        use std::os::unix::fs::PermissionsExt;
        let host = flyball_host::RealHost::new();
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("qemu");
        let ask = |script: &str| {
            fs_err::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let (data, environment) = (Vec::new(), Vec::new());
            Qemu { program: program.clone(), version: String::new(), data, environment }
                .checked(&host, Arch::X86_64)
        };
        let old = ask("echo QEMU emulator version 7.2.1").unwrap_err();
        assert!(old.to_string().contains("found version 7.2.1"), "{old}");
        assert_eq!(old.setup(), Some((Arch::X86_64, None)));
        let bare = ask("echo QEMU emulator version 10.1.0").unwrap_err();
        assert!(bare.to_string().contains("without plugins"), "{bare}");
        let good = ask("echo QEMU emulator version 10.1.0; echo '-plugin x'; echo '-virtfs y'");
        assert_eq!(good.unwrap().version, "10.1.0");
        fs_err::remove_file(&program).unwrap();
        let tree = Cache::at(dir.path()).qemu(Arch::X86_64);
        assert!(Qemu::of_tree(&host, &tree, Arch::X86_64).is_err());
    }
}
