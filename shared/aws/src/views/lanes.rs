//! A list that lies in several partitions of an index, each in its own order, read as one. Every partition is read in
//! small pieces, so that a page costs the same however long the list is.

use std::collections::VecDeque;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use switchboard_core::ports::{Answer, BackendError};

use crate::failure::failed;
use crate::item::{Attributes, names};
use crate::schema::Index;
use crate::{Aws, keys};

/// Fewest rows that are read of a partition at once.
const FEWEST: usize = 4;
/// Most of them.
const MOST: usize = 250;

/// Which way a list is read, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The newest first: where there are such, only those below one sort key, and from another one on.
    Newest {
        below: Option<String>,
        from: Option<String>,
    },
    /// The oldest first, from a sort key on.
    Oldest(String),
}

/// A list: what it is read from.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// For errors.
    pub(crate) doing: &'static str,
    /// `None` is the table itself.
    pub(crate) index: Option<Index>,
    pub(crate) partitions: Vec<String>,
    pub(crate) from: From,
    /// How many rows will be asked for, as far as is known.
    pub(crate) wanted: usize,
}

/// A row, and its place in the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) sort: String,
    pub(crate) item: Attributes,
}

/// A list that is being read.
pub(crate) struct Lanes<'a> {
    aws: &'a Aws,
    list: List,
    at_once: usize,
    all: Vec<Lane>,
}

#[derive(Default)]
struct Lane {
    partition: String,
    rows: VecDeque<Row>,
    next: Next,
}

/// Where a partition is read on.
#[derive(Default)]
enum Next {
    #[default]
    Begin,
    Behind(Attributes),
    End,
}

impl Lane {
    fn is_to_be_filled(&self) -> bool {
        self.rows.is_empty() && !matches!(self.next, Next::End)
    }
}

impl<'a> Lanes<'a> {
    pub(crate) fn new(aws: &'a Aws, list: List) -> Self {
        let all = list.partitions.iter().map(|partition| Lane {
            partition: partition.clone(),
            ..Lane::default()
        });
        let all: Vec<_> = all.collect();
        // Twice its share, since shares are uneven.
        let share = list.wanted.saturating_mul(2) / all.len().max(1);
        Self {
            aws,
            at_once: share.saturating_add(1).clamp(FEWEST, MOST),
            list,
            all,
        }
    }

    /// The next row of the list.
    pub(crate) async fn next(&mut self) -> Answer<Option<Row>> {
        while self.all.iter().any(Lane::is_to_be_filled) {
            let (aws, list, at_once) = (self.aws, &self.list, self.at_once);
            let empty = self.all.iter_mut().filter(|lane| lane.is_to_be_filled());
            let filled = empty.map(|lane| fill(aws, list, at_once, lane));
            try_join_all(filled).await?;
        }
        let is_first = |a: &Row, b: &Row| match self.list.from {
            From::Newest { .. } => a.sort > b.sort,
            From::Oldest(_) => a.sort < b.sort,
        };
        let mut first: Option<usize> = None;
        for (nth, lane) in self.all.iter().enumerate() {
            let Some(row) = lane.rows.front() else {
                continue;
            };
            let best = first.and_then(|nth| self.all.get(nth)?.rows.front());
            if best.is_none_or(|best| is_first(row, best)) {
                first = Some(nth);
            }
        }
        Ok(first.and_then(|nth| self.all.get_mut(nth)?.rows.pop_front()))
    }

    /// The next `count` rows, or as many as there are.
    pub(crate) async fn take(&mut self, count: usize) -> Answer<Vec<Row>> {
        let mut rows = Vec::new();
        while rows.len() < count {
            let Some(row) = self.next().await? else { break };
            rows.push(row);
        }
        Ok(rows)
    }
}

/// What a query asks of its keys, what stands for its bounds, and whether it reads in their order.
fn condition(from: &From) -> (&'static str, Vec<(&'static str, String)>, bool) {
    match from {
        From::Newest { below, from } => match (below, from) {
            (None, None) => ("#p = :p", vec![], false),
            (Some(below), None) => (
                "#p = :p AND #s < :below",
                vec![(":below", below.clone())],
                false,
            ),
            (None, Some(from)) => (
                "#p = :p AND #s >= :from",
                vec![(":from", from.clone())],
                false,
            ),
            // A query takes one condition on its sort key, to which both ends belong.
            (Some(below), Some(from)) => (
                "#p = :p AND #s BETWEEN :from AND :to",
                vec![(":from", from.clone()), (":to", keys::just_before(below))],
                false,
            ),
        },
        From::Oldest(from) => (
            "#p = :p AND #s >= :from",
            vec![(":from", from.clone())],
            true,
        ),
    }
}

async fn fill(aws: &Aws, list: &List, at_once: usize, lane: &mut Lane) -> Answer<()> {
    let [partition, sort] = match list.index {
        Some(index) => [index.key.partition, index.key.sort.unwrap_or(names::SORT)],
        None => [names::PARTITION, names::SORT],
    };
    let (condition, bounds, is_rising) = condition(&list.from);
    let from = match std::mem::replace(&mut lane.next, Next::End) {
        Next::Behind(key) => Some(key),
        Next::Begin | Next::End => None,
    };
    let mut query = aws
        .dynamodb
        .query()
        .table_name(&aws.place.table)
        .set_index_name(list.index.map(|index| index.name.to_owned()))
        .key_condition_expression(condition)
        .expression_attribute_names("#p", partition)
        .expression_attribute_values(":p", AttributeValue::S(lane.partition.clone()))
        .scan_index_forward(is_rising)
        .limit(i32::try_from(at_once).unwrap_or(i32::MAX))
        .set_exclusive_start_key(from);
    if !bounds.is_empty() {
        query = query.expression_attribute_names("#s", sort);
    }
    for (name, bound) in bounds {
        query = query.expression_attribute_values(name, AttributeValue::S(bound));
    }
    let page = query
        .send()
        .await
        .map_err(|error| failed(list.doing, error))?;
    for item in page.items.unwrap_or_default() {
        let Some(sort) = item.get(sort).and_then(|value| value.as_s().ok()) else {
            return Err(BackendError::new(
                list.doing,
                "a row has no place in its list",
            ));
        };
        let sort = sort.clone();
        lane.rows.push_back(Row { sort, item });
    }
    lane.next = page.last_evaluated_key.map_or(Next::End, Next::Behind);
    Ok(())
}
