//! All rules that can be named: the judge's, and those about what this program itself reads.

use p2p_protocol::finding::Level;
use p2p_protocol::rules;

/// A rule, as far as its users are concerned.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its kebab-case name, its only identity.
    pub name: &'static str,
    /// The group that levels can be set for together.
    pub group: &'static str,
    /// Its level unless the user sets another.
    pub level: Level,
    /// The only text about it, in Markdown.
    pub doc: &'static str,
}

/// The rule about suppressions, which only the program that reads comments can judge.
pub const UNUSED_SUPPRESSION: Entry = Entry {
    name: "unused-suppression",
    group: "suppression",
    level: Level::Warn,
    doc: include_str!("unused_suppression.md"),
};

/// Every rule, by group and name.
pub fn all() -> Vec<Entry> {
    let of_judge = rules::all().iter().map(|rule| Entry {
        name: rule.name,
        group: rule.group.name(),
        level: rule.level,
        doc: rule.doc,
    });
    let mut entries: Vec<Entry> = of_judge.chain([UNUSED_SUPPRESSION]).collect();
    entries.sort_by_key(|entry| (entry.group, entry.name));
    entries
}

/// The rule of this name.
pub fn find(name: &str) -> Option<Entry> {
    all().into_iter().find(|entry| entry.name == name)
}

/// "; did you mean `deadlock`?" or nothing, for a name that is not among these.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// The name that was probably meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Underscores are what Rust's own lints have, and the attribute `allow(..)` too.
    let name = name.replace('_', "-").to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&name, known);
    let best = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.8).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_lead_to_the_name_that_was_meant() {
        let known = ["deadlock", "deadlock-unbuffered", "tag-mismatch"];
        assert_eq!(nearest("dead-lock", known), Some("deadlock"));
        assert_eq!(nearest("Deadlock_Unbuffered", known), Some("deadlock-unbuffered"));
        assert_eq!(nearest("tag-missmatch", known), Some("tag-mismatch"));
        assert_eq!(nearest("zebra", known), None);
    }
}
