// Reads bodies that are spelled like an earlier one, apart from their text, filter, page and user, without
// parsing them. The earlier body was parsed and checked in full; whatever else it said is the shape that the
// requests of all these bodies share. Compiled filters are remembered, too. Both memories serve all indexes:
// an entry is valid for one state of one index and one filter of search tokens. An index's new entries
// replace those of its previous state, which would otherwise keep that state's objects alive.
//
// Invariant: a request read here equals the one that readQueryRequest returns, and so does an error.
import { type FilterProgram, NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { Limits } from "../../ground/limits.js";
import { both, compileFilter, compilingOfNativeFilter } from "../filter/filter-compile.js";
import { BodyFrame } from "./body-frame.js";
import { type BodyScan, FILTER_BY, FILTERS, PAGE, PER_PAGE, Q } from "./body-scan.js";
import { hasLongInteger } from "./json-bytes.js";
import { type AskedIndex, isBrowse, type QueryRequest } from "./query-request.js";

const SHAPES_BYTES_MAX = 8 * 1024 * 1024;
const FILTERS_BYTES_MAX = 2 * 1024 * 1024;
/** Estimated size of a shape with everything that is derived from it. */
const SHAPE_BYTES = 6 * 1024;
/** Estimated size of a filter's JavaScript objects. */
const FILTER_BYTES = 300;
/** Longer filters are compiled in time slices. */
const FILTER_TEXT_BYTES_MAX = 1024;

/** An index at one moment. */
export interface ShapedIndex extends AskedIndex {
  /** Changes whenever anything else of the index does; no other index has the same number. */
  readonly state: number;
}

interface Prepared {
  readonly state: number;
  /** The filter in the caller's search token, as text. */
  readonly within: string;
}

interface PreparedShape extends Prepared {
  readonly frame: BodyFrame;
  /** The first request. */
  readonly request: QueryRequest;
}

interface PreparedFilter extends Prepared {
  readonly hole: number;
  readonly bytes: Uint8Array;
  readonly filter: FilterProgram;
}

export class PreparedShapes {
  readonly #limits: Limits;
  readonly #shapes = new ClockCache<number, PreparedShape>(SHAPES_BYTES_MAX);
  readonly #filters = new ClockCache<number, PreparedFilter>(FILTERS_BYTES_MAX);

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Returns the request in the body. Null if its spelling is not known or its values are unusual; it must
   * then be read in full. Throws SK-SE-400 if the filter is wrong.
   */
  read(scan: BodyScan, index: ShapedIndex, within: string): QueryRequest | null {
    const known = this.#shapes.get(keyOf(scan.frameHash, index, within));
    if (known?.state !== index.state || known.within !== within || !known.frame.fits(scan)) return null;
    const first = known.request;
    const { shape } = first;
    const q = this.#textIn(scan);
    if (q === null) return null;
    const browse = isBrowse(q);
    if (!browse && shape.fields.length === 0) return null;
    const filter = this.#filterIn(scan, index, known);
    if (filter === null) return null;
    const [perPage, page] = [scan.indexOf(PER_PAGE), scan.indexOf(PAGE)];
    return {
      shape,
      q,
      typed: q,
      vector: null,
      avoided: first.avoided,
      browse,
      filter,
      perPage: perPage < 0 ? first.perPage : Math.min(scan.number(perPage), this.#limits.pageDocumentsMax),
      page: page < 0 ? first.page : Math.max(1, scan.number(page)),
      prefix: first.prefix,
      numTypos: first.numTypos,
    };
  }

  /** Remembers the spelling of a body whose request has been read in full. */
  remember(scan: BodyScan, index: ShapedIndex, within: string, request: QueryRequest): void {
    if (request.vector !== null) return; // each query has a vector of its own
    const filter = filterHole(scan);
    if (filter >= 0 && scan.length(filter) > FILTER_TEXT_BYTES_MAX) return;
    const frame = new BodyFrame(scan);
    if (hasLongInteger(frame.bytes, 0, frame.bytes.length)) return;
    const { state } = index;
    const textBytes = 2 * (within.length + request.q.length);
    const filterBytes = request.filter.length + (request.shape.within?.filter.length ?? 0);
    const weight = frame.bytes.length + textBytes + filterBytes + SHAPE_BYTES;
    this.#shapes.set(keyOf(scan.frameHash, index, within), { state, within, frame, request }, weight);
  }

  #textIn(scan: BodyScan): string | null {
    const at = scan.indexOf(Q);
    return scan.length(at) > this.#limits.queryTextBytesMax ? null : scan.text(at);
  }

  #filterIn(scan: BodyScan, index: ShapedIndex, { within, request }: PreparedShape): FilterProgram | null {
    const at = filterHole(scan);
    if (at < 0) return request.filter;
    if (scan.length(at) > FILTER_TEXT_BYTES_MAX) return null;
    const { state } = index;
    const hole = scan.holes[at]!;
    const key = keyOf(scan.hash(at) + hole, index, within);
    const known = this.#filters.get(key);
    const isKnown =
      known?.state === state &&
      known.within === within &&
      known.hole === hole &&
      scan.equals(at, known.bytes);
    if (isKnown) return known.filter;
    const own = hole === FILTERS ? this.#nativeFilter(scan, at, index) : this.#legacyFilter(scan, at, index);
    if (own === null) return null;
    const filter = both(request.shape.within?.filter ?? NO_FILTER, own);
    const bytes = scan.view(at).slice();
    const weight = bytes.length + filter.length + within.length * 2 + FILTER_BYTES;
    this.#filters.set(key, { state, within, hole, bytes, filter }, weight);
    return filter;
  }

  #legacyFilter(scan: BodyScan, at: number, index: ShapedIndex): FilterProgram | null {
    const text = scan.text(at);
    if (text === null) return null;
    return text.trim() === "" ? NO_FILTER : compileFilter(text, index, this.#limits);
  }

  #nativeFilter(scan: BodyScan, at: number, index: ShapedIndex): FilterProgram | null {
    const filters = scan.object(at);
    return filters === null ? null : finished(compilingOfNativeFilter(filters, index, this.#limits));
  }
}

/** Index of the filter in the scan's holes; -1 if there is none. A body with both kinds is not scanned. */
function filterHole(scan: BodyScan): number {
  return Math.max(scan.indexOf(FILTER_BY), scan.indexOf(FILTERS));
}

/** A small integer. Equal keys do not mean equal frames. */
function keyOf(hash: number, { record }: ShapedIndex, within: string): number {
  let key = hash ^ record.uid;
  for (let i = 0; i < within.length; i++) key = Math.imul(key, 31) + within.charCodeAt(i);
  return Math.imul(key, 0x9e3779b1) >>> 2;
}
