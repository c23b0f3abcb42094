//! What a function is told by the environment that Lambda starts it in: where it runs, and its credentials. Nothing else is
//! asked for them: no file, no profile, no metadata address.

use aws_credential_types::Credentials;
use aws_types::region::Region;

/// How the SDK names where credentials came from.
const ORIGIN: &str = "environment";

/// What the clients are made of.
#[derive(Clone, Debug)]
pub struct Environment {
    pub(crate) region: Region,
    pub(crate) credentials: Credentials,
    pub(crate) endpoint: Option<String>,
}

/// What the environment lacks, all of it at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct Unusable(Vec<&'static str>);

impl Environment {
    /// Reads `AWS_REGION`, `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, and where they are set `AWS_SESSION_TOKEN` and
    /// `AWS_ENDPOINT_URL`. An empty variable counts as not set. Lambda keeps a role's credentials the same for as long as a
    /// process lives.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Unusable> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let mut faults = Vec::new();
        let mut needed = |name, fault| {
            set(name).unwrap_or_else(|| {
                faults.push(fault);
                String::new()
            })
        };
        let region = needed("AWS_REGION", "AWS_REGION is not set");
        let key = needed("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID is not set");
        let secret = needed("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY is not set");
        let endpoint = set("AWS_ENDPOINT_URL");
        let is_url = |url: &String| url.starts_with("https://") || url.starts_with("http://");
        if !endpoint.as_ref().is_none_or(is_url) {
            faults.push("AWS_ENDPOINT_URL is no http or https address");
        }
        if !faults.is_empty() {
            return Err(Unusable(faults));
        }
        let token = set("AWS_SESSION_TOKEN");
        Ok(Self {
            region: Region::new(region),
            credentials: Credentials::new(key, secret, token, None, ORIGIN),
            endpoint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: [(&str, &str); 5] = [
        ("AWS_REGION", "eu-north-1"),
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "very-secret"),
        ("AWS_SESSION_TOKEN", "very-secret-too"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
    ];

    /// The whole environment, but for what is changed.
    fn of(changed: &[(&str, &str)]) -> Result<Environment, Unusable> {
        Environment::of(|name| {
            let found = changed.iter().chain(&WHOLE).find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_is_read_whole() {
        let read = of(&[]).expect("all is there");
        assert_eq!(read.region.as_ref(), "eu-north-1");
        assert_eq!(read.credentials.access_key_id(), "AKID");
        assert_eq!(read.credentials.secret_access_key(), "very-secret");
        assert_eq!(read.credentials.session_token(), Some("very-secret-too"));
        assert_eq!(read.endpoint.as_deref(), Some("http://127.0.0.1:1"));
    }

    #[test]
    fn a_token_and_an_endpoint_need_not_be_set() {
        let read = of(&[("AWS_SESSION_TOKEN", ""), ("AWS_ENDPOINT_URL", "")]).expect("enough");
        assert_eq!(read.credentials.session_token(), None);
        assert_eq!(read.endpoint, None);
    }

    #[test]
    fn all_that_is_missing_is_told_at_once() {
        let faults = of(&[
            ("AWS_REGION", ""),
            ("AWS_ACCESS_KEY_ID", ""),
            ("AWS_SECRET_ACCESS_KEY", ""),
            ("AWS_ENDPOINT_URL", "127.0.0.1:1"),
        ]);
        assert_eq!(
            faults.map(|_| ()).map_err(|faults| faults.to_string()),
            Err(
                "AWS_REGION is not set; AWS_ACCESS_KEY_ID is not set; AWS_SECRET_ACCESS_KEY is not set; \
                 AWS_ENDPOINT_URL is no http or https address"
                    .to_owned()
            )
        );
    }

    #[test]
    fn secrets_do_not_show() {
        let shown = format!("{:?}", of(&[]).expect("all is there"));
        assert!(!shown.contains("very-secret"), "found: {shown}");
    }
}
