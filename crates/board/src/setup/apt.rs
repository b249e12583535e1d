//! apt with package lists of its own: Debian's backports and next release beside this one's, from
//! where this machine gets the latter. What this machine's apt knows does not change, and nothing
//! is installed. apt checks the signatures of the lists and with them every package.

use super::sources;
use crate::arch::Arch;
use crate::cache::Tree;
use crate::error::{BoardError, Result};
use flyball_host::{Exit, Host, ProcessSpec};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// apt.
#[derive(Debug)]
pub(super) struct Apt<'a> {
    host: &'a dyn Host,
    dir: PathBuf,
    codename: String,
    architectures: String,
}

/// Whose installed packages count as there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// This machine's: what is unpacked is to run here.
    Here,
    /// Nobody's.
    Empty,
}

/// A package to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deb {
    file: String,
    bytes: u64,
    sha256: Option<String>,
}

impl<'a> Apt<'a> {
    /// Fetches the lists into `cache/apt`.
    pub(super) fn start(
        host: &'a dyn Host,
        cache: &Path,
        guests: Arch,
        say: &mut dyn FnMut(&str),
    ) -> Result<Apt<'a>> {
        let codename = sources::codename(host)?;
        let dir = cache.join("apt");
        for folder in ["lists/partial", "cache/archives/partial", "debs"] {
            fs_err::create_dir_all(dir.join(folder)).map_err(|error| BoardError::io(&error))?;
        }
        let own = Arch::own().unwrap_or(Arch::X86_64);
        let mut architectures = vec![own.debian(), guests.debian()];
        architectures.dedup();
        let text = sources::with_newer(host, &codename, &architectures)?;
        for (name, text) in [("board.sources", text.as_str()), ("empty", "")] {
            fs_err::write(dir.join(name), text).map_err(|error| BoardError::io(&error))?;
        }
        let apt = Apt { host, dir, codename, architectures: architectures.join(",") };
        say("fetching Debian's package lists");
        apt.call("apt-get", own, Status::Empty, &["update"])?;
        Ok(apt)
    }

    /// The release that this machine runs: `bookworm`.
    pub(super) fn codename(&self) -> &str {
        &self.codename
    }

    /// Removes the lists: they are large, and soon out of date.
    pub(super) fn clean(self) -> Result<()> {
        fs_err::remove_dir_all(&self.dir).map_err(|error| BoardError::io(&error))
    }

    /// Names of all packages that begin so.
    pub(super) fn names(&self, arch: Arch, prefix: &str) -> Result<Vec<String>> {
        let text = self.call("apt-cache", arch, Status::Empty, &["pkgnames", prefix])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// What installing `packages` would install, as `NAME=VERSION`, sorted.
    pub(super) fn needs(
        &self,
        arch: Arch,
        status: Status,
        release: &str,
        packages: &[String],
    ) -> Result<Vec<String>> {
        let release = format!("APT::Default-Release={release}");
        let mut arguments = vec!["-o", &release];
        arguments.extend(["-s", "--reinstall", "--no-install-recommends", "install"]);
        arguments.extend(packages.iter().map(String::as_str));
        let text = self.call("apt-get", arch, status, &arguments)?;
        let mut list: Vec<String> = text.lines().filter_map(installed).collect();
        list.sort();
        list.dedup();
        Ok(list)
    }

    /// Fetches and unpacks into `tree`, which is replaced as a whole.
    pub(super) fn unpack(
        &self,
        tree: &Tree,
        arch: Arch,
        packages: &[String],
        say: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let debs = self.debs(arch, packages)?;
        let folder = self.dir.join("debs");
        let missing: Vec<&str> = debs
            .iter()
            .zip(packages)
            .filter(|(deb, _)| !deb.is_good(&folder))
            .map(|(_, package)| package.as_str())
            .collect();
        let bytes: u64 = debs.iter().filter(|deb| !deb.is_good(&folder)).map(|deb| deb.bytes).sum();
        say(&format!(
            "fetching {}: {} packages, {:.0} MB",
            tree.name(),
            missing.len(),
            bytes as f64 / 1e6
        ));
        if !missing.is_empty() {
            let mut arguments = vec!["download"];
            arguments.extend(&missing);
            self.call_in(&folder, "apt-get", arch, Status::Empty, &arguments)?;
        }
        let new = tree.dir().with_extension("new");
        if new.exists() {
            fs_err::remove_dir_all(&new).map_err(|error| BoardError::io(&error))?;
        }
        fs_err::create_dir_all(&new).map_err(|error| BoardError::io(&error))?;
        for deb in &debs {
            if !deb.is_good(&folder) {
                return Err(BoardError::failed(
                    &deb.file,
                    "expected the file of the package list's \
                     SHA-256, found another",
                )
                .with_hint("run the set-up again; a proxy between may be broken"));
            }
            let from = folder.join(&deb.file);
            let arguments = ["-x".into(), from.clone().into_os_string(), new.clone().into()];
            self.done(ProcessSpec::new("dpkg-deb", arguments))?;
        }
        if tree.dir().exists() {
            fs_err::remove_dir_all(tree.dir()).map_err(|error| BoardError::io(&error))?;
        }
        fs_err::rename(&new, tree.dir()).map_err(|error| BoardError::io(&error))?;
        for deb in &debs {
            fs_err::remove_file(folder.join(&deb.file)).map_err(|error| BoardError::io(&error))?;
        }
        Ok(())
    }

    /// The files of packages, in their order.
    fn debs(&self, arch: Arch, packages: &[String]) -> Result<Vec<Deb>> {
        let mut arguments = vec!["--print-uris", "download"];
        arguments.extend(packages.iter().map(String::as_str));
        let text = self.call("apt-get", arch, Status::Empty, &arguments)?;
        let debs: Vec<Deb> = text.lines().filter_map(deb).collect();
        if debs.len() != packages.len() {
            let message = format!("expected {} files, found {}", packages.len(), debs.len());
            return Err(BoardError::failed("apt-get download", message));
        }
        Ok(debs)
    }

    fn call(&self, program: &str, arch: Arch, status: Status, rest: &[&str]) -> Result<String> {
        self.call_in(&self.dir, program, arch, status, rest)
    }

    fn call_in(
        &self,
        folder: &Path,
        program: &str,
        arch: Arch,
        status: Status,
        rest: &[&str],
    ) -> Result<String> {
        let inside = |path: &str| self.dir.join(path).display().to_string();
        let status = match status {
            Status::Here => "/var/lib/dpkg/status".to_owned(),
            Status::Empty => inside("empty"),
        };
        let options = [
            ("Dir::Etc::SourceList", inside("board.sources")),
            ("Dir::Etc::SourceParts", "/dev/null".to_owned()),
            ("Dir::Etc::Preferences", "/dev/null".to_owned()),
            ("Dir::Etc::PreferencesParts", "/dev/null".to_owned()),
            ("Dir::State::Lists", inside("lists")),
            ("Dir::State::status", status),
            ("Dir::Cache", inside("cache")),
            ("APT::Architecture", arch.debian().to_owned()),
            ("APT::Architectures", self.architectures.clone()),
            ("APT::Sandbox::User", "root".to_owned()),
            ("Acquire::Retries", "3".to_owned()),
        ];
        let mut arguments: Vec<OsString> = vec!["-qq".into()];
        for (key, value) in options {
            arguments.extend(["-o".into(), format!("{key}={value}").into()]);
        }
        arguments.extend(rest.iter().map(OsString::from));
        let mut spec = ProcessSpec::new(program, arguments);
        spec.folder = Some(folder.to_path_buf());
        spec.environment.push(("LC_ALL".into(), "C.UTF-8".into()));
        let exit = self.done(spec)?;
        Ok(String::from_utf8_lossy(&exit.stdout).into_owned())
    }

    /// Runs a program to its good end.
    fn done(&self, spec: ProcessSpec) -> Result<Exit> {
        let name = spec.program.to_string_lossy().into_owned();
        let missing = |error: flyball_host::HostError| {
            BoardError::missing(&name, format!("expected Debian's package tools, found {error}"))
                .with_hint(
                    "on another distribution: install QEMU 10 or newer and a static busybox, and \
                     boot a kernel of your own",
                )
        };
        let exit = self.host.spawn(&spec.captured()).map_err(missing)?.wait(None)?;
        let exit = exit.ok_or_else(|| BoardError::interrupted(&name))?;
        if !exit.is_success() {
            let said = String::from_utf8_lossy(&exit.stderr);
            let said: Vec<&str> = said.lines().take(6).collect();
            return Err(BoardError::failed(&name, format!("it failed:\n{}", said.join("\n")))
                .with_hint(
                    "is the network there? run the set-up again: it goes on where it stopped",
                ));
        }
        Ok(exit)
    }
}

impl Deb {
    /// Whether it lies in `folder`, whole.
    fn is_good(&self, folder: &Path) -> bool {
        let Ok(bytes) = fs_err::read(folder.join(&self.file)) else { return false };
        let digest: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        self.sha256.as_ref().map_or(bytes.len() as u64 == self.bytes, |wanted| *wanted == digest)
    }
}

/// `Inst NAME [OLD] (VERSION SUITE [ARCH])`.
fn installed(line: &str) -> Option<String> {
    let name = line.strip_prefix("Inst ")?.split_whitespace().next()?;
    let version = line.split_once('(')?.1.split_whitespace().next()?;
    Some(format!("{}={version}", name.split(':').next()?))
}

/// `'URL' FILE BYTES SHA256:HASH`.
fn deb(line: &str) -> Option<Deb> {
    let mut words = line.strip_prefix('\'')?.split_once("' ")?.1.split_whitespace();
    let (file, bytes) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
    let sha256 = words.next().and_then(|word| word.strip_prefix("SHA256:")).map(str::to_owned);
    Some(Deb { file, bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apts_lines_are_read() {
        let plain = installed("Inst libfdt1 (1.6.1-4+b1 Debian:12.11/stable [amd64])");
        assert_eq!(plain.as_deref(), Some("libfdt1=1.6.1-4+b1"));
        let newer = installed("Inst zlib1g [1:1.2.13] (1:1.3 Debian [amd64]) []");
        assert_eq!(newer.as_deref(), Some("zlib1g=1:1.3"));
        assert_eq!(installed("Conf libfdt1 (1.6.1-4+b1 Debian)"), None);
        let line = "'http://x/pool/a_1%3a2_amd64.deb' a_1%3a2_amd64.deb 1234 SHA256:00ff";
        let found = deb(line).unwrap();
        assert_eq!((found.file.as_str(), found.bytes), ("a_1%3a2_amd64.deb", 1234));
        assert_eq!(found.sha256.as_deref(), Some("00ff"));
        assert_eq!(deb("E: nothing"), None);
    }

    #[test]
    fn a_file_counts_when_its_hash_is_right() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("a"), b"abc").unwrap();
        let mut deb = Deb { file: "a".into(), bytes: 3, sha256: None };
        assert!(deb.is_good(dir.path()));
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        deb.sha256 = Some(right.to_owned());
        assert!(deb.is_good(dir.path()));
        fs_err::write(dir.path().join("a"), b"abd").unwrap();
        assert!(!deb.is_good(dir.path()));
    }
}
