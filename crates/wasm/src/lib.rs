//! What needs no machine, as a WebAssembly module without imports: requests and answers are JSON ([`answer()`]).
//!
//! ```js
//! const request = new TextEncoder().encode('{"sim": {"scenario": "rampup-m1"}}');
//! new Uint8Array(exports.memory.buffer, exports.flyball_request(request.length), request.length).set(request);
//! const length = exports.flyball_answer();
//! new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.flyball_answer_at(), length));
//! ```
//! Answers are those of this computer's programs, to the byte (`scripts/test-wasm`).

mod answer;
mod disk;

pub use answer::answer;

#[cfg(target_family = "wasm")]
mod exports {
    //! The module has one thread; the locks are there because a static needs one.
    use std::sync::{Mutex, PoisonError};

    static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    static ANSWER: Mutex<String> = Mutex::new(String::new());

    /// Makes room for a request of so many bytes; where it goes.
    #[expect(unsafe_code, reason = "an exported name; nothing else has it")]
    #[unsafe(no_mangle)]
    extern "C" fn flyball_request(length: usize) -> *const u8 {
        let mut request = REQUEST.lock().unwrap_or_else(PoisonError::into_inner);
        *request = vec![0; length];
        request.as_ptr()
    }

    /// Answers the request; the length of the answer in bytes.
    #[expect(unsafe_code, reason = "an exported name; nothing else has it")]
    #[unsafe(no_mangle)]
    extern "C" fn flyball_answer() -> usize {
        let request = REQUEST.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = ANSWER.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = super::answer(&String::from_utf8_lossy(&request));
        answer.len()
    }

    /// Where the answer lies until the next request.
    #[expect(unsafe_code, reason = "an exported name; nothing else has it")]
    #[unsafe(no_mangle)]
    extern "C" fn flyball_answer_at() -> *const u8 {
        ANSWER.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
    }
}
