//! Requests that are signed rightly, and then spoiled or left as they are.

use arbitrary::{Arbitrary, Unstructured};
use data_encoding::{BASE64, HEXLOWER};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use switchboard_core::configuration::Source;
use switchboard_core::ingress::explain;
use switchboard_core::names::{LONGEST_KIND, LONGEST_SENDER_ID, SourceName};
use switchboard_core::scheme::{ALL, Draft, Scheme, TOLERANCE, verify};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;

/// Where each scheme writes its signature.
const SIGNATURES: [&str; 4] = [
    "x-shopify-hmac-sha256",
    "stripe-signature",
    "x-hub-signature-256",
    "webhook-signature",
];

/// Whose request it is, and what is done to it.
#[derive(Arbitrary, Debug)]
struct Case {
    scheme: u8,
    names: Names,
    secret: [u8; 24],
    id: String,
    kind: String,
    at: u32,
    spoiled: Spoiled,
    body: Vec<u8>,
}

/// Which of the spellings of a scheme's headers.
#[derive(Arbitrary, Debug, PartialEq)]
enum Names {
    Usual,
    Other,
}

/// What is done to a right request.
#[derive(Arbitrary, Debug)]
enum Spoiled {
    Nothing,
    BodyBit(u16, u8),
    BodyCut,
    BodyGrown(u8),
    Signature(u16, u8),
    SignatureTwice,
    SignatureGone,
    /// It arrives that many seconds later, or earlier.
    Late(i16),
    OtherSecret,
}

/// What is left right is accepted under the sender's own id and kind; what is spoiled anywhere is refused, in words
/// that hold neither secret nor signature.
pub fn spoiled_or_not(input: &[u8]) {
    if let Ok(case) = Case::arbitrary(&mut Unstructured::new(input)) {
        case.judge();
    }
}

impl Case {
    fn judge(self) {
        let number = usize::from(self.scheme) % ALL.len();
        let (scheme, signature) = (ALL[number], SIGNATURES[number]);
        let text = secret(scheme, &self.secret);
        let (id, kind, mut body) = self.event(scheme);
        let signed_at = Timestamp::from_seconds(self.at.into());
        let draft = Draft {
            id: &id,
            kind: &kind,
            now: signed_at,
            body: &body,
        };
        let signs_with = match self.spoiled {
            Spoiled::OtherSecret => source(scheme, &format!("{text}eA==")),
            _ => source(scheme, &text),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in (scheme.sign)(&signs_with.keys()[0], &draft) {
            let name = match self.names {
                Names::Usual => name.to_owned(),
                Names::Other => other_name(name),
            };
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.insert(
                name,
                HeaderValue::from_bytes(value.as_bytes()).expect("a value"),
            );
        }
        let signature = match self.names {
            Names::Usual => signature.to_owned(),
            Names::Other => other_name(signature),
        };
        let right = headers[&signature].clone();
        let holds = self.spoiled.spoil(&mut headers, &signature, &mut body);
        let now = match self.spoiled {
            Spoiled::Late(seconds) => {
                Timestamp::from_seconds(i64::from(self.at) + i64::from(seconds))
            }
            _ => signed_at,
        };
        let has_time = (scheme.claim)(&headers).is_ok_and(|claim| claim.time.is_some());
        let late = now.seconds().abs_diff(signed_at.seconds()) > TOLERANCE.as_secs();
        let holds = holds && !(has_time && late);
        let source = source(scheme, &text);
        match verify(scheme, source.keys(), &headers, &body, now) {
            Ok(_) => {
                assert!(holds, "accepted: {self:?}");
                let identity = (scheme.identify)(&headers, &body).expect("it is readable");
                assert_eq!(identity.sender_id.as_str(), id, "{self:?}");
                assert_eq!(identity.kind.as_str(), kind, "{self:?}");
            }
            Err((reason, checked)) => {
                assert!(!holds, "refused, {reason}: {self:?}");
                let all = std::slice::from_ref(&source);
                let told = explain(&source, all, &headers, &body, reason, checked);
                let told = format!("{told:?}");
                for hidden in [
                    &text,
                    &text[6..],
                    &written(&right),
                    &written_in(&headers, &signature),
                ] {
                    assert!(
                        hidden.len() < 20 || !told.contains(hidden),
                        "{hidden:?} is told: {told}"
                    );
                }
            }
        }
    }

    /// The sender's id, the kind, and a body that holds them where the scheme wants them there.
    fn event(&self, scheme: &Scheme) -> (String, String, Vec<u8>) {
        let in_body = |text: &str, longest| cut(text, longest);
        let in_header = |text: &str, longest| {
            let kept: String = text
                .chars()
                .filter(|c| !c.is_control() && !c.is_whitespace() && !",.".contains(*c))
                .collect();
            cut(&kept, longest)
        };
        let or = |text: String, other: &str| {
            if text.is_empty() {
                other.to_owned()
            } else {
                text
            }
        };
        let text = String::from_utf8_lossy(&self.body);
        match scheme.name {
            "stripe" => {
                let id = or(in_body(&self.id, LONGEST_SENDER_ID), "evt_1");
                let kind = in_body(&self.kind, LONGEST_KIND);
                let body = json!({ "data": text, "type": kind, "id": id });
                (id, kind, body.to_string().into_bytes())
            }
            "standard-webhooks" => {
                let id = or(in_header(&self.id, LONGEST_SENDER_ID), "msg_1");
                let kind = in_body(&self.kind, LONGEST_KIND);
                let body = json!({ "data": text, "type": kind });
                (id, kind, body.to_string().into_bytes())
            }
            _ => {
                let id = or(in_header(&self.id, LONGEST_SENDER_ID), "1");
                let kind = in_header(&self.kind, LONGEST_KIND);
                (id, kind, self.body.clone())
            }
        }
    }
}

impl Spoiled {
    /// Spoils the request; whether its signature still holds.
    fn spoil(&self, headers: &mut HeaderMap, signature: &str, body: &mut Vec<u8>) -> bool {
        match *self {
            Self::Nothing | Self::Late(_) => true,
            Self::OtherSecret => false,
            Self::BodyBit(at, bit) => {
                let at = usize::from(at) % body.len().max(1);
                match body.get_mut(at) {
                    Some(byte) => *byte ^= 1 << (bit % 8),
                    None => return true,
                }
                false
            }
            Self::BodyCut => body.pop().is_none(),
            Self::BodyGrown(byte) => {
                body.push(byte);
                false
            }
            Self::Signature(at, byte) => {
                let mut value = headers[signature].as_bytes().to_vec();
                let at = usize::from(at) % value.len();
                let (before, after) = (value[at], b' ' + byte % 95);
                value[at] = after;
                let name = HeaderName::from_bytes(signature.as_bytes()).expect("a name");
                headers.insert(name, HeaderValue::from_bytes(&value).expect("a value"));
                // Either case of a hexadecimal digit is the same digit.
                let same_digit = before.is_ascii_hexdigit() && after.eq_ignore_ascii_case(&before);
                let in_hex = value
                    .rsplit(|byte| *byte == b'=')
                    .next()
                    .is_some_and(|hex| hex.len() == 64 && at >= value.len() - 64);
                after == before || (in_hex && same_digit)
            }
            Self::SignatureTwice => {
                let value = headers[signature].clone();
                let name = HeaderName::from_bytes(signature.as_bytes()).expect("a name");
                headers.append(name, value);
                false
            }
            Self::SignatureGone => {
                headers.remove(signature);
                false
            }
        }
    }
}

/// The same header by the scheme's other spelling, where it has one.
fn other_name(name: &str) -> String {
    name.strip_prefix("x-shopify-")
        .map(|rest| format!("shopify-{rest}"))
        .or_else(|| {
            name.strip_prefix("webhook-")
                .map(|rest| format!("svix-{rest}"))
        })
        .unwrap_or_else(|| name.to_owned())
}

fn cut(text: &str, longest: usize) -> String {
    let mut length = text.len().min(longest);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text[..length].to_owned()
}

/// A secret that stands in no text by chance.
fn secret(scheme: &Scheme, bytes: &[u8; 24]) -> String {
    let mut bytes = *bytes;
    bytes[0] |= 1;
    match scheme.name {
        "standard-webhooks" => format!("whsec_{}", BASE64.encode(&bytes)),
        _ => format!("shpss_{}", HEXLOWER.encode(&bytes)),
    }
}

fn source(scheme: &'static Scheme, text: &str) -> Source {
    let secret = Secret::new(text).expect("a secret");
    let key = (scheme.key)(&secret).expect("a key");
    let name = SourceName::parse("one").expect("a name");
    Source::new(name, scheme, vec![(secret, key)])
}

/// A signature as it is written behind its prefix.
fn written(value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let text = text.trim_end_matches('=');
    text.rsplit(['=', ',']).next().unwrap_or(text).to_owned()
}

fn written_in(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(written).unwrap_or_default()
}
