//! The example programs that rsmpi ships, where they are installed.
use super::*;

#[test]
fn dump() {
    let Ok(folder) = std::env::var("DUMP") else { return };
    let only = std::env::var("ONLY").unwrap_or_default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "rs") || !path.to_string_lossy().contains(&only) { continue }
        let text = std::fs::read_to_string(&path).unwrap();
        let program = from_text(&text).unwrap();
        println!("== {}", path.file_name().unwrap().to_string_lossy());
        for (name, ty) in variables(&program) {
            if !only.is_empty() || ty.contains('_') { println!("    {name}: {ty}"); }
        }
    }
}
