// An index's settings as the oracle reads them.
import type { TypoPolicy } from "./plan.js";
import type { TextRules } from "./words/text.js";

/** The settings that the oracle supports. */
export interface Settings extends TextRules {
  typo_policy: TypoPolicy;
  drop_tokens_threshold: number;
  searchable_attributes: string[] | null;
  weights: number[] | null;
  token_separators: string[];
  symbols_to_index: string[];
  language: string | null;
  sku_fields: string[];
  brand_field: string | null;
  embedder: { source: string };
  semantic: { auto_max_full_matches: number; min_similarity: number; candidates: number };
}

export const DEFAULTS: Settings = {
  prefix: true,
  num_typos: 2,
  min_len_1typo: 4,
  min_len_2typo: 8,
  typo_on_numbers: false,
  typo_policy: "auto",
  stop_words: [],
  drop_tokens_threshold: 1,
  searchable_attributes: null,
  weights: null,
  token_separators: [],
  symbols_to_index: [],
  language: null,
  sku_fields: [],
  brand_field: null,
  embedder: { source: "auto" },
  semantic: { auto_max_full_matches: 10, min_similarity: 0.25, candidates: 200 },
};
