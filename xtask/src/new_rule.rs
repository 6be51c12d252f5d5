//! `cargo xtask new-rule NAME`: a rule's folder, and its line in the list of rules.
//!
//! What it writes compiles. Its cases fail until the check finds what they say, and the text's test
//! fails until the text is one.

use crate::Result;
use crate::workspace::{read, root, write};

/// The end of the list of rules.
const LIST_END: &str = "\n}\n\n/// Every rule.\n";

/// The check of a rule that finds nothing yet.
const CHECK: &str = "\
//! What NAME is.

use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: \"NAME\",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!(\"doc.md\"),
    check: Check::World(check),
};

fn check(_case: &Case<'_>) -> Vec<Finding> {
    Vec::new()
}
";

/// A rule's text, with its parts in order.
const DOC: &str = "\
# NAME

One sentence.

## What it does

## Why is this bad

## Example

```rust
EXAMPLE```

## Use instead

```rust
EXAMPLE```
";

/// A protocol to begin an example or a case with.
const PROTOCOL: &str = "\
#[p2p_protocol(ranks = 2)]
mod exchange {
    type Number = i32;

    #[rank(0)]
    fn left() {
        send(1, Number);
    }

    #[rank(1)]
    fn right() {
        recv(0, Number);
    }
}
";

/// Writes the folder, registers the rule and makes its page.
pub(crate) fn run(name: &str) -> Result {
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !name.split('-').all(plain) {
        return Err(format!("`{name}` is no rule's name, such as `unmatched-send`").into());
    }
    let rules = root().join("protocol/src/rules");
    let folder = rules.join(name);
    if folder.exists() {
        return Err(format!("the rule `{name}` exists").into());
    }
    let list = rules.join("mod.rs");
    let registered = with_rule(&read(&list)?, name).ok_or("the list of rules was not found")?;
    let doc = DOC.replace("NAME", name).replace("EXAMPLE", PROTOCOL);
    let right = format!("//! What is right, and why.\n\n{PROTOCOL}");
    let wrong = right.replace("right, and", "wrong, and");
    let wrong = wrong.replace("send(1, Number);", &format!("send(1, Number); //~ {name}"));
    write(&folder.join("check.rs"), &CHECK.replace("NAME", name))?;
    write(&folder.join("doc.md"), &doc)?;
    write(&folder.join("cases/wrong.rs"), &wrong)?;
    write(&folder.join("cases/right.rs"), &right)?;
    write(&list, &registered)?;
    println!("protocol/src/rules/{name}/: write doc.md, the cases and check.rs, in this order;");
    println!("then `cargo xtask generate` makes the book's page");
    Ok(())
}

/// The list of rules with one more.
fn with_rule(list: &str, name: &str) -> Option<String> {
    let (before, after) = list.split_once(LIST_END)?;
    let module = name.replace('-', "_");
    Some(format!("{before}\n    {module} in \"{name}/check.rs\";{LIST_END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_added_at_the_end_of_the_list() {
        let list = read(&root().join("protocol/src/rules/mod.rs")).unwrap();
        let longer = with_rule(&list, "never-seen-before").unwrap();
        let added = "    never_seen_before in \"never-seen-before/check.rs\";\n";
        assert_eq!(longer.replace(added, ""), list);
        assert!(longer.contains(&format!("check.rs\";\n{added}}}")));
    }
}
