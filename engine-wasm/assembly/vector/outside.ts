// Kernels for vectors from outside, which a client sends with a query or with documents, or an embedding
// endpoint returns. Each kernel returns 0 bytes if there is no vector because the numbers are not finite or
// are all 0.

import { JSON_NULL } from "../json/json";
import { Members } from "../json/json-walk";
import { DOC_OK, STATUS_BAD_PROGRAM, VECTOR_BYTES, VECTOR_SIZE } from "../layout";
import { scratch } from "../memory/arena";
import { Result } from "../memory/result";
import { EmbeddingReader, isEmbeddingName } from "./embedding";
import { putVectorRecord, turnVector } from "./record";

const VALUES_BYTES: usize = VECTOR_SIZE << 3;
const FLOAT_BYTES: usize = VECTOR_SIZE << 2;

function resultOf(from: usize, bytes: usize): i32 {
  const result = Result.open();
  result.putBytes(from, bytes);
  return <i32>result.close();
}

/** Converts f64[VECTOR_SIZE] to a vector f32[VECTOR_SIZE], rotated and of length 1. */
export function outsideVector(values: usize, bytes: usize): i32 {
  if (bytes != VALUES_BYTES) return -STATUS_BAD_PROGRAM;
  const vector = scratch(FLOAT_BYTES);
  return resultOf(vector, turnVector(values, vector) ? FLOAT_BYTES : 0);
}

/** Converts f64[VECTOR_SIZE] to a vector record. */
export function outsideRecord(values: usize, bytes: usize): i32 {
  if (bytes != VALUES_BYTES) return -STATUS_BAD_PROGRAM;
  const vector = scratch(FLOAT_BYTES);
  const record = scratch(VECTOR_BYTES);
  if (!turnVector(values, vector)) return resultOf(record, 0);
  putVectorRecord(vector, record);
  return resultOf(record, VECTOR_BYTES);
}

/**
 * Returns the vector record for the `embedding` member of a document (a JSON object). If the member occurs
 * more than once, the last one wins.
 */
export function documentRecord(document: usize, bytes: usize): i32 {
  const members = Members.make();
  const reader = EmbeddingReader.make();
  const record = scratch(VECTOR_BYTES);
  let kind = JSON_NULL;
  let start: usize = 0;
  let end: usize = 0;
  members.begin(document, document + bytes);
  while (members.status == DOC_OK && members.next()) {
    if (!isEmbeddingName(members.nameAt, members.nameBytes)) continue;
    kind = members.kind;
    start = members.start;
    end = members.end;
  }
  if (members.status != DOC_OK || kind == JSON_NULL || !reader.read(kind, start, end))
    return resultOf(record, 0);
  reader.putRecord(record);
  return resultOf(record, VECTOR_BYTES);
}
