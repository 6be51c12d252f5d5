//! Standing in for `cargo check`, as rust-analyzer has it: its options are understood, it is run
//! first, and what it says goes out unchanged before what is said here.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use cargo_metadata::{Target, TargetKind};
use clap::Args;

use crate::cli::Format;

/// The options that `cargo check` has. Those that choose what is compiled choose what is read here.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cargo")]
pub struct CargoOptions {
    /// Run `cargo check` with the same options first, and pass on what it says
    #[arg(long, conflicts_with = "paths")]
    pub cargo_check: bool,
    /// The same: rust-analyzer says so
    #[arg(long, conflicts_with = "paths", hide = true)]
    keep_going: bool,
    /// The workspace of this manifest instead of the one here
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    pub manifest_path: Option<PathBuf>,

    /// Only libraries
    #[arg(long, conflicts_with = "paths")]
    lib: bool,
    /// Only binaries
    #[arg(long, conflicts_with = "paths")]
    bins: bool,
    /// Only this binary (may be given more than once)
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    bin: Vec<String>,
    /// Only examples
    #[arg(long, conflicts_with = "paths")]
    examples: bool,
    /// Only this example
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    example: Vec<String>,
    /// Only tests
    #[arg(long, conflicts_with = "paths")]
    tests: bool,
    /// Only this test
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    test: Vec<String>,
    /// Only benchmarks
    #[arg(long, conflicts_with = "paths")]
    benches: bool,
    /// Only this benchmark
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    bench: Vec<String>,
    /// All of them, which is also what is read if nothing is chosen
    #[arg(long, conflicts_with = "paths")]
    all_targets: bool,

    #[command(flatten)]
    compiling: Compiling,
}

/// Options that only matter to a compiler: `cargo check` gets them, and what is read here stays the
/// same.
#[derive(Clone, Debug, Default, Args)]
struct Compiling {
    /// The features to compile with
    #[arg(short = 'F', long, value_name = "FEATURES", hide = true)]
    features: Vec<String>,
    #[arg(long, hide = true)]
    all_features: bool,
    #[arg(long, hide = true)]
    no_default_features: bool,
    #[arg(long, value_name = "TRIPLE", hide = true)]
    target: Vec<String>,
    #[arg(long, value_name = "FOLDER", hide = true)]
    target_dir: Option<PathBuf>,
    #[arg(short, long, hide = true)]
    release: bool,
    #[arg(long, value_name = "NAME", hide = true)]
    profile: Option<String>,
    #[arg(short, long, value_name = "N", allow_hyphen_values = true, hide = true)]
    jobs: Option<String>,
    #[arg(long, hide = true)]
    locked: bool,
    #[arg(long, hide = true)]
    offline: bool,
    #[arg(long, hide = true)]
    frozen: bool,
    #[arg(long, hide = true)]
    ignore_rust_version: bool,
    #[arg(long, hide = true)]
    future_incompat_report: bool,
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    config: Vec<String>,
    #[arg(short = 'Z', value_name = "FLAG", hide = true)]
    unstable: Vec<String>,
    #[arg(short, long, action = clap::ArgAction::Count, hide = true)]
    verbose: u8,
}

impl CargoOptions {
    /// Whether `cargo check` is to be run.
    pub fn runs_check(&self) -> bool {
        self.cargo_check || self.keep_going
    }

    /// Whether a target of a package is chosen.
    pub fn chooses(&self, target: &Target) -> bool {
        let names = [&self.bin, &self.example, &self.test, &self.bench];
        let kinds = [self.lib, self.bins, self.examples, self.tests, self.benches];
        let nothing_chosen = names.iter().all(|names| names.is_empty()) && !kinds.contains(&true);
        if self.all_targets || nothing_chosen {
            return true;
        }
        target.kind.iter().any(|kind| match kind {
            TargetKind::Bin => self.bins || self.bin.contains(&target.name),
            TargetKind::Example => self.examples || self.example.contains(&target.name),
            TargetKind::Test => self.tests || self.test.contains(&target.name),
            TargetKind::Bench => self.benches || self.bench.contains(&target.name),
            TargetKind::CustomBuild => false,
            _ => self.lib,
        })
    }

    /// The targets that are chosen by name: their kind, the kind as the option calls it, the name.
    pub fn named(&self) -> impl Iterator<Item = (TargetKind, &'static str, &str)> {
        let options = [
            (TargetKind::Bin, "bin", &self.bin),
            (TargetKind::Example, "example", &self.example),
            (TargetKind::Test, "test", &self.test),
            (TargetKind::Bench, "bench", &self.bench),
        ];
        options.into_iter().flat_map(|(kind, option, names)| {
            names.iter().map(move |name| (kind.clone(), option, name.as_str()))
        })
    }

    /// Starts `cargo check`, which prints for itself.
    pub fn start_check(&self, packages: &PackageChoice<'_>, format: Format) -> io::Result<Child> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Command::new(cargo)
            .arg("check")
            .args(self.arguments(packages, format))
            .stdin(Stdio::null())
            .spawn()
    }

    fn arguments(&self, packages: &PackageChoice<'_>, format: Format) -> Vec<String> {
        let mut arguments = Arguments::default();
        arguments.flag("workspace", packages.workspace);
        arguments.values("package", packages.packages);
        arguments.values("exclude", packages.exclude);
        match format {
            Format::Json => arguments.value("message-format", Some("json")),
            Format::JsonAnsi => {
                arguments.value("message-format", Some("json-diagnostic-rendered-ansi"));
            }
            Format::Short => arguments.value("message-format", Some("short")),
            Format::Human | Format::Github => {}
        }
        let path = |path: &Option<PathBuf>| path.as_ref().map(|it| it.display().to_string());
        arguments.value("manifest-path", path(&self.manifest_path).as_deref());
        arguments.flag("keep-going", self.keep_going);
        for (name, is_set) in [
            ("lib", self.lib),
            ("bins", self.bins),
            ("examples", self.examples),
            ("tests", self.tests),
            ("benches", self.benches),
            ("all-targets", self.all_targets),
        ] {
            arguments.flag(name, is_set);
        }
        for (name, values) in [
            ("bin", &self.bin),
            ("example", &self.example),
            ("test", &self.test),
            ("bench", &self.bench),
        ] {
            arguments.values(name, values);
        }
        let only = &self.compiling;
        for (name, is_set) in [
            ("all-features", only.all_features),
            ("no-default-features", only.no_default_features),
            ("release", only.release),
            ("locked", only.locked),
            ("offline", only.offline),
            ("frozen", only.frozen),
            ("ignore-rust-version", only.ignore_rust_version),
            ("future-incompat-report", only.future_incompat_report),
        ] {
            arguments.flag(name, is_set);
        }
        for (name, values) in
            [("features", &only.features), ("target", &only.target), ("config", &only.config)]
        {
            arguments.values(name, values);
        }
        arguments.value("target-dir", path(&only.target_dir).as_deref());
        arguments.value("profile", only.profile.as_deref());
        arguments.value("jobs", only.jobs.as_deref());
        arguments.0.extend(only.unstable.iter().map(|flag| format!("-Z{flag}")));
        arguments.0.extend((0..only.verbose).map(|_| "--verbose".to_owned()));
        arguments.0
    }
}

/// Which packages `cargo check` is to compile.
#[derive(Clone, Copy, Debug)]
pub struct PackageChoice<'a> {
    /// `-p`.
    pub packages: &'a [String],
    /// `--workspace`.
    pub workspace: bool,
    /// `--exclude`.
    pub exclude: &'a [String],
}

#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| format!("--{name}")));
    }

    fn value(&mut self, name: &str, value: Option<&str>) {
        self.0.extend(value.map(|value| format!("--{name}={value}")));
    }

    fn values(&mut self, name: &str, values: &[String]) {
        values.iter().for_each(|value| self.value(name, Some(value)));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::CommandLine;

    fn passed_on(line: &str) -> String {
        let line = CommandLine::try_parse_from(line.split_whitespace()).expect("a command line");
        let check = line.check;
        assert!(check.cargo.runs_check());
        let packages = PackageChoice {
            packages: &check.packages,
            workspace: check.workspace,
            exclude: &check.exclude,
        };
        check.cargo.arguments(&packages, check.message_format).join(" ")
    }

    #[test]
    fn what_rust_analyzer_says_reaches_cargo_check() {
        for line in [
            "--workspace --message-format=json --manifest-path=/w/Cargo.toml --keep-going --all-targets",
            "--package=path+file:///w#ring@0.1.0 --message-format=json-diagnostic-rendered-ansi \
             --manifest-path=/w/Cargo.toml --keep-going --bin=ring --no-default-features \
             --features=a,b --target=x86_64-unknown-linux-gnu --target-dir=/t",
            "--message-format=json --keep-going --lib --bins --examples --tests --benches \
             --all-features --release --locked --offline --config=f.toml --jobs=2 -Zunstable-options",
        ] {
            let expected: Vec<&str> = line.split_whitespace().collect();
            let mut passed = passed_on(&format!("p2p-check {line}"));
            for word in &expected {
                assert!(passed.contains(word), "{word} is missing in {passed}");
                passed = passed.replacen(word, "", 1);
            }
            assert_eq!(passed.trim(), "", "nothing is added");
        }
    }
}
