//! The command line, as data.

use std::ops::Range;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::cargo::CargoOptions;

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
    /// Files in Rust or C, or folders, to check; without any, the cargo workspace here
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

    /// What `cargo check` understands as well.
    #[command(flatten)]
    pub cargo: CargoOptions,

    /// C: where local headers are looked for besides the folder of the file
    #[arg(short = 'I', value_name = "DIR", action = ArgAction::Append, help_heading = "C")]
    pub include: Vec<PathBuf>,
    /// C: a macro that is defined before a file begins
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_definition, action = ArgAction::Append, help_heading = "C")]
    pub define: Vec<String>,
    /// C: what the build says of headers and macros [default: the nearest compile_commands.json, in
    /// the folder of the file, in `build` there, or further up]
    #[arg(long, value_name = "FILE", help_heading = "C")]
    pub compile_commands: Option<PathBuf>,

    /// World sizes to check: `4`, `2,3,8`, `2..=8` [default: 2 to 8, without those that a program
    /// or a protocol refuses; protocols, where there is time, up to 64]
    #[arg(long, value_name = "LIST", value_parser = parse_ranks, allow_hyphen_values = true)]
    pub ranks: Option<Ranks>,
    /// Take standard sends of up to this many bytes to be buffered
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_hyphen_values = true, default_value_t = 0)]
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
    /// List every call that communicates, and how far it was understood
    #[arg(long, help_heading = "Report")]
    pub coverage: bool,
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
    /// The same, with colour in what is rendered, as rust-analyzer asks for it
    #[value(name = "json-diagnostic-rendered-ansi", hide = true)]
    JsonAnsi,
    /// Workflow commands, which GitHub shows beside the code
    Github,
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
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let range = parse_sizes(part.trim())
            .map_err(|wrong| format!("{wrong}; write world sizes as `4`, `2,3,8` or `2..=8`"))?;
        sizes.extend(range);
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Ranks(sizes))
}

/// One size, or a range with both ends.
fn parse_sizes(part: &str) -> Result<Range<u32>, String> {
    let Some((first, last)) = part.split_once("..") else {
        let only = parse_size(part)?;
        return Ok(only..only + 1);
    };
    let (last, included) = last.strip_prefix('=').map_or((last, 0), |last| (last, 1));
    for (end, what) in [(first, "begins"), (last, "ends")] {
        if end.trim().is_empty() {
            return Err(format!("`{part}` does not say where it {what}"));
        }
    }
    let range = parse_size(first)?..parse_size(last)? + included;
    if range.is_empty() { Err(format!("there is no size in `{part}`")) } else { Ok(range) }
}

fn parse_size(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a number is missing".to_owned());
    }
    if !is_whole_number(text) {
        return Err(format!("`{text}` is no number of ranks"));
    }
    match text.parse() {
        Ok(0) => Err("a world has at least one rank".to_owned()),
        Ok(size) if size <= MOST_RANKS => Ok(size),
        _ => Err(format!("`{text}` is more than the {MOST_RANKS} ranks that can be run")),
    }
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = if is_whole_number(text) { "is too large" } else { "is no number of bytes" };
    text.parse().map_err(|_| format!("`{text}` {wrong}; write it in digits only, as `4096`"))
}

/// Reads `NAME`, `NAME=VALUE` or `NAME(PARAMETERS)=VALUE`.
fn parse_definition(text: &str) -> Result<String, String> {
    let name = text.split(['=', '(']).next().unwrap_or_default().trim();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_name = name.chars().all(is_part) && !name.starts_with(|it: char| it.is_ascii_digit());
    if name.is_empty() || !is_name {
        return Err(format!("`{name}` is no name of a macro; write `NAME` or `NAME=VALUE`"));
    }
    Ok(text.to_owned())
}

fn is_whole_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
        for (text, wrong) in [
            ("", "a number is missing"),
            ("2,,3", "a number is missing"),
            ("0", "a world has at least one rank"),
            ("two", "`two` is no number of ranks"),
            ("-1", "`-1` is no number of ranks"),
            ("2..", "`2..` does not say where it ends"),
            ("2..=", "`2..=` does not say where it ends"),
            ("..=4", "`..=4` does not say where it begins"),
            ("4..4", "there is no size in `4..4`"),
            ("8..=2", "there is no size in `8..=2`"),
            ("65537", "`65537` is more than the 65536 ranks that can be run"),
            ("2..=99999999999", "`99999999999` is more than the 65536 ranks that can be run"),
        ] {
            let accepted = "write world sizes as `4`, `2,3,8` or `2..=8`";
            assert_eq!(sizes(text), Err(format!("{wrong}; {accepted}")));
        }
    }

    #[test]
    fn a_macro_has_a_name() {
        for text in ["N", "N=", "N=3", "f(a, b)=a + b", "_x1=\"a b\""] {
            assert_eq!(parse_definition(text), Ok(text.to_owned()));
        }
        for text in ["", "=3", "1N", "a b=1", "-N"] {
            assert!(parse_definition(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_limit_is_written_in_digits() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        for text in ["4k", "-1", ""] {
            let wrong =
                format!("`{text}` is no number of bytes; write it in digits only, as `4096`");
            assert_eq!(parse_bytes(text), Err(wrong));
        }
        let large = "99999999999999999999";
        assert!(parse_bytes(large).is_err_and(|wrong| wrong.contains("is too large")));
    }
}
