//! The page's files, compiled in. They hold no numbers and nothing of anyone's: the page reads all of that.

use std::sync::LazyLock;

use axum::response::{Html, IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

mod bundle;

use super::tag::{Tag, tagged};
use bundle::{Script, bundle};

const INDEX: &str = include_str!("page/index.html");
const SIGN_IN: &str = include_str!("page/sign-in.html");
/// Where the sign-in page says what went wrong.
const LINE: &str = "<!-- line -->";

/// A file of the page that everybody may read.
#[derive(Clone, Copy)]
pub(super) struct Asset {
    pub(super) path: &'static str,
    kind: &'static str,
    text: fn() -> &'static str,
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// Style, picture and scripts.
pub(super) const ASSETS: [Asset; 4] = [
    Asset {
        path: "/page.css",
        kind: STYLE,
        text: || include_str!("page/page.css"),
    },
    Asset {
        path: "/icon.svg",
        kind: PICTURE,
        text: || include_str!("page/icon.svg"),
    },
    Asset {
        path: "/page.js",
        kind: SCRIPT,
        text: || PAGE.as_str(),
    },
    Asset {
        path: "/sign-in.js",
        kind: SCRIPT,
        text: || include_str!("page/sign-in.js"),
    },
];

static PAGE: LazyLock<String> = LazyLock::new(|| bundle(&SCRIPTS, "page"));

/// The page's scripts.
const SCRIPTS: [Script; 35] = [
    ("asking", include_str!("page/asking.js")),
    ("attempts", include_str!("page/attempts.js")),
    ("body", include_str!("page/body.js")),
    ("condition", include_str!("page/condition.js")),
    ("copying", include_str!("page/copying.js")),
    ("destinations", include_str!("page/destinations.js")),
    ("drawing", include_str!("page/drawing.js")),
    ("endpoint", include_str!("page/endpoint.js")),
    ("event", include_str!("page/event.js")),
    ("events", include_str!("page/events.js")),
    ("failed", include_str!("page/failed.js")),
    ("health", include_str!("page/health.js")),
    ("lists", include_str!("page/lists.js")),
    ("minutes", include_str!("page/minutes.js")),
    ("notices", include_str!("page/notices.js")),
    ("overview", include_str!("page/overview.js")),
    ("page", include_str!("page/page.js")),
    ("places", include_str!("page/places.js")),
    ("printing", include_str!("page/printing.js")),
    ("progress", include_str!("page/progress.js")),
    ("reading", include_str!("page/reading.js")),
    ("redrive", include_str!("page/redrive.js")),
    ("refusals", include_str!("page/refusals.js")),
    ("refused", include_str!("page/refused.js")),
    ("renew", include_str!("page/renew.js")),
    ("replay", include_str!("page/replay.js")),
    ("rule", include_str!("page/rule.js")),
    ("server", include_str!("page/server.js")),
    ("sources", include_str!("page/sources.js")),
    ("switchboard", include_str!("page/switchboard.js")),
    ("tables", include_str!("page/tables.js")),
    ("test", include_str!("page/test.js")),
    ("text", include_str!("page/text.js")),
    ("ticks", include_str!("page/ticks.js")),
    ("time", include_str!("page/time.js")),
];

impl Asset {
    /// The file, where the browser does not have it as it is now. It asks each time.
    pub(super) fn response(self, headers: &HeaderMap) -> Response {
        let text = (self.text)();
        let mut response = tagged(headers, &Tag::of(text.as_bytes()), || {
            ([(CONTENT_TYPE, self.kind)], text).into_response()
        });
        let asks = HeaderValue::from_static("no-cache");
        response.headers_mut().insert(CACHE_CONTROL, asks);
        response
    }
}

/// The page itself.
pub(super) fn index() -> Response {
    Html(INDEX).into_response()
}

/// What the sign-in page says besides how to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing.
    None,
    /// The link's code is used up, or never was one.
    UsedLink,
    /// Another text than the token.
    WrongToken,
    /// Too many failed sign-ins.
    Later,
}

impl Line {
    const fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::UsedLink => "This link was used already, or is of an earlier start.",
            Self::WrongToken => "This is not the admin token.",
            Self::Later => "Too many failed sign-ins. Wait a minute.",
        }
    }

    const fn status(self) -> StatusCode {
        match self {
            Self::None => StatusCode::OK,
            Self::UsedLink | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::Later => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// The sign-in page.
pub(super) fn sign_in(line: Line) -> Response {
    (line.status(), Html(SIGN_IN.replace(LINE, line.text()))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_BYTES: usize = 150 * 1024;

    #[test]
    fn the_whole_page_is_small() {
        let assets = ASSETS.iter().map(|asset| (asset.text)().len());
        let all = assets.sum::<usize>() + INDEX.len() + SIGN_IN.len();
        assert!(all < MOST_BYTES, "{all} bytes");
    }

    #[test]
    fn the_one_script_holds_every_script_and_brings_in_nothing_more() {
        let script = PAGE.as_str();
        for (name, _) in SCRIPTS {
            let made = script.matches(&format!("const $_{name} = ")).count();
            assert_eq!(made, 1, "{name}");
        }
        for line in script.lines() {
            let is_left = line.starts_with("import ") || line.starts_with("export ");
            assert!(!is_left, "{line}");
        }
        for from in script.split(" = $_").skip(1) {
            let name = from.split(';').next().unwrap_or_default();
            let is_there = script.contains(&format!("const $_{name} = "));
            assert!(is_there, "{name} is brought in and not there");
        }
    }

    #[test]
    fn what_the_pages_name_is_there() {
        for page in [INDEX, SIGN_IN] {
            let named = page.split("href=\"").chain(page.split("src=\""));
            for path in named.filter_map(|rest| rest.split('"').next()) {
                let is_file = path.starts_with('/') && path.contains('.') && !path.contains('<');
                let is_there = ASSETS.iter().any(|asset| asset.path == path);
                assert!(!is_file || is_there, "{path}");
            }
        }
    }

    #[test]
    fn the_scripts_make_no_markup_of_texts_and_set_no_style_inline() {
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            for banned in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "setInterval",
                "setAttribute(\"style\"",
                ".style.",
            ] {
                let path = asset.path;
                assert!(!(asset.text)().contains(banned), "{path} holds {banned}");
            }
        }
    }
}
