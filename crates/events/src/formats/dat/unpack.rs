//! Packed parts of version 7.

use std::io::{Cursor, Read};

use super::Broken;

/// A Zstandard frame's first bytes; trace-cmd may leave them out.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How the parts of a file are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Packing {
    #[default]
    None,
    Zstd,
    Zlib,
}

impl Packing {
    pub fn of(name: &[u8]) -> Result<Packing, Broken> {
        match name {
            b"none" | b"" => Ok(Packing::None),
            b"zstd" => Ok(Packing::Zstd),
            b"zlib" => Ok(Packing::Zlib),
            other => Err(Broken::unsupported(
                "zstd, zlib or no packing",
                format!("packing {:?}", String::from_utf8_lossy(other)),
            )),
        }
    }

    /// Unpacks a part at the place `at`, of which `bytes` bytes are to come out.
    pub fn unpack(self, at: u64, packed: &[u8], bytes: u32) -> Result<Vec<u8>, Broken> {
        let failed = |error: String| Broken::wrong(at, format!("a part packed by {self:?}"), error);
        // Trust in the number would let a torn file ask for 4 GB.
        let mut out = Vec::with_capacity((bytes as usize).min(packed.len().saturating_mul(16)));
        let most = u64::from(bytes);
        let outcome = match self {
            Packing::None => packed.take(most).read_to_end(&mut out),
            Packing::Zlib => {
                flate2::read::ZlibDecoder::new(packed).take(most).read_to_end(&mut out)
            }
            Packing::Zstd => {
                let magic = if packed.starts_with(&ZSTD_MAGIC) { &[][..] } else { &ZSTD_MAGIC };
                let whole = Cursor::new(magic).chain(packed);
                let decoder = ruzstd::decoding::StreamingDecoder::new(whole)
                    .map_err(|error| failed(error.to_string()))?;
                decoder.take(most).read_to_end(&mut out)
            }
        };
        outcome.map_err(|error| failed(error.to_string()))?;
        if out.len() as u64 != most {
            return Err(Broken::wrong(
                at,
                format!("{most} bytes in a packed part"),
                out.len().to_string(),
            ));
        }
        Ok(out)
    }
}
