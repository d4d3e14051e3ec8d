//! The core under test: N nodes in virtual time on a simulated network and simulated disks.

mod bench;
mod cluster;
mod disk;
mod node;
mod rules;
mod scripts;
mod simulation;
mod trace;
mod transitions;
