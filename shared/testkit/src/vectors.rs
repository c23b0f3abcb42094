//! The signature vectors made with the senders' official libraries: requests, each with what a right check says of it.

use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer, de};
use switchboard_core::configuration::Source;
use switchboard_core::names::SourceName;
use switchboard_core::scheme::{Scheme, SecretFault, github, shopify, standard_webhooks, stripe};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;

const FILE: &str = include_str!("../vectors/signatures.json");

/// How binding a vector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Every right check agrees.
    Must,
    /// Harmless either way.
    Free,
}

/// What the signature check is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// The signature holds.
    Accept,
    /// It does not.
    Refuse,
}

/// The body as an API gateway hands it to a function.
#[derive(Clone, Debug, Deserialize)]
struct Gateway {
    #[serde(rename = "isBase64Encoded")]
    encoded: bool,
    body: String,
}

/// One request, and what is to be said of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    /// Its name in the file, such as `stripe-001`.
    pub id: String,
    /// The file's name for the scheme; [`Vector::scheme`] is ours.
    #[serde(rename = "scheme")]
    pub sender: String,
    /// What the case is.
    pub name: String,
    /// The family of cases it is of, such as `timestamp`.
    #[serde(rename = "kind")]
    pub family: String,
    /// How binding it is.
    pub grade: Grade,
    /// The secret as a user would paste it.
    pub secret: String,
    /// The present, in seconds since 1970.
    now: i64,
    headers: Vec<(String, String)>,
    #[serde(rename = "body_b64", deserialize_with = "base64")]
    body: Vec<u8>,
    apigw: Option<Gateway>,
    /// What the signature check is to say.
    pub expect: Expect,
    /// Why.
    pub reason: String,
    /// The sender's id, where it is accepted and has one.
    pub event_id: Option<String>,
    /// The sender's kind, where it is accepted and has one.
    pub event_type: Option<String>,
}

fn base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text.as_bytes()).map_err(de::Error::custom)
}

impl Vector {
    /// The scheme that its sender signs by; `None` where there is none yet.
    pub fn scheme(&self) -> Option<&'static Scheme> {
        match self.sender.as_str() {
            "stripe" => Some(&stripe::SCHEME),
            "github" => Some(&github::SCHEME),
            "shopify" => Some(&shopify::SCHEME),
            "standardwebhooks" | "svix" => Some(&standard_webhooks::SCHEME),
            _ => None,
        }
    }

    /// The moment that the check is to take as the present.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.now)
    }

    /// The headers as sent, text outside ASCII as UTF-8; `None` when one of them cannot be sent at all.
    pub fn headers(&self) -> Option<HeaderMap> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
        }
        Some(map)
    }

    /// The raw body as sent.
    pub fn body(&self) -> Vec<u8> {
        self.body.clone()
    }

    /// The body as it is after an API gateway: `None` for a vector that says nothing of one, or cannot be decoded.
    pub fn gateway_body(&self) -> Option<Vec<u8>> {
        let Gateway { encoded, body } = self.apigw.as_ref()?;
        if *encoded {
            BASE64.decode(body.as_bytes()).ok()
        } else {
            Some(body.as_bytes().to_vec())
        }
    }

    /// A source of `scheme` with the vector's secret, as a configuration would make it.
    pub fn source(&self, name: SourceName, scheme: &'static Scheme) -> Result<Source, SecretFault> {
        let secret = Secret::new(&self.secret).ok_or(SecretFault::Empty)?;
        let key = (scheme.key)(&secret)?;
        Ok(Source::new(name, scheme, vec![(secret, key)]))
    }
}

/// Every vector of the file.
pub fn load() -> Result<Vec<Vector>, serde_json::Error> {
    #[derive(Deserialize)]
    struct File {
        vectors: Vec<Vector>,
    }
    serde_json::from_str::<File>(FILE).map(|file| file.vectors)
}

/// Every vector of a grade whose scheme there is, with that scheme.
pub fn supported(grade: Grade) -> Result<Vec<(Vector, &'static Scheme)>, serde_json::Error> {
    let of_grade = load()?.into_iter().filter(|vector| vector.grade == grade);
    Ok(of_grade
        .filter_map(|vector| vector.scheme().map(|scheme| (vector, scheme)))
        .collect())
}
