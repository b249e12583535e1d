//! Gets what a board needs into the cache: the emulator where the system's will not do, kernels, a
//! busybox, a root directory for aarch64, the compiled plugin.
//!
//! Packages are Debian's, fetched and checked by apt from where this machine gets Debian already,
//! and unpacked, not installed: no privileges are needed. What is there is kept; a set-up that was
//! interrupted goes on where it stopped.

mod apt;
mod packages;
mod sources;

use crate::arch::Arch;
use crate::cache::{Cache, Tree};
use crate::error::{BoardError, Result};
use crate::kernel::Choice;
use crate::plugin;
use crate::qemu::Qemu;
use apt::Apt;
use flyball_host::Host;
use packages::Wanted;
use std::path::PathBuf;

/// What to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// For boards of this architecture.
    pub arch: Arch,
    /// These kernels; files need nothing.
    pub kernels: Vec<Choice>,
    /// Look for newer packages of what is there.
    pub update: bool,
}

/// Fetches it; calls `say` with each step.
///
/// # Errors
/// What is missing on this machine, with the package to install; what apt could not get.
pub fn run(host: &dyn Host, cache: &Cache, wish: &Wish, say: &mut dyn FnMut(&str)) -> Result<()> {
    fs_err::create_dir_all(cache.dir()).map_err(|error| BoardError::io(&error))?;
    let _lock = lock(cache, say)?;
    // First what may be missing on this machine, then what takes time.
    plugin::compiled(host, cache)?;
    let mut trees = Trees { host, cache, guests: wish.arch, update: wish.update, apt: None, say };
    let qemu = match Qemu::system(host, wish.arch) {
        Ok(qemu) => qemu,
        Err(_) => {
            let tree = cache.qemu(wish.arch);
            trees.get(&tree, &Wanted::qemu(wish.arch))?;
            Qemu::of_tree(host, &tree, wish.arch)?
        }
    };
    if wish.arch == Arch::X86_64 {
        trees.get(&cache.busybox(wish.arch), &Wanted::busybox())?;
    } else {
        let tree = cache.root(wish.arch);
        trees.get(&tree, &Wanted::root())?;
    }
    for kernel in &wish.kernels {
        if let Choice::Debian(version) = kernel {
            trees.get(&cache.kernel(wish.arch, version), &Wanted::kernel(wish.arch, version))?;
        }
    }
    let Trees { apt, say, .. } = trees;
    if let Some(apt) = apt {
        apt.clean()?;
    }
    say(&format!("QEMU {}: {}", qemu.version, qemu.program.display()));
    for kernel in cache.kernels(wish.arch) {
        say(&format!("kernel {kernel}"));
    }
    say(&format!("all in {}", cache.dir().display()));
    Ok(())
}

/// A busybox for the guest: static, of its architecture.
///
/// # Errors
/// There is none in the cache or, where the architectures are the same, on this system.
pub fn busybox(cache: &Cache, arch: Arch) -> Result<PathBuf> {
    let trees = [cache.busybox(arch), cache.root(arch)];
    let cached = trees
        .iter()
        .filter(|tree| tree.is_whole())
        .flat_map(|tree| ["bin/busybox", "usr/bin/busybox"].map(|path| tree.dir().join(path)));
    let own = ["/bin/busybox", "/usr/bin/busybox", "/usr/bin/busybox-static"];
    let own = own.iter().filter(|_| Arch::own() == Some(arch)).map(PathBuf::from);
    let mut found = cached.chain(own).filter(|path| path.is_file());
    found.find(|path| is_static(path)).ok_or_else(|| {
        BoardError::missing(
            format!("a static busybox for {arch}"),
            format!("expected it in {} or on this system, found none", cache.dir().display()),
        )
        .with_setup(arch, None)
        .with_hint("install busybox-static, or name a static busybox")
    })
}

/// Whether a program needs no libraries: an ELF file without an interpreter.
fn is_static(path: &std::path::Path) -> bool {
    let Ok(bytes) = fs_err::read(path) else { return false };
    let number = |at: usize, size: usize| {
        let bytes = bytes.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0_usize, |value, byte| value << 8 | usize::from(*byte)))
    };
    // 64-bit ELF: program headers at 0x20, their size at 0x36, their number at 0x38; the type 3 is
    // PT_INTERP.
    let interpreted = || {
        let (at, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
        Some((0..count).any(|header| number(at + header * size, 4) == Some(3)))
    };
    bytes.starts_with(b"\x7fELF\x02") && interpreted() == Some(false)
}

/// One set-up at a time.
fn lock(cache: &Cache, say: &mut dyn FnMut(&str)) -> Result<std::fs::File> {
    let path = cache.dir().join("lock");
    let file = fs_err::File::create(&path).map_err(|error| BoardError::io(&error))?;
    let (file, _) = file.into_parts();
    if file.try_lock().is_err() {
        say("waiting for another set-up");
        file.lock().map_err(|error| BoardError::io_at(&path, &error))?;
    }
    Ok(file)
}

/// Gets trees; apt is started for the first that is missing.
struct Trees<'a> {
    host: &'a dyn Host,
    cache: &'a Cache,
    guests: Arch,
    update: bool,
    apt: Option<Apt<'a>>,
    say: &'a mut dyn FnMut(&str),
}

impl Trees<'_> {
    fn get(&mut self, tree: &Tree, wanted: &Wanted) -> Result<()> {
        if tree.is_whole() && !self.update {
            return Ok(());
        }
        if self.apt.is_none() {
            self.apt = Some(Apt::start(self.host, self.cache.dir(), self.guests, &mut *self.say)?);
        }
        let Some(apt) = &self.apt else { return Ok(()) };
        let list = wanted.resolve(apt)?;
        let lines: String = list.iter().map(|package| format!("{package}\n")).collect();
        if tree.packages() == lines {
            return Ok(());
        }
        apt.unpack(tree, wanted.arch(), &list, &mut *self.say)?;
        wanted.finish(tree)?;
        fs_err::write(tree.list(), lines).map_err(|error| BoardError::io(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busybox_must_be_static() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let tree = cache.busybox(Arch::Aarch64);
        let program = tree.dir().join("bin/busybox");
        fs_err::create_dir_all(program.parent().unwrap()).unwrap();
        fs_err::write(tree.list(), "busybox-static 1\n").unwrap();
        let elf = |kind: u8| {
            let mut bytes = vec![0; 0x40 + 56];
            bytes[..5].copy_from_slice(b"\x7fELF\x02");
            (bytes[0x20], bytes[0x36], bytes[0x38], bytes[0x40]) = (0x40, 56, 1, kind);
            bytes
        };
        fs_err::write(&program, elf(3)).unwrap();
        let error = busybox(&cache, Arch::Aarch64).unwrap_err();
        assert_eq!(error.setup(), Some((Arch::Aarch64, None)), "{error}");
        fs_err::write(&program, elf(1)).unwrap();
        assert_eq!(busybox(&cache, Arch::Aarch64).unwrap(), program);
    }
}
