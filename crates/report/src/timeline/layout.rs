//! Blocks of lines beside or beneath one another.

use crate::text;

/// Columns between two blocks.
const GUTTER: usize = 3;

/// Least columns of a block that stands beside another.
const LEAST: usize = 48;

/// How many blocks fit beside one another, and how wide each may be.
pub(super) fn columns(blocks: usize, width: usize) -> (usize, usize) {
    let fit = ((width + GUTTER) / (LEAST + GUTTER)).clamp(1, blocks.max(1));
    (fit, (width + GUTTER) / fit - GUTTER)
}

/// Places the blocks, `per_row` beside one another, each padded to `width`; rows of blocks are
/// apart by an empty line.
pub(super) fn place(blocks: &[Vec<String>], per_row: usize, width: usize) -> Vec<String> {
    let mut out = Vec::new();
    for row in blocks.chunks(per_row.max(1)) {
        if !out.is_empty() {
            out.push(String::new());
        }
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut text = String::new();
            for (at, block) in row.iter().enumerate() {
                let cell = block.get(line).map_or("", String::as_str);
                text.push_str(cell);
                if at + 1 < row.len() {
                    let pad = (width + GUTTER).saturating_sub(visible(cell));
                    text.push_str(&" ".repeat(pad));
                }
            }
            out.push(text.trim_end().to_owned());
        }
    }
    out
}

/// Columns that a line takes, colours left out.
fn visible(line: &str) -> usize {
    let mut plain = String::with_capacity(line.len());
    let mut inside = false;
    for c in line.chars() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            _ if inside => {}
            _ => plain.push(c),
        }
    }
    text::width(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_beside_one_another_where_there_is_room() {
        assert_eq!(columns(2, 100), (2, 48));
        assert_eq!(columns(3, 100), (2, 48));
        assert_eq!(columns(1, 100), (1, 100));
        assert_eq!(columns(2, 80), (1, 80));
        let blocks = vec![
            vec!["a".to_owned(), "\u{1b}[1mb\u{1b}[0m".to_owned()],
            vec!["c".to_owned(), "d".to_owned()],
        ];
        assert_eq!(place(&blocks, 2, 2), ["a    c", "\u{1b}[1mb\u{1b}[0m    d"]);
        assert_eq!(place(&blocks, 1, 2).len(), 5);
    }
}
