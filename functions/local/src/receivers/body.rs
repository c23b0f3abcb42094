//! What the receivers read of a body. Numbers that are money or ids stay the text or the whole number they came as;
//! every field may be missing, since the receivers take what senders send.

use std::fmt;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer};

use super::delivery::{Delivery, Label};

/// The body is not what the action needs.
#[derive(Debug, thiserror::Error)]
#[error("the body cannot be read: {0}")]
pub(super) struct Unreadable(#[from] serde_json::Error);

/// Reads the body of a delivery; a byte order mark before it is passed over.
pub(super) fn read<T: DeserializeOwned>(delivery: &Delivery) -> Result<T, Unreadable> {
    let body = delivery
        .body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&delivery.body);
    Ok(serde_json::from_slice(body)?)
}

/// A text, or a whole number digit for digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text(pub(super) Label);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrDigits;

        impl Visitor<'_> for TextOrDigits {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Label::new(text)))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Text, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Text, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(TextOrDigits)
    }
}

/// A Shopify order.
#[derive(Debug, Deserialize)]
pub(super) struct Order {
    pub(super) id: Option<Text>,
    /// Such as `#1001`.
    pub(super) name: Option<Text>,
    #[serde(rename = "order_number")]
    pub(super) number: Option<Text>,
    pub(super) total_price: Option<Text>,
    pub(super) currency: Option<Text>,
    pub(super) line_items: Option<Vec<Item>>,
    pub(super) customer: Option<Customer>,
}

/// One line of an order.
#[derive(Debug, Deserialize)]
pub(super) struct Item {
    pub(super) sku: Option<Text>,
    pub(super) title: Option<Text>,
    pub(super) quantity: Option<u64>,
}

/// Who ordered.
#[derive(Debug, Deserialize)]
pub(super) struct Customer {
    pub(super) first_name: Option<Text>,
    pub(super) last_name: Option<Text>,
}

/// A Stripe event around a payment intent.
#[derive(Debug, Deserialize)]
pub(super) struct Payment {
    pub(super) data: Option<PaymentData>,
}

/// What the event is about.
#[derive(Debug, Deserialize)]
pub(super) struct PaymentData {
    pub(super) object: Option<PaymentIntent>,
}

/// The payment intent.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PaymentIntent {
    pub(super) id: Option<Text>,
    /// In the currency's smallest unit.
    pub(super) amount: Option<u64>,
    pub(super) currency: Option<Text>,
    pub(super) metadata: Option<Metadata>,
}

/// What the shop wrote beside the payment.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) order_id: Option<Text>,
}

/// A GitHub push.
#[derive(Debug, Deserialize)]
pub(super) struct Push {
    #[serde(rename = "ref")]
    pub(super) reference: Option<Text>,
    pub(super) repository: Option<Repository>,
    pub(super) pusher: Option<Pusher>,
    pub(super) commits: Option<Vec<serde::de::IgnoredAny>>,
}

/// Where to.
#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) full_name: Option<Text>,
}

/// By whom.
#[derive(Debug, Deserialize)]
pub(super) struct Pusher {
    pub(super) name: Option<Text>,
}

/// A form that was filled in, as a body of Standard Webhooks.
#[derive(Debug, Deserialize)]
pub(super) struct Form {
    pub(super) data: Option<FormData>,
}

/// What was filled in.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FormData {
    pub(super) name: Option<Text>,
    pub(super) email: Option<Text>,
    pub(super) message: Option<Text>,
}

/// The label of a field, if it is there.
pub(super) fn label(field: Option<Text>) -> Option<Label> {
    field.map(|text| text.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_are_never_fractions() {
        let text =
            |json: &str| serde_json::from_str::<Text>(json).map(|text| text.0.as_str().to_owned());
        assert_eq!(text("\"54.00\"").expect("text"), "54.00");
        assert_eq!(
            text("9007199254740993").expect("digits"),
            "9007199254740993"
        );
        assert_eq!(
            text("18446744073709551615").expect("digits"),
            "18446744073709551615"
        );
        assert!(text("54.1").is_err(), "a fraction would lose digits");
        assert!(text("{}").is_err());
    }
}
