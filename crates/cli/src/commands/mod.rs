//! One file per command.

pub mod bench;
pub mod check;
pub mod import;
pub mod init;
pub mod loadgen;
pub mod report;
pub mod shell;
