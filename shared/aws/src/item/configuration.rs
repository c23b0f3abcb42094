//! The item of the configuration.

use switchboard_core::ports::{Stored, Version};

use super::{Attributes, Reading, Unreadable, Writing, names};
use crate::keys;

/// Reads it, of whichever format: whoever uses it judges that.
pub(crate) fn read(item: &Attributes) -> Result<Stored, Unreadable> {
    let reading = Reading::of_any_version("configuration", item);
    let version = Version::new(reading.number(names::REVISION)?);
    Ok(Stored {
        format: reading.number(names::VERSION)?,
        version: version.ok_or(reading.fault(names::REVISION))?,
        text: reading.text(names::TEXT)?.to_owned(),
        at: reading.moment(names::AT)?,
    })
}

/// The item of a configuration.
pub(crate) fn write(stored: &Stored) -> Attributes {
    Writing::at(keys::SETTINGS_PARTITION, keys::CONFIGURATION)
        .number(names::VERSION, stored.format)
        .number(names::REVISION, stored.version)
        .text(names::TEXT, stored.text.clone())
        .moment(names::AT, stored.at)
        .done()
}
