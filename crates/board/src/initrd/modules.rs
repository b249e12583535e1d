//! Kernel modules: which there are, what they need, and in which order they load.

use crate::error::{BoardError, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// The modules of one kernel: a folder like `/lib/modules/RELEASE`.
#[derive(Clone, Debug)]
pub struct Modules {
    dir: PathBuf,
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
}

impl Modules {
    /// Looks through a folder: that of a release, or one with `lib/modules/RELEASE` in it, as
    /// `make modules_install INSTALL_MOD_PATH=DIR` leaves.
    ///
    /// # Errors
    /// A folder without modules, or with those of several kernels.
    pub fn open(dir: &Path) -> Result<Modules> {
        let dir = release_dir(dir)?;
        let mut files = BTreeMap::new();
        walk(&dir, &mut files, 0)?;
        let list = dir.join("modules.builtin");
        let text = if list.exists() {
            fs_err::read_to_string(&list).map_err(|error| BoardError::io(&error))?
        } else {
            String::new()
        };
        let built_in = text.lines().map(|line| name_of(Path::new(line.trim()))).collect();
        if files.is_empty() {
            return Err(BoardError::input(
                format!("modules {}", dir.display()),
                "expected kernel modules (*.ko, *.ko.xz, *.ko.zst, *.ko.gz), found none",
            )
            .with_hint(
                "make modules_install INSTALL_MOD_PATH=DIR, then name DIR as the folder of modules",
            ));
        }
        Ok(Modules { dir, files, built_in })
    }

    /// Whether a module is there as a file.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(&normal(name))
    }

    /// Whether it needs no file: the kernel has it inside.
    pub fn is_built_in(&self, name: &str) -> bool {
        self.built_in.contains(&normal(name))
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Names and contents of `wanted` and of all that they need, in load order, without what is
    /// built in.
    ///
    /// # Errors
    /// A module that is not there, or cannot be unpacked.
    pub fn load_order(&self, wanted: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        let mut loaded = Vec::new();
        for name in wanted {
            self.load(&normal(name), &mut loaded)?;
        }
        Ok(loaded)
    }

    fn load(&self, name: &str, loaded: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
        if self.is_built_in(name) || loaded.iter().any(|(other, _)| other == name) {
            return Ok(());
        }
        let path = self.files.get(name).ok_or_else(|| {
            BoardError::input(
                format!("kernel module {name}"),
                format!("expected it in {}, or built in; found neither", self.dir.display()),
            )
            .with_hint("build the kernel with it, or name the folder of its modules")
        })?;
        let module = unpacked(path)?;
        for needed in info(&module, "depends").split(',').filter(|needed| !needed.is_empty()) {
            self.load(&normal(needed), loaded)?;
        }
        loaded.push((name.to_owned(), module));
        Ok(())
    }
}

/// `DIR` itself, or the one release in `DIR/lib/modules`.
fn release_dir(dir: &Path) -> Result<PathBuf> {
    let inner = [dir.join("lib/modules"), dir.join("usr/lib/modules")];
    let Some(parent) = inner.iter().find(|path| path.is_dir()) else {
        return Ok(dir.to_path_buf());
    };
    let entries = fs_err::read_dir(parent).map_err(|error| BoardError::io(&error))?;
    let mut releases: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    releases.sort();
    match releases.as_slice() {
        [one] => Ok(one.clone()),
        several => Err(BoardError::input(
            format!("modules {}", parent.display()),
            format!("expected the folder of one kernel release, found {}", several.len()),
        )
        .with_hint("name one: DIR/lib/modules/RELEASE")),
    }
}

fn walk(dir: &Path, files: &mut BTreeMap<String, PathBuf>, depth: usize) -> Result<()> {
    if depth > 16 {
        return Ok(());
    }
    for entry in fs_err::read_dir(dir).map_err(|error| BoardError::io(&error))?.flatten() {
        let path = entry.path();
        // `build` and `source` are links to whole source trees.
        let kind = entry.file_type().map_err(|error| BoardError::io_at(&path, &error))?;
        if kind.is_dir() {
            walk(&path, files, depth + 1)?;
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".ko")) {
            files.insert(name_of(&path), path);
        }
    }
    Ok(())
}

/// `kernel/drivers/x/acpi-cpufreq.ko.xz` is `acpi_cpufreq`.
fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    normal(file.split(".ko").next().unwrap_or_default())
}

/// Hyphens and underscores are one and the same in a module's name.
fn normal(name: &str) -> String {
    name.replace('-', "_")
}

/// A module's bytes.
fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let packed = fs_err::read(path).map_err(|error| BoardError::io(&error))?;
    let wrong = |error: &dyn std::fmt::Display| {
        BoardError::input(
            path.display(),
            format!("expected a packed kernel module, found: {error}"),
        )
    };
    let mut module = Vec::new();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => lzma_rs::xz_decompress(&mut Cursor::new(packed), &mut module)
            .map_err(|error| wrong(&error))?,
        Some("zst") => {
            let mut reader = ruzstd::decoding::StreamingDecoder::new(Cursor::new(packed))
                .map_err(|error| wrong(&error))?;
            reader.read_to_end(&mut module).map_err(|error| wrong(&error))?;
        }
        Some("gz") => {
            let mut reader = flate2::read::GzDecoder::new(Cursor::new(packed));
            reader.read_to_end(&mut module).map_err(|error| wrong(&error))?;
        }
        _ => module = packed,
    }
    Ok(module)
}

/// The value of `key=value` in the module's `.modinfo` section: texts that end with a NUL.
fn info(module: &[u8], key: &str) -> String {
    let wanted = [&[0], key.as_bytes(), b"="].concat();
    let Some(at) = module.windows(wanted.len()).position(|window| window == wanted) else {
        return String::new();
    };
    let value = module.get(at + wanted.len()..).unwrap_or_default();
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Diagnostic;

    fn module(depends: &str) -> Vec<u8> {
        format!("\x7fELF\0license=GPL\0depends={depends}\0name=x\0").into_bytes()
    }

    #[test]
    fn dependencies_load_first_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let kernel = dir.path().join("lib/modules/6.12/kernel");
        fs_err::create_dir_all(&kernel).unwrap();
        fs_err::write(kernel.join("9p.ko"), module("9pnet,netfs")).unwrap();
        fs_err::write(kernel.join("9pnet.ko"), module("")).unwrap();
        fs_err::write(kernel.join("9pnet-virtio.ko"), module("9pnet,virtio")).unwrap();
        fs_err::write(kernel.join("netfs.ko"), module("")).unwrap();
        fs_err::write(kernel.parent().unwrap().join("modules.builtin"), "kernel/virtio.ko\n")
            .unwrap();
        let modules = Modules::open(dir.path()).unwrap();
        let order = modules.load_order(&["9p", "9pnet_virtio"]).unwrap();
        let names: Vec<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["9pnet", "netfs", "9p", "9pnet_virtio"]);
        assert!(modules.is_built_in("virtio") && modules.has("9pnet-virtio"));
        let error = modules.load_order(&["overlay"]).unwrap_err();
        assert!(error.to_string().contains("kernel module overlay"), "{error}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn packed_modules_are_unpacked() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let content = module("a");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&content).unwrap();
        fs_err::write(dir.path().join("m.ko.gz"), gz.finish().unwrap()).unwrap();
        let mut xz = Vec::new();
        lzma_rs::xz_compress(&mut Cursor::new(&content), &mut xz).unwrap();
        fs_err::write(dir.path().join("n.ko.xz"), xz).unwrap();
        for name in ["m.ko.gz", "n.ko.xz"] {
            assert_eq!(unpacked(&dir.path().join(name)).unwrap(), content, "{name}");
        }
        fs_err::write(dir.path().join("bad.ko.zst"), b"nonsense").unwrap();
        assert!(unpacked(&dir.path().join("bad.ko.zst")).is_err());
    }

    #[test]
    fn a_folder_without_modules_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Modules::open(dir.path()).unwrap_err().hint().is_some());
    }
}
