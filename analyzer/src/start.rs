//! From the command line to the exit status, which is decided here and nowhere else.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use p2p_protocol::finding::Level;

use crate::cargo::PackageChoice;
use crate::catalogue;
use crate::cli::{Check, Color, Command, CommandLine, Format};
use crate::config::{Selector, Setting};
use crate::explain;
use crate::report::{Outcome, github, human, json, short};

/// How the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocation {
    /// As cargo's subcommand: cargo gives the subcommand's name as the first argument, but an
    /// alias for `cargo run` does not.
    ByCargo,
    /// By its own name.
    Plain,
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing at deny level.
    Clean = 0,
    /// Findings at deny level.
    Denied = 1,
    /// Something could not be checked.
    Unchecked = 2,
}

/// Runs the program.
pub fn start(invocation: Invocation) -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if invocation == Invocation::ByCargo && arguments.get(1).is_some_and(|it| it == "p2p-check") {
        arguments.remove(1);
    }
    ExitCode::from(run(arguments) as u8)
}

fn run(arguments: Vec<OsString>) -> Status {
    let matches = match CommandLine::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(answer) => {
            _ = answer.print();
            return if answer.use_stderr() { Status::Unchecked } else { Status::Clean };
        }
    };
    let line = match CommandLine::from_arg_matches(&matches) {
        Ok(line) => line,
        Err(error) => return refuse(&error.to_string()),
    };
    match line.command {
        Some(Command::Explain { rule, color }) => explain_rule(&rule, color),
        Some(Command::Rules) => print(&explain::table(), Status::Clean),
        None => check(&line.check, &matches),
    }
}

fn check(options: &Check, matches: &ArgMatches) -> Status {
    let json = matches!(options.message_format, Format::Json | Format::JsonAnsi);
    if options.summary_json && !json {
        return refuse("--summary-json needs --message-format json");
    }
    let settings = match settings(matches) {
        Ok(settings) => settings,
        Err(message) => return refuse(&message),
    };
    let packages = PackageChoice {
        packages: &options.packages,
        workspace: options.workspace,
        exclude: &options.exclude,
    };
    // Both run at once; what is found here waits until cargo has said all that it has to say.
    let cargo_check = options
        .cargo
        .runs_check()
        .then(|| options.cargo.start_check(&packages, options.message_format));
    let outcome = crate::check(options, &settings);
    let compiled = match cargo_check.map(|started| started.and_then(|mut child| child.wait())) {
        None => true,
        Some(Ok(status)) => status.success(),
        Some(Err(error)) => return refuse(&format!("`cargo check` cannot be run: {error}")),
    };
    let color = options.color.enabled(options.output.is_none() && io::stdout().is_terminal());
    let text = match options.message_format {
        Format::Human => human::report(&outcome, color, options.quiet),
        Format::Short => short::report(&outcome),
        Format::Json => json::report(&outcome, false, options.summary_json),
        Format::JsonAnsi => json::report(&outcome, true, options.summary_json),
        Format::Github => github::report(&outcome),
    };
    if matches!(options.message_format, Format::Short | Format::Github) {
        // Apart from what is read line by line.
        eprint!("{}", human::closing(&outcome, options.quiet));
    }
    let status = match status(&outcome, options.exit_zero) {
        Status::Clean if !compiled => Status::Denied,
        status => status,
    };
    // The process ends: nobody needs to take apart what it has made.
    std::mem::forget(outcome);
    match &options.output {
        None => print(&text, status),
        Some(path) => match std::fs::write(path, text) {
            Ok(()) => status,
            Err(error) => {
                let reason = crate::source::reason(&error);
                refuse(&format!("`{}` cannot be written: {reason}", path.display()))
            }
        },
    }
}

fn status(outcome: &Outcome, exit_zero: bool) -> Status {
    match (outcome.summary.unchecked, outcome.summary.errors) {
        (0, 0) => Status::Clean,
        (0, _) if exit_zero => Status::Clean,
        (0, _) => Status::Denied,
        _ => Status::Unchecked,
    }
}

/// The levels of the command line, in the order in which they stand there.
fn settings(matches: &ArgMatches) -> Result<Vec<Setting>, String> {
    let mut settings = Vec::new();
    for (option, level) in [("allow", Level::Allow), ("warn", Level::Warn), ("deny", Level::Deny)] {
        let names = matches.get_many::<String>(option).into_iter().flatten();
        let places = matches.indices_of(option).into_iter().flatten();
        for (name, place) in names.zip(places) {
            let selector = Selector::parse(name).map_err(|text| format!("--{option}: {text}"))?;
            settings.push((place, (selector, level)));
        }
    }
    settings.sort_by_key(|&(place, _)| place);
    Ok(settings.into_iter().map(|(_, setting)| setting).collect())
}

fn explain_rule(name: &str, color: Color) -> Status {
    match catalogue::find(name) {
        Some(rule) => {
            let color = color.enabled(io::stdout().is_terminal());
            print(&explain::explain(&rule, color), Status::Clean)
        }
        None => {
            let rules = catalogue::all();
            let hint = catalogue::did_you_mean(name, rules.iter().map(|rule| rule.name));
            refuse(&format!("no rule is called `{name}`{hint}"))
        }
    }
}

/// Prints to the standard output. A reader that has gone, such as `head`, is no failure.
fn print(text: &str, status: Status) -> Status {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => status,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
        Err(error) => refuse(&format!("the report cannot be written: {error}")),
    }
}

fn refuse(message: &str) -> Status {
    _ = writeln!(io::stderr(), "error: {message}");
    Status::Unchecked
}
