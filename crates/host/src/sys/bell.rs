//! A bell between threads (eventfd), and waiting for it, for a control socket, or for a time.
#![expect(unsafe_code, reason = "eventfd gives a descriptor")]

use super::{check, poll};
use crate::sys::socket::ControlSocket;
use crate::{Call, Errno, HostError, Woken};
use flyball_units::Nanos;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Wakes a thread that waits for it ([`Host::wait_bell`](crate::Host::wait_bell)). Rung twice before
/// somebody listens, it rings once.
#[derive(Debug)]
pub struct Bell(File);

impl Bell {
    /// A silent bell.
    pub(crate) fn new() -> Result<Bell, HostError> {
        // SAFETY: numbers only.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        check(i64::from(fd), Call::Bell, || "eventfd".to_owned())?;
        // SAFETY: the kernel just gave this descriptor to us alone.
        Ok(Bell(File::from(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    /// Rings it. A full counter (2^64 - 2 rings) is loud enough.
    pub fn ring(&self) {
        let _ = (&self.0).write(&1_u64.to_ne_bytes());
    }

    /// Whether it was rung since the last time; it is silent again.
    pub(crate) fn silence(&self) -> bool {
        let mut count = [0; 8];
        (&self.0).read(&mut count).is_ok()
    }

    /// Waits for this bell, for `socket`, or until CLOCK_MONOTONIC reaches `deadline`; a signal that
    /// comes meanwhile ends it early. No allocation.
    pub(crate) fn wait(
        &self,
        socket: Option<&ControlSocket>,
        deadline: Nanos,
    ) -> Result<Woken, HostError> {
        let event = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // A negative descriptor is passed over.
        let listener = socket.map_or(-1, |socket| socket.descriptor());
        let mut events = [event(self.0.as_raw_fd()), event(listener)];
        match poll::until(&mut events, deadline, Call::WaitBell, || "a bell".to_owned()) {
            Ok(0) => Ok(Woken::default()),
            Ok(_) => Ok(Woken {
                bell: events[0].revents != 0 && self.silence(),
                visitor: events[1].revents != 0,
            }),
            // The caller looks who asked; waiting on would wait past that.
            Err(error) if error.errno() == Some(Errno::EINTR) => Ok(Woken::default()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock;
    use std::sync::Arc;

    #[test]
    fn it_wakes_another_thread_and_rings_once() {
        let bell = Arc::new(Bell::new().unwrap());
        let other = Arc::clone(&bell);
        let thread = std::thread::spawn(move || {
            other.wait(None, clock::now() + Nanos::from_secs(20)).unwrap()
        });
        bell.ring();
        assert!(thread.join().unwrap().bell);
        // Twice before somebody listens.
        bell.ring();
        bell.ring();
        assert!(bell.wait(None, clock::now()).unwrap().bell);
        assert_eq!(bell.wait(None, clock::now()).unwrap(), Woken::default());
    }
}
