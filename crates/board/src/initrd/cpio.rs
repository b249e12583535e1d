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
