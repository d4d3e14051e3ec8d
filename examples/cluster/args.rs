//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Controllers and brokers on this machine, speaking Kafka's protocol over loopback sockets.
///
/// Without options the cluster stays up until Ctrl-C, with its data in a temporary directory.
#[derive(Debug, Clone, Parser)]
#[command(name = "cluster", version)]
pub struct Args {
    /// How many controllers to start; their ids are 1, 2, …
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=9))]
    pub controllers: u16,

    /// How many brokers to start; their ids follow on those of the controllers. With 0 the
    /// controllers wait for brokers of your own.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=99))]
    pub brokers: u16,

    /// Keep the data in this directory and find it there again; without it the data lies in a
    /// temporary directory and goes with the cluster.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Listen on this port and those after it, controllers first; without it on free ports.
    #[arg(long, value_name = "PORT")]
    pub base_port: Option<u16>,

    /// Play a story of crashes and returns, check what happens, and exit: 0 if every check held.
    #[arg(long)]
    pub tour: bool,

    /// Print one JSON object a line instead of text.
    #[arg(long)]
    pub json: bool,
}
