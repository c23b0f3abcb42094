//! A configuration that cannot be used: every fault at once, 64, and nothing bound or made before.

use switchboard_tests::run::{Ended, Run};

/// Starts to serve with this configuration on an address that is taken: had it tried to listen, it would have said so.
async fn serve(text: &[u8]) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.toml"), text).expect("a file");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let arguments = [
        "serve",
        "--config",
        "bad.toml",
        "--data",
        "data",
        "--listen",
        &address,
        "--receivers",
        &address,
    ];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    assert!(
        !ended.err.contains(&address),
        "nothing is bound: {}",
        ended.err
    );
    assert!(
        !folder.path().join("data").exists(),
        "the data folder is not made"
    );
    assert_eq!(ended.out, "", "nothing is announced");
    ended
}

#[tokio::test]
async fn every_fault_is_said_at_once_before_anything_is_bound_or_made() {
    let text = br#"
        [[source]]
        name = "Shop"
        scheme = "shopify"
        secrets = []
        [[source]]
        name = "code"
        scheme = "github"
        secrets = ["env:NOT_SET", "the secret itself"]
        [[destination]]
        name = "accounting"
        url = "http://127.0.0.1:9/"
        headers = { host = "env:X", authorization = "env:NOT_SET_EITHER" }
        max_in_flight = 0
        ca_file = "not-there.pem"
        [[destination]]
        name = "your-endpoint"
        url = "https://example.com/"
        [[route]]
        source = "nobody"
        kind = ""
        deliver = []
    "#;
    let ended = serve(text).await;
    assert_eq!(ended.code, 64);
    for words in [
        &["source 1", "name"][..],
        &["source 1", "secrets"],
        &["source \"code\"", "env:NOT_SET "],
        &["source \"code\"", "never the secret itself"],
        &["destination \"accounting\"", "allow_private_networks"],
        &["destination \"accounting\"", "\"host\""],
        &["destination \"accounting\"", "env:NOT_SET_EITHER"],
        &["destination \"accounting\"", "max_in_flight"],
        &["destination \"accounting\"", "not-there.pem"],
        &["destination \"your-endpoint\"", "switchboard endpoint set"],
        &["route 1", "\"nobody\""],
        &["route 1", "kind"],
        &["route 1", "deliver"],
    ] {
        let says = |line: &&str| words.iter().all(|word| line.contains(word));
        assert!(
            ended.lines().into_iter().any(|line| says(&line)),
            "no line says {words:?}: {}",
            ended.err
        );
    }
    assert_eq!(ended.lines().len(), 13, "a line for each: {}", ended.err);
}

#[tokio::test]
async fn a_file_that_is_no_configuration_at_all_is_one_line() {
    for (case, text, says) in [
        ("nothing in it", &b""[..], "no [[source]]"),
        (
            "no TOML",
            b"[[source]]\nname = \"shop\"\nscheme = {\n",
            "line 3",
        ),
        (
            "a key twice",
            b"[[source]]\nname = \"a\"\nname = \"b\"\n",
            "line 3",
        ),
        ("no text", b"name = \"\xff\xfe\"\n", "bad.toml"),
    ] {
        let ended = serve(text).await;
        assert_eq!(
            (ended.code, ended.lines().len()),
            (64, 1),
            "{case}: {}",
            ended.err
        );
        assert!(ended.err.contains(says), "{case}: {}", ended.err);
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["not-there.toml", "."] {
        let arguments = [
            "serve",
            "--config",
            file,
            "--data",
            "data",
            "--listen",
            "127.0.0.1:0",
        ];
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!((ended.code, ended.lines().len()), (64, 1), "{}", ended.err);
        assert!(
            ended
                .err
                .contains(&format!("the configuration {file} cannot be read")),
            "{}",
            ended.err
        );
        assert!(!folder.path().join("data").exists());
    }
}

#[tokio::test]
async fn values_out_of_their_bounds_are_said_with_the_bounds() {
    let source = "[[source]]\nname = \"code\"\nscheme = \"github\"\nsecrets = [\"env:SWITCHBOARD_ADMIN_TOKEN\"]\n";
    for (setting, says) in [
        ("keep_days = 0", "from 7 to"),
        ("max_body = -1", "from 1 to"),
        ("max_body = \"6 MiB\"", "a whole number"),
        ("hosts = [\"http://example.com/\"]", "not a bare host name"),
        (
            "public_url = \"hooks.example.com\"",
            "https://hooks.example.com",
        ),
        ("allow_private_networks = \"yes\"", "true or false"),
    ] {
        let ended = serve(format!("{setting}\n{source}").as_bytes()).await;
        assert_eq!(
            (ended.code, ended.lines().len()),
            (64, 1),
            "{setting}: {}",
            ended.err
        );
        let (key, _) = setting.split_once(' ').expect("a key");
        assert!(
            ended.err.contains(key) && ended.err.contains(says),
            "{setting}: {}",
            ended.err
        );
    }
}
