//! `flyball board`: a command on a real kernel whose frequency really changes.

use super::bench::time;
use crate::args::{BoardArgs, BoardCommand, BoardRunArgs, BoardSetupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending, Options, Outcome, Root};
use flyball_board::kernel::{Choice, Kernel};
use flyball_board::{Arch, BoardError, ErrorKind, Machine, Qemu, arch_for, plugin, setup};
use flyball_host::Host;
use flyball_platform::Platform;
use std::path::{Path, PathBuf};

pub fn run(args: BoardArgs, talk: Talk) -> Result<Exit, Failure> {
    match args.command {
        // An own failure must not be taken for a status of the command.
        BoardCommand::Run(args) => boot(&args, talk).map_err(|failure| Failure {
            exit: if failure.exit == Exit::Interrupted { Exit::Interrupted } else { Exit::Own },
            ..failure
        }),
        BoardCommand::Setup(args) => get(&args, talk),
    }
}

fn get(args: &BoardSetupArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::real();
    host.catch_interrupts()?;
    let cache = Cache::of(host.as_ref())?;
    let arch: Arch = args.arch.parse()?;
    let mut kernels =
        args.kernel.iter().map(|text| text.parse()).collect::<Result<Vec<Choice>, _>>()?;
    if kernels.is_empty() {
        kernels.push(arch.usual_kernel().parse()?);
    }
    if let Some(program) = &args.program {
        let to = cache.program(arch, "flyball");
        let folder = to.parent().unwrap_or(cache.dir());
        fs_err::create_dir_all(folder)
            .and_then(|()| fs_err::copy(program, &to))
            .map_err(|error| Failure::io(&error))?;
    }
    let wish = setup::Wish { arch, kernels, update: args.update };
    setup::run(host.as_ref(), &cache, &wish, &mut |text| {
        if !talk.quiet {
            output::talk(text);
        }
    })?;
    Ok(Exit::Ok)
}

fn boot(args: &BoardRunArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::real();
    host.catch_interrupts()?;
    let cache = Cache::of(host.as_ref())?;
    let (options, qemu, plugin) = prepare(args, host.as_ref(), &cache)?;
    if let Some(path) = &args.writes {
        // Found out now rather than after the run.
        fs_err::write(path, "").map_err(|error| Failure::io(&error))?;
    }
    if talk.verbose {
        describe(&options, &qemu);
    }
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let outcome = guest::run(host.as_ref(), &qemu, &plugin, &options, &mut out, &mut err)?;
    if let Some(path) = &args.writes {
        fs_err::write(path, &outcome.writes).map_err(|error| Failure::io(&error))?;
    }
    if !talk.quiet {
        remarks(&outcome, args.full_speed);
    }
    if talk.verbose {
        output::talk(&format!("console:\n{}", outcome.console.trim_end()));
    }
    Ok(match outcome.ending {
        Ending::Status(code) => Exit::Program(code),
        Ending::Interrupted => Exit::Interrupted,
        Ending::TimedOut => {
            output::talk(&format!("error: no end after {}", args.timeout));
            if outcome.release.is_none() {
                output::talk(&format!("end of the console:\n{}", guest::end_of(&outcome.console)));
            }
            Exit::Program(124)
        }
    })
}

fn prepare(
    args: &BoardRunArgs,
    host: &dyn Host,
    cache: &Cache,
) -> Result<(Options, Qemu, PathBuf), Failure> {
    let asked: Option<Arch> = args.arch.as_deref().map(str::parse).transpose()?;
    let platform = match &args.platform {
        Some(name) => platform(name)?,
        None => Platform::named(asked.unwrap_or(Arch::X86_64).usual_platform())
            .map_err(|error| described(&error))?,
    };
    let arch = asked.unwrap_or_else(|| arch_for(&platform));
    let machine = Machine::new(&platform, arch, args.ipc)?;
    let choice: Choice = args.kernel.as_deref().unwrap_or(arch.usual_kernel()).parse()?;
    let qemu = Qemu::find(host, cache, arch)?;
    let (modules, config) = (args.modules.as_deref(), args.config.as_deref());
    let kernel = Kernel::find(&choice, arch, cache, modules, config)?;
    let root = root(args, arch, cache)?;
    let program = args.program.clone().or_else(|| own_program(arch, &root, cache));
    if let Some(config) = &kernel.config {
        let files = args.share.is_some() || program.is_some();
        config.check(arch, files, root != Root::None, kernel.modules.as_ref())?;
    }
    let folder = match &root {
        Root::Dir(dir) if dir == Path::new("/") => {
            std::env::current_dir().ok().and_then(|dir| dir.to_str().map(str::to_owned))
        }
        _ => None,
    };
    let busybox = match &args.busybox {
        Some(file) => file.clone(),
        None => setup::busybox(cache, arch)?,
    };
    let plugin = plugin::compiled(host, cache)?;
    let options = Options {
        machine,
        kernel,
        busybox,
        memory_mib: args.memory,
        root,
        program,
        share: args.share.clone(),
        append: args.append.clone(),
        step: args.step,
        full_speed: args.full_speed,
        timeout: time("--timeout", &args.timeout)?.0,
        command: args.command.clone(),
        folder,
    };
    Ok((options, qemu, plugin))
}

/// A file where it looks like one, else a platform that ships.
fn platform(name: &str) -> Result<Platform, Failure> {
    let path = Path::new(name);
    let file = name.contains('/') || path.extension().is_some_and(|extension| extension == "toml");
    if !file {
        return Platform::named(name).map_err(|error| described(&error));
    }
    let text = fs_err::read_to_string(path).map_err(|error| Failure::io(&error))?;
    Platform::parse(&text, name).map_err(|error| described(&error))
}

fn described(error: &flyball_platform::DescriptionError) -> Failure {
    Failure::new(Exit::BadInput, error).maybe_hint(error.hint().map(str::to_owned))
}

/// The root folder: this machine's own for its own architecture, else the small Debian of the
/// cache.
fn root(args: &BoardRunArgs, arch: Arch, cache: &Cache) -> Result<Root, Failure> {
    match &args.root {
        Some(dir) if dir == Path::new("none") => Ok(Root::None),
        Some(dir) => Ok(Root::Dir(dir.clone())),
        None if Arch::own() == Some(arch) => Ok(Root::Dir("/".into())),
        None if cache.root(arch).is_whole() => Ok(Root::Dir(cache.root(arch).dir().to_path_buf())),
        None => Err(Failure::new(
            Exit::Unsupported,
            format!(
                "root folder for {arch}: expected one in {}, found none",
                cache.dir().display()
            ),
        )
        .hint(format!("flyball board setup --arch {arch}; or --root DIR; or --root none"))),
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

fn describe(options: &Options, qemu: &Qemu) {
    let machine = &options.machine;
    output::talk(&format!(
        "{} on {}: {} CPUs, QEMU {}, kernel {}",
        machine.name,
        machine.arch,
        machine.cpus,
        qemu.version,
        options.kernel.image.display()
    ));
    for policy in &machine.policies {
        output::talk(&format!(
            "policy{} ({}): {:.0} million instructions per second at the top, {} P-states",
            policy.first(),
            policy.name,
            policy.top_mips(),
            policy.states.len()
        ));
    }
    output::talk(&format!("all CPUs at the top: {:.0} million", machine.budget_mips()));
    if options.kernel.config.is_none() {
        output::talk("the kernel's configuration is not known and was not checked");
    }
    for difference in &machine.differences {
        output::talk(&format!("unlike the platform: {difference}"));
    }
}

/// What the user should know of a run that went well otherwise.
fn remarks(outcome: &Outcome, full_speed: bool) {
    for note in &outcome.notes {
        output::talk(&format!("note: {note}"));
    }
    if full_speed {
        return;
    }
    for (cpu, of) in outcome.account.cpus.iter().enumerate().filter(|(_, of)| of.fell_behind()) {
        output::talk(&format!(
            "note: the host could not keep up: cpu{cpu} lost {:.2} s of {:.2} s ({:.0} %); its speed \
             in this run is not to be trusted",
            of.late.as_secs_f64(),
            of.took().as_secs_f64(),
            100.0 * of.late_share()
        ));
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Failure {
        let exit = match error.kind {
            ErrorKind::BadInput => Exit::BadInput,
            ErrorKind::Unsupported => Exit::Unsupported,
            ErrorKind::Failed => Exit::Own,
            ErrorKind::Interrupted => Exit::Interrupted,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}
