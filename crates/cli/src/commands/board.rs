//! `flyball board`: a command on a real kernel whose frequency really changes.

mod ab;
mod compare;

use crate::args::{BoardArgs, BoardCommand, BoardRunArgs, BoardSetupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{machine, output};
use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending, Options, Outcome};
use flyball_board::kernel::Choice;
use flyball_board::{Arch, BoardError, ErrorKind, Qemu, Ready, Request, request, setup};
use flyball_host::Host;

pub fn run(args: BoardArgs, talk: Talk) -> Result<Exit, Failure> {
    match args.command {
        BoardCommand::Run(args) => boot(&args, talk).map_err(Failure::around_a_program),
        BoardCommand::Ab(args) => ab::run(&args, talk).map_err(Failure::around_a_program),
        BoardCommand::Compare(args) => compare::run(&args, talk),
        BoardCommand::Setup(args) => get(&args, talk),
    }
}

fn get(args: &BoardSetupArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
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
    let host = machine::real();
    host.catch_interrupts()?;
    let cache = Cache::of(host.as_ref())?;
    let Ready { options, qemu, plugin } = prepare(args, host.as_ref(), &cache)?;
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

fn prepare(args: &BoardRunArgs, host: &dyn Host, cache: &Cache) -> Result<Ready, Failure> {
    let request = Request {
        arch: args.arch.as_deref().map(str::parse).transpose()?,
        platform: args.platform.as_deref().map(request::platform).transpose()?,
        kernel: args.kernel.clone(),
        modules: args.modules.clone(),
        config: args.config.clone(),
        root: args.root.clone(),
        share: args.share.clone(),
        program: args.program.clone(),
        busybox: args.busybox.clone(),
        memory_mib: args.memory,
        append: args.append.clone(),
        ipc: args.ipc,
        step: args.step,
        full_speed: args.full_speed,
        timeout: time("--timeout", &args.timeout)?.0,
        command: args.command.clone(),
    };
    Ok(request.ready(host, cache)?)
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
        let setup = error.setup().map(|(arch, kernel)| {
            let kernel = kernel.map(|kernel| format!(" --kernel {kernel}")).unwrap_or_default();
            format!("flyball board setup --arch {arch}{kernel}")
        });
        let hints: Vec<String> = setup.into_iter().chain(error.hint()).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("; or "));
        Failure::new(exit, &error).maybe_hint(hint)
    }
}
