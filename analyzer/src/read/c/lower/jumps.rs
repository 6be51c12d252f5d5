//! `goto`. Forward, to a label of a block around: the block of what is skipped is left. Backward: what
//! lies between is a loop. Into a block or across another jump: not followed.

use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::scan::each;
use crate::program::{Expression, Kind, Statement, Type};

/// What going to a label is here.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// It leaves the block of this label.
    Leave(String),
    /// It begins the loop of this label again.
    Again(String),
}

/// Statements of a list that a jump makes a block or a loop of.
struct Stretch<'u> {
    start: usize,
    end: usize,
    label: &'u str,
    is_loop: bool,
}

impl<'u> Lowering<'u> {
    /// The statements of a list, with its labels.
    pub(super) fn items(&mut self, nodes: Vec<Node<'u>>, out: &mut Vec<Statement>) {
        let mut labels: Vec<(&'u str, usize)> = Vec::new();
        let mut items = Vec::new();
        for node in nodes {
            self.without_labels(node, &mut labels, &mut items);
        }
        labels.retain(|(label, _)| self.function.mentioned.jumps.contains(label));
        if labels.is_empty() {
            items.into_iter().for_each(|item| self.statement(item, out));
            return;
        }
        let stretches = self.stretches(&labels, &items);
        let mut used = vec![false; stretches.len()];
        self.stretch(&items, 0..items.len(), &stretches, &mut used, out);
    }

    /// Takes the labels off a statement.
    fn without_labels(
        &self,
        node: Node<'u>,
        labels: &mut Vec<(&'u str, usize)>,
        items: &mut Vec<Node<'u>>,
    ) {
        let mut node = node;
        loop {
            let parts = children(node, &mut node.walk());
            match node.kind() {
                "labeled_statement" => {
                    let label = node.child_by_field_name("label");
                    labels.extend(label.map(|label| (self.text(label), items.len())));
                    let mut rest = parts.into_iter().filter(|part| Some(*part) != label);
                    match rest.next() {
                        Some(inner) => node = inner,
                        None => return,
                    }
                }
                "attributed_statement" => {
                    match parts.into_iter().find(|part| part.kind() != "attribute_declaration") {
                        Some(inner) => node = inner,
                        None => return,
                    }
                }
                _ => {
                    items.push(node);
                    return;
                }
            }
        }
    }

    /// What the jumps to these labels make of the list; stretches lie in each other or apart.
    fn stretches(&self, labels: &[(&'u str, usize)], items: &[Node<'u>]) -> Vec<Stretch<'u>> {
        let mut stretches = Vec::new();
        let jumps: Vec<Vec<&'u str>> = items.iter().map(|item| self.jumps_in(*item)).collect();
        for &(label, at) in labels {
            let has = |jumps: &Vec<&'u str>| jumps.contains(&label);
            if let Some(first) = jumps[..at.min(jumps.len())].iter().position(has) {
                stretches.push(Stretch { start: first, end: at, label, is_loop: false });
            }
            if let Some(last) = jumps.iter().rposition(has).filter(|last| *last >= at) {
                stretches.push(Stretch { start: at, end: last + 1, label, is_loop: true });
            }
        }
        // Where two overlap, one is made longer until it holds the other, if that changes nothing.
        for _ in 0..stretches.len() * stretches.len() {
            let Some((one, other)) = crossing(&stretches) else { break };
            if stretches[one].is_loop && !stretches[other].is_loop {
                let start = stretches[one].start;
                stretches[other].start = start;
            } else if stretches[one].is_loop {
                stretches[one].end = stretches[other].end;
            } else if !stretches[other].is_loop {
                let start = stretches[one].start;
                stretches[other].start = start;
            } else {
                // Into the middle of a loop.
                stretches.remove(one);
            }
        }
        stretches.sort_by_key(|it| (it.start, std::cmp::Reverse(it.end), it.is_loop));
        stretches
    }

    /// The labels that one goes to from a statement.
    fn jumps_in(&self, node: Node<'u>) -> Vec<&'u str> {
        let mut labels = Vec::new();
        each(node, &mut |node, _| {
            if node.kind() == "goto_statement" {
                labels.extend(node.child_by_field_name("label").map(|label| self.text(label)));
            }
        });
        labels
    }

    /// The statements of a part of a list, with the stretches in it.
    fn stretch(
        &mut self,
        items: &[Node<'u>],
        range: std::ops::Range<usize>,
        stretches: &[Stretch<'u>],
        used: &mut [bool],
        out: &mut Vec<Statement>,
    ) {
        let mut at = range.start;
        while at < range.end {
            let next = (0..stretches.len()).find(|number| {
                let stretch = &stretches[*number];
                !used[*number] && stretch.start == at && stretch.end <= range.end
            });
            let Some(number) = next else {
                self.statement(items[at], out);
                at += 1;
                continue;
            };
            used[number] = true;
            let Stretch { start, end, label, is_loop } = stretches[number];
            let name = self.new_label(if is_loop { "again" } else { "goto" });
            let target =
                if is_loop { Target::Again(name.clone()) } else { Target::Leave(name.clone()) };
            let before = self.function.targets.insert(label, target);
            let mut inner = Vec::new();
            self.stretch(items, start..end, stretches, used, &mut inner);
            match before {
                Some(before) => self.function.targets.insert(label, before),
                None => self.function.targets.remove(label),
            };
            let whole = self.around_stretch(inner, name, is_loop, items[start]);
            out.push(Statement::Expression(whole));
            at = end;
        }
    }

    fn around_stretch(
        &mut self,
        mut inner: Vec<Statement>,
        label: String,
        is_loop: bool,
        node: Node<'u>,
    ) -> Expression {
        if is_loop {
            // A turn that comes to its end is the last one.
            let end = self.make(Kind::Break(Some(label.clone()), None), Type::Never, node);
            inner.push(Statement::Expression(end));
        }
        let mut block = self.block_around(inner, node);
        if is_loop {
            return self.make(Kind::Loop(Some(label), Box::new(block)), Type::unit(), node);
        }
        if let Kind::Block(inner) = &mut block.kind {
            inner.label = Some(label);
        }
        block
    }

    /// `goto label;`
    pub(super) fn jump(&mut self, node: Node<'u>) -> Expression {
        let label = node.child_by_field_name("label").map_or("", |label| self.text(label));
        let kind = match self.function.targets.get(label) {
            Some(Target::Leave(label)) => Kind::Break(Some(label.clone()), None),
            Some(Target::Again(label)) => Kind::Continue(Some(label.clone())),
            None => {
                let why =
                    format!("`goto {label}` leads into a block or a loop, which is not followed");
                return self.lost(&why, node);
            }
        };
        self.make(kind, Type::Never, node)
    }
}

/// Two stretches that overlap; the first one begins first.
fn crossing(stretches: &[Stretch<'_>]) -> Option<(usize, usize)> {
    for (one, first) in stretches.iter().enumerate() {
        for (other, second) in stretches.iter().enumerate() {
            if first.start < second.start && second.start < first.end && first.end < second.end {
                return Some((one, other));
            }
        }
    }
    None
}
