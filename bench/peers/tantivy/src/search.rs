//! A query of the protocol as a query of tantivy. Every word must match in any field, the best field counts; beginnings and near
//! words match with a constant score beside the word itself. All documents found are counted.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tantivy::aggregation::{agg_req::Aggregations, AggContextParams, AggregationCollector};
use tantivy::collector::{Collector, Count, TopDocs};
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, DisjunctionMaxQuery, FuzzyTermQuery, Occur, Query as Matcher, RangeQuery, TermQuery,
};
use tantivy::schema::{self, IndexRecordOption};
use tantivy::tokenizer::TokenStream;
use tantivy::{DocAddress, Index, Order, Result, Searcher, Term};

use crate::index::{analyzer, Field, ID};

#[derive(Deserialize)]
pub struct Query {
    /// None: all documents.
    words: Vec<Word>,
    filter: Option<Filter>,
    #[serde(default)]
    facets: Vec<String>,
    sort: Option<Sort>,
    limit: usize,
}

#[derive(Deserialize)]
struct Word {
    text: String,
    /// Edits that are allowed, 0 to 2; neighbours that change places are one.
    typos: u8,
    /// Words that begin with it match, too.
    prefix: bool,
}

#[derive(Deserialize)]
struct Filter {
    field: String,
    equals: Option<String>,
    min: Option<f64>,
    max: Option<f64>,
}

#[derive(Deserialize)]
struct Sort {
    field: String,
    descending: bool,
}

#[derive(Serialize)]
pub struct Found {
    found: usize,
    ids: Vec<String>,
    /// Of each field its most frequent values.
    facets: BTreeMap<String, BTreeMap<String, u64>>,
}

const FACET_VALUES: u32 = 10;

pub struct Search {
    searcher: Searcher,
    fields: Vec<Field>,
    texts: Vec<schema::Field>,
}

impl Search {
    pub fn new(index: Index, fields: Vec<Field>) -> Result<Search> {
        let schema = index.schema();
        let texts = fields.iter().filter(|field| field.text).map(|field| schema.get_field(&field.name)).collect::<Result<_>>()?;
        Ok(Search { searcher: index.reader()?.searcher(), fields, texts })
    }

    pub fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    pub fn find(&self, query: &Query) -> Result<Found> {
        let matcher = self.matcher(query)?;
        let top = TopDocs::with_limit(query.limit);
        match &query.sort {
            None => self.collect(query, &matcher, top.order_by_score()),
            Some(Sort { field, descending }) => {
                let order = if *descending { Order::Desc } else { Order::Asc };
                self.collect(query, &matcher, top.order_by_fast_field::<f64>(self.field(field).number_name(), order))
            }
        }
    }

    fn collect<T, C>(&self, query: &Query, matcher: &dyn Matcher, top: C) -> Result<Found>
    where
        C: Collector<Fruit = Vec<(T, DocAddress)>>,
    {
        if query.facets.is_empty() {
            let (best, found) = self.searcher.search(matcher, &(top, Count))?;
            return Ok(Found { found, ids: self.ids(best)?, facets: BTreeMap::new() });
        }
        let counted = AggregationCollector::from_aggs(self.aggregations(&query.facets)?, AggContextParams::default());
        let (best, found, counts) = self.searcher.search(matcher, &(top, Count, counted))?;
        let counts = serde_json::to_value(counts)?;
        let facets = query.facets.iter().map(|name| {
            let buckets = counts[name]["buckets"].as_array().into_iter().flatten();
            let values = buckets.filter_map(|one| Some((one["key"].as_str()?.to_owned(), one["doc_count"].as_u64()?)));
            (name.clone(), values.collect())
        });
        Ok(Found { found, ids: self.ids(best)?, facets: facets.collect() })
    }

    fn matcher(&self, query: &Query) -> Result<Box<dyn Matcher>> {
        let mut parts: Vec<(Occur, Box<dyn Matcher>)> = Vec::new();
        for word in &query.words {
            parts.push((Occur::Must, self.word(word)));
        }
        if parts.is_empty() {
            parts.push((Occur::Must, Box::new(AllQuery)));
        }
        if let Some(filter) = &query.filter {
            parts.push((Occur::Must, Box::new(ConstScoreQuery::new(self.filter(filter)?, 0.0))));
        }
        Ok(if parts.len() == 1 { parts.remove(0).1 } else { Box::new(BooleanQuery::new(parts)) })
    }

    fn word(&self, word: &Word) -> Box<dyn Matcher> {
        let text = folded(&word.text);
        let mut ways: Vec<Box<dyn Matcher>> = Vec::new();
        for field in &self.texts {
            let term = Term::from_field_text(*field, &text);
            if word.prefix {
                ways.push(Box::new(FuzzyTermQuery::new_prefix(term.clone(), 0, true)));
            }
            if word.typos > 0 {
                ways.push(Box::new(FuzzyTermQuery::new(term.clone(), word.typos, true)));
            }
            ways.push(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
        }
        Box::new(DisjunctionMaxQuery::new(ways))
    }

    fn filter(&self, Filter { field, equals, min, max }: &Filter) -> Result<Box<dyn Matcher>> {
        let (field, schema) = (self.field(field), self.searcher.schema());
        if let Some(value) = equals {
            let term = Term::from_field_text(schema.get_field(&field.value_name())?, value);
            return Ok(Box::new(TermQuery::new(term, IndexRecordOption::Basic)));
        }
        let number = schema.get_field(&field.number_name())?;
        let bound = |limit: &Option<f64>| match limit {
            Some(value) => Bound::Included(Term::from_field_f64(number, *value)),
            None => Bound::Unbounded,
        };
        Ok(Box::new(RangeQuery::new(bound(min), bound(max))))
    }

    fn aggregations(&self, facets: &[String]) -> Result<Aggregations> {
        let terms = |name: &String| json!({ "terms": { "field": self.field(name).value_name(), "size": FACET_VALUES } });
        let wanted: serde_json::Map<_, _> = facets.iter().map(|name| (name.clone(), terms(name))).collect();
        Ok(serde_json::from_value(wanted.into())?)
    }

    fn ids<T>(&self, best: Vec<(T, DocAddress)>) -> Result<Vec<String>> {
        let mut ids = Vec::with_capacity(best.len());
        for (_, address) in best {
            let column = self.searcher.segment_reader(address.segment_ord).fast_fields().str(ID)?;
            let mut id = String::new();
            if let Some(column) = column {
                if let Some(ord) = column.term_ords(address.doc_id).next() {
                    column.ord_to_str(ord, &mut id)?;
                }
            }
            ids.push(id);
        }
        Ok(ids)
    }

    /// The benchmark names no other fields than those it has opened with.
    fn field(&self, name: &str) -> &Field {
        self.fields.iter().find(|field| field.name == name).expect("a field of the documents")
    }
}

/// The word as the analyser writes it into the index.
fn folded(word: &str) -> String {
    let mut analyzer = analyzer();
    let mut tokens = analyzer.token_stream(word);
    if tokens.advance() { tokens.token().text.clone() } else { word.to_owned() }
}
