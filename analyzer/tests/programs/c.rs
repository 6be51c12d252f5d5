//! Programs in C: which files belong to them, what they are compiled with, and what is said of them.

use crate::project::{Project, Run};

/// Rank 0 sends to rank 1, which receives as is said.
fn pair(receive: &str) -> String {
    format!(
        "#include <mpi.h>\n\nint main(int argc, char **argv)\n{{\n    int rank, value = 7;\n    \
         MPI_Init(&argc, &argv);\n    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    if (rank == 0)\n        \
         MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n    else if (rank == 1)\n        \
         {receive}\n    MPI_Finalize();\n    return 0;\n}}\n"
    )
}

const RIGHT: &str = "MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";
const WRONG: &str = "MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";

fn short(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[&["--message-format", "short"], arguments].concat())
}

/// Where something is found, and what: `file:line [rule]`.
fn found(run: &Run) -> Vec<String> {
    let place = |line: &&str| {
        let mut parts = line.split(':');
        let place = [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()].join(":");
        let rule = line.rfind('[').map_or("", |at| &line[at..]);
        format!("{place} {rule}")
    };
    run.lines().iter().map(place).collect()
}

#[test]
fn a_program_is_checked_and_its_calls_are_counted() {
    let project = Project::new("c-right");
    project.write("right.c", &pair(RIGHT));
    let run = project.run(&["right.c"]);
    let said = "checked 1 program in 1 file with 2 to 8 ranks: nothing wrong was found\n\
                understood 2 of 2 calls\n";
    assert_eq!((run.status, run.output.as_str()), (0, said));
    let run = project.run(&["--coverage", "--ranks", "3", "."]);
    assert_eq!(run.lines()[0], "right.c:9: MPI_Ssend: understood");
}

#[test]
fn a_wrong_tag_is_found_in_every_format() {
    let project = Project::new("c-wrong");
    project.write("src/wrong.c", &pair(WRONG));
    let run = short(&project, &["src"]);
    assert_eq!(run.status, 1);
    assert!(run.output.starts_with("src/wrong.c:9:9: error: "), "{}", run.output);
    assert_eq!(found(&run), ["src/wrong.c:9 [tag-mismatch]"]);
    let json = project.run(&["--message-format", "json", "src/wrong.c"]).output;
    for part in ["\"file_name\":\"src/wrong.c\"", "\"line_start\":9", "p2p::tag-mismatch"] {
        assert!(json.contains(part), "{part} in {json}");
    }
    let github = project.run(&["--message-format", "github", "src"]).output;
    assert!(github.starts_with("::error file=src/wrong.c,line=9,"), "{github}");
    let human = project.run(&["src"]).output;
    assert!(human.contains("MPI_Recv(&value, 1, MPI_INT, 0, 9"), "{human}");
}

#[test]
fn comments_and_settings_beside_the_code_count() {
    let project = Project::new("c-allowed");
    let send = "        MPI_Ssend";
    for comment in
        ["// p2p-check: allow(tag-mismatch) on purpose", "/* p2p-check: allow(tag-mismatch) */"]
    {
        project.write("a.c", &pair(WRONG).replace(send, &format!("{comment}\n{send}")));
        let run = short(&project, &["a.c"]);
        assert_eq!((run.status, run.output.as_str()), (0, ""), "{comment}");
    }
    project.write(
        "a.c",
        &pair(WRONG).replace("int main", "// p2p-check: allow-file(deadlock)\nint main"),
    );
    let run = short(&project, &["a.c"]);
    assert_eq!(found(&run), ["a.c:3 [unused-suppression]", "a.c:10 [tag-mismatch]"]);
    project.write("a.c", &pair(WRONG));
    project.write("p2p-check.toml", "[lints]\ntag-mismatch = \"warn\"\n");
    let run = short(&project, &["a.c"]);
    assert!(run.status == 0 && run.output.contains(": warning: "), "{run:?}");
}

#[test]
fn files_and_headers_make_one_program() {
    let project = Project::new("c-files");
    project.write(
        "src/main.c",
        "#include <mpi.h>\n#include \"pair.h\"\nint main(void) {\n    int rank;\n    MPI_Init(0, 0);\n    \
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    if (rank == 0) give(1);\n    \
         if (rank == 1) take(0);\n    MPI_Finalize();\n}\n",
    );
    project.write(
        "include/pair.h",
        "#ifndef PAIR_H\n#define PAIR_H\nvoid give(int to);\nvoid take(int from);\n#define TAG 3\n\
         #define TAKE(value) \\\n    MPI_Recv(&value, 1, MPI_INT, from, TAG + 1, MPI_COMM_WORLD, \\\n             \
         MPI_STATUS_IGNORE)\n\
         static inline void put(int value, int to)\n{\n    \
         MPI_Ssend(&value, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);\n}\n#endif\n",
    );
    project.write(
        "src/pair.c",
        "#include <mpi.h>\n#include \"pair.h\"\n\nvoid give(int to) { put(5, to); }\n\n\
         void take(int from)\n{\n    int value;\n    TAKE(value);\n}\n",
    );
    let run = short(&project, &["-I", "include", "src"]);
    assert_eq!(found(&run), ["include/pair.h:11 [tag-mismatch]"], "{}", run.output);
    // The other end stands where the macro is used.
    let human = project.run(&["-Iinclude", "src/main.c", "src/pair.c"]).output;
    assert!(human.contains("TAKE(value);"), "{human}");
    let run = project.run(&["src"]);
    assert!(run.output.contains("`pair.h` was not found (src/main.c:2)"), "{}", run.output);

    let database = format!(
        "[{{\"directory\": {0:?}, \"file\": \"src/main.c\", \"command\": \"cc -Iinclude -c src/main.c\"}},\n \
         {{\"directory\": {0:?}, \"file\": \"src/pair.c\", \
         \"arguments\": [\"cc\", \"-I\", \"include\", \"src/pair.c\"]}}]",
        project.path("").display().to_string()
    );
    project.write("other/list.json", &database);
    let run = short(&project, &["--compile-commands", "other/list.json", "src"]);
    assert_eq!(found(&run), ["include/pair.h:11 [tag-mismatch]"]);
    project.write("build/compile_commands.json", &database);
    assert_eq!(found(&short(&project, &["src"])), ["include/pair.h:11 [tag-mismatch]"]);
    project.write("build/compile_commands.json", "{");
    let run = short(&project, &["src"]);
    assert!(run.status == 2 && run.output.contains("it is not JSON"), "{}", run.output);
}

#[test]
fn macros_of_the_command_line_decide() {
    let project = Project::new("c-macros");
    let text = pair(
        "#ifdef OTHER\n        MPI_Recv(&value, 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
                     #elif !defined(NO)\n        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
                     #else\n#error what then\n#endif",
    );
    project.write("a.c", &text.replace("        #ifdef", "#ifdef"));
    assert_eq!(short(&project, &["a.c"]).output, "");
    assert_eq!(short(&project, &["-D", "OTHER=0", "a.c"]).output, "");
    assert_eq!(found(&short(&project, &["-DOTHER=4", "a.c"])), ["a.c:9 [tag-mismatch]"]);
    let run = short(&project, &["-DNO", "a.c"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.output, "a.c:16:1: error: `#error what then`\n");
    assert_eq!(project.run(&["-D", "1=2", "a.c"]).status, 2);
}

#[test]
fn programs_of_one_folder_stay_apart() {
    let project = Project::new("c-folder");
    let helper = |tag: u32| {
        format!(
            "void take(void) {{ int value; MPI_Recv(&value, 1, MPI_INT, 0, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }}\n"
        )
    };
    let include = "#include <mpi.h>\n";
    project.write("one.c", &format!("{include}static {}{}", helper(0), pair("take();")));
    project.write("two.c", &format!("{include}{}{}", helper(9), pair("take();")));
    project.write("three.c", &pair(RIGHT));
    let run = short(&project, &["."]);
    assert_eq!(found(&run), ["two.c:11 [tag-mismatch]"], "{}", run.output);
    // A library is looked at by itself.
    project.write(
        "library.c",
        "#include <mpi.h>\nvoid both(MPI_Comm comm) { MPI_Bcast(0, 0, MPI_INT, 0, comm); }\n",
    );
    let run = project.run(&["--coverage", "library.c"]);
    assert!(run.output.contains("library.c:2: MPI_Bcast: understood"), "{}", run.output);
    // Who calls one that only sends may do so on all ranks but the one it sends to.
    project.write(
        "library.c",
        "#include <mpi.h>\nvoid report(MPI_Comm comm, int *it) { MPI_Send(it, 1, MPI_INT, 0, 0, comm); }\n",
    );
    let run = short(&project, &["library.c"]);
    assert_eq!(run.status, 0, "{}", run.output);
}

#[test]
fn odd_files_are_read_or_named() {
    let project = Project::new("c-odd");
    project.write_bytes("latin.c", &[b"// \xe9\n".as_slice(), pair(RIGHT).as_bytes()].concat());
    project.write("none.c", "int main( {\n#if\n");
    project.write("loop.h", "#include \"loop.h\"\n");
    let run = project.run(&["."]);
    assert!(run.output.contains("understood 2 of 2 calls"), "{}", run.output);
    assert_eq!(run.status, 0, "{}", run.output);
    project.write(
        "loop.c",
        "#include <mpi.h>\n#include \"loop.h\"\nint main(void) { MPI_Init(0, 0); }\n",
    );
    let run = short(&project, &["loop.c"]);
    assert_eq!((run.status, found(&run).len()), (2, 1), "{}", run.output);
    assert!(
        run.output.starts_with("loop.h:1:1: error: more than 200 files include"),
        "{}",
        run.output
    );
    let run = short(&project, &["none.c"]);
    assert_eq!(run.status, 2, "{}", run.output);
    project.write("notes.txt", "");
    let run = short(&project, &["notes.txt"]);
    assert_eq!(run.output, "error: `notes.txt` cannot be read\n");
}

#[test]
fn a_call_in_the_argument_of_a_macro_is_found_there() {
    let project = Project::new("c-check");
    let text = pair(&format!("CHECK({});", WRONG.trim_end_matches(';')));
    let text = text.replace(
        "\nint main",
        "#define CHECK(call) do { int error = (call); if (error) MPI_Abort(MPI_COMM_WORLD, error); } while (0)\n\nint main",
    );
    let text = text.replace(
        "MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);",
        "CHECK(MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));",
    );
    project.write("a.c", &text);
    let run = short(&project, &["a.c"]);
    assert!(run.output.starts_with("a.c:10:15: error: "), "{}", run.output);
    let run = project.run(&["--coverage", "a.c"]);
    assert!(run.output.contains("a.c:10: MPI_Ssend: understood"), "{}", run.output);
}

#[test]
fn advice_is_given_to_who_asks() {
    let project = Project::new("c-performance");
    let at_once = "MPI_Request r; MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r); \
                   MPI_Wait(&r, MPI_STATUS_IGNORE);";
    let text = pair(&format!("{{ {at_once} }}"));
    project.write("src/a.c", &text);
    assert_eq!(short(&project, &["src"]).output, "");
    for asked in ["performance", "no-overlap", "all"] {
        let run = short(&project, &["--warn", asked, "src"]);
        assert_eq!((run.status, found(&run)), (0, vec!["src/a.c:11 [no-overlap]".to_owned()]));
    }
    assert_eq!(short(&project, &["--warn", "early-wait", "src"]).output, "");
    project.write("p2p-check.toml", "[lints]\nperformance = \"deny\"\n");
    assert_eq!(short(&project, &["src"]).status, 1);
    project.write("src/a.c", &text.replace("MPI_Wait(", "puts(\"\"); MPI_Wait("));
    assert_eq!(short(&project, &["src"]).output, "");
}
