//! What the standard library has for Unix alone, and its stand-in where there is none (WebAssembly): nothing has an
//! owner there, and no file can be read at a place.

#[cfg(unix)]
pub(crate) use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};

#[cfg(unix)]
pub(crate) use libc::{O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK};

#[cfg(not(unix))]
pub(crate) use none::*;

#[cfg(not(unix))]
mod none {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io::{Error, ErrorKind, Result};

    pub(crate) const O_DIRECTORY: i32 = 0;
    pub(crate) const O_NOFOLLOW: i32 = 0;
    pub(crate) const O_NONBLOCK: i32 = 0;

    pub(crate) trait FileExt {
        fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> Result<usize> {
            Err(Error::from(ErrorKind::Unsupported))
        }
        fn write_at(&self, _buffer: &[u8], _offset: u64) -> Result<usize> {
            Err(Error::from(ErrorKind::Unsupported))
        }
    }
    impl FileExt for File {}

    pub(crate) trait OpenOptionsExt {
        fn custom_flags(&mut self, _flags: i32) -> &mut Self {
            self
        }
        fn mode(&mut self, _mode: u32) -> &mut Self {
            self
        }
    }
    impl OpenOptionsExt for OpenOptions {}

    pub(crate) trait DirBuilderExt {
        fn mode(&mut self, _mode: u32) -> &mut Self {
            self
        }
    }
    impl DirBuilderExt for DirBuilder {}

    pub(crate) trait MetadataExt {
        fn mode(&self) -> u32 {
            0o700
        }
        fn uid(&self) -> u32 {
            0
        }
        fn gid(&self) -> u32 {
            0
        }
    }
    impl MetadataExt for Metadata {}
}
