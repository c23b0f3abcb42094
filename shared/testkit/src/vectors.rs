//! The signature vectors made with the senders' official libraries.
