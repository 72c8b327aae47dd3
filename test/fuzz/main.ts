// `npm run fuzz -- TARGET --seed S --minutes M` runs a target in its own thread, so that a kernel that never
// returns is detected too. Each finding becomes a file in regressions/, which `npm test` replays. `--cases N`
// stops after N cases; `--replay FILE` runs one such file.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Random } from "../../bench/random.js";
import { type Failure, fuzz, problemOf } from "./run.js";
import { TARGETS } from "./targets.js";

/** A check that takes longer than this many milliseconds counts as hanging. */
const CASE_MS_MAX = 60_000;
const WATCH_MS = 1_000;
const FAILURES_MAX = 5;
const USAGE = `usage: npm run fuzz -- TARGET [--seed S] [--minutes M] [--cases N] [--replay FILE]; targets: ${Object.keys(TARGETS).join(", ")}`;

interface Job {
  readonly target: string;
  readonly seed: number;
  readonly minutes: number;
  readonly casesMax: number;
  /** The input to replay; null if inputs are generated. */
  readonly replayed: Uint8Array | null;
  /** The seed of the current case, the number of cases so far, and the number of checks so far. */
  readonly progress: SharedArrayBuffer;
}

type Message = { readonly cases: number; readonly failures: readonly Failure[]; readonly report: string };

function readJob(): Job {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      minutes: { type: "string", default: "1" },
      cases: { type: "string", default: "Infinity" },
      replay: { type: "string" },
    },
  });
  const [target] = positionals;
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
  const casesMax = Number(values.cases);
  const isKnown = target !== undefined && Object.hasOwn(TARGETS, target);
  if (!isKnown || !Number.isInteger(seed) || !(minutes > 0) || !(casesMax > 0)) {
    console.error(USAGE);
    process.exit(2);
  }
  const replayed = values.replay === undefined ? null : inputOf(values.replay);
  return { target, seed, minutes, casesMax, replayed, progress: new SharedArrayBuffer(12) };
}

function inputOf(file: string): Uint8Array {
  return Buffer.from((JSON.parse(readFileSync(file, "utf8")) as { input: string }).input, "base64");
}

/** Saves a finding in regressions/ under the next free number. Returns its path. */
function keep(target: string, { input, why, caseSeed }: Failure): string {
  const folder = join(process.cwd(), "test/fuzz/regressions");
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const numbers = readdirSync(folder).map((name) => Number.parseInt(name, 10) || 0);
  const number = String(Math.max(0, ...numbers) + 1).padStart(3, "0");
  const path = join(folder, `${number}-${target}.json`);
  const entry = {
    target,
    caseSeed,
    why: why.split("\n").slice(0, 6),
    input: Buffer.from(input).toString("base64"),
  };
  writeFileSync(path, `${JSON.stringify(entry, null, 1)}\n`);
  return path;
}

function report({ target, seed }: Job, failures: readonly Failure[]): void {
  for (const failure of failures) {
    const file = keep(target, failure);
    console.log(
      `FOUND: ${failure.why}\n  kept as ${file}; to repeat: npm run fuzz -- ${target} --replay ${file}`,
    );
    console.log(
      `  with all preceding cases: npm run fuzz -- ${target} --seed ${seed} --cases ${failure.caseNumber}`,
    );
  }
}

async function watch(job: Job): Promise<void> {
  const { target, seed, minutes, progress } = job;
  const [counters, started] = [new Int32Array(progress), performance.now()];
  const worker = new Worker(new URL(import.meta.url), { workerData: job });
  let [seen, since] = [-1, performance.now()];
  const timer = setInterval(() => {
    const checks = Atomics.load(counters, 2);
    if (checks !== seen) [seen, since] = [checks, performance.now()];
    else if (checks > 0 && performance.now() - since > CASE_MS_MAX) void hung();
  }, WATCH_MS);
  const hung = async (): Promise<void> => {
    const caseSeed = Atomics.load(counters, 0);
    clearInterval(timer);
    await worker.terminate();
    const input = (await TARGETS[target]!()).generate(new Random(caseSeed));
    report(job, [
      { caseSeed, caseNumber: Atomics.load(counters, 1), why: `did not end within ${CASE_MS_MAX} ms`, input },
    ]);
    process.exit(1);
  };
  const {
    cases,
    failures,
    report: told,
  } = await new Promise<Message>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  clearInterval(timer);
  if (told !== "") console.log(told);
  report(job, failures);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `fuzz ${target} --seed ${seed} --minutes ${minutes}: ${cases} cases in ${seconds} s, ${failures.length} findings`,
  );
  process.exit(failures.length === 0 ? 0 : 1);
}

async function replay(name: string, input: Uint8Array): Promise<void> {
  const target = await TARGETS[name]!();
  const problem = await problemOf(target, input);
  await target.close();
  console.log(problem ?? "no problem found");
  process.exit(problem === null ? 0 : 1);
}

async function work({ target: name, seed, minutes, casesMax, progress }: Job): Promise<void> {
  const counters = new Int32Array(progress);
  const target = await TARGETS[name]!();
  const outcome = await fuzz(target, {
    seed,
    casesMax,
    msMax: minutes * 60_000,
    failuresMax: FAILURES_MAX,
    onCase: (caseSeed) => {
      Atomics.store(counters, 0, caseSeed);
      Atomics.add(counters, 1, 1);
      Atomics.add(counters, 2, 1);
    },
    onShrink: () => void Atomics.add(counters, 2, 1),
  });
  const report = (await target.report?.()) ?? "";
  await target.close();
  parentPort!.postMessage({ ...outcome, report } satisfies Message);
}

async function main(): Promise<void> {
  if (!isMainThread) return work(workerData as Job);
  const job = readJob();
  return job.replayed === null ? watch(job) : replay(job.target, job.replayed);
}

await main();
