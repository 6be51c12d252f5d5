//! Actions drawn at random, of every kind that the model has, and small parts of them.

use p2p_protocol::model::{
    AccessKind, Action, Argument, Collective, CollectiveKind, Completion, Data, Departure,
    Envelope, HandleKind, LabelId, Mode, OneSided, Peer, Phase, Position, RequestId, SourceId, Tag,
    WindowAccess, WindowStep,
};
use proptest::prelude::*;

use crate::build::{LARGE, SMALL, SOME, UNKNOWN, arms};

/// The most ranks that a world has here.
pub(crate) const RANKS: u32 = 4;
/// The most events that a rank has here.
pub(crate) const EVENTS: usize = 6;
/// The requests that actions drawn at random use.
const REQUESTS: RequestId = 2;
const SOURCES: SourceId = 2;
const LABELS: LabelId = 2;

pub(crate) fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        5 => Just(Mode::Standard),
        1 => Just(Mode::Synchronous),
        1 => Just(Mode::Buffered),
        1 => Just(Mode::Ready),
    ]
}

pub(crate) fn tag() -> impl Strategy<Value = i32> {
    prop_oneof![4 => Just(0), 2 => Just(1), 1 => Just(2)]
}

pub(crate) fn communicator() -> impl Strategy<Value = u16> {
    prop_oneof![10 => Just(0), 2 => Just(1), 1 => Just(SOME)]
}

pub(crate) fn data() -> impl Strategy<Value = Data> {
    prop_oneof![3 => Just(SMALL), 2 => Just(LARGE), 1 => Just(UNKNOWN)]
}

pub(crate) fn collective_kind() -> impl Strategy<Value = CollectiveKind> {
    use CollectiveKind::*;
    prop::sample::select(vec![
        Barrier,
        Bcast,
        Scatter,
        Gather,
        AllGather,
        Reduce,
        AllReduce,
        AllToAll,
        Fence,
        Scan,
        Gatherv,
        Scatterv,
        MakeCommunicator,
        NeighborAllToAll,
    ])
}

pub(crate) fn is_rooted(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    matches!(kind, Bcast | Scatter | Scatterv | Gather | Gatherv | Reduce)
}

/// The other end of a send: mostly a rank, seldom nobody.
pub(crate) fn receiver() -> impl Strategy<Value = Peer> {
    prop_oneof![
        12 => (0..RANKS.cast_signed()).prop_map(Peer::Rank),
        1 => Just(Peer::Null),
        1 => prop::sample::select(vec![-1, RANKS.cast_signed() + 3]).prop_map(Peer::Rank),
        2 => (0..SOURCES).prop_map(Peer::Source),
    ]
}

/// The other end of a receive or a probe.
pub(crate) fn sender() -> impl Strategy<Value = Peer> {
    prop_oneof![2 => receiver(), 1 => wildcard()]
}

pub(crate) fn wildcard() -> impl Strategy<Value = Peer> {
    prop_oneof![
        2 => Just(Peer::Any { first: 0, end: RANKS }),
        1 => (0..RANKS, 1..=RANKS).prop_map(|(first, length)| Peer::Any { first, end: first + length }),
    ]
}

pub(crate) fn accepted_tag() -> impl Strategy<Value = Tag> {
    prop_oneof![3 => tag().prop_map(Tag::Exact), 1 => Just(Tag::Any)]
}

fn envelope_to() -> impl Strategy<Value = Envelope> {
    let label = prop_oneof![3 => Just(None), 1 => (0..LABELS).prop_map(Some)];
    (receiver(), tag(), communicator(), data(), label).prop_map(
        |(peer, tag, communicator, data, label)| Envelope {
            peer,
            tag: Tag::Exact(tag),
            communicator,
            data: Data { label, ..data },
        },
    )
}

fn envelope_from() -> impl Strategy<Value = Envelope> {
    (sender(), accepted_tag(), communicator(), data())
        .prop_map(|(peer, tag, communicator, data)| Envelope { peer, tag, communicator, data })
}

pub(crate) fn binds() -> impl Strategy<Value = Option<SourceId>> {
    prop_oneof![2 => Just(None), 1 => (0..SOURCES).prop_map(Some)]
}

fn request() -> impl Strategy<Value = RequestId> {
    0..REQUESTS
}

fn requests() -> impl Strategy<Value = Box<[RequestId]>> {
    prop::sample::select(vec![vec![0], vec![1], vec![0, 1], vec![1, 0]]).prop_map(Into::into)
}

/// Where to go on: forward, backward, or past the end.
pub(crate) fn position() -> impl Strategy<Value = Position> {
    0..=EVENTS
}

fn completion(requests: usize) -> impl Strategy<Value = Completion> {
    prop_oneof![
        3 => Just(Completion::All),
        2 => Just(Completion::Any(None)),
        1 => prop::collection::vec(position(), requests).prop_map(|targets| Completion::Any(Some(targets.into()))),
        2 => Just(Completion::Some),
    ]
}

fn wait() -> impl Strategy<Value = Action> {
    requests().prop_flat_map(|requests| {
        completion(requests.len())
            .prop_map(move |completion| Action::Wait { requests: requests.clone(), completion })
    })
}

fn branches() -> impl Strategy<Value = Box<[p2p_protocol::model::Arm]>> {
    (position(), position()).prop_map(|(first, second)| arms([(0, first), (1, second)]))
}

/// Any action.
pub(crate) fn action() -> BoxedStrategy<Action> {
    prop_oneof![
        16 => point_to_point(),
        16 => requests_at_work(),
        8 => all_together(),
        8 => control(),
        1 => beside_messages(),
    ]
    .boxed()
}

/// What moves nothing between ranks, as programs in C do it.
fn beside_messages() -> BoxedStrategy<Action> {
    let access = |(target, request): (i32, Option<RequestId>)| {
        let (kind, target) = (AccessKind::Put, Peer::Rank(target));
        let (range, operation, origin, result) = (None, None, None, None);
        let requested = request.is_some();
        WindowStep::Access(WindowAccess {
            kind,
            target,
            range,
            operation,
            origin,
            result,
            request,
            requested,
        })
    };
    let step = prop_oneof![
        2 => (0..RANKS.cast_signed(), prop::option::of(request())).prop_map(access),
        1 => Just(WindowStep::LockAll),
    ];
    let (call, parameter) = (0, 0);
    prop_oneof![
        2 => step.prop_map(|step| Action::OneSided(Box::new(OneSided { window: 0, step }))),
        2 => request().prop_map(|request| Action::Overwrite { request }),
        1 => Just(Action::Argument { call, parameter, argument: Argument::Count(-1) }),
        1 => Just(Action::Create { call, kind: HandleKind::Communicator, handle: 0 }),
        1 => Just(Action::Release { handle: 0 }),
        1 => Just(Action::Initialize),
        1 => Just(Action::Finalize),
        1 => Just(Action::Outside { call, phase: Phase::AfterFinalize }),
    ]
    .boxed()
}

fn point_to_point() -> BoxedStrategy<Action> {
    prop_oneof![
        3 => (mode(), envelope_to()).prop_map(|(mode, envelope)| Action::Send { mode, envelope }),
        3 => (envelope_from(), binds()).prop_map(|(envelope, binds)| Action::Receive { envelope, binds }),
        1 => (envelope_to(), envelope_from()).prop_map(|(send, receive)| Action::SendReceive {
            send: Box::new(send),
            receive: Box::new(receive),
        }),
        1 => (envelope_from(), binds()).prop_map(|(envelope, binds)| Action::Probe { envelope, binds }),
    ]
    .boxed()
}

fn requests_at_work() -> BoxedStrategy<Action> {
    prop_oneof![
        2 => (mode(), envelope_to(), request())
            .prop_map(|(mode, envelope, request)| Action::StartSend { mode, envelope, request }),
        2 => (envelope_from(), request(), binds())
            .prop_map(|(envelope, request, binds)| Action::StartReceive { envelope, request, binds }),
        1 => (mode(), envelope_to(), request())
            .prop_map(|(mode, envelope, request)| Action::PlanSend { mode, envelope, request }),
        1 => (envelope_from(), request())
            .prop_map(|(envelope, request)| Action::PlanReceive { envelope, request }),
        1 => requests().prop_map(|requests| Action::Start { requests }),
        3 => wait(),
        1 => (request(), position()).prop_map(|(request, pending)| Action::Test { request, pending }),
        1 => request().prop_map(|request| Action::Free { request }),
        1 => Just(Action::AttachBuffer { bytes: None }),
        1 => Just(Action::DetachBuffer),
    ]
    .boxed()
}

fn all_together() -> BoxedStrategy<Action> {
    let root = -1..=RANKS.cast_signed();
    let collective =
        (collective_kind(), communicator(), root).prop_map(|(kind, communicator, root)| {
            let root = is_rooted(kind).then_some(root);
            Collective { root, ..Collective::of(kind, communicator) }
        });
    let collective = (collective, request(), prop::bool::weighted(0.4)).prop_map(
        |(collective, request, starts)| match starts {
            true => Action::StartCollective { collective, request },
            false => Action::Collective(collective),
        },
    );
    prop_oneof![
        2 => collective,
        1 => envelope_to().prop_map(|envelope| Action::Put { envelope }),
        1 => envelope_to().prop_map(|envelope| Action::Get { envelope }),
    ]
    .boxed()
}

fn departure() -> impl Strategy<Value = Departure> {
    use Departure::*;
    prop::sample::select(vec![Returned, Panicked, Exited, Aborted])
}

fn control() -> BoxedStrategy<Action> {
    prop_oneof![
        branches().prop_map(|arms| Action::Choose { arms }),
        (envelope_from(), branches()).prop_map(|(envelope, arms)| Action::Offer { envelope, arms }),
        position().prop_map(|target| Action::Jump { target }),
        departure().prop_map(|departure| Action::Leave { departure }),
        (position(), position())
            .prop_map(|(one, other)| Action::Branch { targets: [one, other].into() }),
        (0..SOURCES, tag(), position(), position()).prop_map(|(slot, tag, target, otherwise)| {
            Action::BranchOnTag { slot, arms: [(tag, target)].into(), otherwise }
        }),
    ]
    .boxed()
}
