//! Where senders post.
