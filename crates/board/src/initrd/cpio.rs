//! The archive format of initial RAM disks: cpio "newc" (Documentation/driver-api/early-userspace/
//! buffer-format.rst).

/// An archive that grows.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// Adds a directory.
    pub fn directory(&mut self, path: &str) {
        self.add(path, 0o40755, &[], (0, 0));
    }

    /// Adds a file.
    pub fn file(&mut self, path: &str, contents: &[u8]) {
        self.add(path, 0o100644, contents, (0, 0));
    }

    /// Adds a file that can be executed.
    pub fn program(&mut self, path: &str, contents: &[u8]) {
        self.add(path, 0o100755, contents, (0, 0));
    }

    /// Adds a character device with these permissions and numbers.
    pub fn device(&mut self, path: &str, permissions: u32, numbers: (u32, u32)) {
        self.add(path, 0o20000 | permissions, &[], numbers);
    }

    /// Ends the archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.add("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }

    fn add(&mut self, path: &str, mode: u32, contents: &[u8], device: (u32, u32)) {
        self.entries += 1;
        let (name, size) = (path.len() as u32 + 1, contents.len() as u32);
        // inode, mode, uid, gid, links, time, size, device of the file, device it is, name, check
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
        self.bytes.extend(b"070701");
        self.bytes.extend(fields.iter().flat_map(|field| format!("{field:08x}").into_bytes()));
        self.bytes.extend(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Names, modes and contents, as the kernel reads them (init/initramfs.c).
    fn read(bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let (mut at, mut entries) = (0, Vec::new());
        loop {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let field = |number: usize| {
                let text = &bytes[at + 6 + 8 * number..at + 14 + 8 * number];
                usize::from_str_radix(std::str::from_utf8(text).unwrap(), 16).unwrap()
            };
            let (mode, size, name) = (field(1), field(6), field(11));
            let text = String::from_utf8(bytes[at + 110..at + 110 + name - 1].to_vec()).unwrap();
            at = (at + 110 + name).next_multiple_of(4);
            let contents = bytes[at..at + size].to_vec();
            at = (at + size).next_multiple_of(4);
            if text == "TRAILER!!!" {
                assert_eq!(at, bytes.len());
                return entries;
            }
            entries.push((text, mode as u32, contents));
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            files in prop::collection::vec(("[a-z/.]{1,30}", prop::collection::vec(any::<u8>(), 0..50)), 0..8)
        ) {
            let mut archive = Archive::default();
            archive.directory("dev");
            archive.device("dev/null", 0o666, (1, 3));
            for (name, contents) in &files {
                archive.file(name, contents);
            }
            let found = read(&archive.finish());
            prop_assert_eq!(&found[0], &("dev".to_owned(), 0o40755, Vec::new()));
            prop_assert_eq!(&found[1], &("dev/null".to_owned(), 0o20666, Vec::new()));
            let rest: Vec<_> = files.into_iter().map(|(name, bytes)| (name, 0o100_644, bytes)).collect();
            prop_assert_eq!(&found[2..], &rest[..]);
        }
    }
}
