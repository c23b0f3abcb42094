//! A restore seen by a destination that keeps a book and applies a delivery once per idempotency key.

use switchboard_tests::receivers::{Receivers, books, switch};
use switchboard_tests::setting;
use switchboard_tests::switchboard::{Start, Switchboard};

use crate::setting::{backup, restart};

/// An order goes to Accounting and to Warehouse, both of them sample receivers.
fn start(receivers: &Receivers) -> Start {
    let (name, scheme, variable, secret) = setting::SOURCES[0];
    let url = |name: &str| receivers.url.join(name).expect("an address");
    let pauses = ["\"1s\""; 40].join(", ");
    let text = format!(
        "allow_private_networks = true\n\
         [[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n\
         [[destination]]\nname = \"accounting\"\nurl = \"{}\"\npauses = [{pauses}]\n\
         [[destination]]\nname = \"warehouse\"\nurl = \"{}\"\npauses = [{pauses}]\n\
         [[route]]\nsource = \"shop\"\nkind = \"orders/create\"\n\
         deliver = [{{ to = \"accounting\", action = \"make-invoice\" }}, {{ to = \"warehouse\", action = \"reserve-items\" }}]\n",
        url("accounting"),
        url("warehouse"),
    );
    Start::with(&text).set(variable, secret)
}

#[tokio::test]
async fn nothing_is_applied_twice_in_their_books() {
    let receivers = Receivers::start().await;
    for receiver in ["accounting", "warehouse"] {
        switch(&receivers.url, receiver, "fail").await;
    }
    let switchboard = Switchboard::start(start(&receivers)).await;
    let send = [
        "send",
        "shop",
        "orders/create",
        "--config",
        "switchboard.toml",
    ];
    for _ in 0..3 {
        let (code, printed) = switchboard.run(&send).await;
        assert_eq!(code, 0, "{printed}");
    }
    assert_eq!(switchboard.total("waiting").await, 6);
    let copy = backup(switchboard.folder()).await;
    for receiver in ["accounting", "warehouse"] {
        switch(&receivers.url, receiver, "ok").await;
    }
    switchboard.wait_total("delivered", 6).await;
    let before = books(&receivers.url).await;
    let (_folder, _) = switchboard.kill().await;

    let restored = restart(&copy, start(&receivers)).await;
    // All six are delivered once more, as far as the restored one knows.
    restored.wait_total("delivered", 6).await;
    let after = books(&receivers.url).await;
    for (receiver, page) in [("accounting", "invoices"), ("warehouse", "reservations")] {
        let (before, after) = (&before[receiver], &after[receiver]);
        assert_eq!(before[page].as_array().map(Vec::len), Some(3), "{before}");
        assert_eq!(after[page], before[page], "the book is as it was");
        assert_eq!(after["applied"], before["applied"]);
        assert_eq!(
            (&before["answered_again"], &after["answered_again"]),
            (&0.into(), &3.into()),
            "all came once more"
        );
    }
}
