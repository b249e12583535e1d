//! What a user asks of a boot, and the defaults of what was left out.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::error::{BoardError, Result};
use crate::guest::{Options, Root};
use crate::kernel::{Choice, Kernel};
use crate::machine::{Machine, arch_for};
use crate::plugin;
use crate::qemu::Qemu;
use crate::setup;
use flyball_host::Host;
use flyball_platform::{DescriptionError, Platform, is_file};
use flyball_units::{BoardSpec, Diagnostic, Nanos};
use std::path::{Path, PathBuf};

/// A boot as it is asked for; what is None or empty is chosen by [`Request::ready`].
#[derive(Clone, Debug)]
pub struct Request {
    /// The architecture; where absent the one that can express the platform.
    pub arch: Option<Arch>,
    /// The machine; where absent the architecture's usual one.
    pub platform: Option<Platform>,
    /// An image, or `debian:SERIES`.
    pub kernel: Option<String>,
    /// Modules of the kernel.
    pub modules: Option<PathBuf>,
    /// Configuration of the kernel.
    pub config: Option<PathBuf>,
    /// The guest's root folder, or `none` for busybox alone.
    pub root: Option<PathBuf>,
    /// A folder that the guest sees, and may write, as /run/share.
    pub share: Option<PathBuf>,
    /// A flyball for the guest; where absent this very program, if it fits, or the one of the set-up.
    pub program: Option<PathBuf>,
    /// A static busybox for the guest.
    pub busybox: Option<PathBuf>,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// More kernel arguments.
    pub append: Option<String>,
    /// Guest instructions per cycle of a CPU whose work per cycle is 1.
    pub ipc: Option<f64>,
    /// Instructions per step of the pacing.
    pub step: u64,
    /// How many times as fast as the host's the board's clock may run.
    pub rate: f64,
    /// Whether P-states change nothing.
    pub full_speed: bool,
    /// When to give up, from the start on.
    pub timeout: Nanos,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A boot that can begin.
#[derive(Debug)]
pub struct Ready {
    /// What to boot and run.
    pub options: Options,
    /// The emulator.
    pub qemu: Qemu,
    /// Its plugin, compiled.
    pub plugin: PathBuf,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            arch: None,
            platform: None,
            kernel: None,
            modules: None,
            config: None,
            root: None,
            share: None,
            program: None,
            busybox: None,
            memory_mib: 1024,
            append: None,
            ipc: None,
            step: plugin::USUAL_STEP,
            rate: 1.0,
            full_speed: false,
            timeout: Nanos::from_secs(600),
            command: Vec::new(),
        }
    }
}

/// The platform in a file where `name` looks like one, else one that ships.
///
/// # Errors
/// No such file or platform, or a description that is wrong.
pub fn platform(name: &str) -> Result<Platform> {
    let wrong = |error: DescriptionError| {
        let object = match error.place {
            Some((line, column)) => format!("{}:{line}:{column}", error.origin),
            None => error.origin.clone(),
        };
        let input = BoardError::input(object, &error.message);
        match error.hint() {
            Some(hint) => input.with_hint(hint),
            None => input,
        }
    };
    if !is_file(name) {
        return Platform::named(name).map_err(wrong);
    }
    let text = fs_err::read_to_string(name).map_err(|error| BoardError::io(&error))?;
    Platform::parse(&text, name).map_err(wrong)
}

impl Request {
    /// A boot of the board that is meant, where `x86_64` and `aarch64` are platforms, too: the usual
    /// ones. What it runs is still to be said.
    ///
    /// # Errors
    /// A name that nothing has; the hint names the nearest.
    pub fn of(target: &BoardSpec) -> Result<Request> {
        let usual: Option<Arch> = target.name.parse().ok();
        let platform = platform(usual.map_or(&target.name, |arch| arch.usual_platform()))?;
        let asked: Option<Arch> = target.arch.as_deref().map(str::parse).transpose()?;
        Ok(Request {
            arch: Some(asked.or(usual).unwrap_or_else(|| arch_for(&platform))),
            platform: Some(platform),
            kernel: target.kernel.clone(),
            append: target.append.clone(),
            ..Request::default()
        })
    }

    /// Looks for everything that the boot needs. Nothing is downloaded.
    ///
    /// # Errors
    /// A platform that cannot be a board, something that is not there, a kernel without a driver.
    pub fn ready(self, host: &dyn Host, cache: &Cache) -> Result<Ready> {
        let described = match self.platform {
            Some(platform) => platform,
            None => platform(self.arch.unwrap_or(Arch::X86_64).usual_platform())?,
        };
        let arch = self.arch.unwrap_or_else(|| arch_for(&described));
        let machine = Machine::new(&described, arch, self.ipc)?;
        let choice: Choice = self.kernel.as_deref().unwrap_or(arch.usual_kernel()).parse()?;
        let qemu = Qemu::find(host, cache, arch)?;
        let (modules, config) = (self.modules.as_deref(), self.config.as_deref());
        let kernel = Kernel::find(&choice, arch, cache, modules, config)?;
        let root = root(self.root, arch, cache)?;
        let program = self.program.or_else(|| own_program(arch, &root, cache));
        if let Some(config) = &kernel.config {
            let files = self.share.is_some() || program.is_some();
            config.check(arch, files, root != Root::None, kernel.modules.as_ref())?;
        }
        let folder = match &root {
            Root::Dir(dir) if dir == Path::new("/") => {
                std::env::current_dir().ok().and_then(|dir| dir.to_str().map(str::to_owned))
            }
            _ => None,
        };
        let busybox = match self.busybox {
            Some(file) => file,
            None => setup::busybox(cache, arch)?,
        };
        let plugin = plugin::compiled(host, cache)?;
        let options = Options {
            machine,
            kernel,
            busybox,
            memory_mib: self.memory_mib,
            root,
            program,
            share: self.share,
            append: self.append,
            step: self.step,
            rate: self.rate,
            full_speed: self.full_speed,
            timeout: self.timeout,
            command: self.command,
            folder,
        };
        Ok(Ready { options, qemu, plugin })
    }
}

impl Request {
    /// As [`Request::ready`], where the command is a `flyball` of the guest's architecture.
    ///
    /// # Errors
    /// As there, or there is none.
    pub fn ready_for_flyball(self, host: &dyn Host, cache: &Cache) -> Result<Ready> {
        let ready = self.ready(host, cache)?;
        if ready.options.program.is_some() {
            return Ok(ready);
        }
        let arch = ready.options.machine.arch;
        Err(BoardError::missing(
            format!("flyball for {arch} guests"),
            "expected one that was given to the set-up, found none",
        )
        .with_hint("cross-build it, and give the file to the set-up"))
    }
}

/// The root folder: this machine's own for its own architecture, else the small Debian of the cache.
fn root(asked: Option<PathBuf>, arch: Arch, cache: &Cache) -> Result<Root> {
    match asked {
        Some(dir) if dir == Path::new("none") => Ok(Root::None),
        Some(dir) => Ok(Root::Dir(dir)),
        None if Arch::own() == Some(arch) => Ok(Root::Dir("/".into())),
        None if cache.root(arch).is_whole() => Ok(Root::Dir(cache.root(arch).dir().to_path_buf())),
        None => Err(BoardError::missing(
            format!("root folder for {arch}"),
            format!("expected one in {}, found none", cache.dir().display()),
        )
        .with_setup(arch, None)
        .with_hint("name a root folder, or none")),
    }
}

/// A `flyball` that works in the guest: this very program where the guest has this machine's
/// libraries, else the one that was given to the set-up.
fn own_program(arch: Arch, root: &Root, cache: &Cache) -> Option<PathBuf> {
    let kept = Some(cache.program(arch, "flyball")).filter(|path| path.is_file());
    if *root == Root::Dir("/".into()) && Arch::own() == Some(arch) {
        return std::env::current_exe().ok().or(kept);
    }
    kept
}
