//! Secrets as people paste them, and references to where they are.

use data_encoding::{BASE64, BASE64_NOPAD};
use switchboard_core::scheme::{ALL, SecretFault, standard_webhooks};
use switchboard_core::secret::{Reference, Secret};

use crate::request;

/// Any text is a secret that works or one line that says why not, and never shows itself.
pub fn pasted(bytes: &[u8]) {
    let text = request::text(bytes);
    if let Some(reference) = Reference::parse(&text) {
        let shown = reference.to_string();
        match &reference {
            Reference::Environment(name) => assert_eq!(shown, format!("env:{name}")),
            Reference::File(path) => assert_eq!(shown, format!("file:{path}")),
            Reference::Sample(_) => assert_eq!(shown, "sample:…"),
            Reference::Secret(name) => assert_eq!(shown, format!("secret:{name}")),
        }
    }
    let Some(secret) = Secret::new(&text) else {
        assert!(text.trim().is_empty(), "{text:?} is a secret");
        return;
    };
    assert_eq!(format!("{secret:?}"), "Secret(…)");
    assert!(!secret.expose().ends_with(['\r', '\n']), "{secret:?}");
    for scheme in ALL {
        let key = (scheme.key)(&secret);
        if let Err(fault) = &key {
            let known = match fault {
                SecretFault::Empty => "is empty, or nothing but zeros",
                SecretFault::NotBase64 => "is not base64 after whsec_",
                SecretFault::UrlSafe => {
                    "is in the url-safe base64 alphabet (- and _); give it with + and /"
                }
                SecretFault::Versioned => {
                    "begins with \"v1,\": give only what follows, from whsec_ on"
                }
            };
            assert_eq!(fault.to_string(), known, "a fault quotes nothing");
        }
        if let Ok(key) = key {
            let signed = key.sign(b"", b"body");
            assert_ne!(signed, OF_THE_EMPTY_KEY, "anyone can sign so");
            assert_eq!(format!("{key:?}"), "Key(…)");
        }
    }
    every_spelling(&secret);
}

/// HMAC-SHA256 over `body` with the empty key.
const OF_THE_EMPTY_KEY: [u8; 32] = [
    0x7e, 0xc3, 0x61, 0x9e, 0xa7, 0xf9, 0x21, 0x72, 0x1b, 0x6d, 0x8b, 0xec, 0x83, 0xea, 0x2d, 0x0c,
    0x6d, 0x55, 0x7e, 0x0b, 0x16, 0x4d, 0xaf, 0x57, 0x7e, 0x62, 0xc8, 0xcc, 0x88, 0xed, 0x74, 0xae,
];

/// A Standard Webhooks secret is the same with and without its prefix and its padding.
fn every_spelling(secret: &Secret) {
    let Ok(key) = standard_webhooks::key(secret) else {
        return;
    };
    let bare = secret.expose().trim();
    let bare = bare.strip_prefix(standard_webhooks::PREFIX).unwrap_or(bare);
    let bytes = BASE64
        .decode(bare.as_bytes())
        .or_else(|_| BASE64_NOPAD.decode(bare.as_bytes()))
        .expect("a key was made of it");
    for spelled in [
        BASE64.encode(&bytes),
        BASE64_NOPAD.encode(&bytes),
        format!("whsec_{}", BASE64.encode(&bytes)),
        format!(" whsec_{}\n", BASE64_NOPAD.encode(&bytes)),
    ] {
        let other = Secret::new(&spelled).expect("a secret");
        let other = standard_webhooks::key(&other).expect("the same key");
        assert_eq!(other.sign(b"a", b"b"), key.sign(b"a", b"b"), "{spelled:?}");
    }
}
