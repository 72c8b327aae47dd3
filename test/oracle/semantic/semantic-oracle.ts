// The oracle for an index whose documents have pushed vectors. It finds the nearest documents by examining
// every vector. The engine converts numbers into vectors; test/unit/engine/vectors compares that conversion
// with plain arithmetic. Results equal the product's to the last bit, because rounding alone may decide which
// of two documents is nearer.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { Wishes } from "../curation.js";
import { Oracle } from "../engine.js";
import {
  bestFirst,
  FEW_MATCHES,
  type Found,
  fullMatches,
  type Matched,
  RELATED_MAX,
  relatedTo,
  type Search,
} from "../found.js";
import type { Query } from "../query.js";
import type { Row } from "../segments/rows.js";
import type { Document, Schema } from "../segments/values.js";
import type { Settings } from "../settings.js";
import { plainNearest } from "../vectors/codes.js";
import { scaleOf, singleCosine } from "../vectors/singles.js";
import { type Near, neighboursOf } from "./fusion.js";
import { modeOf } from "./gate.js";

/**
 * The documents around a query's vector: the nearest ones, by exact or by estimated cosines, and each
 * document's cosine.
 */
interface Space extends Omit<Near, "nearest" | "cosineMin"> {
  nearest(wanted: number): Near["nearest"];
  /** Sorted by the cosine estimated from the codes. */
  nearestByCodes(wanted: number): Near["nearest"];
}

const NUMBERS = 512;
const FEEDBACK_DOCUMENTS = 3;
/**
 * If `n` documents are wanted, this many times `n` are compared exactly: those with the largest estimated
 * cosines.
 */
const COMPARED_FACTOR = 2;
/** The relevance in a text match is its remainder modulo STEPS_END, in units of 1 / STEPS. */
const STEPS = 2 ** 24;
const STEPS_END = 2 ** 46;

export class SemanticOracle extends Oracle {
  /** Each stored vector's integers, keyed by the JSON text of the document's `embedding`. */
  private readonly stored = new Map<string, number[]>();
  private readonly turned = new Map<string, Float32Array>();

  constructor(
    schema: Schema,
    settings: Partial<Settings>,
    private readonly workbench: Workbench,
  ) {
    super(schema, settings);
  }

  protected override accepts(document: Document): boolean {
    const { embedding = null } = document;
    const numbers = Array.isArray(embedding) ? embedding : [];
    const isVector =
      numbers.length === NUMBERS &&
      numbers.every((one) => typeof one === "number" && Number.isFinite(one)) &&
      numbers.some((one) => one !== 0);
    return (embedding === null || isVector) && super.accepts(document);
  }

  protected override find(query: Query): Found {
    const search = this.match(query);
    const { embedder, semantic } = this.settings;
    const mode = modeOf(query, search.text, search.full, semantic.auto_max_full_matches);
    const { vector } = query;
    const hasSpace = embedder.source === "pushed" && vector !== undefined;
    if (!hasSpace || mode === "keyword") {
      const related = this.related(search, search.matched, (wanted, found) =>
        hasSpace ? this.spaceOf(vector, search, found).nearestByCodes(wanted) : [],
      );
      return { ...search, mode: "keyword", near: new Set(), related };
    }
    const space = this.spaceOf(vector, search, null);
    const nearest = space.nearest(semantic.candidates);
    const neighbours = neighboursOf(mode, { ...space, nearest, cosineMin: semantic.min_similarity });
    const { all, weighed, attempt } = search;
    const matched = attempt(all ? "all" : "any", weighed.words, neighbours);
    const related = this.related(search, matched, () => nearest);
    return { ...search, mode, matched, near: new Set(nearest.map(({ seq }) => seq)), related };
  }

  /**
   * Returns documents that contain some of the words, then the nearest documents. `nearest` receives the
   * documents that the words have found so far.
   */
  private related(
    search: Search,
    matched: Matched,
    nearest: (wanted: number, found: Row[]) => Near["nearest"],
  ): Row[] {
    if (search.text.words.length === 0 || fullMatches(matched) >= FEW_MATCHES) return [];
    const worded = relatedTo(search, matched);
    const known = new Set([...matched.found.map(({ row }) => row), ...worded]);
    const rows = new Map([...this.rows.values()].map((row) => [row.seq, row]));
    const matching = matched.found.filter(({ match }) => match !== null && !match.neighbour);
    const found = [...matching.map(({ row }) => row), ...worded];
    const near = nearest(known.size + RELATED_MAX, found).filter(
      ({ cosine }) => cosine >= this.settings.semantic.min_similarity,
    );
    const others = near.map(({ seq }) => rows.get(seq)!).filter((row) => !known.has(row));
    return [...worded, ...others].slice(0, RELATED_MAX);
  }

  /**
   * First draws the vector towards the first documents of `found` or, if `found` is null, towards the best
   * word matches. Returns the documents nearest to the resulting vector.
   */
  private spaceOf(vector: number[], { attempt, weighed, wishes, text }: Search, found: Row[] | null): Space {
    const hides: Wishes = { ...wishes, isBuried: () => false, boostOf: () => 0, pins: [] };
    const best = text.words.length === 0 ? [] : bestFirst(attempt("any", weighed.words, null, hides));
    const worded = best.slice(0, this.settings.semantic.candidates);
    const feedback = found ?? best.map(({ row }) => row);
    const query = this.drawn(this.queryVector(vector), feedback.slice(0, FEEDBACK_DOCUMENTS));
    const rows = new Map([...this.rows.values()].map((row) => [row.seq, row]));
    const cosineOf = (seq: number): number | null => {
      const numbers = this.vectorOf(rows.get(seq)!);
      return numbers === null ? null : singleCosine(query, numbers);
    };
    const passing = attempt("all", [], null, hides).found.map(({ row }) => ({
      seq: row.seq,
      vector: this.vectorOf(row),
    }));
    const byEstimate = plainNearest(passing, query).sort(
      (a, b) => b.singleEstimate - a.singleEstimate || b.seq - a.seq,
    );
    const nearestByCodes = (wanted: number) =>
      byEstimate.slice(0, wanted).map(({ seq, singleEstimate }) => ({ seq, cosine: singleEstimate }));
    const nearest = (wanted: number) =>
      byEstimate
        .slice(0, COMPARED_FACTOR * wanted)
        .map(({ seq }) => ({ seq, cosine: cosineOf(seq)! }))
        .sort((a, b) => b.cosine - a.cosine || b.seq - a.seq)
        .slice(0, wanted);
    const relevances = worded.map(({ match }) => (match!.text % STEPS_END) / STEPS);
    return {
      nearest,
      nearestByCodes,
      worded: worded.map(({ row }) => row.seq),
      relevanceMax: relevances.length === 0 ? 1 : Math.max(...relevances),
      cosineOf,
    };
  }

  private queryVector(vector: number[]): Float32Array {
    const key = JSON.stringify(vector);
    const known = this.turned.get(key) ?? this.workbench.queryVector(Float64Array.from(vector))!;
    this.turned.set(key, known);
    return known;
  }

  /**
   * Draws the query's vector towards the mean of the rows' vectors. Query and mean have equal weight. Rows
   * without a vector are ignored.
   */
  private drawn(query: Float32Array, rows: Row[]): Float32Array {
    const vectors = rows.flatMap((row) => {
      const numbers = this.vectorOf(row);
      if (numbers === null) return [];
      const scale = scaleOf(numbers);
      return [numbers.map((number) => scale * number)];
    });
    const mean = Array.from(query, (_, i) => vectors.reduce((sum, vector) => sum + vector[i]!, 0));
    const length = lengthOf(mean);
    const both = Array.from(query, (value, i) => value + (length === 0 ? 0 : mean[i]! / length));
    const whole = lengthOf(both);
    return whole === 0 ? query : Float32Array.from(both, (value) => value / whole);
  }

  private vectorOf({ document: { embedding = null } }: Row): number[] | null {
    if (embedding === null) return null;
    const key = JSON.stringify(embedding);
    const known = this.stored.get(key);
    if (known !== undefined) return known;
    const record = Buffer.from(this.workbench.vectorOf(Float64Array.from(embedding as number[]))!);
    const numbers = Array.from({ length: NUMBERS }, (_, i) => record.readInt8(4 + i));
    this.stored.set(key, numbers);
    return numbers;
  }
}

function lengthOf(numbers: readonly number[]): number {
  return Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0));
}
