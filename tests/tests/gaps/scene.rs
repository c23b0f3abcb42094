//! The scene of a story: a board of its own, a sender, and destinations that answer each attempt always alike.

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use switchboard_core::identity::EventId;
use switchboard_core::names::{SenderId, SourceName};
use switchboard_core::ports::Views;
use switchboard_core::views::EventView;
use switchboard_tests::board::{Board, signed};
use switchboard_tests::gateway::{body_of, encoded, posted};
use switchboard_tests::lambda::Invoked;
use switchboard_tests::wait;

use crate::watched::Watched;

/// How often a sender posts an event that it gets no 200 for.
const POSTS: usize = 40;
/// How long a sender waits before it posts again.
const BETWEEN: Duration = Duration::from_millis(250);
/// The body of every event.
const BODY: &[u8] = b"{\"a\":1}";

/// What a sender does that got no 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It posts again until it gets one.
    Patient,
    /// It never does.
    Careless,
}

/// What a sender was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// How often it posted.
    pub(crate) posts: u64,
    /// How often it was answered that the event is stored.
    pub(crate) accepted: u64,
    /// How often it was answered that the event was stored before.
    pub(crate) repeats: u64,
}

impl Told {
    /// It was promised that the event is delivered or listed.
    pub(crate) const fn is_promised(self) -> bool {
        self.accepted + self.repeats > 0
    }
}

/// The configuration with these destinations, all of which the events of `code` go to.
pub(crate) fn configuration(board: &Board, destinations: &[&str]) -> String {
    let section = |name: &&str| {
        let url = board.sink.url(&format!("/{name}"));
        let pauses = r#"["20ms", "20ms"]"#;
        format!("[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = {pauses}\n")
    };
    let to = |name: &&str| format!("{{ to = \"{name}\", action = \"post-line\" }}");
    let sections: Vec<_> = destinations.iter().map(section).collect();
    let to: Vec<_> = destinations.iter().map(to).collect();
    format!(
        r#"
allow_private_networks = true
[[source]]
name = "code"
scheme = "github"
secrets = ["secret:code"]
{}
[[route]]
source = "code"
kind = "*"
deliver = [{}]
"#,
        sections.concat(),
        to.join(", ")
    )
}

/// A board where all events go to these destinations. `good` takes every attempt, `flaky` any but the first, `mended` any but
/// the first three, `bad` none.
pub(crate) async fn board(destinations: &[&str]) -> Board {
    let board = Board::bare().await;
    let text = configuration(&board, destinations);
    board.apply(None, &text).await;
    board.sink.answer(|received, before| {
        let attempt = received.header("switchboard-attempt");
        let status = match (received.path.as_str(), attempt) {
            ("/flaky", "1") | ("/mended", "1" | "2" | "3") | ("/bad", _) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            _ => StatusCode::OK,
        };
        // No two answers are alike: two attempts in the same millisecond can be told apart.
        (status, before.to_string())
    });
    board
}

/// Posts an event; what its sender was told.
pub(crate) async fn send(ingress: &mut Watched, id: &str, patience: Patience) -> Told {
    let mut told = Told::default();
    for _ in 0..POSTS {
        told.posts += 1;
        let event = posted("code", &signed(id, BODY), &encoded(BODY));
        match status(&ingress.invoke(&event).await) {
            Some((200, said)) => {
                match said["status"].as_str() {
                    Some("accepted") => told.accepted += 1,
                    Some("repeat") => told.repeats += 1,
                    _ => panic!("a sender is told: {said}"),
                }
                return told;
            }
            Some((503, _)) | None if patience == Patience::Careless => return told,
            Some((503, _)) => {
                wait::between(BETWEEN).await;
            }
            None => {}
            Some((other, said)) => panic!("a sender is told {other}: {said}"),
        }
    }
    panic!("no post is answered 200; the ingress:\n{}", ingress.log());
}

/// The status that an invocation comes to behind the gateway, and what is said with it.
pub(crate) fn status(invoked: &Invoked) -> Option<(u64, Value)> {
    match invoked {
        Invoked::Answered(answer) => {
            let status = answer["statusCode"].as_u64().expect("a status");
            Some((status, body_of(answer)))
        }
        Invoked::Failed(_) | Invoked::Died => None,
    }
}

/// The event that the sender knows by that id, if it is stored.
pub(crate) async fn event(board: &Board, id: &str) -> Option<EventView> {
    let source = SourceName::parse("code").expect("a name");
    let id = EventId::of(&source, &SenderId::new(id).expect("an id"));
    board.aws.event(&id).await.expect("read")
}
