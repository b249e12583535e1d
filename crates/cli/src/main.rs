//! The program `flyball`.

use std::process::ExitCode;

/// The one of musl gives memory back to the kernel at every turn, and takes it again.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    flyball::main()
}
