//! Starts a program without copying this process: until it runs, the new process has our memory and the
//! thread that starts it waits (`CLONE_VM`, `CLONE_VFORK`). A copy takes the longer the more memory we have,
//! and a start is part of what is measured of a program. The standard library starts programs so as well, but
//! not with what a child has to do for itself first: its death signal.
#![expect(unsafe_code, reason = "clone, and what stands between it and exec")]

use crate::{Input, Output, ProcessSpec};
use std::cell::Cell;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{Error, ErrorKind, PipeReader, Result, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr::null;

/// Room for the few calls of the child.
const STACK: usize = 64 << 10;
/// Where programs are looked for without a PATH.
const PATH: &str = "/bin:/usr/bin";
/// Reads a program that the kernel does not know: a script that names no interpreter.
const SHELL: &std::ffi::CStr = c"/bin/sh";

/// Whom a child belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// The thread that starts it, which it does not outlive. In a process group of its own, so that what it
    /// starts can be ended with it.
    Ours,
    /// Nobody: in a session of its own.
    Nobody,
}

/// A child that was started, with the ends of its pipes that are ours.
pub(super) struct Started {
    pub pid: libc::pid_t,
    pub stdout: Option<PipeReader>,
    pub stderr: Option<PipeReader>,
}

/// Starts `spec`.
///
/// # Errors
/// The system's: no such program, no permission, no memory, no such folder.
pub(super) fn spawn(spec: &ProcessSpec, tie: Tie) -> Result<Started> {
    let environment = environment(spec);
    let programs = programs(spec, &environment)?;
    let first = [text(spec.program.clone())?];
    let arguments = spec.arguments.iter().map(|argument| text(argument.clone()));
    let arguments = arguments.collect::<Result<Vec<CString>>>()?;
    let variables = environment.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        text(name)
    });
    let variables = variables.collect::<Result<Vec<CString>>>()?;
    let folder = spec.folder.clone().map(|folder| text(folder.into_os_string())).transpose()?;
    let input = match spec.stdin {
        Input::Empty => Some(nowhere()?),
        Input::Inherit => None,
    };
    let (output, stdout) = out(spec.stdout)?;
    let (errors, stderr) = out(spec.stderr)?;

    let pointers = |texts: &mut dyn Iterator<Item = &CString>| -> Vec<*const libc::c_char> {
        texts.map(|text| text.as_ptr()).chain([null()]).collect()
    };
    let room = [CString::default()];
    let start = Start {
        arguments: pointers(&mut first.iter().chain(&arguments)),
        // The shell, the script, and its arguments.
        script: pointers(&mut room.iter().chain(&room).chain(&arguments)).into_iter().map(Cell::new).collect(),
        environment: pointers(&mut variables.iter()),
        programs,
        folder,
        files: [
            input.as_ref().map(AsRawFd::as_raw_fd),
            output.as_ref().map(AsRawFd::as_raw_fd),
            errors.as_ref().map(AsRawFd::as_raw_fd),
        ],
        tie,
        // SAFETY: getpid returns a number.
        parent: unsafe { libc::getpid() },
        failed: Cell::new(0),
    };
    Ok(Started { pid: start.go()?, stdout, stderr })
}

/// Ours, with what is added.
fn environment(spec: &ProcessSpec) -> Vec<(OsString, OsString)> {
    let added = |name: &OsStr| spec.environment.iter().any(|(other, _)| other == name);
    let ours = std::env::vars_os().filter(|(name, _)| !added(name));
    ours.chain(spec.environment.iter().cloned()).collect()
}

/// Where the program may lie, as execvp looks for it.
fn programs(spec: &ProcessSpec, environment: &[(OsString, OsString)]) -> Result<Vec<CString>> {
    if spec.program.is_empty() {
        return Err(Error::from_raw_os_error(libc::ENOENT));
    }
    if spec.program.as_bytes().contains(&b'/') {
        return Ok(vec![text(spec.program.clone())?]);
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    let folders = std::env::split_paths(path.unwrap_or_else(|| OsStr::new(PATH)));
    // An empty one is the folder in which the child is to run.
    folders.map(|folder| text(folder.join(&spec.program).into_os_string())).collect()
}

fn text(text: OsString) -> Result<CString> {
    CString::new(text.into_vec()).map_err(|error| Error::new(ErrorKind::InvalidInput, error))
}

/// What is read there is empty, and what is written is gone.
fn nowhere() -> Result<OwnedFd> {
    File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from)
}

/// The child's end of an output, none where it is ours, and the end that is read here.
fn out(output: Output) -> Result<(Option<OwnedFd>, Option<PipeReader>)> {
    Ok(match output {
        Output::Inherit => (None, None),
        Output::Discard => (Some(nowhere()?), None),
        Output::Capture => {
            let (reader, writer) = pipe()?;
            (Some(writer.into()), Some(reader))
        }
    })
}

/// All that the child needs, made ready before it is there: it must not allocate.
struct Start {
    programs: Vec<CString>,
    arguments: Vec<*const libc::c_char>,
    /// As `arguments`, with two free places before them in place of the name.
    script: Vec<Cell<*const libc::c_char>>,
    environment: Vec<*const libc::c_char>,
    folder: Option<CString>,
    /// Files in place of 0, 1 and 2. All are closed on exec themselves.
    files: [Option<libc::c_int>; 3],
    tie: Tie,
    parent: libc::pid_t,
    /// Why it could not begin.
    failed: Cell<libc::c_int>,
}

impl Start {
    /// The process, whose program runs.
    fn go(&self) -> Result<libc::pid_t> {
        let mut stack = vec![0_u128; STACK / size_of::<u128>()];
        // SAFETY: all-zero signal sets are valid, and filled by the calls. The child runs `child` on a stack of
        // its own, with our memory while this thread waits in `clone`; so all that it reads outlives it, and no
        // other thread knows of it. With all signals blocked here and so there, no handler of ours runs there.
        let (pid, error) = unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let top = stack.as_mut_ptr_range().end.cast();
            let this = std::ptr::from_ref(self).cast_mut().cast();
            let pid = libc::clone(child, top, libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD, this);
            let error = Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
            (pid, error)
        };
        match (pid, self.failed.get()) {
            (-1, _) => Err(error),
            (pid, 0) => Ok(pid),
            (pid, failed) => {
                // SAFETY: a child of ours that nobody else knows of; it has ended.
                unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
                Err(Error::from_raw_os_error(failed))
            }
        }
    }

    /// In the child: becomes the program. Comes back where that cannot be, with the reason.
    ///
    /// # Safety
    /// In a process that shares the memory of its parent, which waits for it.
    unsafe fn begin(&self) -> libc::c_int {
        // SAFETY: calls that may be made between fork and exec, with pointers that `go` keeps.
        unsafe {
            let errno = || *libc::__errno_location();
            // What is handled here has no handler there; and Rust ignores SIGPIPE, which programs do not expect.
            for signal in 1..=libc::SIGRTMAX() {
                let mut action: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, null(), &mut action) != 0 {
                    continue;
                }
                let handled = ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
                if handled || signal == libc::SIGPIPE {
                    action.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &action, std::ptr::null_mut());
                }
            }
            let tied = match self.tie {
                Tie::Nobody => libc::setsid() != -1,
                Tie::Ours => {
                    libc::setpgid(0, 0) == 0 && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) == 0
                }
            };
            if !tied {
                return errno();
            }
            // Who died before that would end nobody.
            if self.tie == Tie::Ours && libc::getppid() != self.parent {
                return libc::ESRCH;
            }
            for (number, file) in (0..).zip(self.files) {
                if let Some(file) = file
                    && libc::dup2(file, number) == -1
                {
                    return errno();
                }
            }
            if let Some(folder) = &self.folder
                && libc::chdir(folder.as_ptr()) != 0
            {
                return errno();
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            let environment = self.environment.as_ptr();
            let mut failed = libc::ENOENT;
            for program in &self.programs {
                libc::execve(program.as_ptr(), self.arguments.as_ptr(), environment);
                match errno() {
                    libc::ENOEXEC => {
                        if let [shell, script, ..] = self.script.as_slice() {
                            shell.set(SHELL.as_ptr());
                            script.set(program.as_ptr());
                        }
                        libc::execve(SHELL.as_ptr(), self.script.as_ptr().cast(), environment);
                        return libc::ENOEXEC;
                    }
                    libc::ENOENT | libc::ENOTDIR => {}
                    // Told where no other place has it.
                    libc::EACCES => failed = libc::EACCES,
                    other => return other,
                }
            }
            failed
        }
    }
}

extern "C" fn child(start: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the one of `go`, which waits; what is written is read after this process has gone.
    unsafe {
        let start = &*start.cast::<Start>();
        start.failed.set(start.begin());
        libc::_exit(127)
    }
}
