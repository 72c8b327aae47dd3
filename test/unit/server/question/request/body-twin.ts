// Reads a body by its scan and in full, and compares. The full reading is the oracle.
import { isDeepStrictEqual } from "node:util";
import { SkeinError } from "../../../../../server/ground/errors.js";
import { DEFAULT_LIMITS, FIXED_LIMITS, type Limits } from "../../../../../server/ground/limits.js";
import { parseJson } from "../../../../../server/http/json.js";
import type { AskedBy } from "../../../../../server/query-log/analytics/people.js";
import { splitAsker } from "../../../../../server/question/request/asker.js";
import { scanBody } from "../../../../../server/question/request/body-scan.js";
import { PreparedShapes } from "../../../../../server/question/request/prepared-shapes.js";
import { type QueryRequest, readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { readWithin } from "../../../../../server/question/request/within.js";
import { makeRecord, queried } from "../../record.js";

interface Asked {
  readonly askedBy: AskedBy;
  readonly request: QueryRequest;
}
interface Refused {
  readonly code: string;
  readonly message: string;
  readonly details: unknown;
}

const LIMITS = { ...DEFAULT_LIMITS, filterClausesMax: 20 };
const INDEX = queried(makeRecord());
/** An index that can only be browsed, because it has no fields. */
const BARE = queried(makeRecord({}, []));

/** Reads bodies one after the other. Each may be spelled like an earlier one. */
export class BodyTwin {
  readonly #shapes: PreparedShapes;
  readonly #index: typeof INDEX;
  readonly #within: string;
  /** The requests by the bytes under which their answers would be cached. */
  readonly #said = new Map<string, QueryRequest>();

  /** `scanLimits` differ from the usual ones in tests of this class. */
  constructor(within = "", bare = false, scanLimits: Limits = LIMITS) {
    this.#shapes = new PreparedShapes(scanLimits);
    this.#within = within;
    this.#index = bare ? BARE : INDEX;
  }

  /** Returns what the two readings disagree about; null if nothing. */
  disagreement(body: Uint8Array): string | null {
    const full = outcome(() => this.#full(body));
    const scan = scanBody(body);
    if (scan === null) return null;
    const isAsked = "askedBy" in full;
    if (isAsked && !isDeepStrictEqual(scan.askedBy, full.askedBy)) return `user: ${shown(scan.askedBy)}`;
    const said = isAsked ? full.request : full;
    const key = Buffer.from(scan.anonymous).toString("latin1");
    const before = this.#said.get(key);
    if (before !== undefined && !isDeepStrictEqual(before, said))
      return `one key for ${shown(before)} and ${shown(said)}`;
    if (isAsked) this.#said.set(key, full.request);
    const read = outcome(() => this.#shapes.read(scan, this.#index, this.#within));
    if (read !== null && !isDeepStrictEqual(read, said)) return `${shown(read)} instead of ${shown(said)}`;
    if (isAsked) this.#shapes.remember(scan, this.#index, this.#within, full.request);
    return null;
  }

  #full(body: Uint8Array): Asked {
    const options = { depthMax: FIXED_LIMITS.jsonDepthMax, code: "SK-SE-400", exactIntegers: true } as const;
    const { askedBy, rest } = splitAsker(parseJson(body, options), LIMITS);
    const within = readWithin(this.#within, this.#index, LIMITS);
    return { askedBy, request: readQueryRequest(rest, this.#index, LIMITS, within) };
  }
}

function outcome<T>(read: () => T): T | Refused {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    const { code, message, details } = error;
    return { code, message, details };
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? `${member}n` : member));
}
