//! What is wrong, and how to say it: one folder a rule, with its check, its only text (`doc.md`)
//! and its cases.
//!
//! A rule looks at a [`Case`], everything that the runs of one world showed, and makes findings of
//! it. It does not run anything itself, and it does not know where a world came from. Rules that
//! need all worlds together look at a [`Casting`]; code that says it plays a role is compared with it
//! ([`Conformance`]).

mod advice;
mod arguments;
mod circles;
pub(crate) mod consequences;
mod draft;

mod flow;
mod leaks;
mod persistent;
#[cfg(test)]
mod samples;
pub(crate) mod sizes;

use crate::engine::{Case, Casting};
use crate::finding::{Finding, Group, Level};
use crate::model::{Place, RoleId, World};

/// A rule: what it is called, how much it matters, what there is to read, how it is found.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its kebab-case name, its only identity.
    pub name: &'static str,
    /// The family that its level can be set with.
    pub group: Group,
    /// How much it matters unless the user says otherwise.
    pub level: Level,
    /// Its text: `# name`, a sentence, and sections.
    pub doc: &'static str,
    /// How it is found.
    pub check: Check,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// One world and what its runs showed.
    World(fn(&Case<'_>) -> Vec<Finding>),
    /// Which roles were ever played.
    Casting(fn(&Casting) -> Vec<Finding>),
    /// What code does that says it plays a role, beside what the role does.
    Conformance(fn(&Conformance<'_>) -> Vec<Finding>),
    /// What one world does that could be done better, whatever its runs show.
    Advice(fn(&World) -> Vec<Advised>),
}

/// A place, and what could be done better there.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The place.
    pub place: Place,
    /// What is said of it; `None` where it has to be as it is: then nothing is said of it at all.
    pub finding: Option<Finding>,
    /// It is only said if nothing can speak against it: where it is not known what some rank does, it
    /// must be found as well.
    pub is_everywhere: bool,
}

/// A role, and what code does that says it plays it, both for the same size and parameters. Places
/// of both worlds are numbers of one table.
#[derive(Clone, Copy, Debug)]
pub struct Conformance<'w> {
    /// The protocol.
    pub expected: &'w World,
    /// The code; only the ranks that play the role in `expected` are looked at.
    pub actual: &'w World,
    /// The role, as an index into the protocol's [`World::roles`].
    pub role: RoleId,
    /// Where the code says that it plays it.
    pub declared: Place,
}

/// Declares the folders and lists their rules.
macro_rules! rules {
    ($($module:ident in $folder:literal;)*) => {
        $(#[path = $folder] mod $module;)*

        /// Every rule, by group.
        static RULES: &[Rule] = &[$($module::RULE),*];
    };
}

rules! {
    unmatched_send in "unmatched-send/check.rs";
    unmatched_receive in "unmatched-receive/check.rs";
    tag_mismatch in "tag-mismatch/check.rs";
    type_mismatch in "type-mismatch/check.rs";
    truncation in "truncation/check.rs";
    peer_out_of_range in "peer-out-of-range/check.rs";
    communicator_mismatch in "communicator-mismatch/check.rs";
    send_to_self in "send-to-self/check.rs";
    deadlock in "deadlock/check.rs";
    deadlock_unbuffered in "deadlock-unbuffered/check.rs";
    deadlock_by_race in "deadlock-by-race/check.rs";
    rank_left_waiting in "rank-left-waiting/check.rs";
    missing_wait in "missing-wait/check.rs";
    missing_start in "missing-start/check.rs";
    wait_before_start in "wait-before-start/check.rs";
    request_overwritten in "request-overwritten/check.rs";
    wait_twice in "wait-twice/check.rs";
    request_leak in "request-leak/check.rs";
    write_before_wait in "write-before-wait/check.rs";
    read_before_wait in "read-before-wait/check.rs";
    overlapping_receives in "overlapping-receives/check.rs";
    overlapping_buffers in "overlapping-buffers/check.rs";
    message_race in "message-race/check.rs";
    wildcard_steals_message in "wildcard-steals-message/check.rs";
    probe_then_receive_other in "probe-then-receive-other/check.rs";
    ready_send_unposted in "ready-send-unposted/check.rs";
    invalid_tag in "invalid-tag/check.rs";
    invalid_count in "invalid-count/check.rs";
    invalid_rank in "invalid-rank/check.rs";
    invalid_root in "invalid-root/check.rs";
    invalid_communicator in "invalid-communicator/check.rs";
    invalid_datatype in "invalid-datatype/check.rs";
    invalid_operation in "invalid-operation/check.rs";
    invalid_window in "invalid-window/check.rs";
    invalid_argument in "invalid-argument/check.rs";
    null_buffer in "null-buffer/check.rs";
    buffer_too_small in "buffer-too-small/check.rs";
    datatype_buffer_mismatch in "datatype-buffer-mismatch/check.rs";
    uncommitted_datatype in "uncommitted-datatype/check.rs";
    buffered_send_without_buffer in "buffered-send-without-buffer/check.rs";
    collective_order in "collective-order/check.rs";
    collective_root in "collective-root/check.rs";
    collective_type in "collective-type/check.rs";
    collective_count in "collective-count/check.rs";
    collective_operation in "collective-operation/check.rs";
    collective_missing_rank in "collective-missing-rank/check.rs";
    communicator_leak in "communicator-leak/check.rs";
    datatype_leak in "datatype-leak/check.rs";
    group_leak in "group-leak/check.rs";
    operation_leak in "operation-leak/check.rs";
    window_leak in "window-leak/check.rs";
    call_before_init in "call-before-init/check.rs";
    call_after_finalize in "call-after-finalize/check.rs";
    missing_finalize in "missing-finalize/check.rs";
    access_outside_epoch in "access-outside-epoch/check.rs";
    epoch_opened_twice in "epoch-opened-twice/check.rs";
    epoch_not_closed in "epoch-not-closed/check.rs";
    conflicting_access in "conflicting-access/check.rs";
    protocol_unused_role in "protocol-unused-role/check.rs";
    protocol_violation in "protocol-violation/check.rs";
    large_blocking_send in "large-blocking-send/check.rs";
    no_overlap in "no-overlap/check.rs";
    early_wait in "early-wait/check.rs";
    serial_fan_out in "serial-fan-out/check.rs";
}

/// Every rule.
pub fn all() -> &'static [Rule] {
    RULES
}

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}
