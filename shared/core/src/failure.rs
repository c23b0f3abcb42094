//! How a failure is written in a log line or told to a person at a terminal.

/// An error with its causes, in one line: `doing this: because of that`.
pub fn line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use crate::ports::BackendError;

    use super::*;

    #[test]
    fn an_error_is_written_with_all_its_causes() {
        let disk = BackendError::new("writing a page", "the disk is full");
        let store = BackendError::new("storing an event", disk);
        let expected = "storing an event: writing a page: the disk is full";
        assert_eq!(
            (line(&store), store.line()),
            (expected.to_owned(), expected.to_owned())
        );
    }
}
