// Explains why a document was refused, with a code from the error catalogue, and a message that names the
// field and the expected value. Translates the DOC_* codes of the engine and the shards.
import {
  DOC_BAD_EMBEDDING,
  DOC_BAD_ID,
  DOC_BAD_JSON,
  DOC_BAD_UTF8,
  DOC_LONE_SURROGATE,
  DOC_MISSING_FIELD,
  DOC_NO_ID,
  DOC_NOT_OBJECT,
  DOC_OUT_OF_RANGE,
  DOC_TOO_DEEP,
  DOC_WRONG_TYPE,
  ID_BYTES_MAX,
  JSON_DEPTH_MAX,
  VECTOR_SIZE,
} from "../../../engine-wasm/assembly/layout.js";
import {
  DOC_BATCH_TOO_LARGE,
  DOC_EXISTS,
  DOC_MISSING,
  DOC_TOO_LARGE,
  NO_SLOT,
} from "../../../shards/protocol/ops.js";
import type { ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { ErrorCode } from "../../ground/errors.js";
import { FIELD_TYPES } from "../../ground/field-types.js";

/**
 * The code for a document that exceeds the plan's document limit. Only the server uses it, to refuse
 * documents before they reach the shards.
 */
export const DOC_OVER_QUOTA = 200;

/** The code for a document that exceeds the plan's byte limits. Only the server uses it. */
export const DOC_OVER_BYTES = 201;

/** A refused document, before its error message is written. */
export interface Refusal {
  /** The document's position in the request. */
  readonly index: number;
  readonly id: string | null;
  readonly code: number;
  readonly slot: number;
  /** Byte position in the document or in the request; 0 if unknown. */
  readonly at: number;
  /** The error message. Present if the code alone does not determine it. */
  readonly why?: string;
}

export interface DocumentError {
  readonly index: number;
  readonly id: string | null;
  readonly code: ErrorCode;
  readonly error: string;
}

export function documentError(
  refusal: Refusal,
  schema: ResolvedSchema,
  documentBytesMax: number,
): DocumentError {
  const { index, id, code, slot } = refusal;
  const field = slot === NO_SLOT ? undefined : schema.fieldOfSlot(slot);
  const subject = field === undefined ? "a field" : `field '${field.name}'`;
  const expected = field === undefined ? "a value of its type" : FIELD_TYPES[field.type].takes;
  const answer = (error: string, status: ErrorCode = "SK-DOC-400"): DocumentError => ({
    index,
    id,
    code: status,
    error,
  });
  switch (code) {
    case DOC_BAD_JSON:
      return answer(`the document is not valid JSON at byte ${refusal.at}`);
    case DOC_NOT_OBJECT:
      return answer("the document must be a JSON object with a string 'id'");
    case DOC_NO_ID:
      return answer("id is missing; expected a string");
    case DOC_BAD_ID:
      return answer(`id must be a string of 1 to ${ID_BYTES_MAX} bytes`);
    case DOC_LONE_SURROGATE:
      return answer(
        `${field === undefined ? "the document" : subject} must be well-formed Unicode; it has an unpaired surrogate`,
      );
    case DOC_BAD_UTF8:
      return answer("the document is not valid UTF-8");
    case DOC_TOO_DEEP:
      return answer(`the document is nested deeper than ${JSON_DEPTH_MAX} levels`);
    case DOC_WRONG_TYPE:
      return answer(`${subject} must be ${expected}`);
    case DOC_OUT_OF_RANGE:
      return answer(`${subject} is out of range; expected ${expected}`);
    case DOC_MISSING_FIELD:
      return answer(`${subject} is missing; expected ${expected} (the schema has optional: false)`);
    case DOC_BAD_EMBEDDING:
      return answer(`field 'embedding' must be an array of ${VECTOR_SIZE} finite numbers, not all 0`);
    case DOC_EXISTS:
      return answer("a document with this id already exists", "SK-DOC-409");
    case DOC_MISSING:
      return answer("the document does not exist", "SK-DOC-404");
    case DOC_BATCH_TOO_LARGE:
      return answer(
        "the request rewrites too many bytes of documents; send the rest in another request",
        "SK-DOC-413",
      );
    case DOC_TOO_LARGE:
      return answer(`the document is larger than ${documentBytesMax} bytes`, "SK-DOC-413");
    case DOC_OVER_QUOTA:
      return answer("the plan's limit on documents is reached", "SK-SYS-429");
    case DOC_OVER_BYTES:
      return answer(refusal.why ?? "the plan's limit on bytes is reached", "SK-SYS-429");
    default:
      return answer(`the document was refused (reason ${code})`);
  }
}
