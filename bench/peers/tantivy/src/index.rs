//! From a file of JSON lines to an index of one segment. A field of the documents becomes up to three fields of the index: its
//! text under its own name, its values (to filter by and to count) as `<name>_value`, its number as `<name>_number`.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST, INDEXED};
use tantivy::tokenizer::{AsciiFoldingFilter, LowerCaser, SimpleTokenizer, TextAnalyzer};
use tantivy::{Index, IndexWriter, TantivyDocument};

pub const ID: &str = "_id";
pub const WORDS: &str = "words";
const RAW: &str = "raw";
const WRITER_BYTES: usize = 200_000_000;

#[derive(Deserialize)]
pub struct Field {
    pub name: String,
    /// Searched for words.
    pub text: bool,
    /// Filtered by whole values and counted.
    pub values: bool,
    /// Filtered by ranges and sorted by.
    pub number: bool,
}

impl Field {
    pub fn value_name(&self) -> String {
        format!("{}_value", self.name)
    }

    pub fn number_name(&self) -> String {
        format!("{}_number", self.name)
    }
}

/// Runs of letters and digits, in lower case, without accents.
pub fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).filter(AsciiFoldingFilter).build()
}

/// Requires an empty `folder`.
pub fn load(file: &Path, folder: &Path, fields: &[Field]) -> Result<Index, Box<dyn Error>> {
    let schema = schema_of(fields);
    let index = Index::create_in_dir(folder, schema.clone())?;
    index.tokenizers().register(WORDS, analyzer());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    for line in BufReader::new(File::open(file)?).lines() {
        writer.add_document(document_of(&serde_json::from_str(&line?)?, &schema, fields)?)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(index)
}

fn schema_of(fields: &[Field]) -> Schema {
    let words = TextFieldIndexing::default().set_tokenizer(WORDS).set_index_option(IndexRecordOption::WithFreqs);
    let values = TextFieldIndexing::default().set_tokenizer(RAW).set_index_option(IndexRecordOption::Basic);
    let mut schema = Schema::builder();
    schema.add_text_field(ID, TextOptions::default().set_fast(RAW));
    for field in fields {
        if field.text {
            schema.add_text_field(&field.name, TextOptions::default().set_indexing_options(words.clone()));
        }
        if field.values {
            let options = TextOptions::default().set_indexing_options(values.clone()).set_fast(RAW);
            schema.add_text_field(&field.value_name(), options);
        }
        if field.number {
            schema.add_f64_field(&field.number_name(), FAST | INDEXED);
        }
    }
    schema.build()
}

fn document_of(given: &Value, schema: &Schema, fields: &[Field]) -> Result<TantivyDocument, Box<dyn Error>> {
    let mut document = TantivyDocument::default();
    document.add_text(schema.get_field(ID)?, given["id"].as_str().unwrap_or_default());
    for field in fields {
        let value = &given[&field.name];
        for text in texts(value) {
            if field.text {
                document.add_text(schema.get_field(&field.name)?, text);
            }
            if field.values {
                document.add_text(schema.get_field(&field.value_name())?, text);
            }
        }
        if let (true, Some(number)) = (field.number, value.as_f64()) {
            document.add_f64(schema.get_field(&field.number_name())?, number);
        }
    }
    Ok(document)
}

/// A text, or each text of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(value));
    list.iter().filter_map(Value::as_str)
}
