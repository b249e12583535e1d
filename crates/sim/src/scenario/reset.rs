//! Another governor from the command line: the tunables that the file gives to its own one are not
//! this one's, though some have the same name.

use super::keys::{DOMAIN, GOVERNOR, Key};
use super::tree::{Entry, Node, Place, Value};
use flyball_platform::{Kernel, Platform};

/// Called before `path` (as its keys) is set to `new`: where that gives `[governor]` or one of its
/// domains another name, the tunables of the file go. Those from the command line stay, and are
/// refused later where the governor has none of that name.
pub(super) fn forget_tunables(root: &mut Node, path: &[&str], new: &Value) {
    let (["governor", .., "name"], Value::Text(new)) = (path, new) else { return };
    let default = default_governor(root);
    let Some(governor) = table(root, "governor") else { return };
    match path {
        [_, _] if name_of(governor).unwrap_or(&default) != new => {
            forget(governor, GOVERNOR);
            // Domains without a name of their own follow.
            if let Some(domains) = entries(governor, "domain") {
                for own in domains.iter_mut().filter(|own| name_of(&own.node).is_none()) {
                    forget(&mut own.node, DOMAIN);
                }
            }
        }
        [_, "domain", domain, _] => {
            let general = name_of(governor).unwrap_or(&default).to_owned();
            let own = table(governor, "domain").and_then(|domains| table(domains, domain));
            if let Some(own) = own.filter(|own| name_of(own).unwrap_or(&general) != new) {
                forget(own, DOMAIN);
            }
        }
        _ => {}
    }
}

/// What rules where the scenario names no governor; the reader names what is wrong with the rest.
fn default_governor(root: &Node) -> String {
    let text = |key: &str| match root.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let platform = || Some(Platform::named(text("platform")?).ok()?.default_kernel);
    let kernel = text("kernel").map(str::to_owned).or_else(platform);
    let kernel = kernel.and_then(|name| Kernel::named(&name).ok());
    kernel.map_or_else(|| "schedutil".to_owned(), |kernel| kernel.default_governor)
}

fn name_of(table: &Node) -> Option<&str> {
    match table.entry("name").map(|entry| &entry.node.value) {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

fn table<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Value::Table(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
}

fn entries<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Vec<Entry>> {
    match &mut table(node, key)?.value {
        Value::Table(entries) => Some(entries),
        _ => None,
    }
}

/// Takes out what is neither a key of every governor nor from the command line.
fn forget(table: &mut Node, keys: &[Key]) {
    if let Value::Table(entries) = &mut table.value {
        entries.retain(|entry| {
            entry.place == Place::CommandLine || keys.iter().any(|key| key.name == entry.key)
        });
    }
}
