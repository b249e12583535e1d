//! The extension module `flyball._flyball`: what the libraries do, handed to Python.
//!
//! Only what has to be Rust is here: tables as Arrow, and work that takes long. Results that are not tables
//! cross as JSON text; the classes that people meet are Python (`python/flyball/`).

mod catalogue;
mod error;
mod governor;
mod model;
mod pelt;
mod report;
mod run;
mod table;
mod watch;
mod work;

/// Tables are large.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: flyball_host::HugePages = flyball_host::HugePages;

/// The module's content.
#[pyo3::pymodule]
mod _flyball {
    #[pymodule_export]
    use super::catalogue::{governors, platforms, registry, scenarios};
    #[pymodule_export]
    use super::governor::Governor;
    #[pymodule_export]
    use super::model::{batch, begin, end, replay, sim, sweep};
    #[pymodule_export]
    use super::pelt::Pelt;
    #[pymodule_export]
    use super::report::{Report, report};
    #[pymodule_export]
    use super::run::{Run, open};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::watch::Watch;
}
