//! A Switchboard whose output goes into pipes of the test's own.

use std::path::Path;

use switchboard_tests::setting::SOURCES;
use switchboard_tests::switchboard::command;
use switchboard_tests::wait::DEADLINE;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use url::Url;

/// The command that serves in `folder` and logs in `form`.
pub(crate) fn serving(folder: &Path, configuration: &str, form: &str) -> Command {
    std::fs::write(folder.join("switchboard.toml"), configuration).expect("a file");
    let mut command = command(folder);
    command
        .args(["serve", "--config", "switchboard.toml", "--data", "data"])
        .args(["--listen", "127.0.0.1:0", "--log", form])
        .envs(SOURCES.map(|(_, _, variable, secret)| (variable, secret)));
    command
}

/// Reads what it prints until it says where the shop's events are posted to; the rest is not read.
pub(crate) async fn address<R: AsyncRead + Unpin>(printed: R) -> (Url, Lines<BufReader<R>>) {
    let mut lines = BufReader::new(printed).lines();
    let address = async {
        while let Some(line) = lines.next_line().await.expect("text") {
            let word = line
                .split_whitespace()
                .find(|word| word.ends_with("/in/shop"));
            if let Some(word) = word {
                return word.parse().expect("an address");
            }
        }
        panic!("it ended");
    };
    let address = timeout(DEADLINE, address).await;
    (address.expect("it says where it is"), lines)
}

/// Asks it to end by SIGTERM.
pub(crate) async fn terminate(child: &Child) {
    let sent = Command::new("kill")
        .args(["-TERM", &child.id().expect("it runs").to_string()])
        .status()
        .await
        .expect("kill");
    assert!(sent.success());
}

/// The exit code that it ends with.
pub(crate) async fn ended(child: &mut Child) -> Option<i32> {
    let ended = timeout(DEADLINE, child.wait()).await.expect("it ends");
    ended.expect("it ends").code()
}
