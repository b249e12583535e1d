//! What evaluators share: the catalogue, the folder of recordings, and what several numbers need.

use crate::catalogue::Catalogue;
use crate::quantity::Undecided;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Everything an evaluator may look at.
pub(crate) struct Context<'a> {
    pub catalogue: &'a Catalogue,
    /// The folder of the recordings; none: the tables that ship.
    data: Option<PathBuf>,
    /// One slot per type.
    made: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// A folder of recordings and where it comes from.
pub(crate) struct Folder {
    pub name: &'static str,
    pub published_at: &'static str,
}

/// What was made once, or why it cannot be.
type Slot<T> = OnceLock<Result<Arc<T>, Undecided>>;

impl<'a> Context<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, data: Option<PathBuf>) -> Context<'a> {
        Context { catalogue, data, made: Mutex::default() }
    }

    /// Recordings that were read, or a simulation that was run: made when first asked for, and kept.
    pub(crate) fn once<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> Result<T, Undecided>,
    ) -> Result<Arc<T>, Undecided> {
        let slot = {
            // A panic elsewhere leaves the map whole: a slot is inserted in one step.
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || -> Arc<dyn Any + Send + Sync> { Arc::new(Slot::<T>::new()) };
            Arc::clone(made.entry(TypeId::of::<T>()).or_insert_with(new))
        };
        match slot.downcast::<Slot<T>>() {
            Ok(slot) => slot.get_or_init(|| make().map(Arc::new)).clone(),
            // There is one slot per type.
            Err(_) => make().map(Arc::new),
        }
    }

    /// Path of a folder of recordings that exists; none where the tables that ship are to be read.
    pub(crate) fn folder(&self, folder: &Folder) -> Result<Option<PathBuf>, Undecided> {
        let Some(data) = &self.data else { return Ok(None) };
        let path = data.join(folder.name);
        path.is_dir()
            .then_some(Some(path))
            .ok_or(Undecided::DataAbsent { folder: folder.name, published_at: folder.published_at })
    }
}
