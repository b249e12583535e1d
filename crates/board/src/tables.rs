//! What the guest's firmware says about its CPUs: generated here, byte for byte, without an ACPI or
//! a device tree compiler.

pub mod aml;
pub mod device_tree;
pub mod fdt;
pub mod registers;
pub mod ssdt;
