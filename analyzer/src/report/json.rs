//! For programs: cargo's `compiler-message`, one object a line, with all that is known in `p2p`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};
use p2p_protocol::finding::Certainty;
use serde_json::{Value, json};

use super::excerpt::Excerpt;
use super::{Outcome, human};
use crate::coverage::Call;
use crate::diagnostic::{Diagnostic, Evidence, Label};
use crate::evaluate::Understood;
use crate::source::discover::Unit;
use crate::source::{FileId, Sources};

/// The whole report; `color`: in what is rendered.
///
/// A line about a compiled artifact comes first for each package, so that an editor forgets what was
/// found in it before, also where nothing is found any more.
pub fn report(outcome: &Outcome, color: bool, summary: bool) -> String {
    let mut targets = Targets::default();
    let mut text = String::new();
    for unit in &outcome.packages {
        text.push_str(&format!("{}\n", artifact(unit)));
    }
    for diagnostic in &outcome.diagnostics {
        let file = diagnostic.primary.as_ref().map(|primary| primary.at.file);
        let mut line = targets.of(outcome, file);
        line["reason"] = json!("compiler-message");
        line["message"] = message(&outcome.sources, diagnostic, color);
        text.push_str(&line.to_string());
        text.push('\n');
    }
    if summary {
        let it = &outcome.summary;
        let mut line = json!({
            "reason": "p2p-summary",
            "protocols": it.protocols,
            "not_run": it.not_run,
            "files": it.files,
            "sizes": it.sizes,
            "incomplete": it.incomplete.values().flatten().collect::<BTreeSet<_>>(),
            "unfinished": it.unfinished,
            "parameters": it.parameters,
            "errors": it.errors,
            "warnings": it.warnings,
            "allowed": it.allowed,
            "unchecked": it.unchecked,
            "programs": it.programs,
            "calls": it.calls,
            "understood": it.understood,
            "partly": it.partly,
            "refused": it.refused,
        });
        if let Some(calls) = &outcome.calls {
            line["coverage"] = calls.iter().map(|call| covered(&outcome.sources, call)).collect();
        }
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// A call that communicates, and how far it was understood.
fn covered(sources: &Sources, call: &Call) -> Value {
    let file = sources.file(call.at.file);
    let (understood, reason) = match &call.understood {
        Understood::Fully => ("fully", None),
        Understood::Partly(why) => ("partly", Some(why)),
        Understood::Not(why) => ("not", Some(why)),
    };
    json!({
        "file": file.name,
        "line": file.position(call.at.bytes.start).line,
        "name": call.name,
        "understood": understood,
        "reason": reason,
    })
}

fn artifact(unit: &Unit) -> Value {
    json!({
        "reason": "compiler-artifact",
        "package_id": unit.package.id,
        "manifest_path": unit.package.manifest_path,
        "target": unit.target,
        "profile": {
            "opt_level": "0",
            "debuginfo": 0,
            "debug_assertions": true,
            "overflow_checks": true,
            "test": false,
        },
        "features": [],
        "filenames": [],
        "executable": null,
        "fresh": false,
    })
}

fn message(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> Value {
    let primary = diagnostic.primary.iter().map(|label| span(sources, label, true));
    let secondary = diagnostic.secondary.iter().map(|label| span(sources, label, false));
    let code =
        diagnostic.rule.map(|rule| json!({ "code": format!("p2p::{rule}"), "explanation": null }));
    let notes = human::notes(sources, diagnostic, true);
    let children = notes.iter().map(|note| match note.strip_prefix("help: ") {
        Some(help) => child("help", help),
        None => child("note", note),
    });
    let mut message = json!({
        "$message_type": "diagnostic",
        "message": diagnostic.message,
        "level": diagnostic.severity.name(),
        "code": code,
        "spans": primary.chain(secondary).collect::<Vec<_>>(),
        "children": children.collect::<Vec<_>>(),
        "rendered": human::render(sources, diagnostic, true, color),
    });
    if let Some(rule) = diagnostic.rule {
        message["p2p"] = evidence(sources, rule, diagnostic.evidence.as_ref());
    }
    message
}

fn child(level: &str, text: &str) -> Value {
    json!({
        "message": text,
        "code": null,
        "level": level,
        "spans": [],
        "children": [],
        "rendered": null,
    })
}

fn span(sources: &Sources, label: &Label, primary: bool) -> Value {
    let file = sources.file(label.at.file);
    let (start, end) = (label.at.bytes.start, label.at.bytes.end);
    let (from, to) = (file.position(start), file.position(end));
    let excerpt = Excerpt::of(sources, [label]);
    let lines = (from.line..=to.line).map(|number| {
        let part = excerpt.shown(label.at.file, number - 1);
        let left_out = file.position(part.start).column - 1;
        let text = file.text[part].trim_end_matches(['\n', '\r']);
        let end = text.chars().count() + 1;
        let first = if number == from.line { from.column - left_out } else { 1 };
        let last = if number == to.line { end.min(to.column - left_out) } else { end };
        json!({ "text": text, "highlight_start": first, "highlight_end": last })
    });
    json!({
        "file_name": file.name,
        "byte_start": start + file.mark,
        "byte_end": end + file.mark,
        "line_start": from.line,
        "line_end": to.line,
        "column_start": from.column,
        "column_end": to.column,
        "is_primary": primary,
        "label": (!label.text.is_empty()).then_some(&label.text),
        "text": lines.collect::<Vec<_>>(),
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    })
}

fn evidence(sources: &Sources, rule: &str, evidence: Option<&Evidence>) -> Value {
    let Some(evidence) = evidence else {
        return json!({
            "rule": rule, "certainty": "certain", "ranks": [], "sizes": [], "waits": [], "trace": [],
        });
    };
    let certainty = match evidence.certainty {
        Certainty::Certain => "certain",
        Certainty::Possible { .. } => "possible",
    };
    let waits = evidence.waits.iter().map(|wait| {
        let location = evidence.place(wait.place);
        let file = sources.file(location.file);
        json!({
            "rank": wait.rank,
            "operation": wait.operation,
            "file": file.name,
            "line": file.position(location.bytes.start).line,
            "for": wait.waits_for,
        })
    });
    let trace = evidence.trace.iter().map(|step| {
        let place = sources.short(evidence.place(step.place));
        json!(format!("rank {} {} ({place})", step.rank, step.text))
    });
    json!({
        "rule": rule,
        "certainty": certainty,
        "ranks": evidence.ranks,
        "sizes": evidence.sizes,
        "waits": waits.collect::<Vec<_>>(),
        "trace": trace.collect::<Vec<_>>(),
    })
}

/// The package and the target of each file, which every line has to name.
#[derive(Default)]
struct Targets {
    /// What cargo says about the workspaces, by manifest; `None` where it says nothing.
    workspaces: BTreeMap<PathBuf, Option<Metadata>>,
}

impl Targets {
    /// The outer object of a line about a file.
    fn of(&mut self, outcome: &Outcome, file: Option<FileId>) -> Value {
        if let Some(unit) = file.and_then(|file| outcome.units.get(&file)) {
            return json!({
                "package_id": unit.package.id,
                "manifest_path": unit.package.manifest_path,
                "target": unit.target,
            });
        }
        let path = file.map_or_else(
            || std::env::current_dir().unwrap_or_default(),
            |file| outcome.sources.file(file).path.clone(),
        );
        self.of_package(&path).unwrap_or_else(|| without_package(&path))
    }

    /// The package whose folder a file is in, and of its targets the one that is nearest.
    fn of_package(&mut self, path: &Path) -> Option<Value> {
        let mut manifests = path.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
        let manifest = manifests.find(|manifest| manifest.is_file())?;
        let metadata = self.workspaces.entry(manifest.clone()).or_insert_with(|| {
            MetadataCommand::new().manifest_path(&manifest).no_deps().exec().ok()
        });
        let packages = &metadata.as_ref()?.packages;
        let package = packages.iter().find(|it| it.manifest_path.as_std_path() == manifest)?;
        let nearness = |target: &&cargo_metadata::Target| {
            let source = target.src_path.as_std_path();
            let folder = source.parent().filter(|folder| path.starts_with(folder));
            (source == path, folder.map_or(0, |folder| folder.components().count()))
        };
        // Of several that are as near, cargo's first: the library.
        let target = package.targets.iter().rev().max_by_key(nearness)?;
        Some(json!({
            "package_id": package.id,
            "manifest_path": package.manifest_path,
            "target": target,
        }))
    }
}

/// A package of one program, for a file that belongs to none.
fn without_package(path: &Path) -> Value {
    let folder = path.parent().unwrap_or(path).display();
    let name = path.file_stem().map_or_else(|| "p2p-check".into(), |name| name.to_string_lossy());
    json!({
        "package_id": format!("path+file://{folder}#{name}@0.0.0"),
        "target": {
            "name": name,
            "kind": ["bin"],
            "crate_types": ["bin"],
            "required-features": [],
            "src_path": path.to_string_lossy(),
            "edition": "2024",
            "doctest": false,
            "test": false,
            "doc": false,
        },
    })
}
