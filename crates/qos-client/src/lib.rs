//! Says to the service of `flyball qos --socket` when a thread's work begins, ends and is to be done, so that the
//! clock is there for it.
//!
//! ```
//! # let mut frames = 0..3;
//! flyball_qos_client::class("render");
//! flyball_qos_client::deadline_ms(16);
//! while let Some(_frame) = frames.next() {
//!     let work = flyball_qos_client::work();
//!     // ... draw ...
//!     drop(work);
//!     // ... wait for the next frame ...
//! }
//! ```
//!
//! Each call speaks for the thread that makes it. Nothing waits, nothing fails, no thread is started. Where no
//! service runs, a call takes no system call; every 10 s one call looks again. What was said already is not
//! sent again, unless to another service: say [`class`] and [`deadline_ms`] as often as you like.
//!
//! The service is looked for at `FLYBALL_QOS_SOCKET` (where that is empty, nowhere), else in the folder
//! `flyball-qos` of `XDG_RUNTIME_DIR`, else at `/run/flyball-qos/socket`. Programs with rights of others
//! (setuid) heed no variables.

#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod socket;

/// This thread's work begins: until [`end`] its clock rises by the ramp of its deadline, else of its class.
pub fn begin() {
    #[cfg(target_os = "linux")]
    connection::say(connection::Saying::Begin);
}

/// It has ended.
pub fn end() {
    #[cfg(target_os = "linux")]
    connection::say(connection::Saying::End);
}

/// Its work is to be done so many milliseconds after its begin, up to 60,000; 0: at no particular time.
pub fn deadline_ms(ms: u32) {
    #[cfg(target_os = "linux")]
    connection::say(connection::Saying::Deadline(ms.min(60_000) * 1000));
    #[cfg(not(target_os = "linux"))]
    let _ = ms;
}

/// What the thread is: `ui`, `audio`, `render`, `background` or a class of the service's own; empty, none of them. A
/// service may refuse: `flyball qos status` says so.
pub fn class(name: &str) {
    #[cfg(target_os = "linux")]
    connection::say(connection::Saying::Class(name));
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// Whether a service listened when this was last known.
pub fn is_connected() -> bool {
    #[cfg(target_os = "linux")]
    return connection::is_there();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Work that goes on: it ends when this is dropped, which is for the thread that began it.
#[derive(Debug)]
#[must_use = "work ends when this is dropped"]
pub struct Work(std::marker::PhantomData<*const ()>);

/// Begins work, as [`begin`] does.
pub fn work() -> Work {
    begin();
    Work(std::marker::PhantomData)
}

impl Drop for Work {
    fn drop(&mut self) {
        end();
    }
}
