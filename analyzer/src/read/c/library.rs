//! The names that C's own headers and `mpi.h` declare, as far as types go: those headers need not be
//! there. What the functions do is for evaluation to know.

use crate::program::{Scalar, Type};

/// Whether a name looks like that of a function of MPI: `MPI_Send`, and not `MPI_INT` or a macro of
/// the program's own such as `MPI_CHECK`.
pub(super) fn is_function_of_mpi(name: &str) -> bool {
    let plain = name.strip_prefix('P').filter(|plain| plain.starts_with("MPI_")).unwrap_or(name);
    plain.strip_prefix("MPI_").is_some_and(|rest| rest.bytes().any(|it| it.is_ascii_lowercase()))
}

/// The type that a name of a system header stands for.
pub(super) fn type_named(name: &str) -> Option<Type> {
    use Scalar::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let scalar = match name {
        "bool" | "_Bool" => Bool,
        "char" | "int8_t" | "int_least8_t" | "int_fast8_t" | "char8_t" => I8,
        "uint8_t" | "uint_least8_t" | "uint_fast8_t" | "u_char" | "byte" => U8,
        "short" | "int16_t" | "int_least16_t" => I16,
        "uint16_t" | "uint_least16_t" | "char16_t" | "u_short" => U16,
        "int" | "int32_t" | "int_least32_t" | "wchar_t" | "pid_t" | "clockid_t" | "key_t" => I32,
        "uint32_t" | "uint_least32_t" | "char32_t" | "u_int" | "uint" | "uid_t" | "gid_t"
        | "mode_t" | "useconds_t" | "wint_t" => U32,
        "long" | "int64_t" | "int_least64_t" | "int_fast16_t" | "int_fast32_t" | "int_fast64_t"
        | "intptr_t" | "intmax_t" | "ptrdiff_t" | "ssize_t" | "off_t" | "time_t" | "clock_t"
        | "suseconds_t" | "MPI_Aint" | "MPI_Offset" | "MPI_Count" => I64,
        "uint64_t" | "uint_least64_t" | "uint_fast16_t" | "uint_fast32_t" | "uint_fast64_t"
        | "uintptr_t" | "uintmax_t" | "size_t" | "u_long" | "ulong" | "pthread_t" => U64,
        "float" | "float_t" => F32,
        "double" | "double_t" => F64,
        "MPI_Fint" => I32,
        _ => return None,
    };
    Some(Type::Scalar(scalar))
}

/// What a function of a library gives back, where that is known.
pub(super) fn result_of(name: &str) -> Type {
    let pointer = || Type::Reference(Box::new(Type::Unknown));
    let letters = || Type::Reference(Box::new(Type::Scalar(Scalar::I8)));
    let file = || Type::Reference(Box::new(Type::External("FILE".to_owned(), Vec::new())));
    if is_function_of_mpi(name) {
        let operation = name.split_once('_').map_or("", |(_, operation)| operation);
        return Type::Scalar(match operation {
            "Wtime" | "Wtick" => Scalar::F64,
            "Aint_add" | "Aint_diff" => Scalar::I64,
            _ => Scalar::I32,
        });
    }
    match name {
        "exit" | "abort" | "_exit" | "_Exit" | "quick_exit" | "longjmp" => Type::Never,
        "malloc" | "calloc" | "realloc" | "aligned_alloc" | "memcpy" | "memmove" | "memset"
        | "memchr" | "mmap" | "alloca" | "reallocarray" | "bsearch" | "dlsym" | "valloc"
        | "memalign" => pointer(),
        "getenv" | "strcpy" | "strncpy" | "strcat" | "strncat" | "strchr" | "strrchr"
        | "strstr" | "strtok" | "strtok_r" | "strdup" | "strndup" | "strerror" | "fgets"
        | "gets" | "strpbrk" | "ctime" | "asctime" | "getcwd" | "basename" | "dirname"
        | "optarg" | "setlocale" => letters(),
        "fopen" | "fdopen" | "popen" | "tmpfile" | "freopen" => file(),
        "free" | "srand" | "srandom" | "srand48" | "perror" | "qsort" | "rewind" | "va_start"
        | "va_end" | "va_copy" | "clearerr" | "setbuf" | "assert" | "swap" => Type::unit(),
        "strlen" | "fread" | "fwrite" | "strnlen" | "strcspn" | "strspn" | "strftime"
        | "strtoul" | "strtoull" => Type::Scalar(Scalar::U64),
        "atol" | "atoll" | "strtol" | "strtoll" | "labs" | "llabs" | "time" | "clock" | "ftell"
        | "random" | "lrand48" | "mrand48" | "sysconf" | "lround" | "llround" | "lrint"
        | "llrint" | "ftello" | "read" | "write" | "strtoimax" => Type::Scalar(Scalar::I64),
        "printf"
        | "fprintf"
        | "sprintf"
        | "snprintf"
        | "vprintf"
        | "vfprintf"
        | "vsnprintf"
        | "puts"
        | "fputs"
        | "putchar"
        | "putc"
        | "fputc"
        | "getchar"
        | "getc"
        | "fgetc"
        | "scanf"
        | "fscanf"
        | "sscanf"
        | "fflush"
        | "fclose"
        | "fseek"
        | "feof"
        | "ferror"
        | "remove"
        | "rename"
        | "atoi"
        | "abs"
        | "rand"
        | "rand_r"
        | "atexit"
        | "system"
        | "strcmp"
        | "strncmp"
        | "strcasecmp"
        | "strncasecmp"
        | "memcmp"
        | "isdigit"
        | "isalpha"
        | "isspace"
        | "isalnum"
        | "isupper"
        | "islower"
        | "ispunct"
        | "isxdigit"
        | "toupper"
        | "tolower"
        | "getopt"
        | "usleep"
        | "nanosleep"
        | "gettimeofday"
        | "clock_gettime"
        | "gethostname"
        | "posix_memalign"
        | "access"
        | "unlink"
        | "close"
        | "open"
        | "setenv"
        | "isnan"
        | "isinf"
        | "isfinite"
        | "signbit"
        | "omp_get_thread_num"
        | "omp_get_num_threads"
        | "omp_get_max_threads"
        | "getpid"
        | "ilogb"
        | "setjmp"
        | "pthread_create"
        | "pthread_join"
        | "mkdir"
        | "chdir"
        | "stat" => Type::Scalar(Scalar::I32),
        "sleep" | "alarm" => Type::Scalar(Scalar::U32),
        "atof" | "strtod" | "drand48" | "erand48" | "difftime" | "omp_get_wtime" => {
            Type::Scalar(Scalar::F64)
        }
        _ => mathematics(name).map(Type::Scalar).unwrap_or_default(),
    }
}

/// What a function of `math.h` gives back.
fn mathematics(name: &str) -> Option<Scalar> {
    const DOUBLE: [&str; 42] = [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "frexp",
        "hypot",
        "ldexp",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "log2",
        "modf",
        "nearbyint",
        "pow",
        "remainder",
        "rint",
        "round",
        "sin",
        "sinh",
        "sqrt",
        "tan",
    ];
    const MORE: [&str; 3] = ["tanh", "tgamma", "trunc"];
    let is_double = |name: &str| DOUBLE.contains(&name) || MORE.contains(&name);
    if is_double(name) {
        return Some(Scalar::F64);
    }
    name.strip_suffix('f').filter(|name| is_double(name)).map(|_| Scalar::F32)
}

/// The type of a constant of `mpi.h`; unknown for pointers such as `MPI_IN_PLACE` and for names that
/// are none.
pub(super) fn type_of_constant(name: &str) -> Type {
    let external = |name: &str| Type::External(name.to_owned(), Vec::new());
    let Some(short) = name.strip_prefix("MPI_") else { return Type::Unknown };
    const OPERATIONS: [&str; 14] = [
        "MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC",
        "MAXLOC", "REPLACE", "NO_OP",
    ];
    match short {
        "COMM_WORLD" | "COMM_SELF" | "COMM_NULL" => external("MPI_Comm"),
        "REQUEST_NULL" => external("MPI_Request"),
        "DATATYPE_NULL" => external("MPI_Datatype"),
        "OP_NULL" => external("MPI_Op"),
        "GROUP_NULL" | "GROUP_EMPTY" => external("MPI_Group"),
        "WIN_NULL" => external("MPI_Win"),
        "FILE_NULL" => external("MPI_File"),
        "INFO_NULL" | "INFO_ENV" => external("MPI_Info"),
        "MESSAGE_NULL" | "MESSAGE_NO_PROC" => external("MPI_Message"),
        "SESSION_NULL" => external("MPI_Session"),
        "ERRORS_ARE_FATAL" | "ERRORS_RETURN" | "ERRORS_ABORT" | "ERRHANDLER_NULL" => {
            external("MPI_Errhandler")
        }
        "BOTTOM" | "IN_PLACE" | "STATUS_IGNORE" | "STATUSES_IGNORE" | "ARGV_NULL"
        | "ARGVS_NULL" | "ERRCODES_IGNORE" | "UNWEIGHTED" | "WEIGHTS_EMPTY"
        | "BUFFER_AUTOMATIC" => Type::Unknown,
        _ if OPERATIONS.contains(&short) => external("MPI_Op"),
        _ if is_datatype(short) => external("MPI_Datatype"),
        _ if short.bytes().all(|letter| !letter.is_ascii_lowercase()) => Type::Scalar(Scalar::I32),
        _ => Type::Unknown,
    }
}

fn is_datatype(short: &str) -> bool {
    const NAMES: [&str; 37] = [
        "CHAR",
        "SIGNED_CHAR",
        "UNSIGNED_CHAR",
        "BYTE",
        "PACKED",
        "WCHAR",
        "SHORT",
        "UNSIGNED_SHORT",
        "INT",
        "UNSIGNED",
        "LONG",
        "UNSIGNED_LONG",
        "LONG_LONG",
        "LONG_LONG_INT",
        "UNSIGNED_LONG_LONG",
        "FLOAT",
        "DOUBLE",
        "LONG_DOUBLE",
        "C_BOOL",
        "AINT",
        "OFFSET",
        "COUNT",
        "C_COMPLEX",
        "C_FLOAT_COMPLEX",
        "C_DOUBLE_COMPLEX",
        "C_LONG_DOUBLE_COMPLEX",
        "FLOAT_INT",
        "DOUBLE_INT",
        "LONG_INT",
        "SHORT_INT",
        "LONG_DOUBLE_INT",
        "2INT",
        "CXX_BOOL",
        "CXX_FLOAT_COMPLEX",
        "CXX_DOUBLE_COMPLEX",
        "UB",
        "LB",
    ];
    let fixed = short
        .strip_suffix("_T")
        .and_then(|name| name.strip_prefix("INT").or_else(|| name.strip_prefix("UINT")));
    let fortran = matches!(
        short,
        "INTEGER"
            | "REAL"
            | "DOUBLE_PRECISION"
            | "LOGICAL"
            | "CHARACTER"
            | "COMPLEX"
            | "2REAL"
            | "2DOUBLE_PRECISION"
            | "2INTEGER"
            | "DOUBLE_COMPLEX"
    );
    fixed.is_some_and(|bits| bits.bytes().all(|it| it.is_ascii_digit()))
        || NAMES.contains(&short)
        || fortran
}

/// Constants of system headers that are numbers, for where no preprocessor has put them in.
pub(super) fn number_named(name: &str) -> Option<(i128, Scalar)> {
    Some(match name {
        "EXIT_SUCCESS" | "SEEK_SET" => (0, Scalar::I32),
        "EXIT_FAILURE" | "SEEK_CUR" => (1, Scalar::I32),
        "SEEK_END" => (2, Scalar::I32),
        "EOF" => (-1, Scalar::I32),
        "CHAR_BIT" => (8, Scalar::I32),
        "INT_MAX" | "RAND_MAX" | "INT32_MAX" => (i32::MAX.into(), Scalar::I32),
        "INT_MIN" | "INT32_MIN" => (i32::MIN.into(), Scalar::I32),
        "UINT_MAX" | "UINT32_MAX" => (u32::MAX.into(), Scalar::U32),
        "LONG_MAX" | "LLONG_MAX" | "INT64_MAX" => (i64::MAX.into(), Scalar::I64),
        "LONG_MIN" | "LLONG_MIN" | "INT64_MIN" => (i64::MIN.into(), Scalar::I64),
        "ULONG_MAX" | "ULLONG_MAX" | "SIZE_MAX" | "UINT64_MAX" => (u64::MAX.into(), Scalar::U64),
        "CLOCKS_PER_SEC" => (1_000_000, Scalar::I64),
        "CLOCK_REALTIME" => (0, Scalar::I32),
        "CLOCK_MONOTONIC" => (1, Scalar::I32),
        _ => return None,
    })
}
