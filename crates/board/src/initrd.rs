//! The guest's first file system: busybox, our `/init`, the modules of the drivers, and what this
//! run is to do. Made anew for each run; not compressed, since an emulated CPU would have to
//! unpack it.

pub mod cpio;
pub mod modules;

use crate::error::{BoardError, Result};
use cpio::Archive;
use modules::Modules;

/// The guest's first process.
const INIT: &str = include_str!("../guest/init.sh");

/// Modules that every board needs, where they are not built in.
pub const DRIVERS: &[&str] = &["virtio_pci", "virtio_console"];
/// Modules for files of the host.
pub const FILES: &[&str] = &["9p", "9pnet_virtio", "overlay"];
/// Governors; a kernel may lack some.
pub const GOVERNORS: &[&str] = &[
    "cpufreq_conservative",
    "cpufreq_ondemand",
    "cpufreq_powersave",
    "cpufreq_userspace",
    "cpufreq_performance",
];

/// What goes in.
#[derive(Debug)]
pub struct Contents<'a> {
    /// A static busybox for the guest.
    pub busybox: Vec<u8>,
    /// The kernel's modules; None where everything is built in.
    pub modules: Option<&'a Modules>,
    /// The cpufreq driver's module.
    pub driver: &'a str,
    /// Whether the guest's root is a directory of the host.
    pub root: bool,
    /// Whether the guest gets a directory of programs.
    pub bin: bool,
    /// Whether the guest gets a directory to exchange files.
    pub share: bool,
    /// Shell text of the command.
    pub command: String,
    /// The board's record, as TOML.
    pub facts: String,
}

/// The archive, in the format that the kernel unpacks.
///
/// # Errors
/// A module that is neither built in nor there, or that cannot be read.
pub fn build(contents: &Contents<'_>) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for dir in "bin dev proc sys tmp run modules board lower upper newroot etc".split(' ') {
        archive.directory(dir);
    }
    archive.device("dev/console", 0o600, (5, 1));
    archive.device("dev/null", 0o666, (1, 3));
    archive.program("bin/busybox", &contents.busybox);
    archive.program("init", INIT.as_bytes());

    let (mut first, mut last) = (String::new(), String::new());
    if let Some(modules) = contents.modules {
        let mut wanted: Vec<&str> = DRIVERS.to_vec();
        if contents.root || contents.bin || contents.share {
            wanted.extend(FILES);
        }
        wanted.extend(GOVERNORS.iter().filter(|name| modules.has(name)));
        let order = modules.load_order(&wanted)?;
        let whole: Vec<&str> = wanted.iter().copied().chain([contents.driver]).collect();
        for (name, module) in modules.load_order(&whole)? {
            archive.file(&format!("modules/{name}.ko"), &module);
            let early = order.iter().any(|(other, _)| *other == name);
            let list = if early { &mut first } else { &mut last };
            list.push_str(&name);
            list.push('\n');
        }
    }
    archive.file("board/modules", first.as_bytes());
    archive.file("board/cpufreq", last.as_bytes());
    archive.file("board/command", contents.command.as_bytes());
    archive.file("board/facts", contents.facts.as_bytes());
    for (name, there) in [("root", contents.root), ("bin", contents.bin), ("share", contents.share)]
    {
        if there {
            archive.file(&format!("board/{name}"), b"");
        }
    }
    Ok(archive.finish())
}

/// The command as shell text: the directory to start in, where the guest has the host's files, and
/// the words, quoted.
///
/// # Errors
/// No words.
pub fn command(words: &[String], folder: Option<&str>) -> Result<String> {
    if words.is_empty() {
        return Err(BoardError::input("command", "expected a program, found nothing"));
    }
    let mut text = String::new();
    if let Some(folder) = folder {
        text.push_str(&format!("cd {} 2>/dev/null\n", quoted(folder)));
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    text.push_str(&format!("exec {}\n", words.join(" ")));
    Ok(text)
}

/// A word for any shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_whole() {
        let words = ["sh".to_owned(), "-c".to_owned(), "echo it's $HOME".to_owned()];
        let text = command(&words, Some("/a b")).unwrap();
        assert_eq!(text, "cd '/a b' 2>/dev/null\nexec 'sh' '-c' 'echo it'\\''s $HOME'\n");
        assert!(command(&[], None).is_err());
    }
}
