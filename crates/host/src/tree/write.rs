//! What becomes of a recorded machine's files when somebody writes to them: a new value, or what
//! tracefs makes of it (cpufreq has a file of its own). Only the parts of tracefs that set a tracer up are there: instances,
//! probe events, clocks and markers; nothing is ever traced.

use super::{Entry, Tree, normal};
use crate::Errno;
use std::path::{Path, PathBuf};

/// Files at the top of tracefs that an instance does not have.
const TOP_ONLY: &[&str] = &["instances", "dynamic_events", "kprobe_events", "README"];

impl Tree {
    /// Writes `text` to the file at `path`.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> Result<(), Errno> {
        let path = self.resolve(path)?;
        let old = match self.entries.get(&path) {
            Some(Entry::File(old)) => old.clone(),
            Some(Entry::Bytes(_)) => return Err(Errno::EINVAL),
            Some(Entry::Unreadable(errno)) => return Err(*errno),
            Some(Entry::Link(_)) => return Err(Errno::ELOOP),
            Some(Entry::Folder) => return Err(Errno::EISDIR),
            None if self.is_folder(&path) => return Err(Errno::EISDIR),
            None => return Err(Errno::ENOENT),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        if let Some(changed) = self.write_cpufreq(&path, text.trim()) {
            return changed;
        }
        let new = match name.as_str() {
            "dynamic_events" => return self.probe(&folder, &path, old, text.trim()),
            "trace_marker" => return self.mark(&folder, text.trim()),
            "trace_clock" => choose(&old, text.trim())?,
            _ => format!("{}\n", text.trim_end()),
        };
        self.insert(path, Entry::File(new));
        Ok(())
    }

    /// Makes a folder; one below `instances` gets the files of the tracer above it.
    pub(crate) fn make_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let path = self.resolve(path)?;
        let parent = path.parent().unwrap_or(Path::new("/")).to_owned();
        if self.entries.contains_key(&path) || self.is_folder(&path) {
            return Err(Errno::EEXIST);
        }
        if !matches!(self.entries.get(&parent), Some(Entry::Folder)) && !self.is_folder(&parent) {
            return Err(Errno::ENOENT);
        }
        if let Some(top) = tracer_of(&parent) {
            let of_top = |(from, entry): (&PathBuf, &Entry)| {
                let rest = from.strip_prefix(&top).ok()?;
                let first = rest.components().next()?.as_os_str().to_string_lossy();
                let own = !TOP_ONLY.contains(&first.as_ref());
                own.then(|| (path.join(rest), entry.clone()))
            };
            let files: Vec<_> = self.entries.iter().filter_map(of_top).collect();
            self.entries.extend(files);
        }
        self.insert(path, Entry::Folder);
        Ok(())
    }

    /// Makes a folder and those above it, where they are not there.
    pub(crate) fn make_dirs(&mut self, path: &Path) -> Result<(), Errno> {
        match self.entries.get(&normal(path)) {
            Some(Entry::Folder) => Ok(()),
            // A folder that matters must be the folder itself.
            Some(Entry::Link(_)) => Err(Errno::ELOOP),
            Some(_) => Err(Errno::ENOTDIR),
            None => {
                self.insert(path.to_owned(), Entry::Folder);
                Ok(())
            }
        }
    }

    /// Replaces a file, or makes one in a folder that is there.
    pub(crate) fn save(&mut self, path: &Path, text: &str) -> Result<(), Errno> {
        let path = normal(path);
        if !self.exists(path.parent().unwrap_or(Path::new("/"))) {
            return Err(Errno::ENOENT);
        }
        self.insert(path, Entry::File(text.to_owned()));
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove_file(&mut self, path: &Path) -> Result<(), Errno> {
        let path = normal(path);
        match self.entries.get(&path) {
            Some(Entry::Folder) => Err(Errno::EISDIR),
            Some(_) => {
                // Its folder stays.
                if let Some(parent) = path.parent() {
                    self.entries.entry(parent.to_owned()).or_insert(Entry::Folder);
                }
                self.entries.remove(&path);
                Ok(())
            }
            None if self.is_folder(&path) => Err(Errno::EISDIR),
            None => Err(Errno::ENOENT),
        }
    }

    /// Removes a folder; one below `instances` goes with all that is in it.
    pub(crate) fn remove_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let path = self.resolve(path)?;
        let instance = path.parent().is_some_and(|parent| tracer_of(parent).is_some());
        match self.entries.get(&path) {
            Some(Entry::Folder) => {}
            Some(_) => return Err(Errno::ENOTDIR),
            None if self.is_folder(&path) => {}
            None => return Err(Errno::ENOENT),
        }
        if self.is_folder(&path) && !instance {
            return Err(Errno::ENOTEMPTY);
        }
        self.entries.retain(|entry, _| !entry.starts_with(&path));
        Ok(())
    }

    /// Adds a probe event, or removes one (`-:GROUP/EVENT`), as tracefs does.
    fn probe(&mut self, top: &Path, path: &Path, old: String, text: &str) -> Result<(), Errno> {
        let command = text.split_whitespace().next().ok_or(Errno::EINVAL)?;
        let (kind, name) = command.split_once(':').ok_or(Errno::EINVAL)?;
        let (group, _) = name.split_once('/').ok_or(Errno::EINVAL)?;
        let is_it = |line: &&str| {
            line.split_once(':').is_some_and(|(_, rest)| {
                rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        let there = old.lines().find(is_it).is_some();
        let mut folders = vec![top.to_owned()];
        for instance in self.list(&top.join("instances")).unwrap_or_default() {
            folders.push(top.join("instances").join(instance));
        }
        let new = match (kind, there) {
            ("-", false) => return Err(Errno::ENOENT),
            ("-", true) => {
                let event = |folder: &PathBuf| folder.join("events").join(name);
                let on = |folder: &PathBuf| {
                    self.read(&event(folder).join("enable")).is_ok_and(|on| on.trim() == "1")
                };
                if folders.iter().any(on) {
                    return Err(Errno::EBUSY);
                }
                for folder in &folders {
                    self.entries.retain(|entry, _| !entry.starts_with(event(folder)));
                }
                old.lines().filter(|line| !is_it(line)).map(|line| format!("{line}\n")).collect()
            }
            (_, true) => return Err(Errno::EEXIST),
            (_, false) => {
                for folder in &folders {
                    let events = folder.join("events").join(group);
                    self.insert(events.join("enable"), Entry::File("0\n".to_owned()));
                    let event = folder.join("events").join(name);
                    self.insert(event.join("enable"), Entry::File("0\n".to_owned()));
                    self.insert(event.join("filter"), Entry::File("none\n".to_owned()));
                }
                format!("{old}{text}\n")
            }
        };
        // A group without an event goes, too.
        if !new.lines().any(|line| line.contains(&format!(":{group}/"))) {
            for folder in &folders {
                let events = folder.join("events").join(group);
                self.entries.retain(|entry, _| !entry.starts_with(&events));
            }
        }
        self.insert(path.to_owned(), Entry::File(new));
        Ok(())
    }

    /// A marker becomes a line of the tracer's text, one microsecond after the one before.
    fn mark(&mut self, tracer: &Path, text: &str) -> Result<(), Errno> {
        let pipe = tracer.join("trace_pipe");
        let Some(Entry::File(lines)) = self.entries.get_mut(&pipe) else {
            return Err(Errno::ENOENT);
        };
        let time = lines.lines().count() + 1;
        lines.push_str(&format!("flyball-1 [000] ..... 1.{time:06}: tracing_mark_write: {text}\n"));
        Ok(())
    }
}

/// The tracer whose instances are the folders below `folder`.
fn tracer_of(folder: &Path) -> Option<PathBuf> {
    let is_instances = folder.file_name().is_some_and(|name| name == "instances");
    is_instances.then(|| folder.parent().map(normal)).flatten()
}

/// `local [global] mono` with another word in brackets.
fn choose(old: &str, word: &str) -> Result<String, Errno> {
    let mut words = old.split_whitespace().map(|known| known.trim_matches(['[', ']']));
    if !words.clone().any(|known| known == word) {
        return Err(Errno::EINVAL);
    }
    let marked = words.by_ref().map(|known| match known == word {
        true => format!("[{known}]"),
        false => known.to_owned(),
    });
    Ok(marked.collect::<Vec<_>>().join(" ") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracefs() -> Tree {
        let mut tree = Tree::default();
        for (path, text) in [
            ("/t/dynamic_events", ""),
            ("/t/trace_clock", "[local] global mono\n"),
            ("/t/trace_pipe", ""),
            ("/t/trace_marker", ""),
            ("/t/buffer_size_kb", "7\n"),
        ] {
            tree.insert(path.into(), Entry::File(text.to_owned()));
        }
        tree.insert("/t/instances".into(), Entry::Folder);
        tree
    }

    #[test]
    fn an_instance_comes_and_goes_without_a_trace() {
        let mut tree = tracefs();
        let before = tree.clone();
        let instance = Path::new("/t/instances/x");
        tree.make_dir(instance).unwrap();
        assert_eq!(tree.make_dir(instance), Err(Errno::EEXIST));
        tree.write(&instance.join("trace_clock"), "mono").unwrap();
        tree.write(&instance.join("buffer_size_kb"), "64").unwrap();
        tree.write(&instance.join("trace_marker"), "begin").unwrap();
        assert_eq!(tree.read(&instance.join("trace_clock")).unwrap(), "local global [mono]\n");
        assert_eq!(tree.write(&instance.join("trace_clock"), "x"), Err(Errno::EINVAL));
        assert!(tree.read(&instance.join("trace_pipe")).unwrap().contains("write: begin"));
        assert_eq!(tree.read(Path::new("/t/trace_pipe")).unwrap(), "");
        tree.remove_dir(instance).unwrap();
        assert_eq!(tree, before);
    }

    #[test]
    fn a_probe_is_busy_while_it_is_on() {
        let mut tree = tracefs();
        let before = tree.clone();
        let list = Path::new("/t/dynamic_events");
        tree.make_dir(Path::new("/t/instances/x")).unwrap();
        tree.write(list, "t:g/a tp x=1").unwrap();
        assert_eq!(tree.write(list, "t:g/a tp"), Err(Errno::EEXIST));
        let enable = Path::new("/t/instances/x/events/g/a/enable");
        tree.write(enable, "1").unwrap();
        assert_eq!(tree.write(list, "-:g/a"), Err(Errno::EBUSY));
        tree.write(enable, "0").unwrap();
        tree.write(list, "-:g/a").unwrap();
        assert_eq!(tree.write(list, "-:g/a"), Err(Errno::ENOENT));
        tree.remove_dir(Path::new("/t/instances/x")).unwrap();
        assert_eq!(tree, before);
    }

    #[test]
    fn folders() {
        let mut tree = tracefs();
        assert_eq!(tree.make_dir(Path::new("/none/x")), Err(Errno::ENOENT));
        tree.make_dir(Path::new("/t/own")).unwrap();
        assert_eq!(tree.list(Path::new("/t/own")), Ok(vec![]));
        assert_eq!(tree.remove_dir(Path::new("/t")), Err(Errno::ENOTEMPTY));
        assert_eq!(tree.write(Path::new("/t"), "x"), Err(Errno::EISDIR));
        assert_eq!(tree.remove_dir(Path::new("/t/own")), Ok(()));
        assert_eq!(tree.remove_dir(Path::new("/t/own")), Err(Errno::ENOENT));
    }
}
