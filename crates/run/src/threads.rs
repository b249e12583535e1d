//! The threads that compute.

use rayon::ThreadPoolBuilder;

/// Starts them: one per core, or where the system gives none (too little memory, too many threads) this one alone,
/// instead of the panic with which the first parallel loop would end. Once they run, nothing happens.
pub fn start_threads() {
    if ThreadPoolBuilder::new().build_global().is_err() {
        // Refused where threads run already: then there is nothing to do.
        let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
}
