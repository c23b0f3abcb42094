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

/// Style and scripts.
pub(super) const ASSETS: [Asset; 5] = [
    Asset {
        path: "/page.css",
        kind: STYLE,
        text: include_str!("page/page.css"),
    },
    Asset {
        path: "/page.js",
        kind: SCRIPT,
        text: include_str!("page/page.js"),
    },
    Asset {
        path: "/text.js",
        kind: SCRIPT,
        text: include_str!("page/text.js"),
    },
    Asset {
        path: "/tables.js",
        kind: SCRIPT,
        text: include_str!("page/tables.js"),
    },
    Asset {
        path: "/reading.js",
        kind: SCRIPT,
        text: include_str!("page/reading.js"),
    },
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
