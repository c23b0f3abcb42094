//! Secrets: texts that never show in logs, errors or debug output, and where a configuration finds them.

use std::fmt;

/// A secret as its owner pasted it, without the line end that a file or a terminal adds.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret; `None` when nothing but white space is in it.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim_end_matches(['\r', '\n']);
        (!text.trim().is_empty()).then(|| Self(text.to_owned()))
    }

    /// The text itself, for the one place that makes a key or a header of it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where a secret is found: the value itself never stands in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `env:NAME`, a variable of the environment.
    Environment(String),
    /// `file:PATH`, a file; relative paths start at the configuration's folder.
    File(String),
    /// `sample:TEXT`, the value itself: in the built-in sample only, whose secrets are public.
    Sample(String),
    /// `secret:NAME`, a secret of the deployment's own: in a deployed configuration only.
    Secret(SecretName),
}

/// The name of a secret of a deployment: parts of `[a-z0-9-]` with single slashes between them, at most
/// [`SecretName::LONGEST`] bytes. The deployment's own prefix comes before it and is no part of it, and no name leads
/// out from under that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretName(String);

impl SecretName {
    /// Longest name, in bytes: with the deployment's prefix it stays far below the 512 of Secrets Manager.
    pub const LONGEST: usize = 200;

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let good = text.len() <= Self::LONGEST
            && text
                .split('/')
                .all(|part| !part.is_empty() && part.bytes().all(of_name));
        good.then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Reference {
    /// Reads a reference; `None` when it has none of the known prefixes, or nothing behind it that the
    /// prefix takes.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, rest) = text.split_once(':')?;
        if rest.is_empty() {
            return None;
        }
        match prefix {
            "env" => Some(Self::Environment(rest.to_owned())),
            "file" => Some(Self::File(rest.to_owned())),
            "sample" => Some(Self::Sample(rest.to_owned())),
            "secret" => SecretName::parse(rest).map(Self::Secret),
            _ => None,
        }
    }
}

impl fmt::Display for Reference {
    /// Names the place, never the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Sample(_) => f.write_str("sample:…"),
            Self::Secret(name) => write!(f, "secret:{name}"),
        }
    }
}

/// Reads what a reference points to; the binary gives one that knows the environment and the files.
pub trait SecretReader {
    /// The text behind the reference, or one line that says why there is none (never the value).
    fn read(&self, reference: &Reference) -> Result<String, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_shows_itself() {
        let secret = Secret::new("shpss_1234\n").expect("secret");
        assert_eq!(secret.expose(), "shpss_1234");
        assert!(!format!("{secret:?}").contains("1234"));
        assert!(!format!("{}", Reference::Sample("shpss_1234".into())).contains("1234"));
    }

    #[test]
    fn a_name_of_a_secret_stays_below_its_deployment() {
        let longest = "a".repeat(SecretName::LONGEST);
        for good in ["shop", "sources/shop-2", "9", "-", &longest] {
            let named = SecretName::parse(good).map(Reference::Secret);
            assert!(named.is_some(), "{good}");
            assert_eq!(Reference::parse(&format!("secret:{good}")), named);
        }
        for bad in [
            "",
            "/shop",
            "shop/",
            "a//b",
            "..",
            "../other",
            "a/../b",
            "Shop",
            "a_b",
            "a b",
            "a\n",
            "ä",
            &format!("{longest}a"),
        ] {
            assert_eq!(SecretName::parse(bad), None, "{bad:?}");
            assert_eq!(Reference::parse(&format!("secret:{bad}")), None, "{bad:?}");
        }
    }

    #[test]
    fn nothing_but_white_space_is_no_secret() {
        for empty in ["", " ", "\n", "\t\r\n"] {
            assert!(Secret::new(empty).is_none(), "{empty:?}");
        }
    }
}
