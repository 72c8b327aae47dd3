// The directories used to change the number of shards, and how a start handles them. Writing the new number
// to the catalog decides which databases are current: before that, the old ones; after it, the new ones.
//
//   shards/       current           shards.new/plan.json   from, to, the completed indexes, and those at home
//   shards.new/   being filled      shards.old/            replaced, being deleted
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { renameDurably, syncDirectory } from "../../ground/data-dir/durable-files.js";
import { fault } from "../../ground/fault.js";
import { isObject } from "../../ground/input/json-value.js";

const IN_FORCE = "shards";
const NEW = "shards.new";
const OLD = "shards.old";
const PLAN_FILE = "plan.json";
const PLAN_VERSION = 2;
const PLAN_VERSION_WITHOUT_HOME = 1;

export interface ReshardPlan {
  readonly from: number;
  readonly to: number;
  /** Uids of the indexes whose documents have all been copied. */
  readonly done: readonly number[];
  /** Uids of those copied indexes that are entirely in one new shard, their home. */
  readonly home: readonly number[];
  /** True if all indexes have been copied. The catalog may then change to the new number of shards. */
  readonly complete: boolean;
}

export function shardsInForce(dataDir: string): string {
  return join(dataDir, IN_FORCE);
}

export function newShards(dataDir: string): string {
  return join(dataDir, NEW);
}

/**
 * Completes a change to `shards`, the catalog's number of shards: puts the new databases in place if an
 * earlier start stopped before it had done so, and deletes the replaced ones. No shard may be open.
 */
export async function finishFlip(dataDir: string, shards: number): Promise<void> {
  const [inForce, fresh, old] = [IN_FORCE, NEW, OLD].map((name) => join(dataDir, name)) as [
    string,
    string,
    string,
  ];
  if (decided(await readPlan(dataDir), shards)) {
    if (existsSync(inForce)) {
      await rm(old, { recursive: true, force: true });
      await renameDurably(inForce, old);
      fault("reshard.after-aside");
    }
    await renameDurably(fresh, inForce);
    fault("reshard.after-switch");
  }
  await rm(join(inForce, PLAN_FILE), { force: true });
  await rm(old, { recursive: true, force: true });
}

/**
 * Describes what is left of an unfinished change of the number of shards, one sentence each. Throws an Error
 * if the current databases are not in their place: then only a server start may touch them.
 */
export async function unfinishedMove(dataDir: string, shards: number): Promise<string[]> {
  const plan = await readPlan(dataDir);
  if (decided(plan, shards)) {
    throw new Error(
      `the change to ${shards} shards is not finished: the documents are in ${newShards(dataDir)}; start the server once to finish it`,
    );
  }
  const left: string[] = [];
  if (existsSync(newShards(dataDir))) {
    const move = plan === null ? "another number of shards" : `${plan.to} shards`;
    left.push(
      `a change to ${move} is unfinished; ${shardsInForce(dataDir)} is in force. A start with that number goes on, one with --shards ${shards} forgets it`,
    );
  }
  const old = join(dataDir, OLD);
  if (existsSync(old)) left.push(`${old} has been replaced; the next start deletes it`);
  return left;
}

/**
 * True if the catalog already has the plan's number of shards, so that the new databases are current,
 * whichever directory they are in.
 */
function decided(plan: ReshardPlan | null, shards: number): boolean {
  return plan?.complete === true && plan.to === shards;
}

/**
 * Returns the plan to follow: that of an earlier start if it is for the same change, otherwise a new plan in
 * an empty directory.
 */
export async function beginPlan(dataDir: string, from: number, to: number): Promise<ReshardPlan> {
  const begun = await readPlan(dataDir);
  if (begun !== null && begun.from === from && begun.to === to) return begun;
  await discardNew(dataDir);
  await mkdir(newShards(dataDir), { recursive: true });
  await syncDirectory(dataDir);
  const plan: ReshardPlan = { from, to, done: [], home: [], complete: false };
  await writePlan(dataDir, plan);
  fault("reshard.after-plan");
  return plan;
}

/** Stores the plan. It is durable when this resolves. */
export async function writePlan(dataDir: string, plan: ReshardPlan): Promise<void> {
  const path = join(newShards(dataDir), PLAN_FILE);
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify({ version: PLAN_VERSION, ...plan }));
    await file.sync();
  } finally {
    await file.close();
  }
  await renameDurably(`${path}.new`, path);
}

export async function discardNew(dataDir: string): Promise<void> {
  await rm(newShards(dataDir), { recursive: true, force: true });
}

/**
 * Returns the stored plan, or null if there is none or it is not readable. Throws an Error if it has an
 * unknown version.
 */
async function readPlan(dataDir: string): Promise<ReshardPlan | null> {
  const path = join(newShards(dataDir), PLAN_FILE);
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch {
    return null;
  }
  if (!isObject(content)) return null;
  const { version, from, to, done, home = [], complete } = content;
  // Do not guess: an unknown version may mean something else by these members, and a wrong guess could delete
  // the current databases.
  if (version !== PLAN_VERSION && version !== PLAN_VERSION_WITHOUT_HOME)
    throw new Error(`${path} was written by another version of Skein`);
  if (typeof from !== "number" || typeof to !== "number") return null;
  if (!Array.isArray(done) || !Array.isArray(home)) return null;
  return { from, to, done: done.map(Number), home: home.map(Number), complete: complete === true };
}
