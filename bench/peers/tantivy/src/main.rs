//! tantivy as a peer of `npm run bench:peers`: reads requests as JSON lines, answers each with one line, ends with its input.
//! README.md one floor above the crate has the protocol. Owns the conversation and the clock of the process's CPU time; knows
//! nothing of fields or queries.

mod index;
mod search;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};

use index::{load, Field};
use search::{Query, Search};

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    Open { file: PathBuf, folder: PathBuf, fields: Vec<Field> },
    Search { query: Query },
    Measure { queries: Vec<Query>, seconds: f64, from: usize },
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut search: Option<Search> = None;
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Open { file, folder, fields } => {
                let opened = Search::new(load(&file, &folder, &fields)?, fields)?;
                let documents = opened.documents();
                search = Some(opened);
                json!({ "name": "tantivy", "version": version(), "documents": documents })
            }
            Request::Search { query } => serde_json::to_value(opened(&search)?.find(&query)?)?,
            Request::Measure { queries, seconds, from } => measure(opened(&search)?, &queries, seconds, from)?,
        };
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}

/// The crate's own text is "tantivy v1.2.3, index_format v4".
fn version() -> &'static str {
    tantivy::version_string().split([' ', ',']).nth(1).unwrap_or_default().trim_start_matches('v')
}

fn opened(search: &Option<Search>) -> Result<&Search, &'static str> {
    search.as_ref().ok_or("nothing is open")
}

/// Goes through the queries from number `from` round and round. Requires at least one.
fn measure(search: &Search, queries: &[Query], seconds: f64, from: usize) -> Result<Value, Box<dyn Error>> {
    let mut answered = 0;
    let cpu = cpu_seconds();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        std::hint::black_box(search.find(&queries[(from + answered) % queries.len()])?);
        answered += 1;
    }
    Ok(json!({ "queries": answered, "cpuSeconds": cpu_seconds() - cpu }))
}

/// User and system time of all threads of this process.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every system that Rust's std runs on; `time` is ours for the length of the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
