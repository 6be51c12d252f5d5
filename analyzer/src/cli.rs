//! The command line, as data.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// No run is larger: what every rank does is held in memory.
const MOST_RANKS: u32 = 65_536;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "p2p-check",
    bin_name = "cargo p2p-check",
    version,
    about = "Finds hung and garbled messages between ranks before the job runs",
    after_help = "Exit status: 0 nothing at deny level; 1 findings at deny level; \
                  2 something could not be checked.",
    args_conflicts_with_subcommands = true
)]
pub struct CommandLine {
    /// What to do instead of checking.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to check, and how.
    #[command(flatten)]
    pub check: Check,
}

/// What there is besides checking.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a rule means, why it matters and what to write instead
    Explain {
        /// The rule's name, as reports print it
        rule: String,
        /// When to use colour
        #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
        color: Color,
    },
    /// List all rules with their groups and levels
    Rules,
}

/// What to check, and how.
#[derive(Debug, Args)]
pub struct Check {
    /// Rust files or folders to check; without any, the cargo workspace here
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Check this package of the workspace (may be given more than once)
    #[arg(short, long = "package", value_name = "NAME", conflicts_with = "paths")]
    pub packages: Vec<String>,
    /// Check all packages of the workspace
    #[arg(long, conflicts_with = "paths")]
    pub workspace: bool,
    /// Leave this package out
    #[arg(long, value_name = "NAME", requires = "workspace")]
    pub exclude: Vec<String>,

    /// World sizes to check: `4`, `2,3,8`, `2..=8` [default: those a protocol allows, from 2 to 8
    /// and, where there is time, up to 64]
    #[arg(long, value_name = "LIST", value_parser = parse_ranks)]
    pub ranks: Option<Ranks>,
    /// Take standard sends of up to this many bytes to be buffered
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub eager_limit: u64,

    /// Do not report a rule, a group or `all`
    #[arg(long, value_name = "RULE", action = ArgAction::Append, help_heading = "Levels")]
    pub allow: Vec<String>,
    /// Report it without failing
    #[arg(long, value_name = "RULE", action = ArgAction::Append, help_heading = "Levels")]
    pub warn: Vec<String>,
    /// Report it and fail
    #[arg(long, value_name = "RULE", action = ArgAction::Append, help_heading = "Levels")]
    pub deny: Vec<String>,
    /// Exit with 0 even if there are findings
    #[arg(long, help_heading = "Levels")]
    pub exit_zero: bool,

    /// How to report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Report")]
    pub message_format: Format,
    /// Write the report to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    pub output: Option<PathBuf>,
    /// With `json`: end with one line that says what was checked
    #[arg(long, help_heading = "Report")]
    pub summary_json: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Report")]
    pub color: Color,
    /// Print findings only, no summary
    #[arg(short, long, help_heading = "Report")]
    pub quiet: bool,
}

/// How to report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// With the source, both ends of a message and who waits for whom
    #[default]
    Human,
    /// One line a finding
    Short,
    /// Cargo's JSON, one object a line
    Json,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to use colour, for output that goes to a terminal or not.
    pub fn enabled(self, terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                terminal && !set("NO_COLOR") && !dumb
            }
        }
    }
}

/// World sizes, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks(pub Vec<u32>);

/// Reads `4`, `2,3,8`, `2..=8`, `2..9`, or a list of these.
fn parse_ranks(text: &str) -> Result<Ranks, String> {
    let number = |text: &str| -> Result<u32, String> {
        let text = text.trim();
        let number: NonZeroU32 = text.parse().map_err(|_| {
            format!("`{text}` is no number of ranks, such as `4`, `2,3,8`, `2..=8`")
        })?;
        if number.get() > MOST_RANKS {
            return Err(format!("{number} is more than the {MOST_RANKS} ranks that can be run"));
        }
        Ok(number.get())
    };
    let mut sizes = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => sizes.push(number(part)?),
            Some((first, last)) => {
                let first = number(first)?;
                let end = match last.strip_prefix('=') {
                    Some(last) => number(last)? + 1,
                    None => number(last)?,
                };
                if first >= end {
                    return Err(format!("`{part}` is empty"));
                }
                sizes.extend(first..end);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Ranks(sizes))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn ranks_are_a_list_of_numbers_and_ranges() {
        let sizes = |text| parse_ranks(text).map(|ranks| ranks.0);
        assert_eq!(sizes("4"), Ok(vec![4]));
        assert_eq!(sizes("8, 2,3,3"), Ok(vec![2, 3, 8]));
        assert_eq!(sizes("2..=4,6..8"), Ok(vec![2, 3, 4, 6, 7]));
        for wrong in ["", "0", "x", "2..", "4..4", "8..=2", "-1", "2..=99999999999", "65537"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}
