//! What is left of a text, and where it comes from.

use super::*;

fn expanded(text: &str) -> String {
    let expanded = expand_text(text, Language::C).unwrap();
    let lines = expanded.text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let lines: Vec<String> = lines.filter(|it| !it.is_empty()).map(|it| it.join(" ")).collect();
    lines.join("\n")
}

fn wrong(text: &str) -> (String, String) {
    let failure = expand_text(text, Language::C).unwrap_err();
    let bytes = failure.bytes.clone().unwrap_or_default();
    (failure.message, text[bytes].to_owned())
}

#[test]
fn what_is_no_macro_stays_as_it_is() {
    let text = "int  main ( void )\n{\n\treturn 1+ 2;\n}\n";
    assert_eq!(expand_text(text, Language::C).unwrap().text, text);
    let text = "a/* b */c // d\n\"/* e */\" '\"' f";
    assert_eq!(expand_text(text, Language::C).unwrap().text, "a c \n\"/* e */\" '\"' f");
}

#[test]
fn macros_are_replaced() {
    assert_eq!(expanded("#define N 10\nint a[N], xN, N1;"), "int a[10], xN, N1;");
    assert_eq!(
        expanded("#define MAX(a,b) ((a)>(b)?(a):(b))\nMAX(f(1,2), \",\")"),
        "((f(1,2))>(\",\")?(f(1,2)):(\",\"))"
    );
    assert_eq!(expanded("#define F(x) x\nF F (1) F\n(2) F"), "F 1 2 F");
    assert_eq!(expanded("#define A B\n#define B A C\nA"), "A C");
    assert_eq!(expanded("#define E\n#define f(x) x+E-x\nf(f(1))"), "1+ -1+ -1+ -1");
    assert_eq!(expanded("#define N -1\n3-N+N"), "3- -1+ -1");
    assert_eq!(expanded("#define N 1\n#undef N\n#define M\\\n 2 /* c */ + \\\n3\nN M"), "N 2 + 3");
    assert_eq!(expanded("#define g f\n#define f(a) a*g\ng(2)(9)"), "2*f(9)");
}

#[test]
fn the_examples_of_the_standard_hold() {
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n\
        #define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n\
        #define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n\
        char c[2][6] = { str(hello), str() };";
    assert_eq!(
        expanded(text),
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);\n\
         f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);\n\
         int i[] = { 1, 23, 4, 5, };\nchar c[2][6] = { \"hello\", \"\" };"
    );
    let text = "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
        #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);";
    assert_eq!(expanded(text), "char p[] = \"x ## y\";");
}

#[test]
fn arguments_without_number_are_taken() {
    let text = "#define LOG(f, ...) printf(f, ##__VA_ARGS__)\n#define OUT(...) fprintf(stderr, __VA_ARGS__)\n\
        #define G(a...) g(a)\n#define V(f, ...) p(f __VA_OPT__(,) __VA_ARGS__)\n\
        LOG(\"a\"); LOG(\"b\", 1, 2); OUT(\"c\", x); G(1, 2); V(1); V(1, 2);";
    assert_eq!(
        expanded(text),
        "printf(\"a\"); printf(\"b\",1, 2); fprintf(stderr, \"c\", x); g(1, 2); p(1); p(1, 2);"
    );
    assert_eq!(expanded("#define S(x) #x\nS( a  \"b\\n\" 'c' )"), "\"a \\\"b\\\\n\\\" 'c'\"");
}

#[test]
fn conditions_decide() {
    let holds = |condition: &str| expanded(&format!("#if {condition}\nyes\n#endif")) == "yes";
    for yes in [
        "1",
        "2 > 1 && !0",
        "defined(__linux__) && !defined N",
        "-1 < 0",
        "1 ? 2 : 0",
        "'a' == 97",
        "0x10 == 16 && 010 == 8",
        "(1 << 4) == 16",
        "-1 > 0u",
        "UNKNOWN == 0",
        "!UNKNOWN(1, (2))",
        "__STDC_VERSION__ >= 199901L",
        "7 % 4 == 3 && 7 / 2 == 3",
        "1 || 1 / 0",
        "'\\n' == 10",
    ] {
        assert!(holds(yes), "{yes}");
    }
    for no in ["0", "", "1 +", "1 0 +", "(1", "defined", "1 / 0", "N", "\"a\" b", "__cplusplus"] {
        assert!(!holds(no), "{no}");
    }
    let text = "#ifdef A\na\n#elif defined(B)\nb\n#elif 1\nc\n#else\nd\n#endif\n\
        #ifndef A\n#if 0\ne\n#else\nf // it's\n#endif\n#else\n#if\ng\n#endif\n#endif\nh";
    assert_eq!(expanded(text), "c\nf\nh");
    assert_eq!(expanded("#if 0\n#error no\n'\n/* #endif */\n#endif\nx"), "x");
}

#[test]
fn what_cannot_be_read_on_is_said_with_its_place() {
    assert_eq!(wrong("x\n#if 1\ny"), ("this `#if` has no `#endif`".to_owned(), "#".to_owned()));
    assert_eq!(wrong("#endif").0, "there is no `#if` before this `#endif`");
    assert_eq!(
        wrong("x\n #error need N\n"),
        ("`#error need N`".to_owned(), "#error need N".to_owned())
    );
    let bombs: String = (0..40).map(|it| format!("#define A{} A{it} A{it}\n", it + 1)).collect();
    let (message, place) = wrong(&format!("#define A0 x\n{bombs} A40"));
    assert!(message.starts_with("macros say more than"), "{message}");
    assert_eq!(place, "A40");
    let deep = format!("#define f(x) x\n{}1{}", "f(".repeat(300), ")".repeat(300));
    assert!(wrong(&deep).0.starts_with("macros are nested more than"));
}

#[test]
fn what_does_not_fit_is_left() {
    let text = "#define f(a, b) a b\nf(1) f(1, 2, 3) f(1, 2";
    assert_eq!(expanded(text), "f(1) f(1, 2, 3) f(1, 2");
    assert_eq!(expanded("#define f(a) [a]\nf(1\n#define N 2\n) N"), "f(1\n) 2");
    for text in [
        "#define",
        "#define f(",
        "#define f(a",
        "#",
        "#include",
        "#include <",
        "#undef",
        "#if (",
        "f(",
        "#define f() #\nf()",
    ] {
        _ = expand_text(text, Language::C);
    }
}

#[test]
fn places_are_those_of_the_use_and_of_its_arguments() {
    let text = "#define N 10\n#define CHECK(call) do { int e = call; } while (0)\n\
        int a[N];\nCHECK(MPI_Send(a, N, 1));\n";
    let expanded = expand_text(text, Language::C).unwrap();
    let origin = |part: &str| {
        let at = expanded.text.find(part).unwrap();
        &text[expanded.origins.locate(at..at + part.len()).bytes]
    };
    assert_eq!(origin("int a"), "int a");
    assert_eq!(origin("10"), "N");
    assert_eq!(origin("MPI_Send(a, 10, 1)"), "MPI_Send(a, N, 1)");
    assert_eq!(origin("int e"), "CHECK(MPI_Send(a, N, 1))");
    assert_eq!(origin("e = MPI_Send(a, 10, 1)"), "CHECK(MPI_Send(a, N, 1))");
    assert_eq!(origin("while (0);"), "CHECK(MPI_Send(a, N, 1));");
}

#[test]
fn what_the_preprocessor_knows_is_there() {
    assert_eq!(
        expanded("\n__LINE__\n__FILE__ __LINE__ __COUNTER__ __COUNTER__"),
        "2\n\"text.c\" 3 0 1"
    );
    assert_eq!(
        expanded("#include <limits.h>\n#include \"stdlib.h\"\nINT_MAX EXIT_FAILURE"),
        "2147483647 1"
    );
    assert_eq!(
        expanded("#include <stdarg.h>\nva_arg(list, char *)"),
        "(*(char * *)__p2p_va_arg(list))"
    );
    assert_eq!(
        expanded("#include <mpi.h>\n#if MPI_VERSION >= 3\nMPI_COMM_WORLD\n#endif"),
        "MPI_COMM_WORLD"
    );
}
