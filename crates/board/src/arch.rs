//! The two kinds of board, and all that differs between them by name alone.

use crate::error::BoardError;
use flyball_platform::Architecture;
use std::fmt;
use std::str::FromStr;

/// Architecture of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// x86-64: `acpi-cpufreq` on a table of P-states.
    X86_64,
    /// 64-bit ARM: `mediatek-cpufreq-hw` on registers in reserved memory.
    Aarch64,
}

impl From<Architecture> for Arch {
    fn from(of: Architecture) -> Arch {
        match of {
            Architecture::X86_64 => Arch::X86_64,
            Architecture::Aarch64 => Arch::Aarch64,
        }
    }
}

impl Arch {
    /// Both.
    pub const ALL: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];

    /// The architecture of this program, where a board has it.
    pub fn own() -> Option<Arch> {
        std::env::consts::ARCH.parse().ok()
    }

    /// The name on the command line, and the kernel's (`uname -m`).
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
        }
    }

    /// Debian's name.
    pub fn debian(self) -> &'static str {
        match self {
            Arch::X86_64 => "amd64",
            Arch::Aarch64 => "arm64",
        }
    }

    /// The emulator's program.
    pub fn qemu(self) -> &'static str {
        match self {
            Arch::X86_64 => "qemu-system-x86_64",
            Arch::Aarch64 => "qemu-system-aarch64",
        }
    }

    /// The kernel's console.
    pub fn console(self) -> &'static str {
        match self {
            Arch::X86_64 => "ttyS0",
            Arch::Aarch64 => "ttyAMA0",
        }
    }

    /// The cpufreq driver, as a module.
    pub fn driver(self) -> &'static str {
        match self {
            Arch::X86_64 => "acpi_cpufreq",
            Arch::Aarch64 => "mediatek_cpufreq_hw",
        }
    }

    /// The platform that is meant where none is named.
    pub fn usual_platform(self) -> &'static str {
        match self {
            Arch::X86_64 => "board-x86",
            Arch::Aarch64 => "board-aarch64",
        }
    }

    /// The Debian kernel that is meant where none is named. Debian's backports keep only their newest,
    /// so a series is named where there is no long-term one to name.
    pub fn usual_kernel(self) -> &'static str {
        match self {
            Arch::X86_64 => "debian:6.12",
            Arch::Aarch64 => "debian:7",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Arch {
    type Err = BoardError;

    fn from_str(text: &str) -> Result<Arch, BoardError> {
        match text {
            "x86_64" | "x86-64" | "amd64" => Ok(Arch::X86_64),
            "aarch64" | "arm64" => Ok(Arch::Aarch64),
            _ => Err(BoardError::input(
                "architecture",
                format!("expected x86_64 or aarch64, found \"{text}\""),
            )),
        }
    }
}
