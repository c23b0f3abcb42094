//! The little of XML that `CloudFormation` answers in: elements by their names, without attributes.

/// An answer, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xml(String);

impl From<String> for Xml {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Xml {
    /// What stands in the elements of this name, one after another.
    pub fn all(&self, name: &str) -> Vec<Self> {
        let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
        let parts = self.0.split(&begin).skip(1);
        let held = parts.filter_map(|part| part.split_once(&end));
        held.map(|(held, _)| Self(held.to_owned())).collect()
    }

    /// The text of the first element of this name; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        let first = self.all(name).into_iter().next();
        let text = first.map(|found| found.0).unwrap_or_default();
        // The ampersand last: it may have been written for one of the others.
        [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&apos;", "'"),
            ("&#x27;", "'"),
            ("&amp;", "&"),
        ]
        .iter()
        .fold(text, |text, (written, meant)| text.replace(written, meant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_name_and_their_text_is_as_it_was_meant() {
        let xml = Xml::from(
            "<A><m><K>a</K><V>1 &lt; 2</V></m><m><K>b</K><V>&amp;lt;</V></m></A>".to_owned(),
        );
        let members = xml.all("m");
        let pairs: Vec<_> = members.iter().map(|m| (m.text("K"), m.text("V"))).collect();
        let due = [("a", "1 < 2"), ("b", "&lt;")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(pairs, due);
        assert_eq!(xml.text("none"), "");
    }
}
