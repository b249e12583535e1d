//! `flyball install`: man pages, shell completions and systemd's units, from the one definition.

use crate::args::{InstallArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{help, output};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// A file of an installation: its place below the prefix, and its content.
struct File {
    path: PathBuf,
    content: Vec<u8>,
}

/// systemd's units as they ship, by their place below its folder.
macro_rules! units {
    ($($place:literal from $file:literal),* $(,)?) => {
        &[$(($place, include_str!(concat!("../../../../packaging/systemd/", $file)))),*]
    };
}
const UNITS: &[(&str, &str)] = units! {
    "system/flyball-govern.service" from "flyball-govern.service",
    "system/flyball-recover.service" from "flyball-recover.service",
    "system/flyball-qos.service" from "flyball-qos.service",
    "user/flyball-qos.service" from "user/flyball-qos.service",
};

/// What C programs say to `flyball qos` with.
const HEADER: &[u8] = include_bytes!("../../../qos-client/include/flyball.h");

/// Where each shell looks below the prefix.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/flyball"),
    (Shell::Zsh, "share/zsh/site-functions/_flyball"),
    (Shell::Fish, "share/fish/vendor_completions.d/flyball.fish"),
];

pub fn run(args: &InstallArgs, talk: Talk) -> Result<Exit, Failure> {
    if let Some(shell) = args.completions {
        output::data(&String::from_utf8_lossy(&completions(shell)))?;
        return Ok(Exit::Ok);
    }
    let files = match &args.man {
        Some(dir) => man_pages(dir)?,
        None => everything(&args.prefix)?,
    };
    if args.dry_run {
        let lines = files.iter().map(|file| format!("{}\n", file.path.display()));
        output::data(&lines.collect::<String>())?;
        return Ok(Exit::Ok);
    }
    for File { path, content } in &files {
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = fs_err::create_dir_all(folder).and_then(|()| fs_err::write(path, content));
        written.map_err(|error| {
            let failure = Failure::of(&error);
            match args.man {
                Some(_) => failure,
                None => failure.hint("as root, or below a folder of yours: --prefix ~/.local"),
            }
        })?;
    }
    if !talk.quiet {
        let count = files.len();
        let place = args.man.as_ref().unwrap_or(&args.prefix);
        output::talk(&format!("wrote {count} files below {}", place.display()));
        if args.man.is_none() {
            output::talk("a governor as a service: sudo systemctl enable --now flyball-govern");
        }
    }
    Ok(Exit::Ok)
}

fn everything(prefix: &Path) -> Result<Vec<File>, Failure> {
    let mut files = man_pages(&prefix.join("share/man/man1"))?;
    for (shell, path) in SHELLS {
        files.push(File { path: prefix.join(path), content: completions(shell) });
    }
    for (name, text) in UNITS {
        let path = prefix.join("lib/systemd").join(name);
        files.push(File { path, content: text.as_bytes().to_vec() });
    }
    files.push(File { path: prefix.join("include/flyball.h"), content: HEADER.to_vec() });
    Ok(files)
}

fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::completed(), "flyball", &mut script);
    script
}

/// A page for the program and for each command; each tells the exit codes.
fn man_pages(dir: &Path) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    let mut command = help::command();
    command.build();
    pages(&command, dir, &mut files)?;
    Ok(files)
}

fn pages(command: &clap::Command, dir: &Path, files: &mut Vec<File>) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let man = clap_mangen::Man::new(command.clone());
    let mut content = Vec::new();
    man.render(&mut content)?;
    content.extend_from_slice(help::exit_status().as_bytes());
    files.push(File { path: dir.join(format!("{name}.1")), content });
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        pages(sub, dir, files)?;
    }
    Ok(())
}
