//! The core under test: N nodes in virtual time on a simulated network and simulated disks.

mod answers;
mod bench;
mod checks;
mod cluster;
mod disk;
mod driver;
mod membership;
mod node;
mod nonsense;
mod rules;
mod scripts;
mod simulation;
mod snapshots;
mod trace;
mod transitions;
mod withheld;
