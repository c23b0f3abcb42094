//! What operators reach: page, API, admin interface, metrics.
