//! The whole way from paths to an outcome.

use p2p_protocol::finding::Group;
use p2p_protocol::grammar::CheckOptions;

use crate::cli::Check;
use crate::config::Setting;
use crate::examine::{Examination, Examined};
use crate::gather::Gathering;
use crate::read::c::programs::Given;
use crate::read::rust::TargetProgram;
use crate::read::{self, Readings};
use crate::report::Outcome;
use crate::source::discover::{self, Input, Selection};
use crate::source::{FileId, Language, Location};

/// How many statements are executed for one size at most: more than in the macro, which a compiler
/// waits for.
const STATEMENTS: u64 = 2_000_000;

/// The same where the user has named the sizes.
const STATEMENTS_OF_NAMED_SIZE: u64 = 4_000_000;

/// So few sizes of one program are evaluated one after the other.
const FEW_SIZES: usize = 3;

/// Checks what the options name, at the levels that the command line sets.
pub fn check(options: &Check, settings: &[Setting]) -> Outcome {
    let discovered = if options.paths.is_empty() {
        let (packages, exclude) = (options.packages.clone(), options.exclude.clone());
        let cargo = options.cargo.clone();
        discover::in_workspace(&Selection {
            packages,
            workspace: options.workspace,
            exclude,
            cargo,
        })
    } else {
        discover::under_paths(&options.paths)
    };
    let everything = options.ranks.is_none() && options.eager_limit == 0;
    let mut gathering = Gathering::new(settings, everything);
    let shows_work = gathering.asks_for(Group::Performance.name(), &discovered.inputs);
    let threads = threads_for(&discovered.inputs, options);
    let looked = read::with_room(threads, || look(discovered.inputs, options, shows_work));
    gathering.add_packages(discovered.packages);
    gathering.fail_all(discovered.failures);
    match looked {
        Ok((readings, examined, programs)) => {
            gathering.add(readings, examined, options.coverage);
            gathering.keep(programs);
        }
        Err(failure) => gathering.fail_all(vec![failure]),
    }
    gathering.finish()
}

/// How many threads there are to be, if not one for each core: with one file and few sizes there is
/// nothing to do for a second one, which takes longer to start than it saves.
fn threads_for(inputs: &[Input], options: &Check) -> Option<usize> {
    let few_sizes = options.ranks.as_ref().is_some_and(|ranks| ranks.0.len() <= FEW_SIZES);
    (inputs.len() == 1 && few_sizes).then_some(1)
}

/// Reads the files, judges the protocols in them, and runs the programs; whether it is looked at where
/// they compute.
fn look(
    inputs: Vec<Input>,
    options: &Check,
    shows_work: bool,
) -> (Readings, Examined, Vec<TargetProgram>) {
    let sizes = options.ranks.as_ref().map(|ranks| ranks.0.as_slice());
    let judged = CheckOptions {
        sizes: sizes.map(<[u32]>::to_vec),
        eager_limit: options.eager_limit,
        statements: if sizes.is_some() { STATEMENTS_OF_NAMED_SIZE } else { STATEMENTS },
    };
    let (rust, c): (Vec<Input>, Vec<Input>) =
        inputs.into_iter().partition(|input| input.language() == Language::Rust);
    let mut readings = read::all(rust, &judged);
    let examination = Examination { shows_work, ..Examination::new(sizes, options.eager_limit) };
    let run = |target: &TargetProgram| examination.run(target);
    let mut ran = readings.programs(&examination.sizes, run);
    let given = Given {
        folders: options.include.clone(),
        definitions: options.define.clone(),
        database: options.compile_commands.clone(),
    };
    ran.extend(readings.programs_in_c(c, &given, run));
    let source = |file: FileId| &readings.files[file].source;
    let name = |file| source(file).name.clone();
    let place = |at: &Location| source(at.file).short(at.bytes.start);
    let (programs, runs): (Vec<_>, Vec<_>) = ran.into_iter().unzip();
    let examined = Examined::of(&programs, runs, name, place);
    (readings, examined, programs)
}
