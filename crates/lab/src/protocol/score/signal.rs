//! Tasks that wait for each other: a wake-up that comes before its wait is not lost.

use std::sync::{Condvar, Mutex, PoisonError};

/// One task's wake-up.
#[derive(Debug, Default)]
pub struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pending: bool,
    over: bool,
}

impl Signal {
    /// Wakes the task that waits, or that will.
    pub fn wake(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).pending = true;
        self.changed.notify_one();
    }

    /// Wakes it for good.
    pub fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.changed.notify_one();
    }

    /// Sleeps until woken.
    pub fn wait(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |state: &mut State| !state.pending && !state.over;
        let woken = self.changed.wait_while(state, waiting);
        woken.unwrap_or_else(PoisonError::into_inner).pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_wake_up_is_kept_once() {
        let signal = Signal::default();
        signal.wake();
        signal.wake();
        signal.wait();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| signal.wait());
            signal.end();
            assert!(waits.join().is_ok());
        });
        signal.wait();
    }
}
