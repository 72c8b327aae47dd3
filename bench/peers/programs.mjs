// Search libraries in other languages. Each is wrapped in a small program that is started by a command or
// called at a URL; README.md describes the protocol. Nothing here is specific to a library: `tantivy` and
// `lucene` differ only in their command. The engines have the same interface as those in libraries.mjs.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { queryOfText } from "./protocol-query.mjs";

/** The option that gives each program's command or URL, and the program's name in reports. */
export const PROGRAMS = { tantivy: "tantivy", lucene: "Lucene" };

/**
 * Starts a program, or connects to one at a URL. `ask` sends a request and resolves with the reply; only one
 * request may be open at a time.
 */
export async function startProgram(commandOrUrl) {
  return /^https?:\/\//.test(commandOrUrl) ? atUrl(commandOrUrl) : byCommand(commandOrUrl);
}

function atUrl(url) {
  return {
    pid: null,
    ask: async (request) => {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(request) });
      if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    stop: async () => {},
  };
}

/** `exec` replaces the shell, so `child.pid` is the program's process id. */
function byCommand(command) {
  const child = spawn("sh", ["-c", `exec ${command}`], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let waiting = null;
  child.stdin.on("error", () => {}); // the pending request reports that the program has ended
  child.once("close", (code, signal) => waiting?.reject(new Error(`"${command}" ended with ${signal ?? `status ${code}`}`)));
  createInterface({ input: child.stdout }).on("line", (line) => waiting?.resolve(line));
  return {
    pid: child.pid,
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (child.exitCode !== null || child.signalCode !== null) return reject(new Error(`"${command}" has ended`));
        waiting = { resolve, reject };
        child.stdin.write(`${JSON.stringify(request)}\n`);
      }).then((line) => JSON.parse(line)),
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** Loads a JSON lines file whose documents have an `id`. Creates `folder` and stores the index there. */
export function open(program, file, folder, fields) {
  mkdirSync(folder, { recursive: true });
  return program.ask({ do: "open", file, folder, fields });
}

/** Converts a field of an inferred schema to the protocol's form. */
export function fieldOf({ name, type, facet }) {
  const text = type === "string" || type === "string[]";
  return { name, text, values: facet === true, number: type === "int32" || type === "int64" || type === "float" };
}

export async function programEngine(commandOrUrl, folder) {
  const program = await startProgram(commandOrUrl);
  const engine = {
    name: commandOrUrl,
    version: "",
    how: "in process, asked over a pipe; all words, last as prefix, 1 typo from 4 letters, 2 from 8",
    residentBytes: () => residentBytes(program.pid),
    index: async (documents, fields) => {
      const file = join(folder, "program-documents.jsonl");
      writeFileSync(file, documents.map((document) => `${JSON.stringify(document)}\n`).join(""));
      const searched = fields.map((name) => fieldOf({ name, type: "string" }));
      const { name, version } = await open(program, file, join(folder, "program-index"), searched);
      Object.assign(engine, { name, version });
    },
    search: async (q, limit) => (await program.ask({ do: "search", query: queryOfText(q, limit) })).found,
    close: () => program.stop(),
  };
  return engine;
}

/** Returns null without /proc and for a program at a URL. */
function residentBytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
  } catch {
    return null;
  }
}
