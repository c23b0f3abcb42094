//! Signatures of AWS (version 4): by AWS's guide "Create a signed AWS API request". The emulator checks them where it
//! enforces rights, and takes the account from them everywhere.

use std::fmt::Write as _;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderValue, Method};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use url::Url;

/// The secret of every account's own key.
const SECRET: &str = "test";

/// Who signs, for what, when.
pub(super) struct Signer<'a> {
    /// The key's id.
    pub(super) key: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    pub(super) now: switchboard_core::time::Timestamp,
}

impl Signer<'_> {
    /// The headers with a signature over them, the address and the body. The address must have no query.
    pub(super) fn signed(
        &self,
        method: &Method,
        url: &Url,
        mut headers: HeaderMap,
        body: &[u8],
    ) -> HeaderMap {
        let now = Timestamp::from_millisecond(self.now.millis()).expect("a time");
        let moment = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = now.strftime("%Y%m%d").to_string();
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let digest = HEXLOWER.encode(&Sha256::digest(body));
        let mut add = |name: &'static str, value: &str| {
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        };
        add("host", host);
        add("x-amz-date", &moment);
        add("x-amz-content-sha256", &digest);
        let mut names: Vec<&str> = headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        let mut lines = String::new();
        for name in &names {
            let value = headers[*name].to_str().expect("text");
            let _ = writeln!(lines, "{name}:{value}");
        }
        let names = names.join(";");
        let request = format!("{method}\n{}\n\n{lines}\n{names}\n{digest}", url.path());
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let hashed = HEXLOWER.encode(&Sha256::digest(request.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashed}");
        let steps = [&day, self.region, self.service, "aws4_request", &to_sign];
        let start = format!("AWS4{SECRET}").into_bytes();
        let signature = steps
            .iter()
            .fold(start, |key, step| mac(&key, step.as_bytes()));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.key,
            HEXLOWER.encode(&signature)
        );
        let authorization = HeaderValue::from_str(&authorization).expect("a value");
        headers.insert(http::header::AUTHORIZATION, authorization);
        headers
    }
}

fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}
