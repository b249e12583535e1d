//! Which Debian packages make which tree.

use super::apt::{Apt, Status};
use crate::arch::Arch;
use crate::cache::Tree;
use crate::error::{BoardError, Result};
use std::cmp::Ordering;

/// What a tree is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The emulator, to run here.
    Qemu(Arch),
    /// A static busybox for x86-64.
    Busybox,
    /// A small Debian for aarch64.
    Root,
    /// The newest kernel of a version.
    Kernel(Arch, String),
}

/// The release from which guests are made.
const GUEST_RELEASE: &str = "trixie";
/// What kernels need of other packages: those of the backports need newer ones than the release has.
const KERNEL_RELEASE: &str = "trixie-backports";

/// What the aarch64 guest has: a shell, the usual tools, Python.
const ROOT: &[&str] = &[
    "base-files",
    "bash",
    "busybox-static",
    "coreutils",
    "dash",
    "findutils",
    "grep",
    "libc-bin",
    "mawk",
    "procps",
    "python3",
    "sed",
    "tar",
    "util-linux",
];

impl Wanted {
    pub(super) fn qemu(arch: Arch) -> Wanted {
        Wanted::Qemu(arch)
    }

    pub(super) fn busybox() -> Wanted {
        Wanted::Busybox
    }

    pub(super) fn root() -> Wanted {
        Wanted::Root
    }

    pub(super) fn kernel(arch: Arch, version: &str) -> Wanted {
        Wanted::Kernel(arch, version.to_owned())
    }

    /// The architecture of the packages themselves.
    pub(super) fn arch(&self) -> Arch {
        match self {
            // To run here.
            Wanted::Qemu(_) => Arch::own().unwrap_or(Arch::X86_64),
            Wanted::Busybox => Arch::X86_64,
            Wanted::Root => Arch::Aarch64,
            Wanted::Kernel(arch, _) => *arch,
        }
    }

    /// The packages as `NAME=VERSION`.
    pub(super) fn resolve(&self, apt: &Apt<'_>) -> Result<Vec<String>> {
        let needs = |status, release: &str, names: &[String]| {
            apt.needs(self.arch(), status, release, names)
        };
        let own = apt.codename();
        match self {
            Wanted::Qemu(arch) => {
                // Debian 12 has version 7; its backports have 10.
                let from = if own == "bookworm" { "/bookworm-backports" } else { "" };
                let program = match arch {
                    Arch::X86_64 => "qemu-system-x86",
                    Arch::Aarch64 => "qemu-system-arm",
                };
                let names = [program, "qemu-system-common", "qemu-system-data", "seabios"];
                needs(Status::Here, own, &names.map(|name| format!("{name}{from}")))
            }
            Wanted::Busybox => {
                let list = needs(Status::Empty, own, &["busybox-static".to_owned()])?;
                Ok(list.into_iter().filter(|one| one.starts_with("busybox-static=")).collect())
            }
            Wanted::Root => needs(Status::Empty, GUEST_RELEASE, &ROOT.map_owned()),
            Wanted::Kernel(arch, version) => {
                let names = apt.names(*arch, &format!("linux-image-{version}"))?;
                let name = newest(&names, *arch, version).ok_or_else(|| {
                    BoardError::missing(
                        format!("kernel debian:{version} for {arch}"),
                        format!(
                            "expected a package linux-image of that version in this release, \
                             the next, or their backports; found {}",
                            there(apt, *arch)
                        ),
                    )
                    .with_hint("backports keep only their newest kernel; or name a kernel file")
                })?;
                let list = needs(Status::Empty, KERNEL_RELEASE, &[name])?;
                Ok(list.into_iter().filter(|one| is_part(one)).collect())
            }
        }
    }

    /// What the packages' own scripts would have done.
    pub(super) fn finish(&self, tree: &Tree) -> Result<()> {
        let inside = |path: &str| tree.dir().join(path);
        match self {
            Wanted::Root => {
                let awk = inside("usr/bin/awk");
                if !awk.exists() {
                    crate::unix::symlink("mawk", awk).map_err(|error| BoardError::io(&error))?;
                }
                let files =
                    [("passwd", "root:x:0:0:root:/root:/bin/bash\n"), ("group", "root:x:0:\n")];
                for (name, text) in files {
                    fs_err::write(inside("etc").join(name), text)
                        .map_err(|error| BoardError::io(&error))?;
                }
            }
            // Newer packages keep the image beside the modules instead of in /boot.
            Wanted::Kernel(..) => {
                fs_err::create_dir_all(inside("boot")).map_err(|error| BoardError::io(&error))?;
                for folder in ["usr/lib/modules", "lib/modules"] {
                    let releases = fs_err::read_dir(inside(folder)).into_iter().flatten().flatten();
                    for release in releases {
                        for name in ["vmlinuz", "config"] {
                            let file = release.path().join(name);
                            let to = inside("boot")
                                .join(format!("{name}-{}", release.file_name().to_string_lossy()));
                            if file.is_file() && !to.exists() {
                                crate::unix::symlink(file, to)
                                    .map_err(|error| BoardError::io(&error))?;
                            }
                        }
                    }
                }
            }
            Wanted::Qemu(_) | Wanted::Busybox => {}
        }
        Ok(())
    }
}

/// Texts of our own from a list of texts.
trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

/// The versions that there are, for an error.
fn there(apt: &Apt<'_>, arch: Arch) -> String {
    let names = apt.names(arch, "linux-image-").unwrap_or_default();
    let mut versions: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let mut parts = name.strip_prefix("linux-image-")?.split('.');
            let series = format!("{}.{}", parts.next()?, parts.next()?);
            newest(&names, arch, &series).map(|_| series)
        })
        .collect();
    versions.sort_by(|a, b| by_number(a, b));
    versions.dedup();
    if versions.is_empty() { "none".to_owned() } else { versions.join(", ") }
}

/// The newest plain kernel of a version: `linux-image-6.12.95+deb12-amd64`, and neither a cloud's
/// nor a real-time one, nor one of debugging symbols.
fn newest(names: &[String], arch: Arch, version: &str) -> Option<String> {
    let release = |name: &str| {
        let release = name.strip_prefix("linux-image-")?.strip_suffix(arch.debian())?;
        let release = release.strip_suffix('-')?.to_owned();
        let after = release.strip_prefix(version)?;
        let plain = !["cloud", "rt", "dbg", "unsigned", "16k"]
            .iter()
            .any(|word| release.split('-').any(|part| part == *word));
        (plain && !after.starts_with(|c: char| c.is_ascii_digit())).then_some(release)
    };
    let mut found: Vec<(String, &String)> =
        names.iter().filter_map(|name| Some((release(name)?, name))).collect();
    found.sort_by(|a, b| by_number(&a.0, &b.0));
    found.last().map(|(_, name)| (*name).clone())
}

/// Order in which numbers inside count as numbers: 6.12.9 before 6.12.95.
fn by_number(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        let parts = text.split(|c: char| !c.is_ascii_digit());
        parts.filter(|part| !part.is_empty()).map(|part| part.parse().unwrap_or(u64::MAX)).collect()
    };
    numbers(a).cmp(&numbers(b)).then_with(|| a.cmp(b))
}

/// Whether `NAME=VERSION` is a part of a kernel, and not something that installing it would bring.
fn is_part(package: &str) -> bool {
    ["linux-image-", "linux-binary-", "linux-modules-", "linux-base-"].iter().any(|prefix| {
        package
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_plain_kernel_is_taken() {
        let names = [
            "linux-image-6.12.9+bpo-amd64",
            "linux-image-6.12.95+deb12-amd64",
            "linux-image-6.12.95+deb12-cloud-amd64",
            "linux-image-6.12.95+deb12-rt-amd64",
            "linux-image-6.12.95+deb12-amd64-dbg",
            "linux-image-6.12.95+deb12-amd64-unsigned",
            "linux-image-6.120.1-amd64",
            "linux-image-6.12-arm64",
        ];
        let names = names.map_owned();
        let found = newest(&names, Arch::X86_64, "6.12");
        assert_eq!(found.as_deref(), Some("linux-image-6.12.95+deb12-amd64"));
        assert_eq!(newest(&names, Arch::X86_64, "7.2"), None);
    }

    #[test]
    fn only_the_kernels_own_parts_are_kept() {
        assert!(is_part("linux-modules-7.2.12+deb13-amd64=7.2.12-1"));
        assert!(!is_part("linux-base=4.12") && !is_part("initramfs-tools=0.142"));
    }
}
