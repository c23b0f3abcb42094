//! What tests make: the environment of a function that runs against an emulator.

use crate::environment::{Environment, Unusable};

/// The environment of a caller of the emulator at this address, in an account of its own.
pub fn environment(url: &str, account: &str) -> Result<Environment, Unusable> {
    Environment::of(|name| {
        let value = match name {
            "AWS_REGION" => "us-east-1",
            "AWS_ACCESS_KEY_ID" => account,
            "AWS_SECRET_ACCESS_KEY" => "for-the-emulator",
            "AWS_ENDPOINT_URL" => url,
            _ => return None,
        };
        Some(value.to_owned())
    })
}
