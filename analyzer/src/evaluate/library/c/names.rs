//! Functions of which only this matters: they send no message and change nothing that the program can
//! see, but what their result is handed to. What comes of them nobody knows.

use crate::evaluate::machine::{Call, Machine};
use crate::evaluate::value::Value;
use crate::program::Type;

/// Functions that do nothing to memory, and give nothing that anyone goes by.
const SILENT: &[&str] = &[
    "atexit",
    "clearerr",
    "fclose",
    "fflush",
    "free_matrix",
    "nanosleep",
    "pclose",
    "rewind",
    "setbuf",
    "setlinebuf",
    "setlocale",
    "setvbuf",
    "sleep",
    "srand",
    "srand48",
    "srandom",
    "usleep",
    "signal",
    "sigaction",
    "setenv",
    "unsetenv",
    "putenv",
    "remove",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    "chdir",
    "close",
    "fsync",
    "ftruncate",
    "munmap",
    "syslog",
    "openlog",
    "closelog",
    "prefetch",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "omp_set_num_threads",
    "omp_set_dynamic",
    "omp_set_nested",
    "omp_init_lock",
    "omp_destroy_lock",
    "omp_set_lock",
    "omp_unset_lock",
    "feclearexcept",
    "feenableexcept",
    "fesetround",
    "alarm",
    "raise",
    "kill",
    "sync",
    "mlockall",
    "va_start",
    "va_end",
    "va_copy",
];

/// Functions whose result is another one each time, on each rank: time, numbers by chance, files.
const CHANCE: &[&str] = &[
    "rand",
    "random",
    "drand48",
    "lrand48",
    "mrand48",
    "erand48",
    "nrand48",
    "rand_r",
    "random_r",
    "arc4random",
    "time",
    "clock",
    "omp_get_wtime",
    "omp_get_thread_num",
    "getpid",
    "getppid",
    "gettid",
    "gethostid",
    "sched_getcpu",
    "fgetc",
    "getc",
    "getchar",
    "feof",
    "ferror",
    "ftell",
    "ftello",
    "fseek",
    "fseeko",
    "fileno",
    "fopen",
    "fdopen",
    "freopen",
    "popen",
    "tmpfile",
    "open",
    "creat",
    "lseek",
    "access",
    "isatty",
    "opendir",
    "readdir",
    "closedir",
    "mmap",
    "dlopen",
    "dlsym",
    "fork",
    "wait",
    "waitpid",
    "pthread_self",
    "ungetc",
    "errno",
    "__errno_location",
    "strerror",
    "times",
    "getrandom",
];

/// Functions that fill what they are handed with what nobody knows.
const FILLING: &[&str] = &[
    "gettimeofday",
    "clock_gettime",
    "getrusage",
    "gethostname",
    "uname",
    "stat",
    "fstat",
    "fread",
    "read",
    "pread",
    "fgets",
    "gets",
    "getline",
    "getdelim",
    "fscanf",
    "scanf",
    "getcwd",
    "getdomainname",
    "localtime_r",
    "gmtime_r",
    "times",
    "getloadavg",
    "sysinfo",
    "statvfs",
    "srand48_r",
    "drand48_r",
    "timespec_get",
    "getpwnam_r",
    "realpath",
];

/// What every rank has alike where all of them run on machines of one kind.
const ALIKE: &[&str] = &[
    "getpagesize",
    "sysconf",
    "omp_get_max_threads",
    "omp_get_num_threads",
    "omp_get_num_procs",
    "getopt",
    "getopt_long",
    "getopt_long_only",
    "basename",
    "dirname",
];

/// Calls one of these functions.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Value> {
    if SILENT.contains(&name) {
        return Some(machine.fresh(call.result()));
    }
    if FILLING.contains(&name) {
        for argument in &call.arguments {
            super::memory::touch(machine, argument, true, call.place);
            machine.forget_behind(argument);
        }
        return Some(machine.fresh(call.result()));
    }
    if CHANCE.contains(&name) {
        // The time may be put into a variable as well.
        if name == "time" {
            call.arguments.iter().for_each(|argument| machine.forget_behind(argument));
        }
        return Some(machine.fresh(call.result()));
    }
    if ALIKE.contains(&name) {
        return Some(alike(machine, name, call));
    }
    // Libraries that only compute, on what they are handed.
    const COMPUTING: [&str; 7] = ["cblas_", "LAPACKE_", "gsl_", "omp_", "_mm", "fftw_", "fftwf_"];
    let computes = COMPUTING.iter().any(|start| name.starts_with(start)) && !name.contains("mpi");
    if computes {
        call.arguments.iter().for_each(|argument| machine.forget_behind(argument));
        return Some(machine.fresh(call.result()));
    }
    None
}

/// What is the same on every rank, and another thing each time that it is asked for.
fn alike(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Value {
    let ty = match &*call.ty {
        Type::Unknown => Type::Scalar(crate::program::Scalar::I32),
        ty => ty.clone(),
    };
    if !name.starts_with("getopt") {
        return machine.uniform(name, ty);
    }
    match machine.count(crate::evaluate::state::Counted::Options) {
        Some(times) => machine.uniform(&format!("option {times}"), ty),
        None => machine.fresh(ty),
    }
}
