//! The piece of a destination's answer that operators are shown.

use switchboard_core::piece::{LONGEST_PIECE, Piece};

/// Of any bytes, a piece is short, on one line, without what changes the look of the text around it.
pub fn cleaned(bytes: &[u8]) {
    let piece = Piece::clean(bytes);
    let text = piece.as_str();
    assert!(text.chars().count() <= LONGEST_PIECE, "{text:?} is long");
    let shows_itself = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace());
    assert!(text.chars().all(shows_itself), "{text:?}");
    assert!(!text.contains("  ") && text.trim() == text, "{text:?}");
    // U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 are all that change a text's direction.
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!text.contains(turns), "{text:?} changes its direction");
    assert_eq!(
        Piece::clean(text.as_bytes()),
        piece,
        "a clean piece is clean"
    );
}
