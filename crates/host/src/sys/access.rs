//! May a path be written? Asked without opening it.
#![expect(unsafe_code, reason = "faccessat takes a string")]

use crate::Errno;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The user whose rights this process has.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: returns a number, and cannot fail.
    unsafe { libc::geteuid() }
}

/// The effective group of this process.
pub(crate) fn effective_group() -> u32 {
    // SAFETY: returns a number, and cannot fail.
    unsafe { libc::getegid() }
}

/// Ok if this process, with its effective rights, may write to `path`.
pub(crate) fn may_write(path: &Path) -> Result<(), Errno> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: `path` is a terminated string that outlives the call.
    let result =
        unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
    if result == 0 { Ok(()) } else { Err(Errno::last()) }
}
