// The error thrown for failures inside the engine. Callers should match on `code`. Invalid arguments throw a
// RangeError instead.
import { STATUS_BAD_PROGRAM, STATUS_DAMAGED, STATUS_UNKNOWN_TYPE } from "../assembly/layout.js";

/**
 * `trap`: the instance hit an unreachable state and must not be used again · `unusable`: it trapped earlier ·
 * `damaged`: stored bytes are inconsistent · `program`: a query program is malformed · `memory`: linear
 * memory has reached its limit, nothing changed · `late`: the call's deadline has passed · `json`: the text
 * is invalid, see `documentStatus` and `at` · `mismatch`: this binding was written for a different WASM
 * module.
 */
export type EngineErrorCode =
  | "trap"
  | "unusable"
  | "damaged"
  | "program"
  | "memory"
  | "late"
  | "json"
  | "mismatch";

export class EngineError extends Error {
  readonly code: EngineErrorCode;
  /** The DOC_* code of a `json` error, otherwise 0. */
  readonly documentStatus: number;
  /** Byte position of the fault in a `json` error, otherwise 0. */
  readonly at: number;

  constructor(
    code: EngineErrorCode,
    message: string,
    options?: { cause?: unknown; documentStatus?: number; at?: number },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EngineError";
    this.code = code;
    this.documentStatus = options?.documentStatus ?? 0;
    this.at = options?.at ?? 0;
  }
}

/** Converts a kernel's negative return value to an error. */
export function statusError(answer: number): EngineError {
  switch (-answer) {
    case STATUS_BAD_PROGRAM:
      return new EngineError("program", "The query program is malformed");
    case STATUS_DAMAGED:
      return new EngineError("damaged", "The stored bytes are damaged: their parts do not hold together");
    case STATUS_UNKNOWN_TYPE:
      return new EngineError("mismatch", "A part of the engine does not know the type of a field");
    default:
      return new EngineError("mismatch", `A kernel answered with the unknown status ${answer}`);
  }
}
