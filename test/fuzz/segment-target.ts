// Damaged segments that pass checkSegment are given to every kernel that reads segments. Answers may be wrong
// (in production, a stored checksum detects the damage), but no kernel may trap, or read or write out of
// bounds.
import { Random } from "../../bench/random.js";
import {
  MERGE_ENTRY_BYTES,
  SEG_BYTES,
  SEG_HEADER_BYTES,
  SEG_LISTS,
  SEG_ROWS,
} from "../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { encodeCompany } from "../../engine-wasm/host/programs/company-program.js";
import { encodeExpand } from "../../engine-wasm/host/programs/expand-program.js";
import { encodeExplain } from "../../engine-wasm/host/programs/explain-program.js";
import { encodeSearch } from "../../engine-wasm/host/programs/search-program.js";
import { randomProgram } from "../unit/engine/search/random-program.js";
import { type Pick, TEXT_SLOTS } from "../unit/engine/segments/catalogue.js";
import { type Answer, Canary, type Guarded } from "./canary.js";
import { catalogueSegment, liveBits, snapshotBytes } from "./catalogue.js";
import { mutateBytes, type Target } from "./target.js";

const ROWS = 150;
const PROGRAMS = 4;
const STATUS_DAMAGED_ANSWER = -2;
const MERGE_STEPS_MAX = 100_000;
const STEP_MICROSECONDS = 100_000;

/** Input: a byte that selects the programs, then the segment. */
export function segmentTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const healthy = catalogueSegment(bench, ROWS, 0, 3);
  const later = catalogueSegment(bench, 30, ROWS, 4);
  const room = (healthy.length + 4096) & ~15;
  const lists = Buffer.from(healthy.buffer).readUInt32LE(SEG_LISTS);
  const canary = new Canary(module, (place) => {
    const segment = place(healthy, room);
    const live = place(liveBits(ROWS, 4));
    const next = { segment: place(later), live: 0 };
    const held = (bits: number) => {
      const entries = [{ segment, live: bits }, next];
      return { at: place(snapshotBytes(entries)), merged: snapshotBytes(entries, MERGE_ENTRY_BYTES) };
    };
    return { segment, some: held(live), all: held(0) };
  });
  const expand = encodeExpand({
    slots: TEXT_SLOTS,
    words: ["shoe", "red", "日本"].map((term) => ({
      term,
      exact: true,
      prefix: true,
      typoPrefix: true,
      maxTypos: 2,
      infix: "anywhere" as const,
    })),
  });
  const company = encodeCompany({
    slots: TEXT_SLOTS,
    words: [["shoe"], ["red", "日本"]],
    candidates: [["blue", "x"], ["y"]],
  });
  const searches = (choice: number) => {
    const random = new Random(choice);
    const pick: Pick = (list) => random.pick(list);
    return Array.from({ length: PROGRAMS }, () => randomProgram(bench, pick));
  };
  return {
    name: "segment",
    generate(random: Random) {
      const part = random.below(4);
      const damaged =
        part === 0
          ? mutateBytes(random, healthy, 0, SEG_HEADER_BYTES + 64)
          : part === 1
            ? mutateBytes(random, healthy, lists)
            : mutateBytes(random, healthy);
      return Buffer.concat([Uint8Array.of(random.below(256)), damaged.subarray(0, room)]);
    },
    check(input) {
      const bytes = input.subarray(1);
      for (const guarded of canary.pair()) guarded.overwrite(guarded.held.segment, bytes, room);
      const status = canary.both(
        "checkSegment",
        ({ instance, held }) => -instance.run((kernels) => kernels.checkSegment(held.segment, bytes.length)),
      );
      if (status !== 0) return;
      // The live bitset is for ROWS rows, so it fits only segments with that many.
      const kind = Buffer.from(bytes).readUInt32LE(SEG_ROWS) === ROWS ? "some" : "all";
      canary.ask("expand", (kernels, p, length, held) => kernels.expand(held[kind].at, p, length), expand);
      canary.ask("company", (kernels, p, length, held) => kernels.company(held[kind].at, p, length), company);
      for (const program of searches(input[0]!)) {
        canary.ask(
          "search",
          (kernels, p, length, held) => kernels.search(held[kind].at, p, length),
          encodeSearch(program),
        );
        const question = encodeExplain(program, [1000, 1007, 1700]);
        canary.ask(
          "explain",
          (kernels, p, length, held) => kernels.explain(held[kind].at, p, length),
          question,
        );
      }
      const seqs = new Uint8Array(Float64Array.of(1000, 1001, 1700, 5000).buffer);
      canary.ask("locate", (kernels, p, length, held) => kernels.locate(held[kind].at, p, length), seqs);
      canary.ask("findIds", (kernels, p, length, held) => kernels.findIds(held[kind].at, p, length), seqs);
      canary.both("merge", (guarded) => {
        const answer = merge(guarded, guarded.held[kind].merged);
        guarded.checkRegions();
        return answer;
      });
    },
    close: async () => undefined,
  };
}

/** Runs all steps of a merge; returns the bytes of the result, or the status that ended the merge. */
function merge<T>(guarded: Guarded<T>, entries: Uint8Array): Answer {
  const { instance } = guarded;
  const p = guarded.input(entries);
  const state = instance.run((kernels) => kernels.mergeBegin(p));
  if (state < 0 && state >= -256) return state;
  for (let i = 0; i < MERGE_STEPS_MAX; i++) {
    const step = instance.run((kernels) => kernels.mergeStep(state, STEP_MICROSECONDS));
    if (step < 0) {
      instance.run((kernels) => kernels.mergeCancel(state));
      return step;
    }
    if (step === 0) continue;
    const segment = instance.run((kernels) => kernels.mergeFinish(state)) >>> 0;
    const bytes = instance.view().readUInt32LE(segment + SEG_BYTES);
    const result = new Uint8Array(instance.view().subarray(segment, segment + bytes));
    instance.release(segment);
    return result;
  }
  instance.run((kernels) => kernels.mergeCancel(state));
  return STATUS_DAMAGED_ANSWER;
}
