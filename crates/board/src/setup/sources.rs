//! Where this machine gets Debian from, read from its own configuration, so that no address has to
//! be known here.

use crate::error::{BoardError, Result};
use flyball_host::Host;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Releases that have the kernels, beside this machine's own.
const NEWER: &[&str] = &["trixie", "trixie-backports"];

/// The release of Debian that this machine runs.
pub(super) fn codename(host: &dyn Host) -> Result<String> {
    let text = host.read(Path::new("/etc/os-release")).unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned())
    };
    match (value("ID").as_deref(), value("VERSION_CODENAME")) {
        (Some("debian"), Some(codename)) => Ok(codename),
        (id, _) => Err(BoardError::missing(
            "packages for the board",
            format!("expected Debian, found {}", id.unwrap_or("another system")),
        )
        .with_hint(
            "install QEMU 10 or newer and a static busybox (busybox-static) from your \
             distribution, and boot a kernel of your own",
        )),
    }
}

/// apt sources of `codename`, its updates and backports, and of the newer releases, from the same
/// address and under the same key.
pub(super) fn with_newer(
    host: &dyn Host,
    codename: &str,
    architectures: &[&str],
) -> Result<String> {
    let mut stanzas = Vec::new();
    for path in files(host) {
        let text = host.read(&path).unwrap_or_default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => stanzas.extend(deb822(&text)),
            Some("list") => stanzas.extend(text.lines().filter_map(one_line)),
            _ => {}
        }
    }
    let text: String =
        stanzas.iter().filter_map(|stanza| rewritten(stanza, codename, architectures)).collect();
    if text.contains("Suites: ") {
        return Ok(text);
    }
    Err(BoardError::missing(
        "/etc/apt",
        format!("expected a source of Debian {codename}, found none"),
    )
    .with_hint("add one to /etc/apt/sources.list.d, as Debian's installer does"))
}

fn files(host: &dyn Host) -> Vec<PathBuf> {
    let parts = Path::new("/etc/apt/sources.list.d");
    let parts = host.list(parts).unwrap_or_default().into_iter().map(|name| parts.join(name));
    std::iter::once(PathBuf::from("/etc/apt/sources.list")).chain(parts).collect()
}

type Stanza = BTreeMap<String, String>;

/// Stanzas of a `.sources` file; an embedded key keeps its lines.
fn deb822(text: &str) -> Vec<Stanza> {
    let (mut stanzas, mut stanza) = (Vec::new(), Stanza::new());
    let mut last = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).chain([""]) {
        if line.trim().is_empty() {
            stanzas.push(std::mem::take(&mut stanza));
        } else if line.starts_with([' ', '\t']) {
            if let Some(value) = stanza.get_mut(&last) {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((key, value)) = line.split_once(':') {
            last = key.to_lowercase();
            stanza.insert(last.clone(), value.trim().to_owned());
        }
    }
    stanzas
}

/// `deb [OPTION=VALUE ...] URI SUITE COMPONENT...`.
fn one_line(line: &str) -> Option<Stanza> {
    let rest = line.trim().strip_prefix("deb")?.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let mut stanza = Stanza::from([
        ("types".to_owned(), "deb".to_owned()),
        ("uris".to_owned(), words.next()?.to_owned()),
        ("suites".to_owned(), words.next()?.to_owned()),
    ]);
    let pairs = options.split_whitespace().filter_map(|option| option.split_once('='));
    stanza.extend(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    Some(stanza)
}

/// A stanza for apt, where it is one of `codename`.
fn rewritten(stanza: &Stanza, codename: &str, architectures: &[&str]) -> Option<String> {
    let of = |key: &str| stanza.get(key).map(String::as_str);
    let disabled = of("enabled").is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if disabled || !of("types")?.split_whitespace().any(|kind| kind == "deb") {
        return None;
    }
    let own = |suite: &&str| {
        let rest = suite.strip_prefix(codename);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut suites: Vec<String> =
        of("suites")?.split_whitespace().filter(own).map(str::to_owned).collect();
    if suites.is_empty() {
        return None;
    }
    if suites.iter().any(|suite| suite == codename) {
        let backports = format!("{codename}-backports");
        for more in std::iter::once(backports.as_str()).chain(NEWER.iter().copied()) {
            if !suites.iter().any(|suite| suite == more) {
                suites.push(more.to_owned());
            }
        }
    }
    let mut text = format!("Types: deb\nURIs: {}\nSuites: {}\n", of("uris")?, suites.join(" "));
    text.push_str(&format!("Components: main\nArchitectures: {}\n", architectures.join(" ")));
    text.push_str("Targets: Packages\nLanguages: none\n");
    for (key, title) in [("signed-by", "Signed-By"), ("trusted", "Trusted")] {
        if let Some(value) = of(key) {
            text.push_str(&format!("{title}: {value}\n"));
        }
    }
    text.push('\n');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
Types: deb
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb-src
URIs: http://mirror.example/debian
Suites: bookworm

Types: deb
URIs: http://other.example/tool
Suites: nodistro
";

    #[test]
    fn sources_gain_the_newer_releases() {
        let found: Vec<String> = deb822(FILE)
            .iter()
            .filter_map(|stanza| rewritten(stanza, "bookworm", &["amd64"]))
            .collect();
        assert_eq!(found.len(), 1);
        let suites =
            "Suites: bookworm bookworm-updates bookworm-backports trixie trixie-backports\n";
        assert!(found[0].contains(suites), "{}", found[0]);
        assert!(found[0].contains("Signed-By: /usr/share/keyrings/"), "{}", found[0]);
    }

    #[test]
    fn the_old_form_is_read_too() {
        let line = "deb [signed-by=/k.gpg arch=amd64] http://mirror.example/debian trixie main";
        let text = rewritten(&one_line(line).unwrap(), "trixie", &["amd64", "arm64"]).unwrap();
        assert!(text.contains("Suites: trixie trixie-backports\n"), "{text}");
        assert!(text.contains("Signed-By: /k.gpg"), "{text}");
        assert_eq!(one_line("# deb http://x y"), None);
        assert_eq!(one_line("deb-src http://x y main"), None);
    }

    #[test]
    fn a_key_inside_keeps_its_lines() {
        let stanzas = deb822("Suites: a\nSigned-By:\n -----BEGIN\n .\n abc\n");
        assert_eq!(stanzas[0]["signed-by"], "\n -----BEGIN\n .\n abc");
    }
}
