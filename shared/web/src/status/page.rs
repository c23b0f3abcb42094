//! The page's files, compiled in. They hold no numbers and nothing of anyone's: the page reads all of that.

use axum::response::{Html, IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;

const INDEX: &str = include_str!("page/index.html");
const SIGN_IN: &str = include_str!("page/sign-in.html");
/// Where the sign-in page says what went wrong.
const LINE: &str = "<!-- line -->";

/// A file of the page that everybody may read.
#[derive(Clone, Copy)]
pub(super) struct Asset {
    pub(super) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

const fn script(path: &'static str, text: &'static str) -> Asset {
    Asset {
        path,
        kind: SCRIPT,
        text,
    }
}

/// Style, picture and scripts.
pub(super) const ASSETS: [Asset; 36] = [
    Asset {
        path: "/page.css",
        kind: STYLE,
        text: include_str!("page/page.css"),
    },
    Asset {
        path: "/icon.svg",
        kind: PICTURE,
        text: include_str!("page/icon.svg"),
    },
    script("/asking.js", include_str!("page/asking.js")),
    script("/attempts.js", include_str!("page/attempts.js")),
    script("/body.js", include_str!("page/body.js")),
    script("/condition.js", include_str!("page/condition.js")),
    script("/copying.js", include_str!("page/copying.js")),
    script("/destinations.js", include_str!("page/destinations.js")),
    script("/drawing.js", include_str!("page/drawing.js")),
    script("/endpoint.js", include_str!("page/endpoint.js")),
    script("/event.js", include_str!("page/event.js")),
    script("/events.js", include_str!("page/events.js")),
    script("/failed.js", include_str!("page/failed.js")),
    script("/lists.js", include_str!("page/lists.js")),
    script("/minutes.js", include_str!("page/minutes.js")),
    script("/notices.js", include_str!("page/notices.js")),
    script("/overview.js", include_str!("page/overview.js")),
    script("/page.js", include_str!("page/page.js")),
    script("/places.js", include_str!("page/places.js")),
    script("/printing.js", include_str!("page/printing.js")),
    script("/progress.js", include_str!("page/progress.js")),
    script("/reading.js", include_str!("page/reading.js")),
    script("/redrive.js", include_str!("page/redrive.js")),
    script("/refusals.js", include_str!("page/refusals.js")),
    script("/refused.js", include_str!("page/refused.js")),
    script("/renew.js", include_str!("page/renew.js")),
    script("/replay.js", include_str!("page/replay.js")),
    script("/rule.js", include_str!("page/rule.js")),
    script("/server.js", include_str!("page/server.js")),
    script("/sign-in.js", include_str!("page/sign-in.js")),
    script("/sources.js", include_str!("page/sources.js")),
    script("/switchboard.js", include_str!("page/switchboard.js")),
    script("/tables.js", include_str!("page/tables.js")),
    script("/test.js", include_str!("page/test.js")),
    script("/text.js", include_str!("page/text.js")),
    script("/time.js", include_str!("page/time.js")),
];

impl Asset {
    pub(super) fn response(self) -> Response {
        ([(CONTENT_TYPE, self.kind)], self.text).into_response()
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

    /// What a script brings in: the texts behind `from`.
    fn brought_in(script: &str) -> impl Iterator<Item = &str> {
        script
            .split(" from \"./")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
    }

    #[test]
    fn the_whole_page_is_small() {
        let assets = ASSETS.iter().map(|asset| asset.text.len());
        let all = assets.sum::<usize>() + INDEX.len() + SIGN_IN.len();
        assert!(all < MOST_BYTES, "{all} bytes");
    }

    #[test]
    fn what_the_page_brings_in_is_there_and_nothing_is_there_in_vain() {
        let mut wanted = vec!["page.css", "icon.svg", "page.js", "sign-in.js"];
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            wanted.extend(brought_in(asset.text));
        }
        for name in &wanted {
            let there = ASSETS.iter().any(|asset| asset.path[1..] == **name);
            assert!(there, "{name} is brought in and no asset");
        }
        for asset in ASSETS {
            let path = asset.path;
            assert!(wanted.contains(&&path[1..]), "{path} is never used");
        }
        for page in [INDEX, SIGN_IN] {
            for path in page
                .split("href=\"/")
                .chain(page.split("src=\"/"))
                .filter_map(|rest| rest.split('"').next())
                .filter(|name| name.contains('.') && !name.contains('<'))
            {
                assert!(wanted.contains(&path), "{path} is used and no asset");
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
                assert!(!asset.text.contains(banned), "{path} holds {banned}");
            }
        }
    }
}
