//! What is known of headers that are not read: the constants that programs compute with, and what a
//! compiler on Linux says of itself. All other names of theirs stay as they are.

/// What is defined before a file begins.
pub(super) fn predefined(is_cpp: bool) -> &'static str {
    if is_cpp { CPP } else { C }
}

macro_rules! with_common {
    ($first:literal) => {
        concat!(
            $first,
            "
#define __STDC_HOSTED__ 1
#define __linux__ 1
#define __linux 1
#define __unix__ 1
#define __unix 1
#define __x86_64__ 1
#define __LP64__ 1
#define __CHAR_BIT__ 8
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG__ 8
#define __SIZEOF_POINTER__ 8
#define __DATE__ \"Jan  1 1970\"
#define __TIME__ \"00:00:00\"
#define __restrict restrict
#define __restrict__ restrict
#define __inline inline
#define __inline__ inline
#define __const const
#define __volatile__ volatile
#define __signed__ signed
#define __extension__
#define _Pragma(text)
#define __has_include(name) 0
#define __has_attribute(name) 0
#define __has_builtin(name) 0
#define __has_feature(name) 0
#define __has_extension(name) 0
#define __has_cpp_attribute(name) 0
#define __has_c_attribute(name) 0
"
        )
    };
}

const C: &str = with_common!("#define __STDC__ 1\n#define __STDC_VERSION__ 201112L");
const CPP: &str = with_common!("#define __cplusplus 201703L");

/// Whether a header is MPI's own, which is never read: what its functions mean is known.
pub(super) fn is_mpi(name: &str) -> bool {
    matches!(name.rsplit(['/', '\\']).next(), Some("mpi.h"))
}

/// What a header of the system defines that is known here; nothing for one that is not known. A
/// header in quotes may be one of these as well.
pub(super) fn header(name: &str) -> Option<&'static str> {
    if is_mpi(name) {
        return Some(MPI);
    }
    Some(match name {
        "limits.h" | "climits" => LIMITS,
        "float.h" | "cfloat" => FLOAT,
        "stdint.h" | "cstdint" => INTEGERS,
        "inttypes.h" | "cinttypes" => FORMATS,
        "stdlib.h" | "cstdlib" => STDLIB,
        "stdio.h" | "cstdio" => STDIO,
        "math.h" | "cmath" | "tgmath.h" => MATH,
        "stdarg.h" | "cstdarg" => ARGUMENTS,
        "time.h" | "ctime" => "#define CLOCKS_PER_SEC 1000000L\n",
        "assert.h" | "cassert" | "complex.h" | "ctype.h" | "errno.h" | "fenv.h" | "locale.h"
        | "setjmp.h" | "signal.h" | "stdalign.h" | "stdatomic.h" | "stdbool.h" | "stddef.h"
        | "stdnoreturn.h" | "string.h" | "strings.h" | "threads.h" | "uchar.h" | "unistd.h"
        | "wchar.h" | "wctype.h" | "getopt.h" | "memory.h" | "malloc.h" | "omp.h" | "pthread.h"
        | "fcntl.h" | "libgen.h" | "sys/time.h" | "sys/types.h" | "sys/stat.h" | "mpi-ext.h" => "",
        _ => return None,
    })
}

const MPI: &str = "#define MPI_VERSION 3\n#define MPI_SUBVERSION 1\n";

const LIMITS: &str = "#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1L)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1LL)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define PATH_MAX 4096
";

const FLOAT: &str = "#define FLT_EPSILON 1.19209290e-7F
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define FLT_DIG 6
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_DIG 15
";

macro_rules! integers {
    ($more:literal) => {
        concat!(
            "#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807L - 1L)
#define INT64_MAX 9223372036854775807L
#define UINT64_MAX 18446744073709551615UL
#define INTPTR_MAX 9223372036854775807L
#define UINTPTR_MAX 18446744073709551615UL
#define INTMAX_MAX 9223372036854775807L
#define UINTMAX_MAX 18446744073709551615UL
#define PTRDIFF_MAX 9223372036854775807L
#define SIZE_MAX 18446744073709551615UL
#define INT32_C(value) value
#define UINT32_C(value) value ## U
#define INT64_C(value) value ## L
#define UINT64_C(value) value ## UL
",
            $more
        )
    };
}

const INTEGERS: &str = integers!("");
const FORMATS: &str = integers!(
    "#define PRId8 \"d\"
#define PRId16 \"d\"
#define PRId32 \"d\"
#define PRId64 \"ld\"
#define PRIi32 \"i\"
#define PRIi64 \"li\"
#define PRIu8 \"u\"
#define PRIu16 \"u\"
#define PRIu32 \"u\"
#define PRIu64 \"lu\"
#define PRIx32 \"x\"
#define PRIx64 \"lx\"
#define PRIX64 \"lX\"
#define PRIdMAX \"ld\"
#define PRIuMAX \"lu\"
#define PRIdPTR \"ld\"
#define PRIuPTR \"lu\"
#define SCNd32 \"d\"
#define SCNd64 \"ld\"
#define SCNu32 \"u\"
#define SCNu64 \"lu\"
"
);

const STDLIB: &str = "#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
";

const STDIO: &str = "#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
";

const MATH: &str = "#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
";

/// The type among the arguments is no expression, but this one is.
const ARGUMENTS: &str = "#define va_arg(list, type) (*(type *)__p2p_va_arg(list))\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_is_known_wherever_it_lies() {
        assert!(is_mpi("mpi.h") && is_mpi("openmpi/mpi.h") && !is_mpi("my_mpi.h"));
        assert_eq!(header("mpi.h"), Some(MPI));
        assert_eq!(header("halo.h"), None);
    }
}
