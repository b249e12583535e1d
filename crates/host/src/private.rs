//! A folder of this program's own, and files in it that survive a crash whole: what was written
//! last or what was there before, never a part.
#![expect(
    clippy::disallowed_methods,
    reason = "the door opens here: HostError names the path, and fs_err would hide the error number"
)]

use crate::sys::access;
use crate::sys::unix::{
    DirBuilderExt, MetadataExt, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, OpenOptionsExt,
};
use crate::{Call, Errno, HostError};
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Nobody but the owner.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Whoever may write there could put a file of theirs in the place of ours.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Each may remove only what is theirs.
const STICKY: u32 = 0o1000;

/// Whether nobody but this user and root can have put `path` where it is: its owner and that of every folder
/// above it are one of them, and nobody else may write there. A folder of everybody's in which each may only
/// remove what is theirs (`/tmp`, mode 1777) may stand above.
///
/// # Errors
/// The folder or file of somebody else; one that cannot be looked at.
pub fn check_trusted(path: &Path) -> Result<(), HostError> {
    check(path, false)
}

/// As [`check_trusted`]; where `shared`, the path itself may be such a folder of everybody's.
fn check(path: &Path, shared: bool) -> Result<(), HostError> {
    let fail = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| HostError::call(Call::Read, path, Errno::of(&error))
    };
    let absolute = std::path::absolute(path).map_err(fail(path))?;
    // As it is written, for who owns the folder of a link can make it lead elsewhere; and as it is.
    let real = std::fs::canonicalize(&absolute).map_err(fail(path))?;
    let user = access::effective_user();
    // A link in a folder of everybody's leads where its owner likes.
    for part in absolute.ancestors() {
        let found = std::fs::symlink_metadata(part).map_err(fail(part))?;
        if found.is_symlink() && ![user, 0].contains(&found.uid()) {
            return Err(HostError::malformed(
                part.display(),
                format!("owned by user {user} or root"),
                &format!("a link of user {}", found.uid()),
            ));
        }
    }
    for part in absolute.ancestors().skip(1).chain(real.ancestors()) {
        let found = std::fs::metadata(part).map_err(fail(part))?;
        let mode = found.mode();
        let sticky = found.is_dir() && mode & STICKY != 0 && (shared || part != real);
        let others = others_may_write(&found) && !sticky;
        if ![user, 0].contains(&found.uid()) || others {
            return Err(HostError::malformed(
                part.display(),
                format!("owned by user {user} or root, and not for others to write to"),
                &format!("owner {}, mode {:o}", found.uid(), mode & 0o7777),
            ));
        }
    }
    Ok(())
}

/// A folder that is locked for this process until this is dropped, or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _holder: Holder,
}

/// Locked folders of a recorded machine.
pub(crate) type Locked = Arc<Mutex<BTreeSet<PathBuf>>>;

#[derive(Debug)]
enum Holder {
    /// The lock goes with the descriptor; what this process starts does not inherit it.
    Real {
        _folder: File,
    },
    Recorded {
        locked: Locked,
        path: PathBuf,
    },
}

impl FolderLock {
    /// Makes, checks and locks `path`.
    pub(crate) fn take(path: &Path) -> Result<FolderLock, HostError> {
        let fail = |error: std::io::Error| {
            HostError::call(Call::LockFolder, path.display(), Errno::of(&error))
        };
        // Before anything is made: below a folder of somebody else's, a link may lead anywhere.
        let there = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
        if let Some(above) = there.filter(|above| !above.as_os_str().is_empty()) {
            check(above, true)?;
        }
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(fail)?;
        let kind = std::fs::symlink_metadata(path).map_err(fail)?;
        if kind.is_symlink() {
            return Err(HostError::call(Call::LockFolder, path.display(), Errno::ELOOP));
        }
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(O_NOFOLLOW | O_DIRECTORY)
            .open(path)
            .map_err(fail)?;
        let found = folder.metadata().map_err(fail)?;
        let user = access::effective_user();
        if found.uid() != user || found.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(HostError::malformed(
                path.display(),
                format!("a folder of user {user} that nobody else may write to (mode 700)"),
                &format!("owner {}, mode {:o}", found.uid(), found.mode() & 0o7777),
            ));
        }
        // Who owns a folder above it could put another one in its place.
        check_trusted(path)?;
        match folder.try_lock() {
            Ok(()) => Ok(FolderLock { _holder: Holder::Real { _folder: folder } }),
            Err(TryLockError::WouldBlock) => {
                Err(HostError::call(Call::LockFolder, path.display(), Errno::EAGAIN))
            }
            Err(TryLockError::Error(error)) => Err(fail(error)),
        }
    }

    /// Locks a folder of a recorded machine.
    pub(crate) fn recorded(locked: &Locked, path: PathBuf) -> Result<FolderLock, Errno> {
        let mut all = locked.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.insert(path.clone()) {
            return Err(Errno::EAGAIN);
        }
        Ok(FolderLock { _holder: Holder::Recorded { locked: Arc::clone(locked), path } })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if let Holder::Recorded { locked, path } = self {
            locked.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        }
    }
}

/// Writes a file so that a power cut leaves the old one or the new one: a new file beside it,
/// forced to the disk, takes its name, and the folder is forced to the disk, too.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Errno> {
    let of = |error: std::io::Error| Errno::of(&error);
    let beside = beside(path);
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(of(error)),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&beside)
        .map_err(of)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| std::fs::rename(&beside, path));
    if let Err(error) = renamed {
        // The half-written file is of no use; that it stays harms nobody.
        let _ = std::fs::remove_file(&beside);
        return Err(of(error));
    }
    sync_folder(path)
}

/// Most bytes of such a file.
const SAVED_BYTES: u64 = 16 << 20;

/// Reads a file that [`save`] wrote, and nothing that somebody else put in its place: what was opened is
/// looked at, not its name.
pub(crate) fn read_saved(path: &Path) -> Result<String, HostError> {
    let fail =
        |error: std::io::Error| HostError::call(Call::Read, path.display(), Errno::of(&error));
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(path)
        .map_err(fail)?;
    let found = file.metadata().map_err(fail)?;
    let user = access::effective_user();
    if !found.is_file() || ![user, 0].contains(&found.uid()) || others_may_write(&found) {
        let kind = if found.is_file() { "a file" } else { "no plain file" };
        return Err(HostError::malformed(
            path.display(),
            format!("a file of user {user} or root, and not for others to write to"),
            &format!("{kind}, owner {}, mode {:o}", found.uid(), found.mode() & 0o7777),
        ));
    }
    let mut bytes = Vec::new();
    file.take(SAVED_BYTES).read_to_end(&mut bytes).map_err(fail)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether somebody else may write there. A group of the user's own is usual (umask 002).
fn others_may_write(found: &Metadata) -> bool {
    let group = found.mode() & 0o020 != 0 && found.gid() != access::effective_group();
    group || found.mode() & 0o002 != 0
}

/// Removes a file, on the disk, too.
pub(crate) fn remove(path: &Path) -> Result<(), Errno> {
    std::fs::remove_file(path).map_err(|error| Errno::of(&error))?;
    sync_folder(path)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn sync_folder(path: &Path) -> Result<(), Errno> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    folder.and_then(|folder| folder.sync_all()).map_err(|error| Errno::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_folder_is_made_private_and_locked_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/state");
        let lock = FolderLock::take(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(FolderLock::take(&path).unwrap_err().errno(), Some(Errno::EAGAIN));
        drop(lock);
        FolderLock::take(&path).unwrap();
    }

    #[test]
    fn links_and_folders_that_others_may_write_to_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs_err::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert_eq!(FolderLock::take(&link).unwrap_err().errno(), Some(Errno::ELOOP));
        fs_err::set_permissions(&real, std::fs::Permissions::from_mode(0o1777)).unwrap();
        let error = FolderLock::take(&real).unwrap_err().to_string();
        assert!(error.contains("mode 700") && error.contains("mode 1777"), "{error}");
        let file = dir.path().join("file");
        fs_err::write(&file, "").unwrap();
        assert!(FolderLock::take(&file).is_err());
        // Of another owner: only root can make one.
        if access::effective_user() == 0 {
            fs_err::set_permissions(&real, std::fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&real, Some(65_534), None).unwrap();
            let error = FolderLock::take(&real).unwrap_err().to_string();
            assert!(error.contains("owner 65534"), "{error}");
        }
    }

    #[test]
    fn a_folder_below_somebody_elses_is_refused() {
        if access::effective_user() != 0 {
            return; // only root can make a folder of another's
        }
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs");
        let ours = theirs.join("state/flyball");
        fs_err::create_dir_all(&ours).unwrap();
        fs_err::set_permissions(&ours, std::fs::Permissions::from_mode(0o700)).unwrap();
        check_trusted(&ours).unwrap();
        drop(FolderLock::take(&ours).unwrap());
        // A link in their folder to one of ours is theirs to change.
        symlink(dir.path(), theirs.join("link")).unwrap();
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        for path in [ours.clone(), theirs.join("link")] {
            let error = check_trusted(&path).unwrap_err().to_string();
            assert!(error.contains("theirs") && error.contains("owner 65534"), "{error}");
        }
        assert!(FolderLock::take(&ours).is_err());
        std::os::unix::fs::chown(&theirs, Some(0), None).unwrap();
        fs_err::set_permissions(&theirs, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(FolderLock::take(&ours).is_err(), "writable by all");
    }

    #[test]
    fn nothing_is_made_where_somebody_elses_link_leads() {
        if access::effective_user() != 0 {
            return; // only root can make a folder of another's
        }
        let dir = tempfile::tempdir().unwrap();
        let (theirs, aim) = (dir.path().join("theirs"), dir.path().join("aim"));
        fs_err::create_dir(&theirs).unwrap();
        fs_err::create_dir(&aim).unwrap();
        symlink(&aim, theirs.join("link")).unwrap();
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        assert!(FolderLock::take(&theirs.join("link/state/flyball")).is_err());
        assert!(FolderLock::take(&theirs.join("new/state")).is_err());
        assert!(!aim.join("state").exists() && !theirs.join("new").exists());
        // In a folder of everybody's, as /tmp is: by their link not, by a new folder yes.
        std::os::unix::fs::chown(&theirs, Some(0), None).unwrap();
        fs_err::set_permissions(&theirs, std::fs::Permissions::from_mode(0o1777)).unwrap();
        std::os::unix::fs::lchown(theirs.join("link"), Some(65_534), None).unwrap();
        let error = FolderLock::take(&theirs.join("link/state")).unwrap_err().to_string();
        assert!(error.contains("a link of user 65534"), "{error}");
        assert!(!aim.join("state").exists());
        FolderLock::take(&theirs.join("own")).unwrap();
    }

    #[test]
    fn what_others_could_have_written_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("saved"), dir.path().join("link"));
        save(&path, "text").unwrap();
        assert_eq!(read_saved(&path).unwrap(), "text");
        symlink(&path, &link).unwrap();
        assert_eq!(read_saved(&link).unwrap_err().errno(), Some(Errno::ELOOP));
        let refused = |path: &Path| read_saved(path).unwrap_err().to_string();
        assert!(refused(dir.path()).contains("no plain file"));
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(refused(&path).contains("mode 666"));
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if access::effective_user() == 0 {
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            assert!(refused(&path).contains("owner 65534"));
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        fs_err::write(beside(&path), "left by a killed one").unwrap();
        save(&path, "one").unwrap();
        save(&path, "two").unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(!beside(&path).exists());
        remove(&path).unwrap();
        assert_eq!(remove(&path), Err(Errno::ENOENT));
        assert_eq!(save(&dir.path().join("no/such"), ""), Err(Errno::ENOENT));
    }
}
