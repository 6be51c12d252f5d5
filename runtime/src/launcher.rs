//! Who has started this process: what launchers leave in its environment.

use std::env::var;

/// A program that starts the ranks of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launcher {
    /// "Open MPI's mpirun".
    pub(crate) name: &'static str,
    /// How many processes it has started, if it says so.
    pub(crate) size: Option<usize>,
    /// Which of them this is, if it says so.
    pub(crate) rank: Option<usize>,
}

/// A name, and the variables that say how many processes there are and which this is.
type Known = (&'static str, &'static str, &'static str);

/// The first whose variables are there is the one: launchers that start others' daemons come last.
const KNOWN: [Known; 3] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MPICH's mpiexec", "PMI_SIZE", "PMI_RANK"),
    // Slurm sets other variables for the script of a batch job too, but no step's.
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

impl Launcher {
    /// The one that has started this process, if it was one.
    pub(crate) fn of_this_process() -> Option<Launcher> {
        Launcher::among(&|name| var(name).ok())
    }

    fn among(variable: &dyn Fn(&str) -> Option<String>) -> Option<Launcher> {
        let number = |name| variable(name)?.trim().parse().ok();
        KNOWN
            .iter()
            .find_map(|&(name, size, rank)| {
                let of_a_step = name != "srun" || variable("SLURM_STEP_ID").is_some();
                let size: usize = number(size)?;
                of_a_step.then(|| Launcher { name, size: Some(size), rank: number(rank) })
            })
            .or_else(|| {
                let rank = number("PMIX_RANK")?;
                Some(Launcher { name: "a launcher that speaks PMIx", size: None, rank: Some(rank) })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::Launcher;

    fn among(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::among(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_launcher_is_known_by_its_variables() {
        assert_eq!(among(&[]), None);
        let ompi = among(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2")]);
        let ompi = ompi.expect("these are its variables");
        assert_eq!((ompi.name, ompi.size, ompi.rank), ("Open MPI's mpirun", Some(4), Some(2)));
        assert_eq!(among(&[("PMI_SIZE", "3"), ("PMI_RANK", "0")]).and_then(|it| it.size), Some(3));
        assert_eq!(among(&[("PMIX_RANK", "1")]).and_then(|it| it.rank), Some(1));
    }

    #[test]
    fn the_script_of_a_batch_job_is_no_step_of_it() {
        let script = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0")];
        assert_eq!(among(&script), None);
        let step = [script[0], script[1], ("SLURM_STEP_ID", "0")];
        assert_eq!(among(&step).map(|it| it.name), Some("srun"));
    }
}
