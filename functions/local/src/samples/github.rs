//! What GitHub posts for a repository's hook.

use serde_json::{Value, json};

use super::{Sender, What};

pub(super) const SENDER: Sender = Sender {
    scheme: "github",
    usual_kind: "push",
    id: |unique| unique.uuid(0),
    body,
    headers: |_| {
        vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", "GitHub-Hookshot/0e3dd94".to_owned()),
            ("accept", "*/*".to_owned()),
            ("x-github-hook-id", HOOK.to_string()),
            (
                "x-github-hook-installation-target-id",
                REPOSITORY.to_string(),
            ),
            (
                "x-github-hook-installation-target-type",
                "repository".to_owned(),
            ),
        ]
    },
};

const HOOK: u32 = 492_817_263;
const REPOSITORY: u32 = 784_512_903;
const SENDER_LOGIN: &str = "zoe-gross";

fn body(what: &What<'_>) -> Value {
    match what.kind {
        "push" => push(what),
        "ping" => json!({
            "zen": "Keep it logically awesome.",
            "hook_id": HOOK,
            "hook": { "type": "Repository", "id": HOOK, "name": "web", "active": true, "events": ["push"] },
            "repository": repository(),
            "sender": sender(),
        }),
        _ => json!({ "action": "created", "repository": repository(), "sender": sender() }),
    }
}

fn push(what: &What<'_>) -> Value {
    let (before, after) = (what.unique.commit(1), what.unique.commit(2));
    let commit = json!({
        "id": after,
        "message": "Serve the tea while it is hot ☕",
        "timestamp": what.now,
        "author": { "name": "Zoë Groß", "email": "zoe@example.com", "username": SENDER_LOGIN },
        "added": [],
        "removed": [],
        "modified": ["kettle/src/pour.rs"],
    });
    json!({
        "ref": "refs/heads/main",
        "before": before,
        "after": after,
        "compare": format!("https://github.com/teahouse/kettle/compare/{before:.12}...{after:.12}"),
        "created": false,
        "deleted": false,
        "forced": false,
        "commits": [&commit],
        "head_commit": &commit,
        "pusher": { "name": SENDER_LOGIN, "email": "zoe@example.com" },
        "repository": repository(),
        "sender": sender(),
    })
}

fn repository() -> Value {
    json!({
        "id": REPOSITORY,
        "name": "kettle",
        "full_name": "teahouse/kettle",
        "private": true,
        "default_branch": "main",
        "html_url": "https://github.com/teahouse/kettle",
        "owner": { "login": "teahouse", "type": "Organization" },
    })
}

fn sender() -> Value {
    json!({ "login": SENDER_LOGIN, "type": "User" })
}
