//! The files of a recorded machine, in memory.

mod cpufreq;
mod write;

use crate::{Errno, files};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Links followed before a chain of them counts as a loop, as in Linux.
const MAX_LINKS: usize = 40;

/// What a path of a recorded machine holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    File(String),
    /// A file whose content is no text.
    Bytes(Vec<u8>),
    Link(PathBuf),
    /// A folder that may be empty; others are implied by what is in them.
    Folder,
    /// It was there, and could not be read.
    Unreadable(Errno),
}

/// Files by absolute path; folders with something in them are implied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
    cpufreq: cpufreq::Requests,
}

impl Tree {
    pub(crate) fn insert(&mut self, path: PathBuf, entry: Entry) {
        self.entries.insert(normal(&path), entry);
    }

    /// Adds a line to a file, making it where it is not there.
    pub(crate) fn append_line(&mut self, path: &Path, line: &str) {
        let entry = self.entries.entry(normal(path)).or_insert(Entry::File(String::new()));
        if let Entry::File(text) = entry {
            text.push_str(line);
            text.push('\n');
        }
    }

    pub(crate) fn read(&self, path: &Path) -> Result<String, Errno> {
        let path = self.resolve(path)?;
        match self.entries.get(&path) {
            Some(Entry::File(text)) => Ok(text.clone()),
            Some(Entry::Bytes(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Some(Entry::Unreadable(errno)) => Err(*errno),
            Some(Entry::Link(_)) => Err(Errno::ELOOP),
            Some(Entry::Folder) => Err(Errno::EISDIR),
            None if self.is_folder(&path) => Err(Errno::EISDIR),
            None => Err(Errno::ENOENT),
        }
    }

    pub(crate) fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        match self.entries.get(&self.resolve(path)?) {
            Some(Entry::Bytes(bytes)) => Ok(bytes.clone()),
            _ => self.read(path).map(String::into_bytes),
        }
    }

    /// Where a file really is, links followed.
    pub(crate) fn resolved_file(&self, path: &Path) -> Result<PathBuf, Errno> {
        let resolved = self.resolve(path)?;
        self.read(&resolved).map(|_| resolved)
    }

    /// Copies the beginning of the file at `path`, which has been resolved, and gives its length; no
    /// allocation.
    pub(crate) fn read_into(&self, path: &Path, buffer: &mut [u8]) -> Result<usize, Errno> {
        let bytes = match self.entries.get(path) {
            Some(Entry::File(text)) => text.as_bytes(),
            Some(Entry::Bytes(bytes)) => bytes.as_slice(),
            Some(Entry::Unreadable(errno)) => return Err(*errno),
            Some(Entry::Link(_)) => return Err(Errno::ELOOP),
            Some(Entry::Folder) => return Err(Errno::EISDIR),
            // What a kept file told of is gone.
            None => return Err(Errno::ENODEV),
        };
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }

    pub(crate) fn list(&self, path: &Path) -> Result<Vec<String>, Errno> {
        let path = self.resolve(path)?;
        match self.entries.get(&path) {
            Some(Entry::Unreadable(errno)) => return Err(*errno),
            Some(Entry::Folder) => {}
            Some(_) => return Err(Errno::ENOTDIR),
            None if !self.is_folder(&path) => return Err(Errno::ENOENT),
            None => {}
        }
        let mut names: Vec<String> = self
            .below(&path)
            .filter_map(|entry| entry.strip_prefix(&path).ok()?.components().next())
            .map(|name| name.as_os_str().to_string_lossy().into_owned())
            .collect();
        names.dedup();
        files::sort(&mut names);
        names.dedup();
        Ok(names)
    }

    pub(crate) fn read_link(&self, path: &Path) -> Result<PathBuf, Errno> {
        let path = normal(path);
        let resolved = match path.parent() {
            Some(parent) => self.resolve(parent)?.join(path.file_name().unwrap_or_default()),
            None => path,
        };
        match self.entries.get(&resolved) {
            Some(Entry::Link(target)) => Ok(target.clone()),
            Some(Entry::Unreadable(errno)) => Err(*errno),
            Some(Entry::File(_) | Entry::Bytes(_) | Entry::Folder) => Err(Errno::EINVAL),
            None if self.is_folder(&resolved) => Err(Errno::EINVAL),
            None => Err(Errno::ENOENT),
        }
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.resolve(path)
            .is_ok_and(|path| self.entries.contains_key(&path) || self.is_folder(&path))
    }

    fn below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
        let start = std::ops::Bound::Excluded(path.to_owned());
        self.entries
            .range((start, std::ops::Bound::Unbounded))
            .map(|(entry, _)| entry)
            .take_while(move |entry| entry.starts_with(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    /// Follows links anywhere in `path`.
    fn resolve(&self, path: &Path) -> Result<PathBuf, Errno> {
        let mut path = normal(path);
        for _ in 0..MAX_LINKS {
            let Some((link, target)) = self.first_link(&path) else { return Ok(path) };
            let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
            let folder = link.parent().unwrap_or(Path::new("/"));
            path = normal(&folder.join(target).join(rest));
        }
        Err(Errno::ELOOP)
    }

    /// The shortest prefix of `path` that is a link, and its target.
    fn first_link(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut prefixes: Vec<&Path> = path.ancestors().collect();
        prefixes.reverse();
        prefixes.into_iter().find_map(|prefix| match self.entries.get(prefix) {
            Some(Entry::Link(target)) => Some((prefix.to_owned(), target.clone())),
            _ => None,
        })
    }
}

/// `path` made absolute, without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => result.push(name),
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.append_line(Path::new("/sys/a/b"), "1");
        tree.append_line(Path::new("/sys/a/b"), "2");
        tree.append_line(Path::new("/sys/a-b"), "sorts between a and a/b");
        tree.insert("/sys/c".into(), Entry::Link("a".into()));
        tree.insert("/sys/loop".into(), Entry::Link("loop".into()));
        tree.insert("/sys/secret".into(), Entry::Unreadable(Errno::EACCES));
        tree
    }

    #[test]
    fn files_folders_and_links() {
        let tree = tree();
        assert_eq!(tree.read(Path::new("/sys/c/b")), Ok("1\n2\n".to_owned()));
        assert_eq!(tree.read(Path::new("/sys/a")), Err(Errno::EISDIR));
        assert_eq!(tree.read(Path::new("/sys/none")), Err(Errno::ENOENT));
        assert_eq!(tree.read(Path::new("/sys/secret")), Err(Errno::EACCES));
        assert_eq!(tree.read(Path::new("/sys/loop/x")), Err(Errno::ELOOP));
        assert_eq!(tree.read_link(Path::new("/sys/c")), Ok("a".into()));
        assert_eq!(tree.read_link(Path::new("/sys/a")), Err(Errno::EINVAL));
        assert!(tree.exists(Path::new("/sys/c")));
        assert!(!tree.exists(Path::new("/sys/d")));
        assert_eq!(tree.list(Path::new("/sys/c")), Ok(vec!["b".to_owned()]));
        let names = tree.list(Path::new("/sys")).unwrap();
        assert_eq!(names, ["a", "a-b", "c", "loop", "secret"]);
        assert_eq!(tree.list(Path::new("/sys/a/b")), Err(Errno::ENOTDIR));
    }
}
