//! `cargo xtask`: what the developers of this workspace do over and over, one file a command.

#![expect(clippy::print_stdout, reason = "a command speaks to whoever has called it")]

mod bench;
mod corpus;
mod fixtures;
mod generate;
mod mpi;
mod new_rule;
mod setup;
mod test;
mod tune;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a command ends with: nothing more to say, or why it failed.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Tests, measures and extends this workspace.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the checks and tests need: both MPIs and what rsmpi is built with
    Setup,
    /// Run every check and every test
    Test {
        /// Optimised, and with as many random cases as the verdict deserves
        #[arg(long)]
        long: bool,
    },
    /// Measure what the project promises, as Markdown tables with the targets beside
    Bench {
        /// What to measure; everything if not given
        #[arg(value_enum)]
        what: Vec<bench::Subject>,
    },
    /// Check the programs in `fixtures/rsmpi`, run them with Open MPI, and compare
    Rsmpi,
    /// Check the programs in `fixtures/c`, run them with Open MPI, and compare
    C,
    /// Run the examples and the test programs as threads and with every MPI that is here
    Programs {
        /// Optimised, and with as many steps as the verdict deserves
        #[arg(long)]
        long: bool,
        /// Only these
        #[arg(value_name = "NAME")]
        only: Vec<String>,
    },
    /// Measure the ways for messages to travel over MPI, and write the policy that takes the fastest
    Tune {
        /// Where the policies go, a file for each MPI
        #[arg(value_name = "FOLDER", default_value = ".")]
        folder: PathBuf,
    },
    /// Run the checker over other people's crates: what it finds, and how much it understands
    Corpus {
        /// Folders of crates, crates, and Rust files
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Start a new rule: its folder, text and cases
    NewRule {
        /// Its kebab-case name
        name: String,
    },
    /// Write the book's pages about the rules from the rules' own texts
    Generate {
        /// Change nothing; fail if a page is not what it would be
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Setup => setup::run_all(),
        Command::Test { long } => test::run_all(long),
        Command::Bench { what } => bench::run(&what),
        Command::Corpus { paths } => corpus::run_over(&paths),
        Command::Programs { long, only } => mpi::programs::run(long, &only),
        Command::Tune { folder } => tune::run(&folder),
        Command::Rsmpi => fixtures::run_rsmpi(),
        Command::C => fixtures::run_c(),
        Command::NewRule { name } => new_rule::run(&name),
        Command::Generate { check } => generate::run(check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
