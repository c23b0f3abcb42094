//! What the page shows: totals, routes, the retry rule in words, refusals with why, dead letters with their reason.

use serde_json::{Value, json};
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;

use crate::setting::{failing, rows, signed_in, view};

/// The page's order of the totals, by their names in the API.
const TOTALS: [&str; 11] = [
    "received",
    "stored",
    "repeats",
    "repeats_with_other_body",
    "refused",
    "declined",
    "unrouted",
    "delivered",
    "waiting",
    "held",
    "dead",
];

/// A story in which everything that the page counts has happened once or more.
async fn story(switchboard: &Switchboard) {
    let shop = sender(switchboard, "shop");
    for id in ["1", "1", "2"] {
        assert_eq!(shop.send(id, "orders/create", "{}").await.status, 200);
    }
    let signed_without_line_end = shop.headers("3", "orders/create", b"{}");
    assert_eq!(shop.post(signed_without_line_end, "{}\n").await.status, 401);
    let nobody = switchboard.sender("nobody", "shopify", "shpss_of_nobody_that_is_configured");
    assert_eq!(nobody.send("1", "orders/create", "{}").await.status, 404);
    switchboard.wait_total("dead", 2).await;
    switchboard.wait_total("delivered", 2).await;
}

fn one_row<'a>(rows: &'a [Vec<String>], words: &[&str]) -> &'a Vec<String> {
    let has = |row: &&Vec<String>| {
        words
            .iter()
            .all(|word| row.iter().any(|cell| cell.contains(word)))
    };
    let found: Vec<_> = rows.iter().filter(has).collect();
    assert!(!found.is_empty(), "no row has {words:?}: {rows:#?}");
    found[0]
}

#[tokio::test]
async fn the_page_shows_what_the_server_holds() {
    let (_sink, switchboard) = failing().await;
    story(&switchboard).await;
    let mut browser = signed_in(&switchboard).await;

    let totals = switchboard.get("/api/overview").await["totals"].clone();
    for name in TOTALS {
        let shown = browser.text(&format!("[data-total=\"{name}\"]")).await;
        assert_eq!(json!(shown.parse::<u64>().ok()), totals[name], "{name}");
    }
    assert_eq!(
        TOTALS.map(|name| totals[name].as_u64().expect("a total")),
        [3, 2, 1, 0, 1, 1, 0, 2, 0, 0, 2]
    );

    let retry = browser.text("#retry").await;
    let rule = "accounting and warehouse: A delivery has 3 attempts, the first at once. It succeeds on an answer in \
        the 200s within 3 s. The next follow after pauses of 20 ms and 40 ms, each up to 20 % longer or shorter at random.";
    assert!(retry.contains(rule), "{retry}");
    let usual = "your-endpoint: A delivery has 6 attempts, the first at once. It succeeds on an answer in the 200s \
        within 3 s. The next follow after pauses of 2 s, 4 s, 8 s, 16 s and 32 s, each up to 20 % longer or shorter at random.";
    assert!(retry.contains(usual), "{retry}");
    let routes = rows(&mut browser, "routes").await;
    assert_eq!(
        routes,
        [
            [
                "shop",
                "orders/create",
                "accounting: make-invoicewarehouse: reserve-items"
            ],
            ["every source", "every kind", "accounting: make-invoice"]
        ]
    );

    view(&mut browser, "#/failed").await;
    let letters = rows(&mut browser, "dead-letters").await;
    assert_eq!(letters.len(), 2);
    let held = switchboard.get("/api/dead-letters").await;
    for letter in held["items"].as_array().expect("a list") {
        let event = letter["event"].as_str().expect("an id");
        let row = one_row(&letters, &[&event[..12]]);
        assert_eq!(
            row[2..8],
            [
                "shop",
                "orders/create",
                "accounting",
                "make-invoice",
                "3",
                "attempts used up: last answer 403"
            ]
        );
        let delivery = letter["delivery"].as_str().expect("an id");
        let script = format!(
            "document.querySelector('#dead-letters [data-delivery=\"{delivery}\"]').closest('tr').querySelector('time').dateTime"
        );
        assert_eq!(browser.evaluate(&script).await, letter["at"]);
    }
    let groups = rows(&mut browser, "groups").await;
    assert_eq!(groups.len(), 1);
    assert_eq!(
        groups[0][..3],
        ["accounting", "attempts used up: last answer 403", "2"]
    );

    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn the_page_says_why_something_was_turned_away_and_how_each_source_stands() {
    let (_sink, switchboard) = failing().await;
    story(&switchboard).await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/refused").await;
    let refusals = rows(&mut browser, "refusals").await;
    let refusal = &switchboard.get("/api/refusals").await["items"][0];
    let why = refusal["reason"].as_str().expect("a reason");
    assert_eq!(
        why,
        "the signature is not that of any secret of this source"
    );
    let near = refusal["near_miss"].as_str().expect("a near miss");
    assert!(near.contains("line end"), "{near}");
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0][2].starts_with(why), "{}", refusals[0][2]);
    assert!(
        refusals[0][2].contains("switchboard verify --source shop "),
        "{}",
        refusals[0][2]
    );
    assert_eq!(refusals[0][1], "shop");
    assert_eq!(
        refusals[0][3..],
        [near, "–", "1", "3 bytes", "application/json"]
    );

    let declined = rows(&mut browser, "declined").await;
    assert_eq!(
        declined[0][2..],
        ["/in/nobody", "404", "no source of that name"]
    );

    view(&mut browser, "#/sources").await;
    let sources = rows(&mut browser, "sources").await;
    let shop = one_row(&sources, &["shopify"]);
    let address = switchboard.at("/in/shop").to_string();
    assert_eq!(shop[..2], ["shop", "shopify"]);
    assert_eq!(browser.text("#sources code").await, address);
    assert_eq!(shop[3], "1 secret");
    for heard in &shop[4..6] {
        assert!(heard.ends_with("ago") || heard == "now", "{heard}");
    }
    assert_eq!(shop[6..], ["2", "1", "1", "0"]);
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn times_stand_in_the_viewers_zone_with_utc_on_hover() {
    let (_sink, switchboard) = failing().await;
    sender(&switchboard, "shop").send("1", "other", "{}").await;
    let at = switchboard.get("/api/events").await["items"][0]["at"].clone();
    let at = at.as_str().expect("a time");
    let mut browser = signed_in(&switchboard).await;
    for (zone, offset) in [
        ("Pacific/Kiritimati", "+14:00"),
        ("Pacific/Pago_Pago", "-11:00"),
    ] {
        browser
            .command(
                "Emulation.setTimezoneOverride",
                &json!({ "timezoneId": zone }),
            )
            .await;
        browser.open(&switchboard.url).await;
        crate::setting::live(&mut browser).await;
        view(&mut browser, "#/events").await;
        let shown = browser.text("#events time").await;
        let moment = format!(
            "new Date({}.replace(' ', 'T').replace(' ', '')).getTime() - new Date('{at}').setMilliseconds(0)",
            json!(shown)
        );
        assert!(shown.ends_with(offset), "{shown} in {zone}");
        assert_eq!(browser.evaluate(&moment).await, 0, "{shown} in {zone}");
        let title = "document.querySelector('#events time').title";
        assert_eq!(browser.evaluate(title).await, format!("{at} (UTC)"));
        let age = browser.text("#events .age").await;
        assert!(
            age == "now" || age.ends_with("ago"),
            "in {zone} it is {age}"
        );
    }
    browser.close().await;
}
