// Random actions by an index's owner: ranking rules, synonym groups and settings, over the words of the
// random documents and queries.
import fc from "fast-check";
import type { RuleBody, SynonymBody } from "../oracle/curation.js";
import type { Settings } from "../oracle/settings.js";

/** `which`, modulo the number of existing rules or groups, picks one of them. */
type Wish<Kind extends string, Body> =
  | { kind: Kind; action: "create"; body: Body }
  | { kind: Kind; action: "change"; which: number; body: Body }
  | { kind: Kind; action: "delete"; which: number; body?: never };

export type Change =
  | Wish<"rule", RuleBody>
  | Wish<"synonyms", SynonymBody>
  | { kind: "settings"; settings: Partial<Settings> };

const mostly = fc.constantFrom(true, true, true, false);
const priority = fc.integer({ min: -2, max: 3 });

/** One or two words. A symbol alone is not a word under most settings. */
function entryOf(words: string[]): fc.Arbitrary<string> {
  const word = fc.constantFrom("red", ...words.filter((one) => /[\p{L}\p{N}]/u.test(one)));
  const pair = fc.tuple(word, word).map((two) => two.join(" "));
  return fc.oneof({ weight: 3, arbitrary: word }, { weight: 1, arbitrary: pair });
}

function conditionsOf(entry: fc.Arbitrary<string>): fc.Arbitrary<{ query_contains: string[] }> {
  const one = fc.array(entry, { maxLength: 1 });
  const two = fc.uniqueArray(entry, { minLength: 2, maxLength: 2 });
  return fc
    .oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: two })
    .map((query_contains) => ({ query_contains }));
}

function ruleOf(
  entry: fc.Arbitrary<string>,
  filter: fc.Arbitrary<string>,
  id: fc.Arbitrary<string>,
): fc.Arbitrary<RuleBody> {
  const documents = fc.uniqueArray(id, { minLength: 1, maxLength: 4 });
  const chosen = fc.oneof(
    fc.record({ filter_by: filter }),
    fc.record({ documents }),
    fc.record({ filter_by: filter, documents }),
  );
  const weight = fc.constantFrom(1, 3, 10, 1000);
  const typed: fc.Arbitrary<RuleBody> = fc.oneof(
    fc.record({
      type: fc.constant("boost" as const),
      effect: fc.tuple(chosen, weight).map(([which, factor]) => ({ ...which, weight: factor })),
    }),
    fc.record({ type: fc.constant("pin" as const), effect: fc.record({ documents }) }),
    fc.record({ type: fc.constantFrom("hide" as const, "bury" as const), effect: chosen }),
  );
  const rest = fc.record(
    { conditions: conditionsOf(entry), priority, enabled: fc.boolean() },
    { requiredKeys: [] },
  );
  return fc.tuple(typed, rest).map(([what, when]) => ({ ...what, ...when }));
}

function ruleChange(entry: fc.Arbitrary<string>, id: fc.Arbitrary<string>): fc.Arbitrary<RuleBody> {
  const effect = fc.record({ documents: fc.uniqueArray(id, { minLength: 1, maxLength: 4 }) });
  return fc.oneof(
    fc.record({ enabled: fc.boolean() }),
    fc.record({ conditions: conditionsOf(entry) }),
    fc.record({ priority }),
    fc.record({ effect }),
  );
}

function synonymsOf(entry: fc.Arbitrary<string>): fc.Arbitrary<SynonymBody> {
  const synonyms = fc.uniqueArray(entry, { minLength: 2, maxLength: 4 });
  return fc.oneof(
    fc.record({ synonyms, enabled: mostly }, { requiredKeys: ["synonyms"] }),
    fc.record(
      { type: fc.constant("one_way" as const), synonyms, root: entry },
      { requiredKeys: ["type", "synonyms"] },
    ),
  );
}

function synonymsChange(entry: fc.Arbitrary<string>): fc.Arbitrary<SynonymBody> {
  const synonyms = fc.uniqueArray(entry, { minLength: 2, maxLength: 4 });
  return fc.oneof(fc.record({ enabled: fc.boolean() }), fc.record({ synonyms }));
}

/** Half of these settings change how documents are indexed. */
const settings: fc.Arbitrary<Partial<Settings>> = fc.oneof(
  fc.record({ language: fc.constantFrom(null, "en", "de") }),
  fc.record({ sku_fields: fc.subarray(["t", "s", "ss"]) }),
  fc.record({ brand_field: fc.constantFrom(null, "t", "s", "ss") }),
  fc.record({ stop_words: fc.subarray(["a", "red", "und"]) }),
  fc.record({ drop_tokens_threshold: fc.constantFrom(0, 1, 3) }),
  fc.record({ typo_policy: fc.constantFrom("auto" as const, "always" as const, "missing" as const) }),
);

/**
 * Generates changes to rules, synonym groups and settings. `words` are the words of the documents and
 * queries; `filter` generates expressions that fit the schema.
 */
export function changesOf(
  words: string[],
  filter: fc.Arbitrary<string>,
  id: fc.Arbitrary<string>,
): fc.Arbitrary<Change> {
  const entry = entryOf(words);
  const which = fc.nat(7);
  const wish = <Kind extends string, Body>(
    kind: Kind,
    created: fc.Arbitrary<Body>,
    changed: fc.Arbitrary<Body>,
  ): fc.Arbitrary<Wish<Kind, Body>> =>
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant(kind),
          action: fc.constant("create" as const),
          body: created,
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant(kind),
          action: fc.constant("change" as const),
          which,
          body: changed,
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant(kind), action: fc.constant("delete" as const), which }),
      },
    );
  return fc.oneof(
    { weight: 4, arbitrary: wish("rule", ruleOf(entry, filter, id), ruleChange(entry, id)) },
    { weight: 4, arbitrary: wish("synonyms", synonymsOf(entry), synonymsChange(entry)) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("settings" as const), settings }) },
  );
}
