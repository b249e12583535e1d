//! Flattened device trees (Devicetree Specification 0.4, chapter 5): read into a tree, changed there,
//! written again.

use crate::error::{BoardError, Result};

const MAGIC: u32 = 0xD00D_FEED;
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;
/// Deeper than any real tree: a damaged blob must not exhaust the stack.
const DEPTH: usize = 64;

/// A node: a name, properties, children, all in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name with its unit address: `cpu@0`; empty for the root.
    pub name: String,
    /// Properties.
    pub properties: Vec<(String, Vec<u8>)>,
    /// Children.
    pub children: Vec<Node>,
}

impl Node {
    /// A node without anything in it.
    pub fn new(name: impl Into<String>) -> Node {
        Node { name: name.into(), ..Node::default() }
    }

    /// A child by name.
    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name == name)
    }

    /// A child by name, to be changed.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    /// A property's bytes.
    pub fn property(&self, name: &str) -> Option<&[u8]> {
        self.properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// A property of one 32-bit cell.
    pub fn cell(&self, name: &str) -> Option<u32> {
        Some(u32::from_be_bytes(self.property(name)?.try_into().ok()?))
    }

    /// Sets a property, in its place where it is there already.
    pub fn set(&mut self, name: &str, value: Vec<u8>) {
        match self.properties.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.properties.push((name.to_owned(), value)),
        }
    }

    /// The same, for building.
    #[must_use]
    pub fn with(mut self, name: &str, value: Vec<u8>) -> Node {
        self.set(name, value);
        self
    }

    /// Adds a child, in place of one of the same name.
    pub fn put(&mut self, node: Node) {
        match self.child_mut(&node.name) {
            Some(old) => *old = node,
            None => self.children.push(node),
        }
    }

    /// The largest phandle in it, 0 where there is none.
    pub fn max_phandle(&self) -> u32 {
        let own = self.cell("phandle").unwrap_or(0);
        self.children.iter().map(Node::max_phandle).fold(own, u32::max)
    }
}

/// 32-bit cells as a property.
pub fn cells(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// Text as a property.
pub fn text(value: &str) -> Vec<u8> {
    [value.as_bytes(), &[0]].concat()
}

/// A tree with the other parts of its blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Memory that the kernel must not use: address and size.
    pub reserved: Vec<(u64, u64)>,
    /// The CPU that boots.
    pub boot_cpu: u32,
    /// The root.
    pub root: Node,
}

impl Tree {
    /// Reads a blob.
    ///
    /// # Errors
    /// Anything that is not a device tree of version 16 or 17.
    pub fn parse(blob: &[u8]) -> Result<Tree> {
        Reader { blob }.tree().ok_or_else(|| {
            BoardError::input("device tree", "expected a flattened device tree, found other bytes")
        })
    }

    /// Writes it, as version 17.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        write_node(&self.root, &mut structure, &mut strings);
        word(&mut structure, END);
        let mut reserved: Vec<u8> = Vec::new();
        for (address, size) in self.reserved.iter().copied().chain([(0, 0)]) {
            reserved.extend(address.to_be_bytes());
            reserved.extend(size.to_be_bytes());
        }
        let structure_at = 40 + reserved.len();
        let strings_at = structure_at + structure.len();
        let total = strings_at + strings.len();
        let header = [
            MAGIC,
            total as u32,
            structure_at as u32,
            strings_at as u32,
            40,
            17,
            16,
            self.boot_cpu,
            strings.len() as u32,
            structure.len() as u32,
        ];
        [cells(&header), reserved, structure, strings].concat()
    }
}

struct Reader<'a> {
    blob: &'a [u8],
}

impl<'a> Reader<'a> {
    fn tree(&self) -> Option<Tree> {
        let (magic, version, oldest) = (self.word(0)?, self.word(20)?, self.word(24)?);
        if magic != MAGIC || version < 16 || oldest > 17 {
            return None;
        }
        let mut reserved = Vec::new();
        for entry in 0.. {
            let at = self.word(16)? as usize + entry * 16;
            let pair = (self.double(at)?, self.double(at + 8)?);
            if pair == (0, 0) {
                break;
            }
            reserved.push(pair);
        }
        let mut at = self.word(8)? as usize;
        while self.word(at)? == NOP {
            at += 4;
        }
        let (root, _) = self.node(at, 0)?;
        Some(Tree { reserved, boot_cpu: self.word(28)?, root })
    }

    /// The node at `at` and where it ends.
    fn node(&self, mut at: usize, depth: usize) -> Option<(Node, usize)> {
        if self.word(at)? != BEGIN_NODE || depth > DEPTH {
            return None;
        }
        let name = self.string(at + 4)?;
        let mut node = Node::new(name);
        at = aligned(at + 4 + name.len() + 1);
        loop {
            match self.word(at)? {
                NOP => at += 4,
                PROP => {
                    let (length, name) = (self.word(at + 4)? as usize, self.word(at + 8)? as usize);
                    let name = self.string((self.word(12)? as usize).checked_add(name)?)?;
                    let value = self.blob.get(at + 12..(at + 12).checked_add(length)?)?;
                    node.properties.push((name.to_owned(), value.to_vec()));
                    at = aligned(at + 12 + length);
                }
                BEGIN_NODE => {
                    let (child, end) = self.node(at, depth + 1)?;
                    node.children.push(child);
                    at = end;
                }
                END_NODE => return Some((node, at + 4)),
                _ => return None,
            }
        }
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.blob.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn double(&self, at: usize) -> Option<u64> {
        Some(u64::from(self.word(at)?) << 32 | u64::from(self.word(at + 4)?))
    }

    fn string(&self, at: usize) -> Option<&'a str> {
        let rest = self.blob.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    }
}

fn aligned(at: usize) -> usize {
    at.next_multiple_of(4)
}

fn word(to: &mut Vec<u8>, value: u32) {
    to.extend(value.to_be_bytes());
}

fn pad(to: &mut Vec<u8>) {
    to.resize(aligned(to.len()), 0);
}

fn write_node(node: &Node, structure: &mut Vec<u8>, strings: &mut Vec<u8>) {
    word(structure, BEGIN_NODE);
    structure.extend(text(&node.name));
    pad(structure);
    for (name, value) in &node.properties {
        word(structure, PROP);
        word(structure, value.len() as u32);
        word(structure, string_offset(strings, name));
        structure.extend(value);
        pad(structure);
    }
    for child in &node.children {
        write_node(child, structure, strings);
    }
    word(structure, END_NODE);
}

/// Where `name` stands among the strings; added where it does not.
fn string_offset(strings: &mut Vec<u8>, name: &str) -> u32 {
    let wanted = text(name);
    let mut at = 0;
    while let Some(length) = strings.get(at..).and_then(|rest| rest.iter().position(|b| *b == 0)) {
        if strings[at..=at + length] == wanted[..] {
            return at as u32;
        }
        at += length + 1;
    }
    strings.extend(wanted);
    at as u32
}
