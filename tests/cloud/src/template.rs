//! The template as JSON, which `CloudFormation` takes as well: the short tags (`!Ref X`) written out (`{"Ref": "X"}`).

use std::sync::LazyLock;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value, json};

/// The template at the root.
pub const TEXT: &str = include_str!("../../../template.yaml");

/// The template at the root, read.
pub fn template() -> Value {
    static READ: LazyLock<Value> = LazyLock::new(|| read(TEXT));
    READ.clone()
}

/// A template, read.
pub fn read(text: &str) -> Value {
    let documents = Yaml::load_from_str(text).expect("YAML");
    assert_eq!(documents.len(), 1, "a template is one document");
    value(&documents[0])
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(is) => json!(is),
            Scalar::Integer(number) => json!(number),
            Scalar::FloatingPoint(number) => json!(number.into_inner()),
            Scalar::String(text) => json!(text),
        },
        Yaml::Sequence(items) => items.iter().map(value).collect(),
        Yaml::Mapping(entries) => {
            let entry = |(name, held): (&Yaml<'_>, &Yaml<'_>)| {
                (name.as_str().expect("a name").to_owned(), value(held))
            };
            Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
        }
        Yaml::Tagged(tag, held) => called(&tag.suffix, value(held)),
        Yaml::Representation(text, _, Some(tag)) => called(&tag.suffix, json!(text)),
        Yaml::Representation(..) | Yaml::Alias(_) | Yaml::BadValue => {
            panic!("not to be read: {yaml:?}")
        }
    }
}

/// A function of `CloudFormation`, from its short tag.
fn called(tag: &str, held: Value) -> Value {
    match (tag, held) {
        ("Ref" | "Condition", held) => json!({ tag: held }),
        // `!GetAtt Table.Stream.Arn`: the resource ends at the first full stop.
        ("GetAtt", Value::String(text)) => {
            let (resource, attribute) = text.split_once('.').expect("an attribute");
            json!({ "Fn::GetAtt": [resource, attribute] })
        }
        (tag, held) => json!({ format!("Fn::{tag}"): held }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_functions_and_everything_else_is_as_json_has_it() {
        let read = read(
            "a: !Ref Table\nb: [!GetAtt Table.Arn, !Sub \"${Table.Arn}/index/*\"]\nc: !Not [!Equals [!Ref T, \"\"]]\n\
             d: \"true\"\ne: true\nf: 50\ng: rate(1 minute)\nh: {i: !If [Has, [1], []]}\n",
        );
        let due = json!({
            "a": { "Ref": "Table" },
            "b": [{ "Fn::GetAtt": ["Table", "Arn"] }, { "Fn::Sub": "${Table.Arn}/index/*" }],
            "c": { "Fn::Not": [{ "Fn::Equals": [{ "Ref": "T" }, ""] }] },
            "d": "true",
            "e": true,
            "f": 50,
            "g": "rate(1 minute)",
            "h": { "i": { "Fn::If": ["Has", [1], []] } },
        });
        assert_eq!(read, due);
    }
}
