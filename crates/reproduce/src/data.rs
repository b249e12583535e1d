//! Numbers from recordings: `--data DIR` holds their folders.

mod coremark;
mod cortex;

use crate::functions::Function;
use crate::quantity::Undecided;
use std::path::PathBuf;
use std::sync::OnceLock;

pub(crate) use coremark::Coremark;
pub(crate) use cortex::Cortex;

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &{
    let [a, b, c, d, e, f, g, h, i] = cortex::FUNCTIONS;
    let [j, k, l, m] = coremark::FUNCTIONS;
    [a, b, c, d, e, f, g, h, i, j, k, l, m]
};

/// A folder of recordings and where it comes from.
pub(crate) struct Folder {
    pub name: &'static str,
    pub published_at: &'static str,
}

/// The recordings of the sources, read when first asked for.
pub(crate) struct Recordings {
    dir: Option<PathBuf>,
    cortex: OnceLock<Result<Cortex, Undecided>>,
    coremark: OnceLock<Result<Coremark, Undecided>>,
}

impl Recordings {
    pub(crate) fn new(dir: Option<PathBuf>) -> Recordings {
        Recordings { dir, cortex: OnceLock::new(), coremark: OnceLock::new() }
    }

    pub(crate) fn cortex(&self) -> Result<&Cortex, Undecided> {
        self.cortex.get_or_init(|| Cortex::read(self)).as_ref().map_err(Clone::clone)
    }

    pub(crate) fn coremark(&self) -> Result<&Coremark, Undecided> {
        self.coremark.get_or_init(|| Coremark::read(self)).as_ref().map_err(Clone::clone)
    }

    /// Path of a folder that exists.
    fn path(&self, folder: &Folder) -> Result<PathBuf, Undecided> {
        let path = self.dir.as_ref().map(|dir| dir.join(folder.name));
        path.filter(|path| path.is_dir())
            .ok_or(Undecided::DataAbsent { folder: folder.name, published_at: folder.published_at })
    }
}
