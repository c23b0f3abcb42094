//! What is wrong with what is read, told in the log when it begins, changes or ends, and not each time it is met.

/// What is wrong now, if anything.
#[derive(Default)]
pub(super) struct Complaint(Option<String>);

impl Complaint {
    /// This is wrong.
    pub(super) fn is(&mut self, why: String) {
        if self.0.as_ref() != Some(&why) {
            tracing::error!(error = %why, "the configuration cannot be read anew; the last good one stays");
            self.0 = Some(why);
        }
    }

    /// Nothing is wrong any more.
    pub(super) fn over(&mut self, line: &'static str) {
        if self.0.take().is_some() {
            tracing::info!("{line}");
        }
    }

    /// What is wrong, in a line.
    pub(super) fn line(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Counts the lines of a log.
    struct Lines(Arc<AtomicU32>);

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn what_is_wrong_is_told_when_it_begins_changes_and_ends() {
        let count = Arc::<AtomicU32>::default();
        let lines = || count.swap(0, Ordering::SeqCst);
        tracing::subscriber::with_default(Lines(Arc::clone(&count)), || {
            let mut complaint = Complaint::default();
            complaint.over("over");
            assert_eq!(lines(), 0, "nothing was wrong");
            for _ in 0..10 {
                complaint.is("the table is away".to_owned());
            }
            assert_eq!((lines(), complaint.line()), (1, Some("the table is away")));
            complaint.is("the table is slow".to_owned());
            assert_eq!(lines(), 1, "something else is wrong");
            for _ in 0..10 {
                complaint.over("over");
            }
            assert_eq!((lines(), complaint.line()), (1, None));
            complaint.is("the table is slow".to_owned());
            assert_eq!(lines(), 1, "it begins anew");
        });
    }
}
