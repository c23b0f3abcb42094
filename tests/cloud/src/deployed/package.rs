//! The functions as AWS takes them: each binary alone in an archive, as `bootstrap`, in a bucket.

use std::io::{Cursor, Write};
use std::path::Path;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::process::Command;
use url::Url;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{FUNCTIONS, Places};
use crate::aws::{Aws, Service};

/// The emulator is the stack's own, so no other bucket has the name.
const BUCKET: &str = "switchboard-functions";

/// Uploads each function and writes into the template where it is.
///
/// A function that is heard asks at the address that `heard` gives for it. The emulator sets that variable itself, so the
/// bootstrap is then a script that sets it and becomes the function.
pub(super) async fn upload(
    aws: &Aws,
    places: &Places,
    template: &mut Value,
    heard: impl Fn(&str) -> Option<Url>,
) {
    let path = format!("/{BUCKET}");
    aws.rest(Service::S3, Method::PUT, &path, Bytes::new())
        .await;
    for (function, binary) in FUNCTIONS {
        let program = stripped(&places.binary(binary)).await;
        let archive = match heard(function) {
            None => archive(&[("bootstrap", &program)]),
            Some(url) => {
                let script = format!(
                    "#!/bin/sh\nAWS_ENDPOINT_URL={} exec \"$LAMBDA_TASK_ROOT/function\"\n",
                    url.as_str().trim_end_matches('/')
                );
                archive(&[("bootstrap", script.as_bytes()), ("function", &program)])
            }
        };
        let path = format!("/{BUCKET}/{binary}.zip");
        aws.rest(Service::S3, Method::PUT, &path, archive).await;
        let uri = json!(format!("s3://{BUCKET}/{binary}.zip"));
        template["Resources"][function]["Properties"]["CodeUri"] = uri;
    }
    // The functions stay as they are for this machine.
    template["Globals"]["Function"]
        .as_object_mut()
        .expect("what the functions have in common")
        .remove("CodeUri");
}

/// A binary without its debug information: ten times smaller. Where there is no `strip`, as it is.
async fn stripped(binary: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let small = folder.path().join("bootstrap");
    let stripped = Command::new("strip")
        .arg("-o")
        .args([&small, binary])
        .stderr(Stdio::null())
        .status()
        .await;
    let file = match stripped {
        Ok(status) if status.success() => &small,
        Ok(_) | Err(_) => binary,
    };
    std::fs::read(file).expect("a binary")
}

/// An archive of programs. It goes nowhere, so it is not compressed.
fn archive(programs: &[(&str, &[u8])]) -> Vec<u8> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .unix_permissions(0o755);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, program) in programs {
        archive.start_file(*name, options).expect("an archive");
        archive.write_all(program).expect("an archive");
    }
    archive.finish().expect("an archive").into_inner()
}
