//! Programs that somebody is in the middle of writing, or that nobody would write: the fixtures
//! with words and lines taken out, doubled and changed with others. They need not compile; nothing
//! of them may make the checker fail, or keep it busy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::project::Project;

/// How often some files are changed and looked at.
const ROUNDS: usize = 8;

/// After how long no more are.
const TIME: Duration = Duration::from_secs(8);

/// How long one file may keep the checker busy, on a busy machine, without optimization.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many changed files are looked at in one run.
const AT_ONCE: usize = 12;

/// Numbers that look as if they were drawn: Marsaglia's xorshift, from a fixed beginning.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % end.max(1)
    }
}

/// The programs in a folder of the fixtures, in the folders that lie at this place in each of its own.
fn sources(folder: &str, below: &str, extension: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
    let mut files: Vec<PathBuf> = Vec::new();
    for package in std::fs::read_dir(folder).expect("the fixtures are there").flatten() {
        // The long programs compute much: without optimization one of them takes seconds.
        if package.file_name() == "programs" && extension == "c" {
            continue;
        }
        let Ok(programs) = std::fs::read_dir(package.path().join(below)) else { continue };
        files.extend(programs.flatten().map(|it| it.path()));
    }
    files.retain(|file| file.extension().is_some_and(|it| it == extension));
    files.sort();
    assert!(files.len() > 100, "the fixtures are there");
    let text = |file: &PathBuf| std::fs::read_to_string(file).expect("a fixture is text");
    files.iter().map(text).collect()
}

/// The text in pieces: words, spaces and signs, or lines.
fn pieces(text: &str, lines: bool) -> Vec<&str> {
    if lines {
        return text.split_inclusive('\n').collect();
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = rest.find(|letter| is_part(letter) != is_part(first)).unwrap_or(rest.len());
        let end = if is_part(first) { same } else { first.len_utf8() };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

fn changed(text: &str, drawn: &mut Drawn) -> String {
    let lines = drawn.below(2) == 0;
    let mut pieces = pieces(text, lines);
    for _ in 0..1 + drawn.below(3) {
        let (one, other) = (drawn.below(pieces.len()), drawn.below(pieces.len()));
        match drawn.below(4) {
            0 => _ = pieces.remove(one),
            1 => pieces.insert(other, pieces[one]),
            2 => pieces.swap(one, other),
            _ => pieces[one] = pieces[other],
        }
        if pieces.len() < 2 {
            break;
        }
    }
    pieces.concat()
}

#[test]
fn changed_programs_do_not_make_it_fail() {
    look_at_changed(&sources("rsmpi", "src/bin", "rs"), "rs");
}

#[test]
fn changed_programs_in_c_do_not_make_it_fail() {
    look_at_changed(&sources("c", "", "c"), "c");
}

fn look_at_changed(sources: &[String], extension: &str) {
    let project = Project::new(&format!("mutated-{extension}"));
    let mut drawn = Drawn(0x5eed_1e55_c0de_f00d);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        if start.elapsed() > TIME {
            break;
        }
        for number in 0..AT_ONCE {
            let text = changed(&sources[drawn.below(sources.len())], &mut drawn);
            project.write(&format!("{number}.{extension}"), &text);
        }
        let before = Instant::now();
        let run = project.run(&["--message-format", "short", "--ranks", "2,3", "."]);
        let kept = project.path("").display().to_string();
        assert!((0..=2).contains(&run.status), "{kept}: {run:?}");
        assert!(!run.errors.contains("panicked"), "{kept}: {}", run.errors);
        assert!(!run.output.contains("p2p-check failed"), "{kept}: {}", run.output);
        assert!(before.elapsed() < PATIENCE, "{kept}");
    }
}
