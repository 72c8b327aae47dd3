// Several shards on disks that freeze together, with the server's own owner of the indexes. No threads: a
// message is handled where it is sent.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { EVERY_DOCUMENT, encodeSearch } from "../../engine-wasm/host/programs/search-program.js";
import type { IndexRecord } from "../../server/catalog/records/index-record.js";
import { Locations } from "../../server/catalog/schema/placement.js";
import { type PreparedWrite, prepareBody, prepareSynced } from "../../server/documents/ingest/prepare.js";
import { OpenIndexes } from "../../server/fleet/owner/open-indexes.js";
import { Writes } from "../../server/fleet/owner/writes.js";
import { AnswerCache } from "../../server/fleet/reads/answer-cache.js";
import { ShardCalls } from "../../server/fleet/threads/shard-calls.js";
import { SkeinError } from "../../server/ground/errors.js";
import { Jobs } from "../../server/ground/jobs/jobs.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { createLogger } from "../../server/ground/log.js";
import { Recorder } from "../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../server/question/words/word-memory.js";
import { handle } from "../../shards/handle.js";
import {
  decodeAllSeqsReply,
  decodeExportReply,
  encodeAllSeqs,
  encodeExport,
} from "../../shards/protocol/export.js";
import type { Shard } from "../../shards/shard.js";
import { filterOf } from "../oracle/filter-operations.js";
import { engineModule, openShard } from "../unit/shards/harness.js";
import { type CrashDisk, CrashStore } from "./crash-store.js";

export interface Stored {
  readonly id: string;
  readonly title: string;
  readonly price: number;
}

/** A shard's present life, which ends when its thread dies. */
interface Life {
  readonly shard: Shard;
  readonly store: CrashStore;
  /** Rejects when the life ends. */
  readonly ended: Promise<never>;
  readonly end: () => void;
}

export class CrashFleet {
  readonly reports: string[] = [];
  readonly indexes: OpenIndexes;
  readonly writes: Writes;
  readonly #record: IndexRecord;
  readonly #workbench: Workbench;
  readonly #disks: readonly CrashDisk[];
  readonly #lives: (Life | Promise<Life>)[];
  readonly #jobs: Jobs;

  private constructor(record: IndexRecord, disks: readonly CrashDisk[], workbench: Workbench) {
    this.#record = record;
    this.#workbench = workbench;
    this.#disks = disks;
    this.#lives = disks.map((disk) => this.#begin(disk));
    const log = createLogger("silent");
    const recorder = new Recorder();
    this.#jobs = new Jobs(log);
    this.indexes = new OpenIndexes({
      locations: new Locations(disks.length),
      threads: 1,
      ask: (shard, request) => this.ask(shard, request),
      jobs: this.#jobs,
      limits: DEFAULT_LIMITS,
      log,
      recorder,
      answers: new AnswerCache(0, recorder.answerCache),
      words: new WordMemories(),
      onOpened: () => undefined,
      onReindexed: async () => true,
    });
    const pool = {
      count: disks.length,
      ask: (shard: number, request: Uint8Array) => this.ask(shard, request),
    };
    const calls = new ShardCalls(pool, (shard, error) => this.indexes.onDamage(shard, error));
    this.writes = new Writes(this.indexes, calls, this.#jobs, log, () => undefined);
  }

  /** Starts on the disks as a server does. Creates the index unless it was `made` before. */
  static async start(record: IndexRecord, disks: readonly CrashDisk[], made: boolean): Promise<CrashFleet> {
    const fleet = new CrashFleet(record, disks, (await engineModule()).workbench());
    await (made ? fleet.indexes.adopt([record]) : fleet.indexes.create(record));
    return fleet;
  }

  async ask(shard: number, request: Uint8Array): Promise<Uint8Array> {
    const life = await this.#lives[shard]!;
    return Promise.race([handle(life.shard, request), life.ended]);
  }

  /** Sends a batch of documents. Resolves with the number of documents and of shards that refused. */
  async batch(action: string, documents: readonly { id: string }[]): Promise<{ failed: number }> {
    const body = Buffer.from(JSON.stringify({ action, documents }));
    return this.#write(prepareBody(body, this.#disks.length, this.#workbench, DEFAULT_LIMITS));
  }

  /** Sends documents as a feed does, which writes only what has changed. */
  async sync(documents: readonly { id: string }[]): Promise<{ failed: number }> {
    const items = documents.map((document) => {
      return { id: document.id, json: Buffer.from(JSON.stringify(document)) };
    });
    return this.#write(prepareSynced(items, this.#disks.length, this.#workbench, DEFAULT_LIMITS));
  }

  async #write(prepared: PreparedWrite): Promise<{ failed: number }> {
    const { uid } = this.#record;
    const { leave } = await this.writes.enter(uid);
    try {
      const parts = new Map(prepared.messages.map(({ shard, message }) => [shard, message]));
      const { failures, refused } = await this.writes.write(uid, prepared.seqs, parts);
      return { failed: failures.length + refused.length };
    } finally {
      leave();
    }
  }

  deleteBelow(slot: number, price: number): Promise<number> {
    const filter = filterOf({ op: "intRange", slot, low: 0n, high: BigInt(price - 1) });
    return this.writes.deleteWhere(this.#record.uid, () => encodeSearch({ ...EVERY_DOCUMENT, filter }));
  }

  /** Returns all documents, by shard. Checks that the shards agree with themselves. */
  async documents(): Promise<Map<string, Stored>[]> {
    const { uid } = this.#record;
    const { state, end } = await this.indexes.use(uid);
    const generation = state.generations.published;
    const parts = await Promise.all(
      this.#disks.map(async (_, shard) => {
        const all = encodeAllSeqs({ uid, generation, afterSeq: 0, limit: 1_000_000 });
        const seqs = decodeAllSeqsReply(await this.ask(shard, all));
        const { lines } = decodeExportReply(await this.ask(shard, encodeExport({ uid, seqs })));
        const text = Buffer.from(lines).toString().trimEnd();
        const found = text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as Stored);
        return new Map(found.map((document) => [document.id, document]));
      }),
    );
    end();
    return parts;
  }

  stats() {
    return this.indexes.stats(this.#record.uid);
  }

  /** Ends a shard's thread and starts another one, as the pool does. */
  async restart(shard: number): Promise<void> {
    const before = await this.#lives[shard]!;
    before.store.end();
    const next = this.#begin(this.#disks[shard]!);
    this.#lives[shard] = next.then(async (life) => {
      await this.indexes.recover(shard, async (request) => handle(life.shard, request));
      return life;
    });
    before.end();
    await this.#lives[shard];
  }

  async stop(): Promise<void> {
    this.indexes.stop();
    await this.#jobs.drain();
    for (const life of this.#lives) await (await life).shard.close().catch(() => undefined);
  }

  async #begin(disk: CrashDisk): Promise<Life> {
    const store = new CrashStore(disk);
    const shard = await openShard(store, (await engineModule()).workbench(), this.reports);
    let end = (): void => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = () => reject(new SkeinError("SK-SE-503", "the shard is restarting", { retryAfter: 1 }));
    });
    ended.catch(() => undefined);
    return { shard, store, ended, end };
  }
}
