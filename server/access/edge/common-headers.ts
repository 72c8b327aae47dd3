// The headers that every reply has besides its own: the security headers and those for cross-origin requests.
// There are few different sets of them, so each is built only once.
import { corsHeaders } from "./cors.js";
import { HeaderBlock, type HeaderLines } from "./headers.js";

export class CommonHeaders {
  readonly #security: HeaderLines;
  /** The set for requests whose origin makes no difference. */
  readonly plain: HeaderBlock;
  #allowed: readonly string[] | null = null;
  /** Sets for the allowed origins, by origin. "" stands for all others. */
  readonly #blocks = new Map<string, HeaderBlock>();
  readonly #preflightBlocks = new Map<string, HeaderBlock>();

  constructor(security: HeaderLines) {
    this.#security = security;
    this.plain = new HeaderBlock(security);
  }

  /** See corsHeaders. */
  of(origin: string, method: string, allowed: readonly string[] | null): HeaderBlock {
    if (allowed === null) return this.plain;
    if (allowed !== this.#allowed) {
      this.#allowed = allowed;
      this.#blocks.clear();
      this.#preflightBlocks.clear();
    }
    const blocks = method === "OPTIONS" ? this.#preflightBlocks : this.#blocks;
    const known = originOf(origin, allowed);
    let block = blocks.get(known);
    if (block === undefined) {
      block = new HeaderBlock([...this.#security, ...corsHeaders(known, method, allowed)]);
      blocks.set(known, block);
    }
    return block;
  }
}

/** One origin of all those for which the headers are the same. */
function originOf(origin: string, allowed: readonly string[]): string {
  if (allowed.includes("*")) return origin === "" ? "" : "*";
  return allowed.includes(origin) ? origin : "";
}
