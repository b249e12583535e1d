//! Small pixels out of characters.

/// What plots and bars are drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// Quarter blocks, 2 x 2 pixels a cell; every terminal font has them.
    #[default]
    Blocks,
    /// Braille, 2 x 4 pixels a cell.
    Braille,
    /// ASCII only, 1 x 2 pixels a cell.
    Ascii,
}

/// Quarter blocks by bits: upper left, upper right, lower left, lower right.
const QUARTERS: [char; 16] =
    [' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'];

/// Braille dots in the order of our bits, row by row.
const DOTS: [u32; 8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];

/// Upper, lower and both halves in ASCII.
const HALVES: [char; 4] = [' ', '\'', '.', '|'];

impl Charset {
    /// Pixels of a cell: across and down.
    fn cell(self) -> (usize, usize) {
        match self {
            Charset::Blocks => (2, 2),
            Charset::Braille => (2, 4),
            Charset::Ascii => (1, 2),
        }
    }

    fn character(self, bits: u8) -> char {
        match self {
            Charset::Blocks => QUARTERS.get(usize::from(bits)).copied().unwrap_or(' '),
            Charset::Ascii => HALVES.get(usize::from(bits)).copied().unwrap_or(' '),
            Charset::Braille if bits == 0 => ' ',
            Charset::Braille => {
                let set = DOTS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
                let dots: u32 = set.map(|(_, dot)| dot).sum();
                char::from_u32(0x2800 + dots).unwrap_or(' ')
            }
        }
    }

    /// What bars are filled with.
    pub(super) fn bar(self) -> char {
        if self == Charset::Ascii { '#' } else { '▇' }
    }

    /// Frame: horizontal, vertical, left tick, bottom tick, the four corners from the upper left
    /// clockwise.
    pub(super) fn frame(self) -> [char; 8] {
        match self {
            Charset::Ascii => ['-', '|', '+', '+', '+', '+', '+', '+'],
            _ => ['─', '│', '┤', '┬', '┌', '┐', '┘', '└'],
        }
    }
}

/// A field of pixels; (0, 0) is the lower left.
pub(super) struct Canvas {
    charset: Charset,
    columns: usize,
    rows: usize,
    cells: Vec<u8>,
}

impl Canvas {
    /// An empty canvas of so many characters.
    pub fn new(charset: Charset, columns: usize, rows: usize) -> Canvas {
        Canvas { charset, columns, rows, cells: vec![0; columns * rows] }
    }

    /// Pixels across and down.
    pub fn size(&self) -> (usize, usize) {
        let (across, down) = self.charset.cell();
        (self.columns * across, self.rows * down)
    }

    /// Sets the pixels of one column from `low` to `high`, both included; what lies outside is cut.
    pub fn column(&mut self, x: usize, low: usize, high: usize) {
        let (across, down) = self.charset.cell();
        let (width, height) = self.size();
        if x >= width {
            return;
        }
        for y in low..=high.min(height.saturating_sub(1)) {
            let from_top = height - 1 - y;
            let cell = from_top / down * self.columns + x / across;
            if let Some(bits) = self.cells.get_mut(cell) {
                *bits |= 1 << (from_top % down * across + x % across);
            }
        }
    }

    /// The rows of characters, from the top.
    pub fn lines(&self) -> Vec<String> {
        let row = |cells: &[u8]| cells.iter().map(|&bits| self.charset.character(bits)).collect();
        self.cells.chunks(self.columns.max(1)).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(charset: Charset) -> Vec<String> {
        let mut canvas = Canvas::new(charset, 2, 1);
        (0..canvas.size().0).for_each(|x| canvas.column(x, x, x));
        canvas.lines()
    }

    #[test]
    fn pixels_become_characters() {
        assert_eq!(diagonal(Charset::Blocks), ["▞ "]);
        assert_eq!(diagonal(Charset::Ascii), [".'"]);
        assert_eq!(diagonal(Charset::Braille), ["\u{2860}\u{280a}"]);
    }

    #[test]
    fn what_lies_outside_is_cut() {
        let mut canvas = Canvas::new(Charset::Blocks, 1, 1);
        canvas.column(9, 0, 9);
        canvas.column(0, 0, 99);
        assert_eq!(canvas.lines(), ["▌"]);
        assert!(Canvas::new(Charset::Blocks, 0, 0).lines().is_empty());
    }
}
