// Copies vector codes to new segments. A merge or re-index keeps the documents, so their codes stay valid.

import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { type LiveSegment, type OpenSegment, SegmentCodes } from "../segments/open-segment.js";
import type { Pauses } from "./vectors-home.js";

/**
 * Copies the replaced segments' codes to the new segments. Unless all replaced segments have codes of the
 * same origin, the new segments get no codes, and background work later makes them from the stored vectors.
 * Runs in the index's lane.
 */
export async function carryCodes(
  { engine }: { engine: Engine },
  replaced: readonly LiveSegment[],
  fresh: readonly OpenSegment[],
  slices: Pauses,
): Promise<void> {
  const origin = replaced[0]?.segment.codes?.origin;
  if (origin === undefined || replaced.some(({ segment }) => segment.codes?.origin !== origin)) return;
  for (const segment of fresh) {
    const { rows, firstSeq, lastSeq } = segment.record;
    const codes = new SegmentCodes(engine, engine.newCodes(rows), rows, origin);
    segment.replaceCodes(codes);
    codes.settled = replaced.every((one) => one.segment.codes?.settled === true);
    for (const { segment: from } of replaced) {
      if (from.record.lastSeq < firstSeq || from.record.firstSeq > lastSeq || from.codes === null) continue;
      const to = { segment: segment.address, codes: codes.address };
      for (const _ of engine.copyCodes(to, { segment: from.address, codes: from.codes.address }))
        await slices.pause();
      for (const seq of from.codes.waiting) if (seq >= firstSeq && seq <= lastSeq) codes.waiting.add(seq);
    }
  }
}
