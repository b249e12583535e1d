//! The files of one run, in a scratch folder that goes away with it.

use super::{Options, Root, command_line};
use crate::arch::Arch;
use crate::error::{BoardError, Result};
use crate::facts;
use crate::initrd::{self, Contents};
use crate::qemu::Qemu;
use crate::tables::{device_tree, fdt, registers, ssdt};
use flyball_host::Host;
use flyball_units::Nanos;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The longest name of a socket (`sun_path`) less that of ours in the folder.
const LONGEST_FOLDER: usize = 108 - "/control\0".len();

/// A run's files.
#[derive(Debug)]
pub(super) struct Prepared {
    dir: TempDir,
    counters: PathBuf,
    shares: Vec<&'static str>,
}

impl Prepared {
    /// Makes them.
    pub(super) fn new(host: &dyn Host, qemu: &Qemu, options: &Options) -> Result<Prepared> {
        let base = host.env("TMPDIR").filter(|dir| !dir.is_empty());
        let base = PathBuf::from(base.unwrap_or_else(|| "/tmp".to_owned()));
        let dir = tempfile::Builder::new()
            .prefix("flyball-board.")
            .tempdir_in(&base)
            .map_err(|error| BoardError::io_at(&base, &error))?;
        if dir.path().as_os_str().len() > LONGEST_FOLDER {
            let message = format!("expected a path of at most {LONGEST_FOLDER} bytes");
            return Err(BoardError::input(dir.path().display(), message)
                .with_hint("set TMPDIR to a shorter one, such as /tmp"));
        }
        let counters = dir.path().join("counters");
        let mut this = Prepared { dir, counters, shares: Vec::new() };
        this.files(qemu, options)?;
        match options.machine.arch {
            Arch::X86_64 => this.write("ssdt", &ssdt::table(&options.machine))?,
            Arch::Aarch64 => this.device_tree(host, qemu, options)?,
        }
        Ok(this)
    }

    /// The folder.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The page shared with the plugin.
    pub(super) fn counters(&self) -> &Path {
        &self.counters
    }

    /// Folders that the guest gets, by their names there and here.
    pub(super) fn shares(&self) -> &[&'static str] {
        &self.shares
    }

    fn files(&mut self, qemu: &Qemu, options: &Options) -> Result<()> {
        let bin = self.program(options)?;
        let root = match &options.root {
            Root::None => None,
            Root::Dir(dir) => Some(dir.as_path()),
        };
        let folders =
            [("root", root), ("share", options.share.as_deref()), ("bin", bin.as_deref())];
        for (name, folder) in folders {
            let Some(folder) = folder else { continue };
            if !folder.is_dir() {
                return Err(BoardError::input(
                    folder.display(),
                    "expected a directory, found none",
                ));
            }
            if name != "bin" {
                self.link(name, folder)?;
            }
            self.shares.push(name);
        }
        let busybox = fs_err::read(&options.busybox).map_err(|error| BoardError::io(&error))?;
        let emulator = format!("QEMU {}", qemu.version);
        let facts = facts::record(&options.machine, &emulator, options.step, options.full_speed);
        let facts = toml::to_string(&facts)
            .map_err(|error| BoardError::failed("the board's facts", error))?;
        let archive = initrd::build(&Contents {
            busybox,
            modules: options.kernel.modules.as_ref(),
            driver: options.machine.arch.driver(),
            root: root.is_some(),
            bin: bin.is_some(),
            share: options.share.is_some(),
            command: initrd::command(&options.command, options.folder.as_deref())?,
            facts,
        })?;
        self.write("initrd", &archive)?;
        self.link("kernel", &options.kernel.image)?;
        // The plugin makes it as large as it needs; this is its first field but one.
        let full_speed = u32::from(options.full_speed).to_le_bytes();
        self.write("counters", &[&[0; 8][..], &full_speed].concat())
    }

    /// The folder of programs for the guest: with `flyball`, where there is one for it. Where the
    /// guest has this machine's files a link will do.
    fn program(&self, options: &Options) -> Result<Option<PathBuf>> {
        let Some(program) = &options.program else { return Ok(None) };
        let bin = self.dir().join("bin");
        fs_err::create_dir(&bin).map_err(|error| BoardError::io(&error))?;
        let to = bin.join("flyball");
        let program = fs_err::canonicalize(program).map_err(|error| BoardError::io(&error))?;
        let made = match &options.root {
            Root::Dir(root) if root == Path::new("/") => crate::unix::symlink(program, to),
            _ => fs_err::copy(program, to).map(drop),
        };
        made.map_err(|error| BoardError::io(&error))?;
        Ok(Some(bin))
    }

    /// Asks the emulator for its machine's device tree and adds the board.
    fn device_tree(&self, host: &dyn Host, qemu: &Qemu, options: &Options) -> Result<()> {
        let mut arguments = command_line::machine(options);
        arguments.extend(["-machine".to_owned(), "dumpdtb=virt.dtb".to_owned()]);
        let mut spec = qemu.command(arguments.into_iter().map(Into::into));
        spec.folder = Some(self.dir().to_path_buf());
        let deadline = host.now() + Nanos::from_secs(60);
        let exit = host.spawn(&spec)?.wait(Some(deadline))?;
        let failed = |why: &str| {
            let message = format!("expected the device tree of its virt machine, found {why}");
            BoardError::failed(qemu.program.display(), message)
        };
        let exit = exit.ok_or_else(|| failed("no end after 60 s"))?;
        if !exit.is_success() {
            return Err(failed(String::from_utf8_lossy(&exit.stderr).trim()));
        }
        let blob =
            fs_err::read(self.dir().join("virt.dtb")).map_err(|error| BoardError::io(&error))?;
        let mut tree = fdt::Tree::parse(&blob)?;
        device_tree::add(&mut tree, &options.machine, options.memory_mib << 20)?;
        self.write("board.dtb", &tree.to_bytes())?;
        self.write("registers", &registers::pages(&options.machine))
    }

    /// The plugin under its name here.
    pub(super) fn link_plugin(&self, plugin: &Path) -> Result<()> {
        self.link("plugin.so", plugin)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        fs_err::write(self.dir().join(name), bytes).map_err(|error| BoardError::io(&error))
    }

    fn link(&self, name: &str, to: &Path) -> Result<()> {
        let to = fs_err::canonicalize(to).map_err(|error| BoardError::io(&error))?;
        crate::unix::symlink(to, self.dir().join(name)).map_err(|error| BoardError::io(&error))
    }
}
