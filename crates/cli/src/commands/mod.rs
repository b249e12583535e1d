//! One file per command.

pub mod bench;
pub mod board;
pub mod capture;
pub mod check;
pub mod ended;
pub mod figure;
pub mod fix;
pub mod govern;
pub mod hold;
pub mod import;
pub mod init;
pub mod job;
pub mod loadgen;
pub mod play;
pub mod rampup;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod shadow;
pub mod shell;
pub mod sim;
pub mod timeline;
pub mod transition;
pub mod tune;
