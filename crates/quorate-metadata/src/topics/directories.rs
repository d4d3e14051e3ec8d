//! Directory ids by small numbers, so that a partition need not carry sixteen bytes for each replica.

use im::OrdMap;
use quorate_types::DirectoryId;

use super::radix::Radix;

/// The directories ever named by a partition. They are as few as there are disks, so none is
/// forgotten; a number stands for the same directory in all later versions.
#[derive(Clone, Default)]
pub(super) struct Directories {
    by_number: Radix<DirectoryId>,
    numbers: OrdMap<DirectoryId, u32>,
}

impl Directories {
    /// The number of that directory; a new one if it has none yet.
    pub(super) fn number(&mut self, directory: DirectoryId) -> u32 {
        if let Some(number) = self.numbers.get(&directory) {
            return *number;
        }
        // More than 2³² directories do not fit into the memory that their records take.
        let number = self.numbers.len() as u32;
        self.numbers.insert(directory, number);
        self.by_number.set(number, Some(directory));
        number
    }

    /// The number of that directory, if it has one.
    pub(super) fn known(&self, directory: DirectoryId) -> Option<u32> {
        self.numbers.get(&directory).copied()
    }

    /// The directory of that number.
    pub(super) fn get(&self, number: u32) -> DirectoryId {
        self.by_number.get(number).copied().unwrap_or_default()
    }

    /// Whether no number stands for different directories in the two, so that rows can be compared
    /// as they are.
    pub(super) fn agree_with(&self, other: &Directories) -> bool {
        !self
            .by_number
            .diff(&other.by_number)
            .any(|(_, one, two)| one.is_some() && two.is_some())
    }
}
