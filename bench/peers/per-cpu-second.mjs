// Measures queries per second of CPU time, for Skein and the programs in README.md, with whole documents and
// queries that have filters, facets and sorts. All engines stay running and alternate in short trials, also
// during the warm-up, so that other load on the machine affects them equally. CPU time covers all threads of
// the engine's process.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawQueries } from "../../dist/bench/load/queries.js";
import { embedded, merged } from "../../dist/bench/load/settle.js";
import { fieldOf, open, startProgram } from "./programs.mjs";
import { queryOfBody } from "./protocol-query.mjs";
import { startSkein } from "./servers.mjs";

const WORKLOAD = "bench/workloads/catalogue.json";
const PLAIN_KIND = "words";
const TRIAL_SECONDS = 0.5;
/**
 * Each round starts this many queries later than the one before, so that slow engines also reach all queries.
 */
const ROUND_STRIDE = 97;
const LINES_PER_REQUEST = 1000;

/** Two configurations of Skein: its defaults, and only the features that the programs also have. */
const READINGS = [
  { name: "Skein", index: "as-it-comes", how: "over HTTP, as it comes", settings: {}, parameters: {} },
  {
    name: "Skein, as the programs",
    index: "as-programs",
    how: "over HTTP; no judgement of what looks misspelt, no relaxing, no vectors, ids only",
    settings: { typo_policy: "always", drop_tokens_threshold: 0, embedder: { source: "none" } },
    parameters: { search_mode: "keyword", ai: false, analytics: false, fields: ["id"] },
  },
];
/** The cache is too small for any answer, so every query is computed. */
const NOTHING_REMEMBERED = { limits: { rememberedAnswersBytesMax: 1 } };

/**
 * Returns one entry per query set, with a row for each engine. `commands` maps each program's name to its
 * command or URL.
 */
export async function measurePerCpuSecond({ file, folder, commands, count, seconds }) {
  const documents = withIds(file.path, join(folder, "whole-documents.jsonl"));
  const sets = drawSets(file, count);
  const started = [];
  try {
    const skein = await startSkein(join(folder, "skein-per-cpu"), configFile(folder));
    started.push(skein);
    const contenders = [];
    for (const reading of READINGS) contenders.push(await skeinContender(skein, reading, documents, file.schema));
    for (const [name, command] of Object.entries(commands)) {
      const program = await startProgram(command);
      started.push({ close: () => program.stop() });
      contenders.push(await programContender(program, documents, join(folder, `index-of-${name}`), file.schema));
    }
    const results = [];
    for (const { name, bodies } of sets) {
      process.stderr.write(`per CPU second: ${name}\n`);
      results.push({ set: name, example: bodies[0], rows: await measureInterleaved(contenders, bodies, seconds) });
    }
    return results;
  } finally {
    for (const engine of started) await engine.close();
  }
}

function configFile(folder) {
  const path = join(folder, "nothing-remembered.json");
  writeFileSync(path, JSON.stringify(NOTHING_REMEMBERED));
  return path;
}

/** Writes the same documents with string ids. */
function withIds(path, target) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const named = lines.map((line, i) => {
    const document = JSON.parse(line);
    return `${JSON.stringify({ ...document, id: String(document.id ?? i) })}\n`;
  });
  writeFileSync(target, named.join(""));
  return target;
}

function drawSets(file, count) {
  const workload = JSON.parse(readFileSync(WORKLOAD, "utf8"));
  const draw = (mix) => drawQueries({ ...workload, mix }, file.schema, file.sample, count).map(({ body }) => body);
  const plain = draw(workload.mix.filter(({ name }) => name === PLAIN_KIND));
  const asTheyStand = plain.map((body) => ({ ...body, num_typos: 0, prefix: false }));
  return [
    { name: "mix of all kinds", bodies: draw(workload.mix) },
    { name: "one to three plain words, typos allowed, the last as prefix", bodies: plain },
    { name: "one to three plain words as they stand", bodies: asTheyStand },
  ];
}

async function skeinContender({ client, cpuSeconds }, reading, documents, schema) {
  const { name, how, index, settings, parameters } = reading;
  await client.json("POST", "/v1/indexes", { name: index, schema, settings });
  const lines = readFileSync(documents, "utf8").trimEnd().split("\n");
  for (let at = 0; at < lines.length; at += LINES_PER_REQUEST) {
    const part = `${lines.slice(at, at + LINES_PER_REQUEST).join("\n")}\n`;
    await client.ask("POST", `/v1/indexes/${index}/documents/import`, part, "application/x-ndjson");
  }
  await merged(client, index);
  await embedded(client, index);
  const ask = (body) => client.json("POST", `/v1/indexes/${index}/query`, { ...body, ...parameters });
  return {
    name,
    how,
    found: async (body) => (await ask(body)).found,
    measure: async (bodies, seconds, from) => {
      let queries = 0;
      const before = cpuSeconds();
      const end = performance.now() + seconds * 1000;
      for (; performance.now() < end; queries++) await ask(bodies[(from + queries) % bodies.length]);
      return { queries, cpuSeconds: cpuSeconds() - before };
    },
  };
}

async function programContender(program, documents, folder, schema) {
  const { name, version } = await open(program, documents, folder, schema.fields.map(fieldOf));
  return {
    name: `${name} ${version}`,
    how: "in process, ids only",
    found: async (body) => (await program.ask({ do: "search", query: queryOfBody(body) })).found,
    measure: (bodies, seconds, from) => program.ask({ do: "measure", queries: bodies.map(queryOfBody), seconds, from }),
  };
}

/**
 * Runs rounds of short trials until every contender has used `seconds` of CPU time to warm up, then measures
 * for as long again. On a busy machine this takes longer but gives the same figures.
 */
async function measureInterleaved(contenders, bodies, seconds) {
  let round = 0;
  const rounds = async () => {
    const sums = contenders.map(() => ({ queries: 0, cpuSeconds: 0 }));
    for (; sums.some(({ cpuSeconds }) => cpuSeconds < seconds); round++) {
      for (let step = 0; step < contenders.length; step++) {
        const i = (round + step) % contenders.length;
        const { queries, cpuSeconds } = await contenders[i].measure(bodies, TRIAL_SECONDS, round * ROUND_STRIDE);
        sums[i].queries += queries;
        sums[i].cpuSeconds += cpuSeconds;
      }
    }
    return sums;
  };
  await rounds();
  const sums = await rounds();
  const founds = [];
  for (const { found } of contenders) founds.push(await inTurn(bodies, found));
  const compared = founds[READINGS.length - 1];
  return contenders.map(({ name, how }, i) => ({
    engine: name,
    how,
    ...sums[i],
    perCpuSecond: sums[i].queries / sums[i].cpuSeconds,
    found: { ...summary(founds[i]), asSkein: founds[i].filter((found, query) => found === compared[query]).length },
  }));
}

async function inTurn(values, map) {
  const mapped = [];
  for (const value of values) mapped.push(await map(value));
  return mapped;
}

function summary(founds) {
  const sorted = [...founds].sort((a, b) => a - b);
  const total = founds.reduce((sum, found) => sum + found, 0);
  return { mean: total / founds.length, median: sorted[sorted.length >> 1], none: sorted.filter((n) => n === 0).length };
}

export function perCpuSecondText(sets, count) {
  return sets.flatMap(({ set, rows }) => [
    "",
    `Queries per CPU second, ${set} (${count} different queries, nothing remembered, one at a time):`,
    "",
    `| engine | how | per CPU s | CPU µs a query | queries | found, mean | found, median | found nothing | queries with as many found as "${READINGS.at(-1).name}" |`,
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map(({ engine, how, queries, cpuSeconds, perCpuSecond, found }) =>
      [
        `| ${engine} | ${how} | ${perCpuSecond.toFixed(0)} | ${((cpuSeconds * 1e6) / queries).toFixed(0)} | ${queries}`,
        `${found.mean.toFixed(1)} | ${found.median} | ${found.none} | ${found.asSkein} |`,
      ].join(" | "),
    ),
  ]);
}
