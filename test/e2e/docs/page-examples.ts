// Runs the examples on a page of docs/. Bash runs each ```sh block as written, in order, with curl, and its
// output is compared with the ```json or ```ndjson block that follows. Servers are started elsewhere.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../world/harness.js";

export interface Example {
  /** The heading above the example and the example's position below it, such as "POST /v1/indexes, 2". */
  readonly name: string;
  readonly commands: string;
  /** The block below the commands; null if the page shows no answer. */
  readonly answer: string | null;
  /** True if the answer is a command line table rather than JSON. */
  readonly isText: boolean;
  /**
   * HTTP status, written after the answer block's language: ```json 201. If it is 0 (not written), any status
   * below 300 is right.
   */
  readonly status: number;
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** HTTP status of each request in the commands. */
  readonly statuses: readonly number[];
}

export interface Surroundings {
  /** Environment variables for the commands, besides PATH and HOME. */
  readonly env: Readonly<Record<string, string>>;
  /** For each host named on a page, the loopback server that takes its place. */
  readonly hosts?: Readonly<Record<string, string>>;
}

/**
 * Time in milliseconds within which a read-only command must return the answer shown, which may depend on
 * background work.
 */
const SETTLE_MS_MAX = 20_000;
const READ = /^(?:curl (?!.* -[XdT] )|npx skein (?:search|analytics) |$)/;

/** Members whose values vary between runs. Only their type is compared: number, time or text. */
const VARYING =
  /^(?:took_ms|search_time_ms|training_ms|trained_at|\w+_at|time|query_id|request_id|key|prefix|path|period_(?:start|end)|\w*bytes|seq|month|last_used_on)$/;
/** Snapshots are named after the time they were taken. */
const SNAPSHOT = /^\d{8}-\d{6}-\w+$/;

const FENCE = /^```(\w*) ?(\d*)\n([\s\S]*?)^```$/gm;

/** A page's examples, in order. Blocks in other languages are not run. */
export function examplesOf(page: string): Example[] {
  const examples: Example[] = [];
  const blocks = [...page.matchAll(FENCE)];
  blocks.forEach((block, i) => {
    if (block[1] !== "sh") return;
    const next = blocks[i + 1];
    const answered =
      next !== undefined && /^(?:json|ndjson|text)$/.test(next[1]!) && isNextTo(page, block, next);
    const heading = headingAbove(page, block.index);
    const place = examples.filter(({ name }) => name.startsWith(`${heading}, `)).length + 1;
    examples.push({
      name: `${heading}, ${place}`,
      commands: block[3]!,
      answer: answered ? next[3]! : null,
      isText: answered && next[1] === "text",
      status: answered && next[2] !== "" ? Number(next[2]) : 0,
    });
  });
  return examples;
}

/** An answer is directly below its commands, separated by at most one line of text. */
function isNextTo(page: string, block: RegExpExecArray, next: RegExpExecArray): boolean {
  return !page
    .slice(block.index + block[0].length, next.index)
    .trim()
    .includes("\n");
}

function headingAbove(page: string, index: number): string {
  const headings = [...page.slice(0, index).matchAll(/^#+ (.+)$/gm)];
  return headings.at(-1)?.[1] ?? "top";
}

/**
 * Runs an example in `folder` and compares its answer. Returns the difference, or null if there is none.
 * Read-only commands are repeated for up to SETTLE_MS_MAX until the answer matches.
 */
export async function whatDiffers(
  example: Example,
  folder: string,
  { env, hosts = {} }: Surroundings,
): Promise<string | null> {
  const swap = (text: string, from: 0 | 1): string =>
    Object.entries(hosts).reduce((out, pair) => out.replaceAll(pair[from]!, pair[1 - from]!), text);
  const onlyReads = example.commands.split("\n").every((line) => READ.test(line));
  let found: string | null = null;
  const isAsShown = async (): Promise<boolean> => {
    const ran = await run(swap(example.commands, 0), folder, env);
    found = difference(example, { ...ran, output: swap(ran.output, 1) });
    return found === null;
  };
  if (!onlyReads) await isAsShown();
  else await eventually(isAsShown, "the reply matches the page", SETTLE_MS_MAX).catch(() => undefined);
  return found;
}

/**
 * Runs commands in `folder`. As in a terminal, they see the variables that earlier commands in the folder
 * have set. Curl is configured to print each status to standard error, so the page's commands can be run
 * unchanged.
 */
async function run(commands: string, folder: string, env: Surroundings["env"]): Promise<Ran> {
  const curlHome = join(folder, ".curl");
  mkdirSync(curlHome, { recursive: true });
  writeFileSync(
    join(curlHome, ".curlrc"),
    'silent\nshow-error\nwrite-out = "%{stderr}status %{http_code}\\n"\n',
  );
  const script = `[ ! -f .variables ] || . ./.variables; set -a\n${commands}\nexport -p > .variables`;
  const child = spawn("bash", ["-e", "-u", "-o", "pipefail", "-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, CURL_HOME: curlHome, LC_ALL: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const statuses = [...errors.matchAll(/^status (\d+)$/gm)].map(([, status]) => Number(status));
  return { code, output, errors, statuses };
}

/** Describes how an answer differs from the one shown; null if it does not. */
function difference(example: Example, { code, output, errors, statuses }: Ran): string | null {
  if (code !== 0) return `the commands ended with ${code}: ${errors}`;
  const wrong = statuses.find((status) => (example.status === 0 ? status >= 300 : status !== example.status));
  if (wrong !== undefined) return `the status is ${wrong}: ${output}`;
  if (example.answer === null) return null;
  if (example.isText) {
    const same = withoutTimes(example.answer) === withoutTimes(output);
    return same ? null : `the output is\n${output}`;
  }
  const found = compare(shown(example.answer), read(output), "answer");
  return found === null ? null : `${found}\nThe whole answer: ${output}`;
}

/**
 * Zeroes durations, which vary between runs, and removes trailing spaces, which an editor may have cut from
 * the page.
 */
function withoutTimes(text: string): string {
  return text
    .replace(/\b[\d.]+ (m?s)\b/g, "0 $1")
    .replace(/[ \r]+$/gm, "")
    .trim();
}

/** Parses a single JSON value, or several lines of JSON as an array. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  }
}

/** Represents `...` on a page: more members or elements may follow. */
const MORE = "\u2026more";

/** Parses an answer shown on a page; `...` outside strings means omitted members or elements. */
function shown(answer: string): unknown {
  const open: string[] = [];
  const text = answer.replace(/"(?:[^"\\]|\\.)*"|[{}[\]]|\.\.\./g, (token) => {
    if (token === "{" || token === "[") open.push(token);
    else if (token === "}" || token === "]") open.pop();
    if (token !== "...") return token;
    return open.at(-1) === "{" ? `"${MORE}":true` : `"${MORE}"`;
  });
  return read(text);
}

function compare(wanted: unknown, got: unknown, path: string): string | null {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return `${path} is no list`;
    const whole = wanted.at(-1) !== MORE;
    const elements = whole ? wanted : wanted.slice(0, -1);
    if (whole ? got.length !== elements.length : got.length < elements.length)
      return `${path} has ${got.length} elements, not ${elements.length}`;
    return first(elements.map((element, i) => compare(element, got[i], `${path}[${i}]`)));
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (typeof got !== "object" || got === null || Array.isArray(got)) return `${path} is no object`;
    const { [MORE]: more, ...members } = wanted as Record<string, unknown>;
    const unknown = Object.keys(got).find((name) => !(name in members));
    if (more === undefined && unknown !== undefined)
      return `${path} has the member ${unknown}, which is not shown`;
    return first(
      Object.entries(members).map(([name, value]) => {
        if (!(name in got)) return `${path} has no member ${name}`;
        const came = (got as Record<string, unknown>)[name];
        const varies = VARYING.test(name) || (name === "id" && SNAPSHOT.test(String(value)));
        if (varies && typeof value !== "object") return compareKind(value, came, `${path}.${name}`);
        return compare(value, came, `${path}.${name}`);
      }),
    );
  }
  return wanted === got ? null : `${path} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`;
}

const TIME = /^\d{4}-\d{2}-\d{2}T/;

function compareKind(wanted: unknown, got: unknown, path: string): string | null {
  const alike =
    typeof wanted === typeof got &&
    (typeof wanted !== "string" || TIME.test(wanted) === TIME.test(got as string));
  return alike
    ? null
    : `${path} is ${JSON.stringify(got)}, which is not of the kind of ${JSON.stringify(wanted)}`;
}

function first(differences: (string | null)[]): string | null {
  return differences.find((found) => found !== null) ?? null;
}

/** Reads a page of docs/, given its path from the project root. */
export function page(path: string): string {
  return readFileSync(path, "utf8");
}
