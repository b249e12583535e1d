//! Control groups: where they are, and which ones a process is in.

/// Where they are; in version 1 each controller has a folder of its own there.
pub const CGROUPS: &str = "/sys/fs/cgroup";

/// A group that a process is in: a line of `/proc/PID/cgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership<'t> {
    /// Of version 1 the controllers of its hierarchy, with commas between them; of version 2 empty.
    pub controllers: &'t str,
    /// From where its hierarchy is mounted.
    pub path: &'t str,
}

impl<'t> Membership<'t> {
    /// What the text of `/proc/PID/cgroup` says.
    pub fn all(text: &'t str) -> impl Iterator<Item = Membership<'t>> {
        text.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            Some(Membership { controllers, path })
        })
    }

    /// The path of the group of version 2.
    pub fn unified(text: &'t str) -> Option<&'t str> {
        Membership::all(text).find(|group| group.controllers.is_empty()).map(|group| group.path)
    }

    /// Whether it is of version 1, with this controller.
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|name| name == controller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_what_is_none_is_left_out() {
        let text = "9:name=systemd:/\n4:cpu,cpuacct:/docker/1\n\ntorn\n0::/a:b\n";
        let paths: Vec<&str> = Membership::all(text).map(|group| group.path).collect();
        assert_eq!(paths, ["/", "/docker/1", "/a:b"]);
        assert_eq!(Membership::unified(text), Some("/a:b"));
        let cpu = Membership::all(text).find(|group| group.has("cpu")).unwrap();
        assert_eq!(cpu.path, "/docker/1");
        assert_eq!(Membership::unified("9:cpu:/"), None);
    }
}
