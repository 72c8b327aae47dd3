// Damaged models, and damaged segments with a valid model: whatever passes checkModel is used to embed
// queries and rows. The vectors may be wrong, but no kernel may trap, or read or write out of bounds.
import { Random } from "../../../bench/random.js";
import {
  MODEL_HEADER_BYTES,
  SEG_HEADER_BYTES,
  SEG_ROWS,
  VECTOR_BYTES,
} from "../../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { featureParts } from "../../../engine-wasm/host/vectors/feature-parts.js";
import { trainModel } from "../../../engine-wasm/host/vectors/trainer.js";
import type { Pick } from "../../unit/engine/segments/catalogue.js";
import { TEXT_SLOTS, textDocument, textSegment } from "../../unit/engine/vectors/texts.js";
import { type Answer, Canary, type Guarded } from "../canary.js";
import { mutateBytes, type Target } from "../target.js";

const ROWS = 60;
const SPARE = 4096;
const LOWEST_STATUS = -256;
const TERMS = ["red", "\u0001!shoe", "42", "1200w", "usb2", ""];

interface Held {
  model: number;
  segment: number;
}

/** Input: a byte (0 for a model, 1 for parts of a segment), then the bytes of that model or those parts. */
export function modelTarget(module: EngineModule): Target {
  const random = new Random(7);
  const pick: Pick = (list) => random.pick(list);
  const segment = textSegment(
    module.workbench(),
    Array.from({ length: ROWS }, (_, i) => textDocument(i, pick)),
  );
  const options = { slots: TEXT_SLOTS, number: 1, termsMax: 40, previous: null };
  const model = trainModel(module.instantiate(), segment, options);
  const { header, lists, skipped } = featureParts(segment);
  const parts = Buffer.concat([header, lists]);
  const rooms = [(model.length + SPARE) & ~15, (parts.length + SPARE) & ~15] as const;
  const canary = new Canary<Held>(module, (place) => ({
    model: place(model, rooms[0]),
    segment: place(parts, rooms[1]),
  }));
  const query = Buffer.concat(TERMS.map((term) => queryTerm(term)));
  return {
    name: "model",
    generate(random: Random) {
      const kind = random.below(2);
      const [whole, head] = kind === 0 ? [model, MODEL_HEADER_BYTES + 64] : [parts, SEG_HEADER_BYTES];
      const damaged =
        random.below(3) === 0 ? mutateBytes(random, whole, 0, head) : mutateBytes(random, whole);
      return Buffer.concat([Uint8Array.of(kind), damaged.subarray(0, rooms[kind as 0 | 1])]);
    },
    check(input) {
      const isModel = input[0] === 0;
      const bytes = input.subarray(1);
      for (const guarded of canary.pair()) {
        guarded.overwrite(guarded.held.model, isModel ? bytes : model, rooms[0]);
        guarded.overwrite(guarded.held.segment, isModel ? parts : bytes, rooms[1]);
      }
      const length = isModel ? bytes.length : model.length;
      const status = canary.both(
        "checkModel",
        ({ instance, held }) => -instance.run((kernels) => kernels.checkModel(held.model, length)),
      );
      if (status !== 0) return;
      canary.ask(
        "queryVector",
        (kernels, p, count, held) => kernels.queryVector(held.model, p, count),
        query,
      );
      canary.both("embed", (guarded) => {
        const answer = embed(guarded, isModel ? parts.length : bytes.length, skipped);
        guarded.checkRegions();
        return answer;
      });
    },
    close: async () => undefined,
  };
}

function queryTerm(term: string): Buffer {
  const bytes = Buffer.from(term);
  const head = Buffer.alloc(6);
  head.writeFloatLE(1.5);
  head.writeUInt16LE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

/** Returns the records of all rows, or the status with which embedding ended. */
function embed({ instance, held }: Guarded<Held>, bytes: number, skipped: number): Answer {
  const state = instance.run((kernels) => kernels.embedBegin(held.model, held.segment, bytes, skipped));
  if (state < 0 && state >= LOWEST_STATUS) return state;
  const rows = instance.view().readUInt32LE(held.segment + SEG_ROWS);
  const made: Uint8Array[] = [];
  let answer = 0;
  for (let count = 0; count < rows && answer >= 0; count += answer) {
    answer = instance.run((kernels) => kernels.embedStep(state));
    const from = instance.run((kernels) => kernels.embedRecords(state)) >>> 0;
    if (answer > 0) made.push(new Uint8Array(instance.view().subarray(from, from + answer * VECTOR_BYTES)));
  }
  instance.run((kernels) => kernels.embedEnd(state));
  return answer < 0 ? answer : Buffer.concat(made);
}
