//! A sign of life on stderr where a command has said nothing for a second: a line on a terminal that goes on
//! counting, else a line after 1, 2, 4, 8, ... seconds.
#![allow(clippy::print_stderr)]

use flyball_host::{Host, Wake};
use flyball_report::text::harmless;
use flyball_units::Nanos;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How often something was said or a bar moved.
static SAID: AtomicU64 = AtomicU64::new(0);
/// Whether our line stands on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);
static DOING: Mutex<String> = Mutex::new(String::new());
const SECOND: Nanos = Nanos::from_secs(1);

/// What takes time from now on.
pub fn doing(what: String) {
    *DOING.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

/// Something is said: our line goes.
pub(crate) fn said() {
    SAID.fetch_add(1, Ordering::Relaxed);
    if SHOWN.swap(false, Ordering::Relaxed) {
        eprint!("\r\x1b[K");
    }
}

/// Begins to watch.
pub fn pulse(host: Arc<dyn Host>) {
    let terminal = std::io::stderr().is_terminal();
    let watch = move || {
        let begin = host.now();
        let (mut heard, mut due) = (0, 1);
        while host.sleep_until(host.now() + SECOND) == Ok(Wake::OnTime) {
            let said = SAID.load(Ordering::Relaxed);
            let elapsed = host.now().since(begin).0 / SECOND.0;
            if std::mem::replace(&mut heard, said) != said || (!terminal && elapsed < due) {
                continue;
            }
            due = elapsed * 2;
            let doing = DOING.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let doing = if doing.is_empty() { "working".to_owned() } else { doing };
            let text = harmless(&format!("{doing}, {elapsed} s so far"), false).replace('\n', " ");
            match terminal {
                true => eprint!("\r{text}\x1b[K"),
                false => eprintln!("{text}"),
            }
            SHOWN.store(terminal, Ordering::Relaxed);
        }
    };
    // Without it the command is only silent.
    let _ = std::thread::Builder::new().name("pulse".to_owned()).spawn(watch);
}
