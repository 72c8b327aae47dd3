// Converts the results of the kernels split, splitLines and topLevel (layouts SPLIT_* and MEMBER_*) to plain
// objects. The kernels decode ids and names inside their input buffer, so both are read from that buffer.
import {
  DOC_OK,
  MEMBER_BYTES,
  MEMBER_KIND,
  MEMBER_NAME,
  MEMBER_NAME_BYTES,
  MEMBER_START,
  MEMBER_VALUE,
  MEMBER_VALUE_END,
  SPLIT_AT,
  SPLIT_CONSUMED,
  SPLIT_DOC_AT,
  SPLIT_DOC_BYTES,
  SPLIT_DOC_END,
  SPLIT_DOC_HASH,
  SPLIT_DOC_ID,
  SPLIT_DOC_ID_BYTES,
  SPLIT_DOC_START,
  SPLIT_DOC_STATUS,
  SPLIT_DOCUMENTS,
  SPLIT_DOCUMENTS_AT,
  SPLIT_MEMBERS,
  SPLIT_MEMBERS_AT,
  SPLIT_STATUS,
} from "../../assembly/layout.js";

export type MemberKind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** In the order of the JSON_* constants in assembly/json/json.ts. */
const KINDS: readonly MemberKind[] = ["null", "boolean", "boolean", "number", "string", "array", "object"];

/** A member of a JSON object: its decoded name and its byte ranges in the text. */
export interface Member {
  name: string;
  /** Position of the name's opening quote. */
  nameStart: number;
  valueStart: number;
  valueEnd: number;
  kind: MemberKind;
}

export interface SplitDocument {
  /** Where the document, or the id's string literal, begins and ends in the input. */
  start: number;
  end: number;
  /**
   * DOC_OK for an object with a valid id; DOC_ID_ONLY for a string, which is treated as an id. Any other code
   * is an error.
   */
  status: number;
  /** Byte position of the error. */
  at: number;
  /** The decoded id, even if the document has another error. Null if no id can be read. */
  id: string | null;
  /** 64-bit hash of the id; 0 if there is no id. */
  hash: bigint;
}

export interface SplitResult {
  /** DOC_OK, or the reason why the whole body is unusable, in which case there are no documents. */
  status: number;
  /** Byte position of the error. */
  at: number;
  /** Top-level members, including "documents". If a name repeats, only its last member is included. */
  members: Member[];
  /** Elements of "documents"; empty if that member is missing or not an array. */
  documents: SplitDocument[];
}

export interface SplitLines {
  documents: SplitDocument[];
  /** Number of processed bytes, which the caller need not pass again. */
  consumed: number;
}

/** Reads a split kernel's result. `input` is the kernel's input buffer as the kernel left it. */
export function readSplit(result: Uint8Array, input: Buffer): SplitResult {
  return { ...readMembers(result, input), documents: readDocuments(result, input) };
}

/** Reads a splitLines kernel's result. */
export function readSplitLines(result: Uint8Array, input: Buffer): SplitLines {
  const view = new DataView(result.buffer);
  return { documents: readDocuments(result, input), consumed: view.getUint32(SPLIT_CONSUMED, true) };
}

/** Reads a topLevel kernel's result. */
export function readMembers(
  result: Uint8Array,
  input: Buffer,
): { status: number; at: number; members: Member[] } {
  const view = new DataView(result.buffer);
  const status = view.getUint32(SPLIT_STATUS, true);
  const at = view.getUint32(SPLIT_AT, true);
  const count = status === DOC_OK ? view.getUint32(SPLIT_MEMBERS, true) : 0;
  const table = view.getUint32(SPLIT_MEMBERS_AT, true);
  const members = new Map<string, Member>();
  for (let i = 0; i < count; i++) {
    const entry = table + i * MEMBER_BYTES;
    const nameAt = view.getUint32(entry + MEMBER_NAME, true);
    const name = input.toString("utf8", nameAt, nameAt + view.getUint32(entry + MEMBER_NAME_BYTES, true));
    members.delete(name);
    members.set(name, {
      name,
      nameStart: view.getUint32(entry + MEMBER_START, true),
      valueStart: view.getUint32(entry + MEMBER_VALUE, true),
      valueEnd: view.getUint32(entry + MEMBER_VALUE_END, true),
      kind: KINDS[view.getUint32(entry + MEMBER_KIND, true)] ?? "null",
    });
  }
  return { status, at, members: [...members.values()] };
}

function readDocuments(result: Uint8Array, input: Buffer): SplitDocument[] {
  const view = new DataView(result.buffer);
  const count = view.getUint32(SPLIT_DOCUMENTS, true);
  const table = view.getUint32(SPLIT_DOCUMENTS_AT, true);
  const documents: SplitDocument[] = [];
  for (let i = 0; i < count; i++) {
    const entry = table + i * SPLIT_DOC_BYTES;
    const idAt = view.getUint32(entry + SPLIT_DOC_ID, true);
    const idBytes = view.getUint32(entry + SPLIT_DOC_ID_BYTES, true);
    documents.push({
      start: view.getUint32(entry + SPLIT_DOC_START, true),
      end: view.getUint32(entry + SPLIT_DOC_END, true),
      status: view.getUint32(entry + SPLIT_DOC_STATUS, true),
      at: view.getUint32(entry + SPLIT_DOC_AT, true),
      id: idBytes === 0 ? null : input.toString("utf8", idAt, idAt + idBytes),
      hash: view.getBigUint64(entry + SPLIT_DOC_HASH, true),
    });
  }
  return documents;
}
