// The HTTP interface of a real server with real storage, used by several tenants. For any request, the reply
// matches /openapi.json and reveals nothing about other tenants, and the server does nothing that the key
// does not allow.
import type { Reply } from "../../e2e/world/reply.js";
import { finding, type Target } from "../target.js";
import { exchange } from "./exchange.js";
import { Generator } from "./generator.js";
import { type Case, Judge } from "./judge.js";
import { type Operation, operationsOf } from "./operations.js";
import { decodeRequest, encodeRequest, type FuzzRequest, shownRequest } from "./request.js";
import { World } from "./world.js";

/**
 * Number of requests per chapter. After each chapter, the fuzzer empties and refills the server without
 * restarting it.
 */
const CHAPTER_REQUESTS = 300;
const SAMPLED_REQUESTS = 20_000;

export async function interfaceTarget(http: "auto" | "node", casesInTests: number): Promise<Target> {
  const world = await World.start(http);
  const operations = operationsOf(world.document);
  const generator = new Generator(world, operations);
  const judge = new Judge(world);
  const tally = new Tally(world);
  let requests = 0;

  return {
    name: "interface",
    casesInTests,
    generate: (random) => encodeRequest(generator.request(random)),
    async check(input) {
      const request = decodeRequest(input);
      const named = request === null ? undefined : world.principal(request.as);
      if (request === null || named === undefined) return;
      if (++requests % CHAPTER_REQUESTS === 0) {
        await world.begin();
        judge.forget();
      }
      // A request with its own Authorization header does not send the principal's key, so its caller counts
      // as unknown.
      const principal = request.headers.some(([name]) => name === "authorization")
        ? world.principal("none")!
        : named;
      const rights = world.rightsOf(principal);
      const operation = operationOf(operations, request);
      const reply = await within(request, () => exchange(request, world.way(principal)));
      if (reply === null) return;
      tally.count(operation, reply);
      const one: Case = { request, principal, rights, operation };
      judge.note(one, reply);
      await learn(world, one, reply);
      await within(request, () => {
        judge.check(one, reply);
        const errors = world.server.log
          .splice(0)
          .filter(({ level }) => level === "error" || level === "fatal");
        if (errors.length > 0) finding(`the server logged ${JSON.stringify(errors).slice(0, 3000)}`);
        if (!world.server.running) finding("the server has ended");
      });
    },
    report: () => tally.report(),
    close: () => world.close(),
  };
}

/** Runs `work`. If it fails, adds the request to the error message. */
async function within<T>(request: FuzzRequest, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${shownRequest(request)}`);
  }
}

function operationOf(operations: readonly Operation[], { method, path }: FuzzRequest): Operation | undefined {
  const segments = path.split("?")[0]!.split("/");
  const wanted = method === "HEAD" ? "GET" : method;
  const fitting = operations.filter((operation) => {
    const parts = operation.template.split("/");
    const fits = (part: string, i: number): boolean =>
      part.startsWith("{") ? segments[i] !== "" : part === segments[i];
    return operation.method === wanted && parts.length === segments.length && parts.every(fits);
  });
  return fitting.sort((a, b) => a.parameters.length - b.parameters.length)[0];
}

/**
 * Records what a successful request changed: the id of a created record, for later requests; a rotated key's
 * value; and all keys' rights.
 */
async function learn(world: World, { request, operation }: Case, { status, json }: Reply): Promise<void> {
  if (operation === undefined || request.method === "GET" || request.method === "HEAD" || status >= 300)
    return;
  if (operation.id === "rotateKey") world.rotated(json.data.id as number, json.data.key as string);
  if (/^\/v1\/(keys|tenants)\b/.test(operation.template)) await world.readRights();
  if (request.method !== "POST") return;
  const kind = request.path.split("?")[0]!.replace(/\/sync-now$/, "/runs");
  const { run_id: run, id } = (json.data ?? {}) as { run_id?: unknown; id?: unknown };
  world.remember(kind, run ?? id);
}

/** Counts of requests and replies, and the server's memory. */
class Tally {
  readonly #statuses = new Map<string, Map<number, number>>();
  /** Resident memory in MiB, sampled at regular intervals and at the end. */
  readonly #mib: number[] = [];
  #requests = 0;

  constructor(private readonly world: World) {}

  count(operation: Operation | undefined, { status }: Reply): void {
    const name = operation?.id ?? "no operation";
    const statuses = this.#statuses.get(name) ?? new Map<number, number>();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    this.#statuses.set(name, statuses);
    if (this.#requests++ % SAMPLED_REQUESTS === 0) this.#sample();
  }

  #sample(): void {
    this.#mib.push(Math.round(this.world.server.residentMiB() ?? 0));
  }

  /** Returns the report. Throws if the server no longer responds. */
  async report(): Promise<string> {
    const { status } = await this.world.server.raw("GET", "/health/ready");
    if (status !== 200) finding(`the server is not ready in the end: ${status}`);
    const rows = [...this.#statuses]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, statuses]) => {
        const counts = [...statuses].sort(([a], [b]) => a - b).map(([code, count]) => `${code}: ${count}`);
        return `  ${name.padEnd(24)} ${counts.join(", ")}`;
      });
    this.#sample();
    return `${rows.join("\n")}\n${this.#requests} requests; MiB every ${SAMPLED_REQUESTS}: ${this.#mib.join(" ")}`;
  }
}
