//! Arguments of `flyball install`.

use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  sudo flyball install                        below /usr/local
  flyball install --prefix ~/.local           for yourself alone
  flyball install --dry-run                   which files these would be
  flyball install --man pkg/man1              the man pages alone, for packages
  flyball install --completions bash >FILE    one shell's completions, for packages";

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
