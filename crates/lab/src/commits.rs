//! Two commits of a repository, each built in a work tree of its own.

use crate::ab::Program;
use crate::program::{ProgramError, succeed};
use flyball_host::{Host, ProcessSpec};
use std::ffi::OsString;
use std::path::PathBuf;

/// Work trees of two commits; removed when this is dropped.
pub struct WorkTrees<'a> {
    host: &'a dyn Host,
    trees: Vec<(String, PathBuf)>,
}

impl<'a> WorkTrees<'a> {
    /// Checks the two commits out beside the repository's own folder and builds them by the shell. A
    /// name that stands for no commit, or a build that fails, is an error, and nothing is left.
    ///
    /// # Errors
    /// What git or the build said.
    pub fn of(
        host: &'a dyn Host,
        commits: [&str; 2],
        build: Option<&str>,
    ) -> Result<WorkTrees<'a>, ProgramError> {
        let mut this = WorkTrees { host, trees: Vec::new() };
        let base = std::env::temp_dir().join(format!("flyball-ab-{}", std::process::id()));
        for (at, commit) in commits.into_iter().enumerate() {
            let folder = base.join(at.to_string());
            // Before it is made: a part of it must go, too.
            this.trees.push((commit.to_owned(), folder.clone()));
            let add = ["worktree", "add", "--detach", "--quiet"].map(OsString::from).into_iter();
            let add = add.chain([folder.clone().into(), commit.into()]);
            succeed(host, commit, "work tree", ProcessSpec::new("git", add))?;
            if let Some(build) = build {
                let shell = ProcessSpec::new("sh", ["-c", build]);
                let here = ProcessSpec { folder: Some(folder), ..shell };
                succeed(host, commit, "build", here)?;
            }
        }
        Ok(this)
    }

    /// The same command in each commit's folder, called after the commit.
    pub fn programs(&self, command: &[String]) -> Vec<Program> {
        let of = |(commit, folder): &(String, PathBuf)| Program {
            name: commit.clone(),
            command: command.to_vec(),
            folder: Some(folder.clone()),
            ..Program::default()
        };
        self.trees.iter().map(of).collect()
    }
}

impl Drop for WorkTrees<'_> {
    fn drop(&mut self) {
        for (_, folder) in &self.trees {
            let remove = ["worktree", "remove", "--force"].map(OsString::from).into_iter();
            let remove = ProcessSpec::new("git", remove.chain([folder.clone().into()]));
            // What cannot be removed stays in the folder for temporary files.
            if let Ok(mut child) = self.host.spawn(&remove) {
                // Signals come in twos: another one is no reason to leave the tree registered.
                while let Ok(None) = child.wait(None) {}
            }
        }
        if let Some(base) = self.trees.first().and_then(|(_, folder)| folder.parent()) {
            let _ = fs_err::remove_dir_all(base);
        }
    }
}
