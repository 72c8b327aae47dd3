// `npm run bench:peers`: compares search engines on the same documents and queries. Each engine is measured
// in its own process. Libraries run inside it. Skein and servers given by URL are called over HTTP, and their
// times include it. The report shows the number of matches next to the times, because an engine that finds
// less does less work. With the programs in README.md, the report also compares queries per CPU second.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { writeDocuments } from "../../dist/bench/load/documents-file.js";
import { summarise } from "../../dist/bench/load/drive.js";
import { drawQueries } from "../../dist/bench/load/queries.js";
import { machineCard, machineText } from "../../dist/bench/machine.js";
import { flexSearch, miniSearch, orama } from "./libraries.mjs";
import { measurePerCpuSecond, perCpuSecondText } from "./per-cpu-second.mjs";
import { PROGRAMS, programEngine } from "./programs.mjs";
import { elasticsearch, meilisearch, skein, typesense } from "./servers.mjs";

const HELP = `usage: npm run bench:peers -- [options]
  --data FILE            documents (JSON lines, JSON, CSV, plain or gzip)
  --generated N          so many generated products instead (20000)
  --id FIELD             the documents' id field
  --fields a,b,c         text fields to search (those of the schema that are no facets)
  --queries N            of each kind (500)
  --only a,b             engines: skein, minisearch, orama, flexsearch
  --typesense URL --typesense-key KEY
  --meilisearch URL --meilisearch-key KEY
  --elasticsearch URL    also OpenSearch; user and password in the URL
  --tantivy COMMAND, --lucene COMMAND
                         programs that bench/peers/README.md tells how to build, or URLs of them; also by
                         SKEIN_PEER_TANTIVY and SKEIN_PEER_LUCENE; with one of them queries per CPU second are measured
  --seconds N            CPU seconds of each engine and set of queries, for queries per CPU second (10)
  --name NAME            name of the result (peers)
  --out FOLDER           where results go (bench/results)`;

const KINDS = [
  { name: "one word", share: 1, words: [1, 1] },
  { name: "three words", share: 1, words: [3, 3] },
  { name: "prefix", share: 1, words: [1, 2], prefix: true },
  { name: "typo", share: 1, words: [1, 1], typo: true },
];
const PER_PAGE = 10;
const SECONDS_PER_KIND_MAX = 10;

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    generated: { type: "string", default: "20000" },
    id: { type: "string" },
    fields: { type: "string" },
    queries: { type: "string", default: "500" },
    only: { type: "string" },
    typesense: { type: "string" },
    "typesense-key": { type: "string", default: "" },
    meilisearch: { type: "string" },
    "meilisearch-key": { type: "string", default: "" },
    elasticsearch: { type: "string" },
    tantivy: { type: "string", default: process.env.SKEIN_PEER_TANTIVY },
    lucene: { type: "string", default: process.env.SKEIN_PEER_LUCENE },
    seconds: { type: "string", default: "10" },
    name: { type: "string", default: "peers" },
    out: { type: "string", default: "bench/results" },
    // Internal, passed to the child process: the engine to measure and the file for its row.
    engine: { type: "string" },
    row: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const ENGINES = {
  skein,
  minisearch: miniSearch,
  orama,
  flexsearch: flexSearch,
  typesense: () => typesense(values.typesense, values["typesense-key"]),
  meilisearch: () => meilisearch(values.meilisearch, values["meilisearch-key"]),
  elasticsearch: () => elasticsearch(values.elasticsearch),
  tantivy: (folder) => programEngine(values.tantivy, folder),
  lucene: (folder) => programEngine(values.lucene, folder),
};

if (values.help) {
  process.stdout.write(`${HELP}\n`);
} else {
  await main();
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "skein-peers-"));
  try {
    const data = values.data === undefined ? { generate: Number(values.generated), seed: 1 } : { file: values.data };
    const file = await writeDocuments(data, 1, values.id ?? null, join(folder, "documents.jsonl"));
    const fields =
      values.fields?.split(",") ??
      file.schema.fields.filter((field) => field.type === "string" && field.facet !== true).map(({ name }) => name);
    const documents = readDocuments(file.path, fields);
    const schema = { fields: fields.map((name) => ({ name, type: "string" })) };
    const workload = { seed: 7, perPage: PER_PAGE };
    const kinds = KINDS.map((kind) => ({
      name: kind.name,
      queries: drawQueries({ ...workload, mix: [kind] }, schema, file.sample, Number(values.queries)).map(
        ({ body }) => body.q,
      ),
    }));
    if (values.engine !== undefined) {
      const row = await measure(ENGINES[values.engine], folder, documents, fields, kinds);
      writeFileSync(values.row, JSON.stringify(row));
      return;
    }
    for (const name of missingPrograms()) process.stderr.write(`${missingText(name)}\n`);
    const rows = wanted().map((engine) => inOwnProcess(engine, join(folder, `${engine}.json`)));
    const commands = Object.fromEntries(givenPrograms().map((name) => [name, values[name]]));
    const count = Number(values.queries);
    const sets =
      givenPrograms().length === 0
        ? []
        : await measurePerCpuSecond({ file, folder, commands, count, seconds: Number(values.seconds) });
    report(rows, kinds, sets, { name: basename(file.name), documents: documents.length, fields });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Reads the documents with only their id and the searched fields, so that no engine pays for the other
 * fields.
 */
function readDocuments(path, fields) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line, i) => {
    const given = JSON.parse(line);
    const text = Object.fromEntries(fields.map((name) => [name, typeof given[name] === "string" ? given[name] : ""]));
    return { id: String(given.id ?? i), ...text };
  });
}

function wanted() {
  const libraries = values.only?.split(",") ?? ["skein", "minisearch", "orama", "flexsearch"];
  const servers = ["typesense", "meilisearch", "elasticsearch"].filter((name) => values[name] !== undefined);
  return [...libraries, ...servers, ...givenPrograms()];
}

function givenPrograms() {
  return Object.keys(PROGRAMS).filter((name) => values[name] !== undefined);
}

function missingPrograms() {
  return Object.keys(PROGRAMS).filter((name) => values[name] === undefined);
}

function missingText(name) {
  return `${PROGRAMS[name]} is not installed here (no --${name} COMMAND) and left out.`;
}

function inOwnProcess(engine, row) {
  const args = [...process.execArgv, ...process.argv.slice(1), "--engine", engine, "--row", row];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${engine} could not be measured`);
  return JSON.parse(readFileSync(row, "utf8"));
}

async function measure(make, folder, documents, fields, kinds) {
  const residentBefore = process.memoryUsage().rss;
  const engine = await make(folder);
  process.stderr.write(`${engine.name}: indexing ${documents.length} documents\n`);
  try {
    const started = performance.now();
    await engine.index(documents, fields);
    const indexSeconds = (performance.now() - started) / 1000;
    const residentBytes = engine.inProcess ? settledBytes() - residentBefore : (engine.residentBytes?.() ?? null);
    const results = [];
    for (const { name, queries } of kinds) {
      process.stderr.write(`${engine.name}: ${name}\n`);
      results.push({ kind: name, ...(await measureKind(engine, queries)) });
    }
    return { engine: engine.name, version: engine.version, how: engine.how, indexSeconds, residentBytes, results };
  } finally {
    await engine.close();
  }
}

/** Returns the resident bytes of this process, after a garbage collection if Node runs with --expose-gc. */
function settledBytes() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

/**
 * Runs the first tenth of the queries as a warm-up, then measures all of them. A slow engine runs out of time
 * and answers fewer.
 */
async function measureKind(engine, queries) {
  for (const q of queries.slice(0, Math.ceil(queries.length / 10))) await engine.search(q, PER_PAGE);
  const times = [];
  const founds = [];
  const end = performance.now() + SECONDS_PER_KIND_MAX * 1000;
  for (const q of queries) {
    const started = performance.now();
    const found = await engine.search(q, PER_PAGE);
    times.push(performance.now() - started);
    founds.push(found ?? (await engine.count(q)));
    if (performance.now() > end) break;
  }
  const total = founds.reduce((sum, found) => sum + found, 0);
  founds.sort((a, b) => a - b);
  return {
    latency: summarise(times),
    found: { mean: total / founds.length, median: founds[founds.length >> 1], none: founds.filter((n) => n === 0).length },
  };
}

function report(rows, kinds, sets, data) {
  const card = machineCard(`npm run bench:peers -- ${process.argv.slice(2).join(" ")}`.trim());
  const mib = (bytes) => (bytes === null ? "?" : (bytes / 2 ** 20).toFixed(0));
  const lines = [
    "# Beside other engines",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${data.name}, ${data.documents.toLocaleString("en-US")} documents; searched: ${data.fields.join(", ")}. One query at a time, the best ${PER_PAGE}, every word must match, the last one as a prefix, with typos where the engine has them. Queries are drawn from the documents; \`typo\` is a word that no document of the sample has.`,
    "",
    "| engine | how | indexing s | resident MiB |",
    "| --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row.engine} ${row.version} | ${row.how} | ${row.indexSeconds.toFixed(1)} | ${mib(row.residentBytes)} |`),
  ];
  for (const [i, kind] of kinds.entries()) {
    lines.push(
      "",
      `${kind.name}, for instance ${kind.queries
        .slice(0, 3)
        .map((q) => `\`${q}\``)
        .join(", ")}:`,
      "",
      "| engine | queries | p50 ms | p99 ms | max ms | found, mean | found, median | found nothing |",
      "| --- | --- | --- | --- | --- | --- | --- | --- |",
      ...rows.map((row) => {
        const { latency, found } = row.results[i];
        return `| ${row.engine} | ${latency.count} | ${latency.p50.toFixed(2)} | ${latency.p99.toFixed(2)} | ${latency.max.toFixed(2)} | ${found.mean.toFixed(1)} | ${found.median} | ${found.none} |`;
      }),
    );
  }
  lines.push(...perCpuSecondText(sets, values.queries));
  if (missingPrograms().length > 0) lines.push("", missingPrograms().map(missingText).join(" "));
  const markdown = `${lines.join("\n")}\n`;
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, `${values.name}.md`), markdown);
  writeFileSync(join(values.out, `${values.name}.json`), `${JSON.stringify({ machine: card, data, rows, perCpuSecond: sets }, null, 2)}\n`);
  process.stdout.write(markdown);
}
