//! Which files make up a program: one with `main` and those that define what it reaches, and so on.
//!
//! Where several files define the same, that one is taken which the build, an included header or the
//! folder speaks for. Where nothing does, it stays open which is meant, and nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashMap;

use super::names::Names;

/// A file as far as linking is concerned.
pub(super) struct Object<'t> {
    pub(super) path: &'t Path,
    pub(super) names: Names<'t>,
    /// The names of the headers that it includes, without folders and extensions.
    pub(super) headers: &'t [String],
    /// What the build makes of it, where that is known.
    pub(super) target: Option<&'t str>,
}

/// The files of one program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    /// Their numbers; the first one has the entries.
    pub(super) objects: Vec<usize>,
    /// The names that several files define, and why it is open which is meant.
    pub(super) unclear: Vec<(String, String)>,
    /// It has no `main`: the public functions of its first file are its entries.
    pub(super) is_library: bool,
}

/// All files, and who defines what.
pub(super) struct Linker<'a, 't> {
    objects: &'a [Object<'t>],
    defined: FxHashMap<&'t str, Vec<usize>>,
    /// For each file the names that it uses and others define.
    wanted: Vec<BTreeSet<&'t str>>,
}

impl<'a, 't> Linker<'a, 't> {
    pub(super) fn new(objects: &'a [Object<'t>]) -> Self {
        let mut defined: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (number, object) in objects.iter().enumerate() {
            for name in &object.names.external {
                defined.entry(name).or_default().push(number);
            }
        }
        let wanted = objects.iter().map(|object| {
            let Names { external, own, uses } = &object.names;
            let others = uses.iter().filter(|it| !external.contains(*it) && !own.contains(*it));
            others.filter(|name| defined.contains_key(*name)).copied().collect()
        });
        Linker { wanted: wanted.collect(), objects, defined }
    }

    /// The programs: one for each `main`, then one for each file that none of those reaches.
    pub(super) fn programs(&self) -> Vec<Linked> {
        let all = 0..self.objects.len();
        let is_program = |number: &usize| self.objects[*number].names.is_program();
        let mut programs: Vec<Linked> =
            all.clone().filter(is_program).map(|number| self.program(number)).collect();
        let reached: BTreeSet<usize> =
            programs.iter().flat_map(|program| program.objects.iter().copied()).collect();
        let left = all.filter(|number| !reached.contains(number));
        programs.extend(left.map(|number| Linked { is_library: true, ..self.program(number) }));
        programs
    }

    /// Whether some file calls a function of this one, the function itself aside.
    pub(super) fn is_called(&self, object: usize, function: &str) -> bool {
        self.objects[object].names.uses.contains(function)
            || self.wanted.iter().any(|wanted| wanted.contains(function))
    }

    fn program(&self, root: usize) -> Linked {
        let mut objects = vec![root];
        let mut known: FxHashMap<&str, Option<usize>> = FxHashMap::default();
        let mut unclear = BTreeMap::new();
        let mut next = 0;
        while let Some(&object) = objects.get(next) {
            next += 1;
            for name in &self.wanted[object] {
                if known.contains_key(name) {
                    continue;
                }
                let meant = self.meant(name, object, root);
                known.insert(name, meant.as_ref().ok().copied());
                match meant {
                    Ok(meant) if !objects.contains(&meant) => objects.push(meant),
                    Ok(_) => {}
                    Err(why) => _ = unclear.insert((*name).to_owned(), why),
                }
            }
        }
        Linked { objects, unclear: unclear.into_iter().collect(), is_library: false }
    }

    /// The file whose definition a file means by a name.
    fn meant(&self, name: &str, user: usize, root: usize) -> Result<usize, String> {
        let all = self.defined.get(name).map_or(&[][..], Vec::as_slice);
        let belongs = |it: &usize| *it == root || !self.objects[*it].names.is_program();
        let mut left: Vec<usize> = all.iter().copied().filter(belongs).collect();
        let (user, root) = (&self.objects[user], &self.objects[root]);
        let object = |number: usize| &self.objects[number];
        let is_of_target = |it: usize| root.target.is_some() && object(it).target == root.target;
        let has_header = |it: usize| {
            let stem = object(it).path.file_stem().unwrap_or_default().to_string_lossy();
            user.headers.iter().any(|header| *header == stem)
        };
        prefer(&mut left, is_of_target);
        prefer(&mut left, has_header);
        let nearest = left.iter().map(|&it| shared(object(it).path, root.path)).max();
        prefer(&mut left, |it| Some(shared(object(it).path, root.path)) == nearest);
        match left.as_slice() {
            [only] => Ok(*only),
            [] => Err(format!("`{name}` is only defined in other programs")),
            several => {
                let files = several.iter().map(|&it| object(it).path.file_name());
                let files: Vec<String> = files
                    .map(|it| format!("`{}`", it.unwrap_or_default().to_string_lossy()))
                    .collect();
                let files = files.join(" and in ");
                Err(format!("`{name}` is defined in {files}, and it is open which is meant"))
            }
        }
    }
}

/// Leaves those for which something speaks, if there are any.
fn prefer(left: &mut Vec<usize>, speaks: impl Fn(usize) -> bool) {
    if left.len() > 1 && left.iter().any(|&it| speaks(it)) {
        left.retain(|&it| speaks(it));
    }
}

/// How many folders two files share, and whether they lie in the same one.
fn shared(one: &Path, other: &Path) -> (bool, usize) {
    let same = one.parent() == other.parent();
    let parts = one.components().zip(other.components());
    (same, parts.take_while(|(one, other)| one == other).count())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::preprocess::{Expanded, expand_text};
    use super::*;
    use crate::source::Language;

    /// The programs of these files, as the names of their files; what is unclear behind `?`.
    fn linked(files: &[(&str, &str)]) -> Vec<String> {
        let expanded: Vec<Expanded> =
            files.iter().map(|(_, text)| expand_text(text, Language::C).unwrap()).collect();
        let paths: Vec<PathBuf> =
            files.iter().map(|(name, _)| Path::new("/p").join(name)).collect();
        let headers: Vec<Vec<String>> = files
            .iter()
            .map(|(_, text)| {
                let parts = text.split("// header ").skip(1);
                parts.map(|it| it.lines().next().unwrap_or_default().to_owned()).collect()
            })
            .collect();
        let objects: Vec<Object<'_>> = (expanded.iter().zip(&paths))
            .zip(&headers)
            .map(|((expanded, path), headers)| Object {
                path,
                names: Names::of(expanded),
                headers,
                target: None,
            })
            .collect();
        let linker = Linker::new(&objects);
        let shown = |linked: &Linked| {
            let names: Vec<&str> = linked.objects.iter().map(|&it| files[it].0).collect();
            let unclear: Vec<&str> = linked.unclear.iter().map(|(name, _)| name.as_str()).collect();
            let open =
                if unclear.is_empty() { String::new() } else { format!(" ?{}", unclear.join(",")) };
            let library = if linked.is_library { "lib: " } else { "" };
            format!("{library}{}{open}", names.join(" "))
        };
        linker.programs().iter().map(shown).collect()
    }

    #[test]
    fn a_program_is_its_main_and_what_that_reaches() {
        let files = [
            ("main.c", "int main() { f(); }"),
            ("f.c", "int f() { return g + printf(1); }"),
            ("g.c", "int g = 1;"),
            ("other.c", "void h(MPI_Comm c) { k(); }"),
            ("k.c", "void k() { g = 1; }"),
        ];
        assert_eq!(linked(&files), ["main.c f.c g.c", "lib: other.c k.c g.c", "lib: k.c g.c"]);
    }

    #[test]
    fn programs_of_one_folder_do_not_take_from_each_other() {
        let files = [
            ("a.c", "static void f() {} int main() { f(); h(); }"),
            ("b.c", "void f() {} void h() {} int main() { f(); }"),
            ("c.c", "int main() { f(); }"),
        ];
        assert_eq!(linked(&files), ["a.c ?h", "b.c", "c.c ?f"]);
    }

    #[test]
    fn what_speaks_for_a_definition_counts() {
        let files = [
            ("one/main.c", "int main() { f(); }"),
            ("one/f.c", "void f() {}"),
            ("two/main.c", "int main() { f(); }"),
            ("two/f.c", "void f() {}"),
            ("three/main.c", "int main() { f(); }"),
            ("four/main.c", "// header f2\nint main() { f(); }"),
            ("four/f1.c", "void f() {}"),
            ("four/f2.c", "void f() {}"),
            ("four/more.c", "int main() { f(); }"),
        ];
        assert_eq!(
            linked(&files),
            [
                "one/main.c one/f.c",
                "two/main.c two/f.c",
                "three/main.c ?f",
                "four/main.c four/f2.c",
                "four/more.c ?f",
                "lib: four/f1.c",
            ]
        );
    }
}
