// Makes batches whole if the server ended in the middle of them. A write to several shards is published once
// all of them have stored it. A shard learns this from a later message. Until then, its manifest lists the
// write as in doubt, with the number of shards that got a part. When the server starts, it keeps a write in
// doubt if some shard knows that it was published, or if as many shards list it as got a part. Otherwise it
// takes the write back, together with everything after it that is in doubt, which may build on it.
import type { Standing } from "../../../shards/protocol/control.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Logger } from "../../ground/log.js";
import type { IndexMessages } from "./index-messages.js";

/**
 * Returns the generation after which everything in doubt must be taken back; Infinity if no write is partial.
 * `told`: what each of the index's shards reports.
 */
function lastWhole(told: readonly Standing[]): number {
  const published = Math.max(0, ...told.map((one) => one.published));
  const writes = told.flatMap(({ inDoubt }) => inDoubt);
  const stored = new Map<number, number>();
  for (const { generation } of writes) stored.set(generation, (stored.get(generation) ?? 0) + 1);
  const partial = writes.filter(
    ({ generation, shards }) => generation > published && stored.get(generation)! < shards,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...partial.map(({ generation }) => generation - 1));
}

/**
 * Takes back partial writes, and returns what `IndexMessages.standingOf` returns after that. No index may be
 * open. Leaves damaged indexes alone, because they cannot be opened. May be repeated after a crash.
 */
export async function resolveDoubts(
  records: readonly IndexRecord[],
  messages: IndexMessages,
  log: Logger,
): Promise<(Standing | null)[][]> {
  const told = await messages.standingOf(records);
  for (const [i, record] of records.entries()) {
    const standing = told[i]!.filter((one) => one !== null);
    const generation = lastWhole(standing);
    if (standing.length < told[i]!.length || generation === Number.POSITIVE_INFINITY) continue;
    log.warn({ index: record.name, generation }, "taking back writes that some shards did not store");
    await messages.takeBack(record, generation);
    told[i] = (await messages.standingOf([record]))[0]!;
  }
  return told;
}
