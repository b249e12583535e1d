//! What only Unix has, and its stand-in where no emulator can be started anyway (WebAssembly).

#[cfg(unix)]
pub(crate) use fs_err::os::unix::fs::symlink;
#[cfg(unix)]
pub(crate) use std::os::unix::net::{UnixListener, UnixStream};

#[cfg(not(unix))]
pub(crate) use none::{UnixListener, UnixStream, symlink};

#[cfg(not(unix))]
mod none {
    use std::io::{Error, ErrorKind, Read, Result, Write};
    use std::path::Path;

    pub(crate) fn symlink(_to: impl AsRef<Path>, _at: impl AsRef<Path>) -> Result<()> {
        Err(Error::from(ErrorKind::Unsupported))
    }

    /// There is none.
    pub(crate) enum UnixListener {}

    /// There is none.
    pub(crate) enum UnixStream {}

    impl UnixListener {
        pub(crate) fn bind(_path: &Path) -> Result<UnixListener> {
            Err(Error::from(ErrorKind::Unsupported))
        }

        pub(crate) fn accept(&self) -> Result<(UnixStream, ())> {
            match *self {}
        }
    }

    impl UnixStream {
        pub(crate) fn connect(_path: impl AsRef<Path>) -> Result<UnixStream> {
            Err(Error::from(ErrorKind::Unsupported))
        }

        pub(crate) fn try_clone(&self) -> Result<UnixStream> {
            match *self {}
        }
    }

    impl Read for UnixStream {
        fn read(&mut self, _buffer: &mut [u8]) -> Result<usize> {
            match *self {}
        }
    }

    impl Write for UnixStream {
        fn write(&mut self, _buffer: &[u8]) -> Result<usize> {
            match *self {}
        }

        fn flush(&mut self) -> Result<()> {
            match *self {}
        }
    }
}
