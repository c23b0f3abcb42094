//! The page with the books, made on the server; its script only reads it again. Whatever senders wrote is escaped and
//! kept from turning the text around it.

use std::fmt::Write;

use super::book::{Column, Fields};
use super::mode::Mode;
use super::store::Book;

/// The page's style.
pub(super) const STYLE: &str = include_str!("page/page.css");
/// The page's script.
pub(super) const SCRIPT: &str = include_str!("page/page.js");
/// What the page may load and whom it may talk to: its own files, and its own server.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sample receivers</title>
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
<noscript><meta http-equiv="refresh" content="2"></noscript>
</head>
<body>
<header>
<h1>Sample receivers</h1>
<p>Five destinations that come with Switchboard. Each applies a delivery once per idempotency key and keeps a book of
what it did. The switches make one slow, late, failing or down. <a href="/books">The books as JSON</a></p>
<p id="unreachable" role="status" hidden>The receivers do not answer; this is what stood in the books before.</p>
</header>
<main>
"#;
const FOOT: &str = "</main>\n</body>\n</html>\n";

/// A text that can stand anywhere in the page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// The whole page.
pub(super) fn page(books: &[Book]) -> String {
    let mut page = HEAD.to_owned();
    for book in books {
        section(&mut page, book);
    }
    page.push_str(FOOT);
    page
}

/// Writes to a text; that never fails.
macro_rules! put {
    ($page:expr, $($part:tt)*) => {
        let _: std::fmt::Result = writeln!($page, $($part)*);
    };
}

fn section(page: &mut String, book: &Book) {
    let (receiver, mode, tally) = (book.receiver, book.mode, book.tally);
    let (name, title) = (receiver.name, receiver.title);
    put!(
        page,
        r#"<section id="{name}" class="{}" aria-labelledby="{name}-title">"#,
        mode.name()
    );
    put!(page, r#"<h2 id="{name}-title">{title}</h2>"#);
    put!(
        page,
        r#"<form method="post" aria-label="How {title} behaves">"#
    );
    for offered in Mode::ALL {
        let (offered, pressed) = (offered.name(), offered == mode);
        put!(
            page,
            r#"<button id="{name}-{offered}" formaction="/{name}?mode={offered}" aria-pressed="{pressed}">{offered}</button>"#
        );
    }
    put!(page, "</form>");
    put!(
        page,
        "<dl><div><dt>{}</dt><dd>{}</dd></div>",
        receiver.book,
        tally.entries
    );
    put!(
        page,
        "<div><dt>applied</dt><dd>{}</dd></div>",
        tally.applied
    );
    put!(
        page,
        "<div><dt>answered again</dt><dd>{}</dd></div>",
        tally.answered_again
    );
    if tally.refused > 0 {
        put!(
            page,
            "<div><dt>refused</dt><dd>{}</dd></div>",
            tally.refused
        );
    }
    put!(page, "</dl>");
    table(page, book);
    put!(page, "</section>");
}

fn table(page: &mut String, book: &Book) {
    if book.entries.is_empty() {
        put!(
            page,
            r#"<p class="empty">No {} yet.</p>"#,
            book.receiver.book
        );
        return;
    }
    let title = book.receiver.title;
    put!(
        page,
        r#"<div class="table" tabindex="0" role="region" aria-label="{} of {title}">"#,
        book.receiver.book
    );
    put!(page, "<table><thead><tr>");
    for Column { heading, .. } in book.receiver.columns {
        put!(page, r#"<th scope="col">{heading}</th>"#);
    }
    put!(
        page,
        r#"<th scope="col">Event</th><th scope="col">Attempt</th><th scope="col"><abbr title="UTC">Time</abbr></th></tr></thead><tbody>"#
    );
    for entry in &book.entries {
        row(page, book.receiver.columns, entry);
    }
    put!(page, "</tbody></table></div>");
    let shown = u64::try_from(book.entries.len()).unwrap_or(u64::MAX);
    let older = book.tally.entries.saturating_sub(shown);
    if older > 0 {
        put!(page, r#"<p class="older">and {older} older</p>"#);
    }
}

fn row(page: &mut String, columns: &[Column], entry: &Fields) {
    let key = escaped(&entry.text("key"));
    put!(page, r#"<tr title="idempotency key {key}">"#);
    for Column { cell, .. } in columns {
        put!(page, "<td><bdi>{}</bdi></td>", escaped(&cell(entry)));
    }
    let (event, attempt, at) = (entry.text("event"), entry.text("attempt"), entry.text("at"));
    put!(
        page,
        r#"<td class="id"><bdi>{}</bdi></td><td class="number">{attempt}</td>"#,
        escaped(&event)
    );
    let time: String = at.chars().skip(11).take(8).collect();
    put!(
        page,
        r#"<td class="number"><time datetime="{at}" title="{at}">{time}</time></td></tr>"#
    );
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_that_a_sender_wrote_is_markup() {
        assert_eq!(
            escaped("</script><img src=x onerror='alert(\"1\")'>&\0"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;alert(&quot;1&quot;)&#39;&gt;&amp;\u{fffd}"
        );
    }
}
