//! A function as it is deployed: its binary alone in an archive, as `bootstrap`.

use std::io::{self, Cursor, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A package.
#[derive(Args)]
pub(crate) struct Package {
    /// The binary.
    #[arg(long)]
    program: PathBuf,
}

impl Package {
    pub(crate) fn play(self) -> io::Result<()> {
        let program = std::fs::read(&self.program)?;
        let package = packed(&program)?;
        println!(
            "{}",
            json!({ "binary_bytes": program.len(), "package_bytes": package.len() })
        );
        Ok(())
    }
}

/// The archive, compressed as tools that deploy do.
fn packed(program: &[u8]) -> io::Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .unix_permissions(0o755);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file("bootstrap", options)
        .map_err(io::Error::other)?;
    archive.write_all(program)?;
    Ok(archive.finish().map_err(io::Error::other)?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use zip::ZipArchive;

    use super::*;

    #[test]
    fn a_package_holds_the_whole_program_in_fewer_bytes() {
        let program = b"the same again, ".repeat(1_000);
        let package = packed(&program).expect("packed");
        assert!(package.len() < program.len() / 10, "{}", package.len());
        let mut archive = ZipArchive::new(Cursor::new(package)).expect("an archive");
        let mut bootstrap = archive.by_name("bootstrap").expect("a bootstrap");
        assert_eq!(bootstrap.unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let mut unpacked = Vec::new();
        bootstrap.read_to_end(&mut unpacked).expect("unpacked");
        assert_eq!(unpacked, program);
    }
}
