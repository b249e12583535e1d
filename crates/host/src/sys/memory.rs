//! Locked memory, the program's code, and the stack.
#![expect(unsafe_code, reason = "mlockall, mlock and madvise; the bounds of a stack")]

use super::{check, this_thread};
use crate::{Call, Errno, HostError};
use std::ops::Range;

/// Locks all present and future pages of the process.
pub(crate) fn lock_all() -> Result<(), HostError> {
    // SAFETY: flags only.
    let result = unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) };
    check(i64::from(result), Call::LockMemory, || "this process".to_owned()).map(drop)
}

/// Unlocks them.
pub(crate) fn unlock_all() -> Result<(), HostError> {
    // SAFETY: takes nothing.
    let result = unsafe { libc::munlockall() };
    check(i64::from(result), Call::UnlockMemory, || "this process".to_owned()).map(drop)
}

/// Brings a mapped part of a file into memory, and locks it there where the limit of locked memory allows.
pub(crate) fn load(range: Range<usize>) -> Result<(), HostError> {
    let start = std::ptr::without_provenance_mut::<libc::c_void>(range.start);
    let bytes = range.end - range.start;
    // SAFETY: it reads what is mapped, and changes nothing; an address that is not is refused.
    let locked = unsafe { libc::mlock(start, bytes) } == 0;
    if locked {
        return Ok(());
    }
    // SAFETY: as above.
    let result = unsafe { libc::madvise(start, bytes, libc::MADV_POPULATE_READ) };
    check(i64::from(result), Call::LoadProgram, || "this process".to_owned()).map(drop)
}

/// Bytes between the present frame and the end of the calling thread's stack.
fn stack_room() -> Result<usize, HostError> {
    let fail = |number| HostError::call(Call::PrefaultStack, this_thread(), Errno(number));
    // SAFETY: an all-zero pthread_attr_t is only ever written by the call below.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the thread is the calling one; `attributes` outlives the call.
    match unsafe { libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) } {
        0 => {}
        number => return Err(fail(number)),
    }
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: `attributes` was initialised by pthread_getattr_np; the others outlive the call.
    let result = unsafe { libc::pthread_attr_getstack(&attributes, &mut base, &mut size) };
    // SAFETY: `attributes` was initialised by pthread_getattr_np and is not used again.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    if result != 0 {
        return Err(fail(result));
    }
    let here = std::ptr::from_ref(&size).addr();
    Ok(here.saturating_sub(base.addr()))
}

/// Touches `bytes` of stack below the present frame.
pub(crate) fn prefault_stack(bytes: usize) -> Result<(), HostError> {
    // Room for a signal handler and what the caller still does; and a 16th for what each frame of
    // the walk takes beside its bytes.
    const MARGIN: usize = 64 * 1024;
    let room = stack_room()?.saturating_sub(MARGIN) / 17 * 16;
    if bytes > room {
        return Err(HostError::malformed(
            format!("stack of {}", this_thread()),
            format!("at least {bytes} bytes of room"),
            &format!("{room} bytes"),
        ));
    }
    touch(bytes);
    Ok(())
}

/// Writes to 16 KiB of its own frame, then to that of the next call, until `bytes` are done.
#[inline(never)]
fn touch(bytes: usize) {
    const FRAME: usize = 16 * 1024;
    let mut frame = [0u8; FRAME];
    // The optimiser must believe that the bytes are used, before and after the next frame.
    std::hint::black_box(&mut frame);
    if bytes > FRAME {
        touch(bytes - FRAME);
    }
    std::hint::black_box(&mut frame);
}
