//! What Shopify posts: an order and its customer.

use serde_json::{Value, json};

use super::unique::{PACKET_CENTS, POT_CENTS};
use super::{Sender, What};

pub(super) const SENDER: Sender = Sender {
    scheme: "shopify",
    usual_kind: "orders/create",
    id: |unique| unique.uuid(0),
    body,
    headers,
};

fn body(what: &What<'_>) -> Value {
    match what.kind.split_once('/') {
        Some(("orders", _)) => order(what),
        _ => json!({
            "id": what.unique.number(),
            "created_at": what.now,
            "updated_at": what.now,
            "admin_graphql_api_id": format!("gid://shopify/Sample/{}", what.unique.number()),
        }),
    }
}

fn order(what: &What<'_>) -> Value {
    let unique = what.unique;
    let price = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
    let total = price(unique.cents());
    json!({
        "id": unique.number(),
        "admin_graphql_api_id": format!("gid://shopify/Order/{}", unique.number()),
        "name": format!("#{}", unique.order()),
        "order_number": unique.order(),
        "created_at": what.now,
        "currency": "EUR",
        "current_total_price": total,
        "total_price": total,
        "financial_status": "pending",
        "fulfillment_status": null,
        "email": "zoe@example.com",
        "customer": {
            "id": unique.number() / 7,
            "first_name": "Zoë",
            "last_name": "Groß",
            "email": "zoe@example.com",
        },
        "shipping_address": { "name": "Zoë Groß", "address1": "Königstraße 4", "city": "Münster", "country_code": "DE" },
        "line_items": [
            { "id": unique.number() / 3, "sku": "TEA-SENCHA-100", "title": "Sencha 煎茶, 100 g", "quantity": unique.packets(), "price": price(PACKET_CENTS) },
            { "id": unique.number() / 5, "sku": "POT-CAST-1", "title": "Cast-iron pot", "quantity": 1, "price": price(POT_CENTS) },
        ],
        "note": "Bitte beim Nachbarn abgeben 🫖",
    })
}

fn headers(what: &What<'_>) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("user-agent", "Shopify-Captain-Hook".to_owned()),
        ("x-shopify-api-version", "2026-07".to_owned()),
        ("x-shopify-event-id", what.unique.uuid(1)),
        (
            "x-shopify-shop-domain",
            "teahouse-sample.myshopify.com".to_owned(),
        ),
        ("x-shopify-triggered-at", what.now.to_string()),
    ];
    if what.kind.starts_with("orders/") {
        headers.push(("x-shopify-order-id", what.unique.number().to_string()));
    }
    headers
}
