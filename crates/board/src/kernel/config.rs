//! A kernel's configuration, and whether it has what a board needs: asked before the boot, because
//! a kernel that lacks a driver does not say so.

use crate::arch::Arch;
use crate::error::{BoardError, Result};
use crate::initrd::modules::Modules;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Options and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    origin: String,
    values: BTreeMap<String, String>,
}

/// An option that a board needs.
struct Need {
    option: &'static str,
    /// The module that it makes, where it may be one.
    module: Option<&'static str>,
    why: &'static str,
}

const fn need(option: &'static str, why: &'static str) -> Need {
    Need { option, module: None, why }
}

const fn module(option: &'static str, module: &'static str, why: &'static str) -> Need {
    Need { option, module: Some(module), why }
}

const COMMON: &[Need] = &[
    need("CPU_FREQ", "frequency scaling"),
    need("BLK_DEV_INITRD", "the first file system"),
    need("BINFMT_ELF", "programs"),
    need("BINFMT_SCRIPT", "the guest's /init"),
    need("DEVTMPFS", "/dev"),
    need("TMPFS", "/run"),
    need("PROC_FS", "/proc"),
    need("SYSFS", "/sys"),
    need("PCI", "the virtual devices"),
    module("VIRTIO_PCI", "virtio_pci", "the virtual devices"),
    module("VIRTIO_CONSOLE", "virtio_console", "the command's output"),
];

const FILES: &[Need] = &[
    module("NET_9P", "9pnet", "files of the host"),
    module("NET_9P_VIRTIO", "9pnet_virtio", "files of the host"),
    module("9P_FS", "9p", "files of the host"),
];

const ROOT: &[Need] = &[module("OVERLAY_FS", "overlay", "the guest's own changes")];

const X86_64: &[Need] = &[
    need("ACPI", "the table of P-states"),
    need("ACPI_PROCESSOR", "the table of P-states"),
    module("X86_ACPI_CPUFREQ", "acpi_cpufreq", "the cpufreq driver"),
    need("SERIAL_8250_CONSOLE", "the console"),
];

const AARCH64: &[Need] = &[
    module("ARM_MEDIATEK_CPUFREQ_HW", "mediatek_cpufreq_hw", "the cpufreq driver"),
    need("SERIAL_AMBA_PL011_CONSOLE", "the console"),
    need("PCI_HOST_GENERIC", "the virtual devices"),
    need("ENERGY_MODEL", "the energy model"),
];

impl Config {
    /// Reads a `.config`.
    ///
    /// # Errors
    /// A file that cannot be read or has no options in it.
    pub fn read(path: &Path) -> Result<Config> {
        let text = fs_err::read_to_string(path).map_err(|error| BoardError::io(&error))?;
        Config::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a `.config`.
    ///
    /// # Errors
    /// A text without options.
    pub fn parse(text: &str, origin: &str) -> Result<Config> {
        let option = |line: &str| {
            let (name, value) = line.trim().strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let values: BTreeMap<String, String> = text.lines().filter_map(option).collect();
        if values.is_empty() {
            return Err(BoardError::input(origin, "expected lines CONFIG_NAME=VALUE, found none"));
        }
        Ok(Config { origin: origin.to_owned(), values })
    }

    /// Whether the kernel can be a board of `arch`, with the host's files where `files` and with a
    /// directory of the host as root where `root`.
    ///
    /// # Errors
    /// The first option that is missing, or that makes a module which is not in `modules`.
    pub fn check(
        &self,
        arch: Arch,
        files: bool,
        root: bool,
        modules: Option<&Modules>,
    ) -> Result<()> {
        let own = match arch {
            Arch::X86_64 => X86_64,
            Arch::Aarch64 => AARCH64,
        };
        let of_files = FILES.iter().filter(|_| files || root);
        let of_root = ROOT.iter().filter(|_| root);
        for need in COMMON.iter().chain(own).chain(of_files).chain(of_root) {
            self.check_one(need, modules)?;
        }
        Ok(())
    }

    fn check_one(&self, need: &Need, modules: Option<&Modules>) -> Result<()> {
        let value = self.values.get(need.option).map_or("n", String::as_str);
        let expected = if need.module.is_some() { "y or m" } else { "y" };
        let error = |message: String| {
            BoardError::input(
                format!("kernel option CONFIG_{} ({})", need.option, self.origin),
                message,
            )
        };
        match (value, need.module) {
            ("y", _) => Ok(()),
            ("m", Some(name)) if modules.is_some_and(|modules| modules.has(name)) => Ok(()),
            ("m", Some(name)) => {
                let found = match modules {
                    Some(modules) => format!("none of that name in {}", modules.dir().display()),
                    None => "no modules at all".to_owned(),
                };
                Err(error(format!("expected the module {name} for {}, found {found}", need.why))
                    .with_hint(
                        "make modules_install INSTALL_MOD_PATH=DIR, then name DIR as the folder of \
                         modules; or build it in",
                    ))
            }
            (found, _) => {
                Err(error(format!("expected {expected} for {}, found {found}", need.why))
                    .with_hint(format!(
                        "scripts/config --enable {}, then build again",
                        need.option
                    )))
            }
        }
    }
}

/// The configuration beside an image: in the build tree above it, or named after it as
/// distributions do (`/boot/vmlinuz-6.12`, `/boot/config-6.12`).
pub fn beside(image: &Path) -> Option<PathBuf> {
    let image = fs_err::canonicalize(image).ok()?;
    let dir = image.parent()?;
    let name = image.file_name()?.to_string_lossy().into_owned();
    let named = name.strip_prefix("vmlinuz-").map(|release| dir.join(format!("config-{release}")));
    // arch/x86/boot/bzImage is three folders down.
    let above = dir.ancestors().take(4).map(|dir| dir.join(".config"));
    named.into_iter().chain(above).find(|path| path.is_file())
}

/// The configuration inside an image that is not compressed as a whole (CONFIG_IKCONFIG): gzip data
/// after a marker.
///
/// # Errors
/// A file that cannot be read.
pub fn embedded(image: &Path) -> Result<Option<Config>> {
    const MARKER: &[u8] = b"IKCFG_ST";
    let bytes = fs_err::read(image).map_err(|error| BoardError::io(&error))?;
    let Some(at) = bytes.windows(MARKER.len()).position(|window| window == MARKER) else {
        return Ok(None);
    };
    let mut text = String::new();
    let packed = bytes.get(at + MARKER.len()..).unwrap_or_default();
    match flate2::read::GzDecoder::new(packed).read_to_string(&mut text) {
        Ok(_) => Config::parse(&text, &format!("{}, inside", image.display())).map(Some),
        Err(_) => Ok(None),
    }
}

/// The first `length` bytes of a file, or fewer.
pub(super) fn head(path: &Path, length: u64) -> Result<Vec<u8>> {
    let file = fs_err::File::open(path).map_err(|error| BoardError::io(&error))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|error| BoardError::io(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Diagnostic;

    fn whole(arch: Arch) -> String {
        let own = if arch == Arch::X86_64 { X86_64 } else { AARCH64 };
        let lists = [COMMON, FILES, ROOT, own];
        lists.iter().flat_map(|l| l.iter()).map(|n| format!("CONFIG_{}=y\n", n.option)).collect()
    }

    #[test]
    fn a_missing_option_is_named() {
        for arch in Arch::ALL {
            let text = whole(arch);
            Config::parse(&text, "c").unwrap().check(arch, true, true, None).unwrap();
            for line in text.lines() {
                let without = text.replace(&format!("{line}\n"), "# gone\n");
                let config = Config::parse(&without, "c").unwrap();
                let error = config.check(arch, true, true, None).unwrap_err();
                let option = line.trim_end_matches("=y");
                assert!(error.to_string().contains(option), "{error}");
                assert!(error.hint().is_some());
            }
        }
    }

    #[test]
    fn a_module_needs_modules() {
        let text = whole(Arch::X86_64).replace("VIRTIO_CONSOLE=y", "VIRTIO_CONSOLE=m");
        let config = Config::parse(&text, "c").unwrap();
        let error = config.check(Arch::X86_64, false, false, None).unwrap_err();
        assert!(error.to_string().contains("module virtio_console"), "{error}");
        assert!(error.hint().unwrap().contains("folder of modules"));
    }

    #[test]
    fn files_are_needed_only_where_they_are_used() {
        let text = whole(Arch::Aarch64).replace("CONFIG_9P_FS=y", "");
        let config = Config::parse(&text, "c").unwrap();
        config.check(Arch::Aarch64, false, false, None).unwrap();
        assert!(config.check(Arch::Aarch64, true, false, None).is_err());
    }

    #[test]
    fn a_configuration_is_found_inside_and_beside() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let boot = dir.path().join("arch/x86/boot");
        fs_err::create_dir_all(&boot).unwrap();
        fs_err::write(dir.path().join(".config"), "CONFIG_A=y\n").unwrap();
        fs_err::write(boot.join("bzImage"), "x").unwrap();
        let found = beside(&boot.join("bzImage")).unwrap();
        assert_eq!(found, fs_err::canonicalize(dir.path()).unwrap().join(".config"));
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"CONFIG_B=m\n").unwrap();
        let image = [b"xxIKCFG_ST", &gz.finish().unwrap()[..], b"IKCFG_ED"].concat();
        fs_err::write(dir.path().join("Image"), image).unwrap();
        let config = embedded(&dir.path().join("Image")).unwrap().unwrap();
        assert_eq!(config.values.get("B").map(String::as_str), Some("m"));
        assert_eq!(embedded(&boot.join("bzImage")).unwrap(), None);
    }
}
