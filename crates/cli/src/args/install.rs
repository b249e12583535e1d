//! Arguments of `flyball install`.

use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/install.txt").trim_ascii_end();

/// `flyball install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Folder below which share/man, share/bash-completion and lib/systemd are
    #[arg(long, value_name = "DIR", default_value = "/usr/local")]
    pub prefix: PathBuf,
    /// Write the man pages alone, into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["prefix", "completions"])]
    pub man: Option<PathBuf>,
    /// Print the completions of this shell, and write nothing
    #[arg(long, value_name = "SHELL", conflicts_with_all = ["prefix", "dry_run"])]
    pub completions: Option<clap_complete::Shell>,
    /// Print the files that would be written, and stop
    #[arg(long)]
    pub dry_run: bool,
}
