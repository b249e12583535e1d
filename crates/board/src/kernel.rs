//! Which kernel a board boots: one of Debian's from the cache, or the user's own image.

pub mod config;

use crate::arch::Arch;
use crate::cache::Cache;
use crate::error::{BoardError, Result};
use crate::initrd::modules::Modules;
use config::Config;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What `--kernel` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Debian's newest kernel whose version begins so: `debian:6.12`, or `debian:7`.
    Debian(String),
    /// An image: bzImage or Image.
    File(PathBuf),
}

impl FromStr for Choice {
    type Err = BoardError;

    fn from_str(text: &str) -> Result<Choice> {
        match text.split_once(':') {
            Some(("debian", version)) => {
                let parts: Vec<&str> = version.split('.').collect();
                if parts.len() <= 2 && parts.iter().all(|part| part.parse::<u16>().is_ok()) {
                    return Ok(Choice::Debian(version.to_owned()));
                }
                let message =
                    format!("expected debian:6.12, debian:7 or the like, found \"{text}\"");
                Err(BoardError::input("kernel", message))
            }
            _ if text.is_empty() => Err(BoardError::input("kernel", "expected a file, found \"\"")),
            _ => Ok(Choice::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Debian(version) => write!(f, "debian:{version}"),
            Choice::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The image.
    pub image: PathBuf,
    /// Its modules, where it has any.
    pub modules: Option<Modules>,
    /// Its configuration, where one was found.
    pub config: Option<Config>,
}

impl Kernel {
    /// Finds the kernel. `modules` and `config` name the user's own.
    ///
    /// # Errors
    /// A kernel that is not in the cache (the hint is the command that gets it), a file that is no
    /// kernel of `arch`, modules or a configuration that cannot be read.
    pub fn find(
        choice: &Choice,
        arch: Arch,
        cache: &Cache,
        modules: Option<&Path>,
        config: Option<&Path>,
    ) -> Result<Kernel> {
        let (image, own_modules, own_config) = match choice {
            Choice::Debian(version) => {
                let tree = cache.kernel(arch, version);
                if !tree.is_whole() {
                    let found = cache.kernels(arch).join(", ");
                    let found = if found.is_empty() { "none".to_owned() } else { found };
                    return Err(BoardError::missing(
                        format!("kernel {choice} for {arch}"),
                        format!("expected it in {}, found {found}", cache.dir().display()),
                    )
                    .with_setup(arch, Some(choice.to_string())));
                }
                let image = tree.file_in("boot", "vmlinuz")?;
                (image, Some(tree.dir().to_path_buf()), tree.file_in("boot", "config").ok())
            }
            Choice::File(path) => {
                if !path.is_file() {
                    return Err(BoardError::input(
                        path.display(),
                        "expected a kernel image, found no file",
                    )
                    .with_hint("a bzImage (x86_64), an Image (aarch64), or debian:6.12"));
                }
                (path.clone(), None, config::beside(path))
            }
        };
        if arch == Arch::X86_64 {
            check_bzimage(&image)?;
        }
        let modules = match modules.map(Path::to_path_buf).or(own_modules) {
            Some(dir) => Some(Modules::open(&dir)?),
            None => None,
        };
        let config = match config.map(Path::to_path_buf).or(own_config) {
            Some(path) => Some(Config::read(&path)?),
            None => config::embedded(&image)?,
        };
        Ok(Kernel { image, modules, config })
    }
}

/// The boot sector's flag and the header's magic (Documentation/arch/x86/boot.rst). QEMU would say
/// nothing and hang.
fn check_bzimage(path: &Path) -> Result<()> {
    let bytes = config::head(path, 0x206)?;
    if bytes.get(0x1FE..0x200) == Some(&[0x55, 0xAA]) && bytes.get(0x202..0x206) == Some(b"HdrS") {
        return Ok(());
    }
    Err(BoardError::input(path.display(), "expected an x86 kernel (bzImage), found another file")
        .with_hint("arch/x86/boot/bzImage of a kernel build; an arm64 Image needs the architecture aarch64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_version_or_a_file() {
        assert_eq!("debian:6.12".parse(), Ok(Choice::Debian("6.12".to_owned())));
        assert_eq!("a/bzImage".parse(), Ok(Choice::File("a/bzImage".into())));
        assert_eq!("debian:7".parse(), Ok(Choice::Debian("7".to_owned())));
        for wrong in ["", "debian:", "debian:six", "debian:6.12.1", "debian:6."] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_kernel_is_refused_before_it_boots() {
        let dir = tempfile::tempdir().unwrap();
        let (file, cache) = (dir.path().join("x"), Cache::at(dir.path().join("cache")));
        fs_err::write(&file, vec![0; 4096]).unwrap();
        let find = |choice| Kernel::find(&choice, Arch::X86_64, &cache, None, None).unwrap_err();
        assert!(find(Choice::File(file)).to_string().contains("bzImage"));
        assert!(find(Choice::File("/no/such".into())).to_string().contains("no file"));
        let error = find(Choice::Debian("6.12".to_owned()));
        assert_eq!(error.setup(), Some((Arch::X86_64, Some("debian:6.12"))));
    }
}
