//! The page's scripts as one. In files of their own they would be some thirty requests at once: on AWS as many runs of the
//! function at once, out of what the account has for senders too.
//!
//! Understands what these scripts use and no more: `import { … } from "./x.js";` and `import * as x from "./x.js";`, each on
//! a line, and `export` before a function, a constant or a class; no circles.

use std::collections::BTreeSet;

/// A script: its name without the end, and its text.
pub(super) type Script = (&'static str, &'static str);

/// The script of that name with all that it brings in, each the body of a function that gives what it exports.
pub(super) fn bundle(scripts: &[Script], entry: &str) -> String {
    let mut whole = Bundle {
        scripts,
        taken: BTreeSet::new(),
        text: String::new(),
    };
    whole.take(entry);
    whole.text
}

struct Bundle<'a> {
    scripts: &'a [Script],
    taken: BTreeSet<String>,
    text: String,
}

impl Bundle<'_> {
    /// Adds a script, after those that it brings in.
    fn take(&mut self, name: &str) {
        let found = self.scripts.iter().find(|(other, _)| *other == name);
        let Some((_, text)) = found else { return };
        if !self.taken.insert(name.to_owned()) {
            return;
        }
        let (mut body, mut exported) = (Vec::new(), Vec::new());
        for line in text.lines() {
            if let Some((what, from)) = import(line) {
                self.take(from);
                body.push(format!("const {what} = {};", variable(from)));
            } else if let Some((name, rest)) = export(line) {
                exported.push(name);
                body.push(rest.to_owned());
            } else {
                body.push(line.to_owned());
            }
        }
        let (name, body, exported) = (variable(name), body.join("\n"), exported.join(", "));
        let made = format!("const {name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n");
        self.text.push_str(&made);
    }
}

/// What stands for all that a script exports. No script's own names begin like that.
fn variable(script: &str) -> String {
    format!("$_{}", script.replace('-', "_"))
}

/// What a line brings in, as it is taken out of an object, and from which script.
fn import(line: &str) -> Option<(String, &str)> {
    let (what, from) = line.strip_prefix("import ")?.split_once(" from \"./")?;
    let what = what.strip_prefix("* as ").unwrap_or(what);
    Some((what.replace(" as ", ": "), from.strip_suffix(".js\";")?))
}

/// The name that a line exports, and the line without that.
fn export(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("export ")?;
    let named = rest.strip_prefix("async ").unwrap_or(rest);
    let (_, named) = named.split_once(' ')?;
    let end = named.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    named.split_at_checked(end).map(|(name, _)| (name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPTS: [Script; 4] = [
        (
            "page",
            "import * as view from \"./view.js\";\nimport { a as b } from \"./text-of.js\";\nview.open(b);",
        ),
        (
            "view",
            "import { a } from \"./text-of.js\";\nexport async function open(of) {\n  a(of);\n}",
        ),
        ("text-of", "export const a = (of) => of;"),
        ("other", "export class Other {}"),
    ];

    #[test]
    fn a_script_stands_behind_what_it_brings_in_and_each_once() {
        assert_eq!(
            bundle(&SCRIPTS, "page"),
            "const $_text_of = (() => {\nconst a = (of) => of;\nreturn { a };\n})();\n\
             const $_view = (() => {\nconst { a } = $_text_of;\nasync function open(of) {\n  a(of);\n}\nreturn { open };\n})();\n\
             const $_page = (() => {\nconst view = $_view;\nconst { a: b } = $_text_of;\nview.open(b);\nreturn {  };\n})();\n"
        );
        assert!(bundle(&SCRIPTS, "other").contains("return { Other };"));
    }
}
