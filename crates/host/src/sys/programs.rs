//! A socket that programs of any user may talk to, and those that do.
#![expect(unsafe_code, reason = "epoll and the peer's options take pointers")]

use super::socket::peer;
use super::{access, check, task};
use crate::{Call, Errno, FolderLock, HostError};
use std::fs::Permissions;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Guests that are told at once; the others are told the next time.
const TOLD: usize = 64;
/// The listener's number; guests are counted from the next one.
const LISTENER: u64 = 0;

/// A socket that programs may talk to, all of them behind one descriptor. It goes with this.
#[derive(Debug)]
pub struct ProgramSocket {
    epoll: OwnedFd,
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of its file: another one in its place is not removed.
    file: (u64, u64),
    last: std::cell::Cell<u64>,
    _folder: Option<FolderLock>,
}

/// A program at the socket; what the kernel vouches for.
#[derive(Debug)]
pub struct Guest {
    stream: UnixStream,
    /// Its number at this socket; none is given twice.
    pub number: u64,
    /// The user that connected.
    pub user: u32,
    /// The process that connected.
    pub pid: u32,
    /// Holds that process, where the kernel (Linux 6.5 and later) gives it.
    process: Option<OwnedFd>,
}

/// Where somebody has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    /// Somebody new is there.
    New,
    /// This guest said something, or has gone.
    Guest(u64),
}

impl ProgramSocket {
    /// Listens at `path`, for every user or for this one alone. `locked`: its folder is locked by this process
    /// already, and nobody else's.
    pub(crate) fn listen(
        path: &Path,
        everybody: bool,
        locked: bool,
    ) -> Result<ProgramSocket, HostError> {
        let fail = |error: std::io::Error| {
            HostError::call(Call::Listen, path.display(), Errno::of(&error))
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let made = !folder.exists();
        let lock = if locked { None } else { Some(FolderLock::take(folder)?) };
        if everybody && (made || locked) {
            // To be passed through, not to be listed.
            std::fs::set_permissions(folder, Permissions::from_mode(0o711)).map_err(fail)?;
        }
        remove_stale(path)?;
        let listener = UnixListener::bind(path).map_err(fail)?;
        let mode = if everybody { 0o666 } else { 0o600 };
        std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let found = std::fs::symlink_metadata(path).map_err(fail)?;
        // SAFETY: a number only.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        check(i64::from(epoll), Call::Listen, || path.display().to_string())?;
        let socket = ProgramSocket {
            // SAFETY: the kernel just gave this descriptor to us alone.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            listener,
            path: path.to_owned(),
            file: (found.dev(), found.ino()),
            last: std::cell::Cell::new(LISTENER),
            _folder: lock,
        };
        socket.control(libc::EPOLL_CTL_ADD, socket.listener.as_raw_fd(), LISTENER, true)?;
        Ok(socket)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ready where anybody has something.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// Who has something now; nobody is waited for.
    ///
    /// # Errors
    /// The system's.
    pub fn knocks(&self) -> Result<Vec<Knock>, HostError> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; TOLD];
        let most = TOLD as libc::c_int;
        // SAFETY: the array and its length belong together and outlive the call.
        let found = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), most, 0)
        };
        let object = || self.path.display().to_string();
        let found = match check(i64::from(found), Call::Listen, object) {
            Err(error) if error.errno() == Some(Errno::EINTR) => 0,
            found => found?,
        };
        let events = events.iter().take(usize::try_from(found).unwrap_or(0));
        Ok(events
            .map(|event| match event.u64 {
                LISTENER => Knock::New,
                number => Knock::Guest(number),
            })
            .collect())
    }

    /// Lets the next one in; none where nobody waits.
    ///
    /// # Errors
    /// The system's, such as `EMFILE`: whoever waits then goes on waiting.
    pub fn accept(&self) -> Result<Option<Guest>, HostError> {
        let fail = |error: std::io::Error| {
            HostError::call(Call::Listen, self.path.display(), Errno::of(&error))
        };
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(fail(error)),
        };
        stream.set_nonblocking(true).map_err(fail)?;
        let found = peer(&stream)?;
        let process = peer_process(&stream);
        let number = self.last.get() + 1;
        self.last.set(number);
        self.control(libc::EPOLL_CTL_ADD, stream.as_raw_fd(), number, true)?;
        let pid = found.pid.unsigned_abs();
        Ok(Some(Guest { stream, number, user: found.uid, pid, process }))
    }

    /// Whether newcomers are told.
    ///
    /// # Errors
    /// The system's.
    pub fn heed_newcomers(&self, heed: bool) -> Result<(), HostError> {
        self.control(libc::EPOLL_CTL_MOD, self.listener.as_raw_fd(), LISTENER, heed)
    }

    /// Whether it is told that this guest says something.
    ///
    /// # Errors
    /// The system's.
    pub fn heed(&self, guest: &Guest, heed: bool) -> Result<(), HostError> {
        self.control(libc::EPOLL_CTL_MOD, guest.stream.as_raw_fd(), guest.number, heed)
    }

    fn control(&self, what: i32, fd: RawFd, number: u64, heed: bool) -> Result<(), HostError> {
        let events = if heed { libc::EPOLLIN as u32 } else { 0 };
        let mut event = libc::epoll_event { events, u64: number };
        // SAFETY: both descriptors are open, `event` is valid and outlives the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, fd, &mut event) };
        check(i64::from(result), Call::Listen, || self.path.display().to_string()).map(drop)
    }
}

impl Drop for ProgramSocket {
    fn drop(&mut self) {
        let found = std::fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.file) {
            // Nobody is left to tell; a leftover is removed by the next one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Guest {
    /// What it said, as far as there is room; none where it said nothing more, 0 bytes where it has gone.
    ///
    /// # Errors
    /// The system's.
    pub fn read(&self, into: &mut [u8]) -> Result<Option<usize>, HostError> {
        match (&self.stream).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(error) => Err(HostError::call(Call::Listen, "a guest", Errno::of(&error))),
        }
    }

    /// Answers. One that does not take it at once does not get it.
    ///
    /// # Errors
    /// The system's; `EAGAIN` where it does not read.
    pub fn answer(&self, text: &str) -> Result<(), HostError> {
        let fail = |errno| HostError::call(Call::Listen, "a guest", errno);
        match (&self.stream).write(text.as_bytes()) {
            Ok(length) if length == text.len() => Ok(()),
            Ok(_) => Err(fail(Errno::EAGAIN)),
            Err(error) => Err(fail(Errno::of(&error))),
        }
    }

    /// Whether the process that connected has ended, where the kernel says so of the connection itself: else
    /// its number may mean another one.
    pub fn has_ended(&self) -> Option<bool> {
        self.process.as_ref().map(task::has_ended)
    }
}

/// Removes the socket of a program that has ended. What is anything else stays, and is refused.
fn remove_stale(path: &Path) -> Result<(), HostError> {
    let fail = |errno| HostError::call(Call::Listen, path.display(), errno);
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(Errno::of(&error))),
        Ok(found) => found,
    };
    let user = access::effective_user();
    let kind = match found.file_type() {
        kind if kind.is_symlink() => "a link",
        kind if !kind.is_socket() => "a file of another kind",
        _ if found.uid() != user => "another user's socket",
        // Of a program that has its folder from before the lock, or heeds none.
        _ if UnixStream::connect(path).is_ok() => "one that another program listens at",
        _ => {
            return std::fs::remove_file(path).map_err(|error| fail(Errno::of(&error)));
        }
    };
    let expected = format!("nothing, or a socket that user {user} left");
    Err(HostError::malformed(path.display(), expected, kind))
}

/// SO_PEERPIDFD of include/uapi/asm-generic/socket.h (Linux 6.5).
const SO_PEERPIDFD: libc::c_int = 77;

/// The process that connected.
fn peer_process(stream: &UnixStream) -> Option<OwnedFd> {
    let mut fd: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `fd` and `length` are valid, belong together and outlive the call.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            std::ptr::from_mut(&mut fd).cast(),
            &mut length,
        )
    };
    // SAFETY: the kernel just gave this descriptor to us alone; it is closed on exec by itself.
    (result == 0 && fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn guests_are_known_by_the_kernel_and_heard_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/socket");
        let socket = ProgramSocket::listen(&path, true, false).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o666, 0o711));
        assert_eq!(socket.knocks().unwrap(), []);
        let mut client = UnixStream::connect(&path).unwrap();
        assert_eq!(socket.knocks().unwrap(), [Knock::New]);
        let guest = socket.accept().unwrap().unwrap();
        assert!(socket.accept().unwrap().is_none());
        assert_eq!((guest.user, guest.pid), (access::effective_user(), std::process::id()));
        assert_ne!(guest.has_ended(), Some(true));
        let mut piece = [0; 16];
        assert_eq!(guest.read(&mut piece).unwrap(), None);
        client.write_all(b"half").unwrap();
        assert_eq!(socket.knocks().unwrap(), [Knock::Guest(guest.number)]);
        socket.heed(&guest, false).unwrap();
        assert_eq!(socket.knocks().unwrap(), []);
        socket.heed(&guest, true).unwrap();
        assert_eq!(guest.read(&mut piece).unwrap(), Some(4));
        guest.answer("ok\n").unwrap();
        client.read_exact(&mut piece[..3]).unwrap();
        drop(client);
        assert_eq!(guest.read(&mut piece).unwrap(), Some(0));
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_leftover_is_removed_and_all_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let refused = |expected: &str| {
            let error = ProgramSocket::listen(&path, false, false).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        drop(UnixListener::bind(&path).unwrap());
        let socket = ProgramSocket::listen(&path, false, false).unwrap();
        assert_eq!(mode(&path), 0o600);
        // The folder is locked, whoever asks.
        refused("EAGAIN");
        // Another's file in its place stays there.
        std::fs::remove_file(&path).unwrap();
        fs_err::write(&path, "mine").unwrap();
        drop(socket);
        assert!(path.exists());
        refused("a file of another kind");
        std::fs::remove_file(&path).unwrap();
        symlink("/run/nowhere", &path).unwrap();
        refused("a link");
        std::fs::remove_file(&path).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        refused("another program listens at");
        drop(other);
        if access::effective_user() == 0 {
            std::os::unix::fs::lchown(&path, Some(65_534), None).unwrap();
            refused("another user's socket");
        }
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        let error = ProgramSocket::listen(&open.join("socket"), true, false).unwrap_err();
        assert!(error.to_string().contains("nobody else may write to"), "{error}");
        assert_eq!(mode(&open), 0o777);
    }
}
