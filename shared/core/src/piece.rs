//! What a stranger wrote, made fit to show: the beginning of a destination's answer, the content type and the path of a
//! request that was not accepted. It stands in lists and on the page, where it may change nothing around it.

use serde::{Deserialize, Serialize};

/// Longest piece, in characters.
pub const LONGEST_PIECE: usize = 200;
/// What stands in a piece for what is hidden.
const HIDDEN: &str = "…";
/// Shortest beginning of a hidden text, in bytes, that is hidden where a piece ends with it.
const SHORTEST_BEGINNING: usize = 4;

/// A stranger's text, made fit to show: cut, on one line, of characters that show themselves.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Piece(String);

impl Piece {
    /// Cleans what a stranger wrote: invalid UTF-8 is replaced, control and direction-changing characters become spaces,
    /// and runs of spaces one.
    pub fn clean(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut clean = String::new();
        let mut length = 0;
        for c in text.chars() {
            let c = if is_plain(c) { c } else { ' ' };
            if c == ' ' && (clean.is_empty() || clean.ends_with(' ')) {
                continue;
            }
            if length == LONGEST_PIECE {
                break;
            }
            clean.push(c);
            length += 1;
        }
        clean.truncate(clean.trim_end().len());
        Self(clean)
    }

    /// The piece without these texts, each replaced by an ellipsis, and without the beginning of one where the piece was
    /// cut in the middle of it. Longer texts should come first: one may hold another.
    #[must_use]
    pub fn without(mut self, hidden: &[String]) -> Self {
        for text in hidden.iter().filter(|text| !text.is_empty()) {
            self.0 = self.0.replace(text.as_str(), HIDDEN);
        }
        let cut = hidden
            .iter()
            .filter_map(|text| begun_at_the_end(&self.0, text))
            .max();
        if let Some(length) = cut {
            self.0.truncate(self.0.len().saturating_sub(length));
            self.0.push_str(HIDDEN);
        }
        Self(self.0.chars().take(LONGEST_PIECE).collect())
    }

    /// The cleaned text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How many bytes at the end of `piece` are the beginning of `text`; less than [`SHORTEST_BEGINNING`] tell nothing.
fn begun_at_the_end(piece: &str, text: &str) -> Option<usize> {
    let beginnings = text.char_indices().map(|(at, _)| text.split_at(at).0);
    beginnings
        .filter(|beginning| beginning.len() >= SHORTEST_BEGINNING && piece.ends_with(beginning))
        .map(str::len)
        .max()
}

/// Whether a character shows itself and leaves those around it as they are. What does not is the same on the page.
fn is_plain(c: char) -> bool {
    let hides_or_turns = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    !c.is_control() && !c.is_whitespace() && !hides_or_turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_short_clean_and_on_one_line() {
        assert_eq!(
            Piece::clean(b"  a\r\n\x1b[31mb\0\tc  ").as_str(),
            "a [31mb c"
        );
        assert_eq!(
            Piece::clean("x\u{202e}y\u{2028}z\u{feff}".as_bytes()).as_str(),
            "x y z"
        );
        let hidden = "x\u{61c}y\u{ad}\u{e0041}z";
        assert_eq!(Piece::clean(hidden.as_bytes()).as_str(), "x y z");
        assert_eq!(Piece::clean(&[0xff, b'a']).as_str(), "\u{fffd}a");
        assert_eq!(
            Piece::clean("é".repeat(9000).as_bytes())
                .as_str()
                .chars()
                .count(),
            LONGEST_PIECE
        );
    }

    #[test]
    fn what_is_hidden_is_in_no_piece_and_neither_is_its_beginning_at_the_end() {
        let hidden = ["Bearer abcdefgh", "abcdefgh"].map(str::to_owned);
        let without = |text: &str| Piece::clean(text.as_bytes()).without(&hidden).0;
        assert_eq!(without("no: Bearer abcdefgh, abcdefgh!"), "no: …, …!");
        assert_eq!(without("cut at abcde"), "cut at …");
        assert_eq!(without("cut at Bearer ab"), "cut at …");
        assert_eq!(without("the abc of it"), "the abc of it");
        assert_eq!(without("the abc"), "the abc", "too short to tell anything");
        assert_eq!(without("größe"), "größe");
        let long = "x".repeat(LONGEST_PIECE - 5) + "abcdefgh";
        assert_eq!(without(&long), "x".repeat(LONGEST_PIECE - 5) + "…");
        assert_eq!(Piece::clean(b"a").without(&[String::new()]).0, "a");
    }
}
