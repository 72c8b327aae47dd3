// Rules that rank documents with unwanted words lower: which documents they apply to, and that they fit into
// a program.

import { beforeAll, describe, expect, it } from "vitest";
import { RULES_MAX } from "../../../../../engine-wasm/assembly/layout.js";
import { type TextAnalyser, textAnalyser } from "../../../../../server/catalog/schema/text-analyser.js";
import { avoidingRules } from "../../../../../server/question/curate/avoided-words.js";
import { stemTerms } from "../../../../../server/question/words/variants.js";
import { filterOf, operationsOf } from "../../../../oracle/filter-operations.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { schema } from "../../record.js";

const ENGLISH = 1;
let analyser: TextAnalyser;

beforeAll(async () => {
  analyser = textAnalyser((await loadEngine()).workbench(), schema);
});

describe("unwanted words", () => {
  it("bury the documents that contain them, or lift the others", () => {
    const having = { op: "tokens", slot: 3, terms: ["strap"] } as const;
    expect(avoidingRules(["Strap"], [3], [], analyser, 0)).toEqual({
      bury: { effect: "bury", weight: 0, filter: filterOf(having) },
      lift: { effect: "boost", weight: 10, filter: filterOf(having, { op: "not" }) },
    });
  });

  it("are looked up in every slot, in sequence, and individually in their other forms", () => {
    const rules = avoidingRules(["led lamp", "straps"], [1, 2], [ENGLISH], analyser, 0)!;
    const filter = operationsOf(rules.bury.filter);
    const spellings = [["led", "lamp"], ["straps"], stemTerms("straps", [ENGLISH])];
    const operands = [1, 2].flatMap((slot) => spellings.map((terms) => ({ op: "tokens", slot, terms })));
    expect(filter.filter(({ op }) => op !== "or")).toEqual(operands);
    expect(filter.filter(({ op }) => op === "or")).toHaveLength(operands.length - 1);
  });

  it("produce no rule if there are none, or no field", () => {
    expect(avoidingRules([], [1], [], analyser, RULES_MAX)).toBeNull();
    expect(avoidingRules(["!?"], [1], [], analyser, 0)).toBeNull();
    expect(avoidingRules(["strap"], [], [], analyser, 0)).toBeNull();
  });

  it("are refused if the query already has the maximum number of rules", () => {
    expect(avoidingRules(["strap"], [1], [], analyser, RULES_MAX - 1)).not.toBeNull();
    expect(() => avoidingRules(["strap"], [1], [], analyser, RULES_MAX)).toThrow("too many ranking rules");
  });
});
