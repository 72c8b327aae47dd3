// Nearly valid query programs: search, expand, explain and company programs with changed bytes, run on two
// segments.

import type { Random } from "../../bench/random.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { encodeCompany } from "../../engine-wasm/host/programs/company-program.js";
import { encodeExpand } from "../../engine-wasm/host/programs/expand-program.js";
import { encodeExplain } from "../../engine-wasm/host/programs/explain-program.js";
import { encodeSearch, type SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { Kernels } from "../../engine-wasm/host/wasm/kernels.js";
import { randomNeighbours, randomProgram } from "../unit/engine/search/random-program.js";
import { type Pick, TEXT_SLOTS, WORDS } from "../unit/engine/segments/catalogue.js";
import { Canary } from "./canary.js";
import { catalogueSegment, liveBits, snapshotBytes, someSeqs } from "./catalogue.js";
import { finding, mutateBytes, type Target } from "./target.js";

const KERNELS = ["search", "expand", "explain", "findIds", "locate", "company"] as const;
/** Positions in KERNELS of the kernels that run a program. */
const PROGRAMS = [0, 1, 2, 5];
const ROWS = [300, 40] as const;

/** Input: a byte that selects the kernel, then its program. */
export function programTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const segments = [catalogueSegment(bench, ROWS[0], 0, 1), catalogueSegment(bench, ROWS[1], ROWS[0], 2)];
  const canary = new Canary(module, (place) => {
    const [first, second] = segments.map((bytes) => place(bytes)) as [number, number];
    const live = place(liveBits(ROWS[0], 5));
    return place(
      snapshotBytes([
        { segment: first, live },
        { segment: second, live: 0 },
      ]),
    );
  });
  const searchProgram = (pick: Pick): SearchProgram => {
    const program = randomProgram(bench, pick);
    return pick([true, false]) ? program : { ...program, neighbours: randomNeighbours(pick) };
  };
  const companyWords = (random: Random): string[][] =>
    Array.from({ length: random.below(4) }, () =>
      Array.from({ length: random.below(3) }, () => Buffer.from(bench.fold(random.pick(WORDS))).toString()),
    );
  const wholes = (random: Random, kernel: number): Uint8Array => {
    const pick: Pick = (list) => random.pick(list);
    switch (KERNELS[kernel]) {
      case "search":
        return encodeSearch(searchProgram(pick));
      case "expand":
        return encodeExpand({
          slots: TEXT_SLOTS.filter(() => random.below(3) > 0),
          words: Array.from({ length: random.from(1, 4) }, () => ({
            term: Buffer.from(bench.fold(random.pick(WORDS))).toString(),
            exact: random.below(2) === 0,
            prefix: random.below(2) === 0,
            typoPrefix: random.below(2) === 0,
            maxTypos: random.below(5),
            ...random.pick([{}, { infix: "anywhere" as const }, { infix: "inside" as const }]),
          })),
          suspects: Array.from({ length: random.below(3) }, () => ({
            term: Buffer.from(bench.fold(random.pick(WORDS))).toString(),
            typoPrefix: random.below(2) === 0,
            maxTypos: random.from(1, 4),
            few: random.below(3),
            witnesses: [0],
          })),
        });
      case "explain":
        return encodeExplain(searchProgram(pick), someSeqs(random, ROWS[0] + ROWS[1]));
      case "company":
        return encodeCompany({
          slots: TEXT_SLOTS.filter(() => random.below(3) > 0),
          words: companyWords(random),
          candidates: companyWords(random),
        });
      default: {
        const numbers = Float64Array.from(someSeqs(random, ROWS[0] + ROWS[1]));
        return new Uint8Array(numbers.buffer);
      }
    }
  };
  return {
    name: "program",
    generate(random) {
      const kernel = random.pick([0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5]);
      const whole = wholes(random, kernel);
      const program = PROGRAMS.includes(kernel) && random.below(8) > 0 ? mutateBytes(random, whole) : whole;
      return Buffer.concat([Uint8Array.of(kernel), program]);
    },
    check(input) {
      const kernel = KERNELS[input[0]!] as keyof Kernels & (typeof KERNELS)[number];
      const answer = canary.ask(
        kernel,
        (kernels, p, bytes, snapshot) => kernels[kernel](snapshot, p, bytes),
        input.subarray(1),
      );
      if (typeof answer === "number" && answer !== -1)
        finding(`${kernel}: status ${answer} for healthy segments`);
    },
    close: async () => undefined,
  };
}
