//! What operators have set, in the store, and how fast what they released goes.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use switchboard_core::address::{Address, Networks};
use switchboard_core::endpoint::{Endpoint, Settings};
use switchboard_core::names::DestinationName;
use switchboard_core::release::Release;
use switchboard_core::secret::Secret;
use switchboard_core::sign_in::{Ended, SignIn, SignInId};
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::rows;

const ENDPOINT: &str = "your-endpoint";
const ENDED: &str = "ended sign-ins";
/// Version of each record.
const VERSION: u64 = 1;

/// What stands.
pub(crate) fn load(connection: &Connection) -> Result<Settings, Failure> {
    let endpoint = setting(connection, ENDPOINT)?
        .map(|text| read(&text).ok_or(Failure::Unreadable("endpoint")))
        .transpose()?;
    let ended = setting(connection, ENDED)?
        .map(|text| read_ended(&text).ok_or(Failure::Unreadable("ended sign-ins")))
        .transpose()?;
    Ok(Settings {
        endpoint,
        held: held(connection)?,
        ended: ended.unwrap_or_default(),
    })
}

/// The text of a setting.
fn setting(connection: &Connection, name: &str) -> Result<Option<String>, Failure> {
    let mut statement = connection.prepare_cached("SELECT value FROM setting WHERE name = ?1")?;
    let found = statement.query_row([name], |row| row.get(0));
    Ok(found.optional()?)
}

/// Sets it.
fn set(connection: &Connection, name: &str, value: &Value) -> Result<(), Failure> {
    connection
        .prepare_cached(
            "INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )?
        .execute((name, value.to_string()))?;
    Ok(())
}

fn unset(connection: &Connection, name: &str) -> Result<(), Failure> {
    connection.execute("DELETE FROM setting WHERE name = ?1", [name])?;
    Ok(())
}

/// The destinations held.
pub(crate) fn held(connection: &Connection) -> Result<BTreeSet<DestinationName>, Failure> {
    let mut statement = connection.prepare_cached("SELECT destination FROM held")?;
    let mut found = statement.query([])?;
    let mut held = BTreeSet::new();
    while let Some(row) = found.next()? {
        let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        held.insert(rows::destination(name)?);
    }
    Ok(held)
}

/// Writes what stands.
pub(crate) fn store(connection: &Connection, settings: &Settings) -> Result<(), Failure> {
    match &settings.endpoint {
        Some(endpoint) => set(connection, ENDPOINT, &write(endpoint))?,
        None => unset(connection, ENDPOINT)?,
    }
    if settings.ended == Ended::default() {
        unset(connection, ENDED)?;
    } else {
        set(connection, ENDED, &write_ended(&settings.ended))?;
    }
    connection.execute("DELETE FROM held", [])?;
    for destination in &settings.held {
        connection.execute(
            "INSERT INTO held (destination) VALUES (?1)",
            [destination.as_str()],
        )?;
    }
    Ok(())
}

fn release_name(destination: &DestinationName) -> String {
    format!("release {destination}")
}

/// The releases of a destination.
pub(crate) fn release(
    connection: &Connection,
    destination: &DestinationName,
) -> Result<Option<Release>, Failure> {
    let text = setting(connection, &release_name(destination))?;
    text.map(|text| read_release(&text).ok_or(Failure::Unreadable("release")))
        .transpose()
}

/// Keeps them.
pub(crate) fn keep_release(
    connection: &Connection,
    destination: &DestinationName,
    release: Release,
) -> Result<(), Failure> {
    let value = json!({
        "version": VERSION,
        "per_second": release.per_second,
        "next": release.next.millis(),
        "earlier": release.earlier,
        "until": release.until.millis(),
    });
    set(connection, &release_name(destination), &value)
}

fn read_release(text: &str) -> Option<Release> {
    let value = known(text)?;
    let number = |name: &str| {
        let number = value.get(name).and_then(Value::as_u64)?;
        u32::try_from(number).ok()
    };
    let moment = |name: &str| {
        let millis = value.get(name).and_then(Value::as_i64);
        millis.map(Timestamp::from_millis)
    };
    Some(Release {
        per_second: number("per_second")?,
        next: moment("next")?,
        earlier: number("earlier")?,
        until: moment("until")?,
    })
}

/// A record of the version that is known.
fn known(text: &str) -> Option<Value> {
    serde_json::from_str(text)
        .ok()
        .filter(|value: &Value| value.get("version").and_then(Value::as_u64) == Some(VERSION))
}

fn write_ended(ended: &Ended) -> Value {
    let each = ended.each.iter();
    let each: Vec<_> = each
        .map(|sign_in| json!([sign_in.end.millis(), sign_in.id.as_str()]))
        .collect();
    json!({
        "version": VERSION,
        "until": ended.until.map(Timestamp::millis),
        "each": each,
    })
}

fn read_ended(text: &str) -> Option<Ended> {
    let value = known(text)?;
    let each = value.get("each")?.as_array()?.iter().map(|of| {
        Some(SignIn {
            end: Timestamp::from_millis(of.get(0)?.as_i64()?),
            id: SignInId::parse(of.get(1)?.as_str()?)?,
        })
    });
    Some(Ended {
        until: value
            .get("until")
            .and_then(Value::as_i64)
            .map(Timestamp::from_millis),
        each: each.collect::<Option<_>>()?,
    })
}

fn write(endpoint: &Endpoint) -> Value {
    let mut former = endpoint.former.iter();
    let last = former.next();
    let earlier: Vec<_> = former
        .map(|(secret, until)| json!([secret.expose(), until.millis()]))
        .collect();
    json!({
        "version": VERSION,
        "address": endpoint.address.url().as_str(),
        "secret": endpoint.secret.expose(),
        "former": last.map(|(secret, _)| secret.expose()),
        "former_until": last.map(|(_, until)| until.millis()),
        "earlier": earlier,
    })
}

fn read(text: &str) -> Option<Endpoint> {
    let value = known(text)?;
    let secret = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .and_then(Secret::new)
    };
    let until = value
        .get("former_until")
        .and_then(Value::as_i64)
        .map(Timestamp::from_millis);
    // Since version 4 of the store.
    let earlier = value.get("earlier").and_then(Value::as_array);
    let earlier = earlier.into_iter().flatten().map(|of| {
        let until = Timestamp::from_millis(of.get(1)?.as_i64()?);
        Some((Secret::new(of.get(0)?.as_str()?)?, until))
    });
    let mut former: Vec<_> = secret("former").zip(until).into_iter().collect();
    former.extend(earlier.collect::<Option<Vec<_>>>()?);
    Some(Endpoint {
        // Judged when it was set; the transport judges what it resolves to at every attempt.
        address: Address::parse(value.get("address")?.as_str()?, Networks::PrivateToo).ok()?,
        secret: secret("secret")?,
        former,
    })
}
