//! What the standard library has not: a connection that is not waited for, this thread's number, and whether this
//! program has rights of others.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Connects; none where nobody listens, or whoever does has no time.
pub(crate) fn connect(path: &Path) -> Option<UnixStream> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: an all-zero address is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // One place is for the zero at the end.
    if bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return None;
    }
    for (place, byte) in address.sun_path.iter_mut().zip(bytes) {
        *place = *byte as libc::c_char;
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: numbers only.
    let fd = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
    if fd < 0 {
        return None;
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address and its length belong together and outlive the call.
    let result =
        unsafe { libc::connect(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), length) };
    (result == 0).then(|| UnixStream::from(fd))
}

/// This thread's number.
pub(crate) fn thread() -> i32 {
    // SAFETY: returns a number, and cannot fail.
    unsafe { libc::gettid() }
}

/// Whether this program has rights that its user has not: then it heeds none of the user's variables.
pub(crate) fn has_rights_of_others() -> bool {
    // SAFETY: returns a number, and cannot fail.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
