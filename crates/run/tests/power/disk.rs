//! A disk of which every call is recorded, and what a power cut may leave of it: what was synced is there;
//! of what was not, the names of files may be there or not, and of their bytes any part may be there, be
//! missing, or be zeros.
#![allow(dead_code, reason = "each test says other things to be kept")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flyball_run::disk::{Disk, DiskFile, RealDisk};

/// What was asked of the disk, or said to somebody.
#[derive(Clone, Debug)]
pub enum Call {
    Name(Naming),
    Write(usize, Vec<u8>),
    Sync(usize),
    SyncDir(PathBuf),
    Said(Claim),
}

/// A change of names; files are numbered as they are made.
#[derive(Clone, Debug)]
pub enum Naming {
    Dir(PathBuf),
    File(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Naming {
    fn folders(&self) -> Vec<&Path> {
        match self {
            Naming::Dir(path) | Naming::File(path, _) | Naming::Remove(path) => {
                vec![path.parent().unwrap()]
            }
            Naming::Rename(from, to) => vec![from.parent().unwrap(), to.parent().unwrap()],
        }
    }
}

/// What was said to be kept.
#[derive(Clone, Copy, Debug)]
pub enum Claim {
    /// The run directory is there.
    Begun,
    /// As many windows, or points of a sweep, are on the disk.
    Rows(u64),
    /// The run is closed.
    Closed,
    /// The page is the one of this number.
    Page(u8),
}

#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<Vec<Call>>>, Arc<Mutex<usize>>);

impl Recorded {
    fn call(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }

    /// Somebody is told that this is kept.
    pub fn say(&self, claim: Claim) {
        self.call(Call::Said(claim));
    }

    /// What was asked and said until now.
    pub fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap().clone()
    }

    fn file(&self, path: &Path, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let mut files = self.1.lock().unwrap();
        *files += 1;
        self.call(Call::Name(Naming::File(path.to_owned(), *files)));
        Arc::new(RecordedFile { disk: self.clone(), number: *files, file })
    }
}

impl Disk for Recorded {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Dir(path.to_owned())));
        RealDisk.create_dir(path)
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        assert!(!path.exists(), "the model knows new files only");
        Ok(self.file(path, RealDisk.append(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path, RealDisk.create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Rename(from.to_owned(), to.to_owned())));
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Remove(path.to_owned())));
        RealDisk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::SyncDir(path.to_owned()));
        Ok(())
    }
}

#[derive(Debug)]
struct RecordedFile {
    disk: Recorded,
    number: usize,
    file: Arc<dyn DiskFile>,
}

impl DiskFile for RecordedFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.disk.call(Call::Write(self.number, bytes[..written].to_vec()));
        Ok(written)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(Call::Sync(self.number));
        Ok(())
    }
}

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    /// At least 0, less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

/// The disk as it may be found after a cut behind `calls`: paths and contents, none for a directory.
pub fn found(calls: &[Call], random: &mut Random) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut bytes: BTreeMap<usize, (Vec<u8>, usize)> = BTreeMap::new();
    // Each naming, and whether it lasts for sure.
    let mut namings: Vec<(&Naming, bool)> = Vec::new();
    for call in calls {
        match call {
            Call::Name(naming) => namings.push((naming, false)),
            Call::Write(file, more) => bytes.entry(*file).or_default().0.extend(more),
            Call::Sync(file) => {
                let (written, synced) = bytes.entry(*file).or_default();
                *synced = written.len();
            }
            Call::SyncDir(dir) => {
                for (naming, lasts) in &mut namings {
                    *lasts |= naming.folders().contains(&dir.as_path());
                }
            }
            Call::Said(_) => {}
        }
    }
    // A journal keeps the order of changes; without one, any of them may be there.
    let ordered = random.below(2) == 0;
    let sure = namings.iter().rposition(|(_, lasts)| *lasts).map_or(0, |at| at + 1);
    let until = sure + random.below(namings.len() - sure + 1);
    let mut disk: BTreeMap<PathBuf, Option<usize>> = BTreeMap::new();
    for (at, (naming, lasts)) in namings.iter().enumerate() {
        let applied = *lasts || if ordered { at < until } else { random.below(2) == 0 };
        if !applied {
            continue;
        }
        match naming {
            Naming::Dir(path) => drop(disk.insert(path.clone(), None)),
            Naming::File(path, file) => drop(disk.insert(path.clone(), Some(*file))),
            Naming::Remove(path) => drop(disk.remove(path)),
            Naming::Rename(from, to) => {
                // A name that lasts leads to the file, whatever became of the name before.
                let file = disk.remove(from).or_else(|| Some(last_file(calls, from)));
                disk.insert(to.clone(), file.flatten());
            }
        }
    }
    let content = |file: usize, random: &mut Random| {
        let (written, synced) = bytes.get(&file).cloned().unwrap_or_default();
        let kept = synced + random.below(written.len() - synced + 1);
        match random.below(4) {
            0 => written[..synced].to_vec(),
            1 => written,
            2 => written[..kept].to_vec(),
            _ => [&written[..kept], &vec![0; written.len() - kept]].concat(),
        }
    };
    disk.into_iter().map(|(path, file)| (path, file.map(|file| content(file, random)))).collect()
}

/// The file that was last made under a name.
fn last_file(calls: &[Call], name: &Path) -> Option<usize> {
    calls.iter().rev().find_map(|call| match call {
        Call::Name(Naming::File(path, file)) if path == name => Some(*file),
        _ => None,
    })
}

/// Puts the disk of a cut below `root`, where `from` was.
pub fn place(disk: &BTreeMap<PathBuf, Option<Vec<u8>>>, from: &Path, root: &Path) {
    for (path, content) in disk {
        let Ok(below) = path.strip_prefix(from) else { continue };
        let target = root.join(below);
        match content {
            None => std::fs::create_dir_all(target).unwrap(),
            Some(bytes) if target.parent().unwrap().is_dir() => {
                std::fs::write(target, bytes).unwrap();
            }
            // Its folder is not there.
            Some(_) => {}
        }
    }
}

/// What was said until then.
pub fn said(calls: &[Call]) -> Vec<Claim> {
    let claims = calls.iter().filter_map(|call| match call {
        Call::Said(claim) => Some(*claim),
        _ => None,
    });
    claims.collect()
}
