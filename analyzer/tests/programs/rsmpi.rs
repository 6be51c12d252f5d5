//! Programs written on rsmpi: which code belongs to them, and what is said of it.

use crate::project::{Project, Run};

const MANIFEST: &str = "[package]\nname = \"ring-demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
    [dependencies]\nmpi = \"0.8\"\n[workspace]\n";

/// Every rank sends to the next one; what it receives is given.
fn ring(receive: &str) -> String {
    format!(
        "use mpi::traits::*;\n\nfn main() {{\n    let universe = mpi::initialize().unwrap();\n    \
         let world = universe.world();\n    let (rank, size) = (world.rank(), world.size());\n    \
         if rank == 0 {{\n        world.process_at_rank(1 % size).synchronous_send(&1_i32);\n    \
         }} else if rank == 1 {{\n        {receive}\n    }}\n}}\n"
    )
}

const RIGHT: &str = "world.process_at_rank(0).receive::<i32>();";
const WRONG: &str = "world.process_at_rank(0).receive_with_tag::<i32>(7);";

fn short(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[&["--message-format", "short"], arguments].concat())
}

#[test]
fn a_program_is_checked_and_its_calls_are_counted() {
    let project = Project::new("rsmpi-right");
    project.write("right.rs", &ring(RIGHT));
    let run = project.run(&["right.rs"]);
    assert_eq!(
        (run.status, run.output.as_str()),
        (
            0,
            "checked 1 program in 1 file with 2 to 8 ranks: nothing wrong was found\n\
             understood 2 of 2 calls\n"
        )
    );
    let run = project.run(&["--coverage", "--ranks", "3", "right.rs"]);
    let lines = run.lines();
    assert_eq!(lines[0], "right.rs:8: synchronous_send: understood");
    assert_eq!(lines[1], "right.rs:10: receive: understood");
    let summary = "--summary-json --message-format json --coverage right.rs";
    let run = project.run(&summary.split(' ').collect::<Vec<_>>());
    let last = run.lines().last().copied().unwrap_or_default().to_owned();
    for part in [
        "\"calls\":2",
        "\"understood\":2",
        "\"partly\":0",
        "\"programs\":1",
        "{\"file\":\"right.rs\",\"line\":8,\"name\":\"synchronous_send\",\"reason\":null,\
         \"understood\":\"fully\"}",
    ] {
        assert!(last.contains(part), "{part} in {last}");
    }
}

#[test]
fn a_wrong_tag_is_found_and_can_be_allowed() {
    let project = Project::new("rsmpi-wrong");
    project.write("wrong.rs", &ring(WRONG));
    let run = short(&project, &["wrong.rs"]);
    assert_eq!(run.status, 1);
    let line = run.lines()[0];
    assert!(line.starts_with("wrong.rs:") && line.ends_with("[tag-mismatch]"), "{line}");
    assert_eq!(run.lines().len(), 1);
    assert_eq!(short(&project, &["--warn", "pairing", "wrong.rs"]).status, 0);

    let place: usize = line.split(':').nth(1).and_then(|it| it.parse().ok()).expect("a line");
    let mut lines: Vec<String> = ring(WRONG).lines().map(str::to_owned).collect();
    lines.insert(place - 1, "// p2p-check: allow(tag-mismatch) on purpose".to_owned());
    project.write("wrong.rs", &lines.join("\n"));
    let run = short(&project, &["wrong.rs"]);
    assert_eq!((run.status, run.output.as_str()), (0, ""));

    let text = format!("// p2p-check: allow-file(deadlock)\n{}", ring(RIGHT));
    project.write("right.rs", &text);
    let run = short(&project, &["right.rs"]);
    assert!(run.output.ends_with("[unused-suppression]\n"), "{}", run.output);
}

#[test]
fn modules_and_the_library_belong_to_a_program() {
    let project = Project::new("rsmpi-package");
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", "pub mod exchange;\n");
    let exchange = format!(
        "use mpi::traits::*;\n\npub fn take<C: Communicator>(world: &C) {{\n    {WRONG}\n}}\n\
         pub fn unused<C: Communicator>(world: &C) {{\n    if world.rank() == 0 {{ {RIGHT} }}\n}}\n"
    );
    project.write("src/exchange.rs", &exchange);
    let main = ring("take(&world);")
        .replace("fn main", "mod sizes;\nuse ring_demo::exchange::take;\n\nfn main");
    project.write("src/main.rs", &main);
    project.write("src/sizes.rs", "pub const N: usize = 1;\n");
    let expected = "src/main.rs:11:9: error: ";
    for arguments in [&[][..], &["."], &["src/main.rs"]] {
        let run = short(&project, arguments);
        let lines = run.lines();
        let found = lines.iter().filter(|line| line.contains("[tag-mismatch]")).count();
        assert_eq!((run.status, found, lines.len()), (1, 1, 1), "{arguments:?} {}", run.output);
        let place = lines[0].starts_with(expected) || lines[0].starts_with("src/exchange.rs:4:5");
        assert!(place, "{}", lines[0]);
    }
    let run = project.run(&[]);
    assert!(run.output.contains("understood 3 of 3 calls"), "{}", run.output);
}

#[test]
fn what_does_not_mention_mpi_is_not_looked_at() {
    let project = Project::new("rsmpi-none");
    project.write("main.rs", "fn main() { channel.send(1); barrier.wait(); }\n");
    project.write("broken.rs", "fn main( {\n");
    let run = project.run(&["."]);
    assert_eq!((run.status, run.output.as_str()), (0, "nothing was checked in 2 files\n"));
    project.write("broken.rs", "use mpi::traits::*; fn main( {\n");
    let run = project.run(&["."]);
    assert_eq!(run.status, 2);
    assert!(run.output.contains("this is not Rust"), "{}", run.output);
}

#[test]
fn sizes_that_a_program_refuses_are_said() {
    let project = Project::new("rsmpi-refused");
    let text = ring(RIGHT).replace(
        "    if rank",
        "    if size % 2 != 0 {\n        panic!(\"an even number of ranks\");\n    }\n    if rank",
    );
    project.write("even.rs", &text);
    let run = project.run(&["even.rs"]);
    assert_eq!(
        run.output,
        "checked 1 program in 1 file with 2, 4, 6 and 8 ranks: nothing wrong was found\n\
         understood 2 of 2 calls\n\
         not run with 3, 5 and 7 ranks: `main` in even.rs refuses them\n"
    );
}

#[test]
fn a_function_is_held_to_the_role_that_it_says_it_plays() {
    let project = Project::new("rsmpi-role");
    let text = |ty: &str| {
        format!(
            "use mpi::traits::*;\nuse p2p::p2p_protocol;\n\n#[p2p_protocol(ranks = 2)]\n\
             mod pair {{\n    type Ping = u32;\n\n    #[rank(0)]\n    fn asker() {{\n        \
             send(1, Ping);\n    }}\n\n    #[rank(1)]\n    fn answerer() {{\n        \
             recv(0, Ping);\n    }}\n}}\n\n#[p2p_protocol(role = pair::Answerer)]\n\
             fn answer<C: Communicator>(world: &C) {{\n    \
             world.process_at_rank(0).receive::<{ty}>();\n}}\n"
        )
    };
    project.write("role.rs", &text("u32"));
    let run = short(&project, &["role.rs"]);
    assert_eq!((run.status, run.output.as_str()), (0, ""));
    project.write("role.rs", &text("f64"));
    let run = short(&project, &["role.rs"]);
    assert_eq!(run.status, 1);
    assert!(run.output.starts_with("role.rs:21:5: error: "), "{}", run.output);
    assert!(run.output.ends_with("[protocol-violation]\n"), "{}", run.output);
}

#[test]
fn a_role_with_parameters_is_played_with_the_functions_own() {
    let project = Project::new("rsmpi-parameters");
    let text = |turns: &str, parameter: &str| {
        format!(
            "use mpi::traits::*;\nuse p2p::p2p_protocol;\n\n#[p2p_protocol(ranks = 2)]\n\
             mod pair {{\n    type Ping = u32;\n\n    #[rank(0)]\n    fn asker(steps: usize) {{\n        \
             for _ in 0..steps {{\n            send(1, Ping);\n        }}\n    }}\n\n    #[rank(1)]\n    \
             fn answerer(steps: usize) {{\n        for _ in 0..steps {{\n            \
             recv(0, Ping);\n        }}\n    }}\n}}\n\n#[p2p_protocol(role = pair::Answerer)]\n\
             fn answer<C: Communicator>(world: &C, {parameter}: usize) {{\n    for _ in 0..{turns} {{\n        \
             world.process_at_rank(0).receive::<u32>();\n    }}\n}}\n"
        )
    };
    project.write("role.rs", &text("steps", "steps"));
    let run = short(&project, &["role.rs"]);
    assert_eq!((run.status, run.output.as_str()), (0, ""));
    project.write("role.rs", &text("steps + 1", "steps"));
    let run = short(&project, &["role.rs"]);
    assert!(run.output.ends_with("[protocol-violation]\n"), "{}", run.output);
    project.write("role.rs", &text("turns + 1", "turns"));
    let run = project.run(&["--coverage", "role.rs"]);
    let why = "role.rs:26: receive: not understood: not reached: from role.rs:24 on the rank is not \
               followed: its role has the parameter `steps`, which the function has not";
    assert_eq!(run.lines()[0], why);
}
