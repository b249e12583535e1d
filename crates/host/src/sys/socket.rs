//! Local sockets: the control socket of a daemon, asking one, and telling the service manager.
#![expect(unsafe_code, reason = "SO_PEERCRED is an option of the socket that fills a struct")]

use super::{access, check};
use crate::{Call, Errno, FolderLock, HostError};
use flyball_units::Nanos;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest request and answer, in bytes.
const LONGEST: u64 = 64 * 1024;

/// A socket that only this user, and root, may talk to: in a folder of mode 700 that is locked for
/// this process, itself of mode 600, and whoever comes is asked for by the kernel's own knowledge
/// (SO_PEERCRED). It goes with this.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    _folder: FolderLock,
}

/// Somebody at the socket, whose user the kernel vouches for.
#[derive(Debug)]
pub struct Visitor {
    stream: UnixStream,
    /// The user.
    pub user: u32,
    /// The process that connected.
    pub pid: u32,
}

impl ControlSocket {
    /// Listens at `path`, whose folder is made where it is not there. What an ended process left at
    /// this path is removed: the folder's lock says that it has ended.
    pub(crate) fn listen(path: &Path) -> Result<ControlSocket, HostError> {
        let fail = |error: std::io::Error| {
            HostError::call(Call::Listen, path.display(), Errno::of(&error))
        };
        let folder = path.parent().unwrap_or(Path::new("/"));
        let lock = FolderLock::take(folder)?;
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(fail)?;
        // Nobody else can enter the folder, so nobody came before this.
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        Ok(ControlSocket { listener, path: path.to_owned(), _folder: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.listener.as_raw_fd()
    }

    /// The next visitor; none where nobody waits any more. One who is neither this process's user
    /// nor root is sent away: the connection closes, and the error is `EPERM`.
    ///
    /// # Errors
    /// The system's.
    pub fn accept(&self) -> Result<Option<Visitor>, HostError> {
        let fail = |errno| HostError::call(Call::Listen, self.path.display(), errno);
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(fail(Errno::of(&error))),
        };
        let peer = peer(&stream)?;
        if !is_trusted(peer.uid, access::effective_user()) {
            return Err(fail(Errno::EPERM));
        }
        Ok(Some(Visitor { stream, user: peer.uid, pid: peer.pid.unsigned_abs() }))
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // Nobody is left to tell; a leftover is removed by the next one.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Visitor {
    /// Reads what it asks, one line, for at most `patience`.
    ///
    /// # Errors
    /// The system's; `ETIMEDOUT` where it is silent.
    pub fn request(&mut self, patience: Nanos) -> Result<String, HostError> {
        self.stream
            .set_nonblocking(false)
            .map_err(|error| failed(Call::Listen, "a visitor", &error))?;
        line(&mut self.stream, patience, Call::Listen, "a visitor")
    }

    /// Answers with one line.
    ///
    /// # Errors
    /// The system's, such as `EPIPE` where the visitor has gone.
    pub fn answer(&mut self, text: &str) -> Result<(), HostError> {
        send(&mut self.stream, text, Call::Listen, "a visitor")
    }
}

/// Asks the daemon at `path`: one line there, one line back, for at most `patience`.
pub(crate) fn ask(path: &Path, text: &str, patience: Nanos) -> Result<String, HostError> {
    let object = path.display().to_string();
    let mut stream =
        UnixStream::connect(path).map_err(|error| failed(Call::Ask, &object, &error))?;
    send(&mut stream, text, Call::Ask, &object)?;
    line(&mut stream, patience, Call::Ask, &object)
}

/// Sends a datagram to the service manager's socket, a path or `@NAME`.
pub(crate) fn notify(to: &str, text: &str) -> Result<(), HostError> {
    let address = match to.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name.as_bytes()),
        None => SocketAddr::from_pathname(OsStr::from_bytes(to.as_bytes())),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to_addr(text.as_bytes(), &address)
    });
    sent.map(drop).map_err(|error| failed(Call::Notify, to, &error))
}

fn failed(call: Call, object: &str, error: &std::io::Error) -> HostError {
    let errno = match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => Errno::ETIMEDOUT,
        _ => Errno::of(error),
    };
    HostError::call(call, object, errno)
}

fn send(stream: &mut UnixStream, text: &str, call: Call, object: &str) -> Result<(), HostError> {
    let whole = format!("{}\n", text.replace('\n', " "));
    // A peer that does not read must not hold the daemon up.
    let sent = stream
        .set_write_timeout(Some(Duration::from_millis(200)))
        .and_then(|()| stream.write_all(whole.as_bytes()));
    sent.map_err(|error| failed(call, object, &error))
}

fn line(
    stream: &mut UnixStream,
    patience: Nanos,
    call: Call,
    object: &str,
) -> Result<String, HostError> {
    let fail = |error: std::io::Error| failed(call, object, &error);
    // Zero would mean for ever.
    let deadline = super::clock::now() + patience;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.contains(&b'\n') && (bytes.len() as u64) < LONGEST {
        let rest = deadline.since(super::clock::now());
        if rest == Nanos::ZERO {
            return Err(HostError::call(call, object, Errno::ETIMEDOUT));
        }
        stream.set_read_timeout(Some(Duration::from_nanos(rest.0.max(1_000)))).map_err(fail)?;
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fail(error)),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Who is at the other end, as the kernel noted it when it connected.
pub(super) fn peer(stream: &UnixStream) -> Result<libc::ucred, HostError> {
    let mut found = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `found` and `length` are valid, belong together and outlive the call.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            std::ptr::from_mut(&mut found).cast(),
            &mut length,
        )
    };
    check(i64::from(result), Call::Listen, || "SO_PEERCRED".to_owned())?;
    Ok(found)
}

/// Root, and whoever started this, may command it.
fn is_trusted(peer: u32, own: u32) -> bool {
    peer == 0 || peer == own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_asks_and_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/x.sock");
        let socket = ControlSocket::listen(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(socket.accept().unwrap().is_none());
        assert_eq!(ControlSocket::listen(&path).unwrap_err().errno(), Some(Errno::EAGAIN));
        let asking = path.clone();
        let thread =
            std::thread::spawn(move || ask(&asking, "status", Nanos::from_secs(20)).unwrap());
        let mut visitor = loop {
            if let Some(visitor) = socket.accept().unwrap() {
                break visitor;
            }
            std::thread::yield_now();
        };
        assert_eq!(visitor.user, access::effective_user());
        assert_eq!(visitor.request(Nanos::from_secs(20)).unwrap(), "status");
        visitor.answer("well").unwrap();
        drop(visitor);
        assert_eq!(thread.join().unwrap(), "well");
        drop(socket);
        assert!(!path.exists());
        assert_eq!(ask(&path, "x", Nanos(1)).unwrap_err().errno(), Some(Errno::ENOENT));
    }

    #[test]
    fn a_silent_visitor_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.sock");
        let socket = ControlSocket::listen(&path).unwrap();
        let silent = UnixStream::connect(&path).unwrap();
        let mut visitor = socket.accept().unwrap().unwrap();
        let error = visitor.request(Nanos::from_millis(10)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ETIMEDOUT));
        drop(silent);
    }

    #[test]
    fn only_root_and_the_own_user_are_trusted() {
        assert!(is_trusted(0, 1000) && is_trusted(1000, 1000) && is_trusted(0, 0));
        assert!(!is_trusted(1000, 0) && !is_trusted(65_534, 1000));
    }

    #[test]
    fn the_service_manager_gets_a_datagram() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        notify(&path.display().to_string(), "READY=1").unwrap();
        let mut text = [0; 16];
        let length = socket.recv(&mut text).unwrap();
        assert_eq!(&text[..length], b"READY=1");
        assert!(notify("/no/such/socket", "x").is_err());
    }
}
