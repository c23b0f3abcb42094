//! axe-core, which judges whether everybody can use a page: names of what is pressed, contrast, headings, landmarks.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::libraries::installed;

/// How a page is looked at: the scheme of colours, and the width in pixels.
const LOOKS: [(&str, u32); 4] = [
    ("light", 1300),
    ("dark", 1300),
    ("light", 400),
    ("dark", 400),
];

/// What is wrong with each node, in one line. Nothing is loaded for it: the page's policy would not let that.
const JUDGE: &str = "axe.run(document, { resultTypes: ['violations'], preload: false, performanceTimer: false })\
    .then(({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, any, all, none }) => \
    `${id}: ${help}: ${html} ${[...any, ...all, ...none].map(({ message }) => message).join('; ')}`)))";

/// What was found on the way through a page.
#[derive(Debug, Default)]
pub struct Judged {
    /// Each violation, with where it is and how that was looked at.
    pub violations: Vec<String>,
    /// How often something was judged.
    pub times: usize,
}

impl Judged {
    /// Judges what the browser shows now, light and dark, wide and narrow.
    pub async fn look(&mut self, browser: &mut Browser, at: &str) {
        load(browser).await;
        for (colours, width) in LOOKS {
            browser.widen(width).await;
            let scheme =
                json!({ "features": [{ "name": "prefers-color-scheme", "value": colours }] });
            browser.command("Emulation.setEmulatedMedia", &scheme).await;
            // What fades from one colour into another is judged where it ends.
            let settled =
                "document.getAnimations().every(({ playState }) => playState !== 'running')";
            browser.wait("its colours stand", settled).await;
            let found = browser.evaluate(JUDGE).await;
            let found: Vec<Value> = serde_json::from_value(found).expect("a list");
            let found = found.iter().filter_map(Value::as_str);
            self.violations
                .extend(found.map(|line| format!("{at}, {colours}, {width} px: {line}")));
            self.times += 1;
        }
    }

    /// Fails where anything was found; says how often was looked for it.
    pub fn hold(&self, times: usize) {
        let found = self.violations.join("\n");
        assert!(self.violations.is_empty(), "not for everybody:\n{found}");
        assert_eq!(self.times, times * LOOKS.len(), "looked at each");
    }
}

/// Brings it into the page, where it is not yet.
async fn load(browser: &mut Browser) {
    if browser.evaluate("typeof axe").await == "object" {
        return;
    }
    let file = installed().join("node_modules/axe-core/axe.min.js");
    let script = std::fs::read_to_string(&file);
    let script = script.unwrap_or_else(|cause| {
        panic!(
            "{}: {cause}: run `cargo xtask test`, which installs it",
            file.display()
        )
    });
    // Its last value is not for us.
    browser.evaluate(&format!("{script}\n;null")).await;
}
