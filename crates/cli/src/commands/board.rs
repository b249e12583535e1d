//! `flyball board`: a command on a real kernel whose frequency really changes.

mod ab;
mod compare;

use crate::args::{BoardArgs, BoardCommand, BoardRunArgs, BoardSetupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{machine, output};
use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending};
use flyball_board::kernel::Choice;
use flyball_board::{Arch, Ready, Request, setup, text};
use flyball_host::Host;
use flyball_units::MachineSpec;

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
        fs_err::create_dir_all(folder).and_then(|()| fs_err::copy(program, &to))?;
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
        fs_err::write(path, "")?;
    }
    if talk.verbose {
        output::lines(text::machine(&options, &qemu));
    }
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let outcome = guest::run(host.as_ref(), &qemu, &plugin, &options, &mut out, &mut err)?;
    if let Some(path) = &args.writes {
        fs_err::write(path, &outcome.writes)?;
    }
    if !talk.quiet {
        output::lines(text::remarks(&outcome, args.full_speed));
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
    let MachineSpec::Board(target) = machine::target(&args.machine)? else {
        return Err(machine::expected("board:NAME[,kernel=K]", &args.machine));
    };
    let request = Request {
        modules: args.modules.clone(),
        config: args.config.clone(),
        root: args.root.clone(),
        share: args.share.clone(),
        program: args.program.clone(),
        busybox: args.busybox.clone(),
        memory_mib: args.memory,
        ipc: args.ipc,
        step: args.step,
        full_speed: args.full_speed,
        timeout: time("--timeout", &args.timeout)?.0,
        command: args.command.clone(),
        ..Request::of(&target)?
    };
    Ok(request.ready(host, cache)?)
}
