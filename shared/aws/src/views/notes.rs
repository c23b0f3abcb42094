//! The lists of the journal: the newest of each, and no more, however many are kept.

use switchboard_core::ports::Answer;
use switchboard_core::views::{Page, PageAsk};

use super::lanes::{From, Lanes, List};
use super::{is_sort_key, limit, nothing};
use crate::Aws;
use crate::item::{Attributes, Unreadable};
use crate::read::unreadable;

/// How many notes a list has, over all its pages.
const LISTED: usize = 1000;

impl Aws {
    /// The notes of a partition of the journal, newest first. A cursor says how many were on the pages before.
    pub(super) async fn list_notes<T>(
        &self,
        doing: &'static str,
        partition: &str,
        ask: &PageAsk,
        read: impl Fn(&Attributes) -> Result<T, Unreadable> + Send,
    ) -> Answer<Page<T>>
    where
        T: Send,
    {
        let Some((before, below)) = after(ask) else {
            return Ok(nothing());
        };
        let limit = limit(ask);
        let left = LISTED.saturating_sub(before);
        let wanted = limit.saturating_add(1).min(left);
        let list = List {
            doing,
            index: None,
            partitions: vec![partition.to_owned()],
            from: From::Newest { below, from: None },
            wanted,
        };
        let rows = Lanes::new(self, list).take(wanted).await?;
        let notes = (before.saturating_add(1)..).zip(rows).map(|(nth, row)| {
            let note = read(&row.item).map_err(unreadable(doing))?;
            Ok((format!("{nth}.{}", row.sort), note))
        });
        Ok(Page::first_of(notes.collect::<Answer<_>>()?, limit))
    }
}

/// How many notes the pages before had, and the sort key that this one stays below; `None` for a cursor that no page gave.
fn after(ask: &PageAsk) -> Option<(usize, Option<String>)> {
    let Some(cursor) = &ask.after else {
        return Some((0, None));
    };
    let (before, sort) = cursor.as_str().split_once('.')?;
    let is_token = |id: &str| !id.is_empty() && id.is_ascii();
    let before = before.parse().ok()?;
    is_sort_key(sort, is_token).then(|| (before, Some(sort.to_owned())))
}
