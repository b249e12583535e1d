//! One file per command.

pub mod ab;
pub mod bench;
pub mod board;
pub mod capture;
pub mod check;
pub mod ended;
pub mod fix;
pub mod govern;
pub mod help;
pub mod hold;
pub mod install;
pub mod job;
pub mod qos;
pub mod rampup;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod sim;
pub mod start;
pub mod transition;
