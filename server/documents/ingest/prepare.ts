// Turns a batch's raw bytes into one WRITE message per shard, reading only the documents' ids. Runs on the
// HTTP thread for small batches and on the intake thread for large ones, so it must not depend on indexes,
// generations or requests. The messages contain relative sequence numbers, which are made absolute just
// before the messages are sent.
import {
  DOC_BAD_ID,
  DOC_ID_ONLY,
  DOC_NOT_OBJECT,
  DOC_OK,
  DOC_TOO_DEEP,
  ID_BYTES_MAX,
  JSON_DEPTH_MAX,
} from "../../../engine-wasm/assembly/layout.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { Member, MemberKind, SplitDocument } from "../../../engine-wasm/host/programs/split-result.js";
import { Action, DOC_TOO_LARGE, NO_SLOT } from "../../../shards/protocol/ops.js";
import { encodeWrite, type WriteDocument, writtenDocuments } from "../../../shards/protocol/write.js";
import { shardOf } from "../../catalog/schema/placement.js";
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import type { Refusal } from "./document-errors.js";

export type ActionName = "upsert" | "create" | "update" | "emplace" | "delete";

const ACTIONS: ReadonlyMap<string, Action> = new Map<ActionName, Action>([
  ["upsert", Action.UPSERT],
  ["create", Action.CREATE],
  ["update", Action.UPDATE],
  ["emplace", Action.EMPLACE],
  ["delete", Action.DELETE],
]);

/** Names for a member's kind in error messages, which are written before the member's value is parsed. */
const KINDS: Readonly<Record<MemberKind, string>> = {
  null: "null",
  boolean: "a boolean",
  number: "a number",
  string: "a string",
  array: "an array",
  object: "an object",
};

const NO_BYTES = new Uint8Array(0);

export interface PrepareLimits {
  readonly documentBytesMax: number;
  readonly batchDocumentsMax: number;
}

/** A write as plain data that can cross threads. Its messages' buffers are transferred, not copied. */
export interface PreparedWrite {
  readonly action: Action;
  readonly received: number;
  readonly refusals: readonly Refusal[];
  /** How many sequence numbers the messages use: 0 .. seqs - 1, relative to the first one assigned. */
  readonly seqs: number;
  /** Number of shards (0 .. shards - 1) among which the documents were divided. */
  readonly shards: number;
  readonly messages: readonly { readonly shard: number; readonly message: Uint8Array<ArrayBuffer> }[];
  /** Ids by position in the request, for reporting documents that fail in the shards. */
  readonly ids: readonly (string | null)[];
}

/** Returns the action with this name. Throws SkeinError SK-DOC-400 if there is none. */
export function readAction(name: string): Action {
  const action = ACTIONS.get(name);
  if (action !== undefined) return action;
  throw new SkeinError(
    "SK-DOC-400",
    `action must be one of ${[...ACTIONS.keys()].join(", ")}, not ${describe(name)}`,
  );
}

/**
 * Prepares a request body `{"documents": [...], "action"?: "..."}`. Throws SkeinError SK-DOC-400 or
 * SK-DOC-413.
 */
export function prepareBody(
  body: Uint8Array,
  shards: number,
  workbench: Workbench,
  limits: PrepareLimits,
): PreparedWrite {
  const split = workbench.split(body);
  if (split.status === DOC_NOT_OBJECT) {
    throw new SkeinError("SK-DOC-400", "the body must be a JSON object with an array 'documents'");
  }
  if (split.status === DOC_TOO_DEEP) {
    throw new SkeinError("SK-DOC-400", `the body is nested deeper than ${JSON_DEPTH_MAX} levels`, {
      details: { position: split.at },
    });
  }
  if (split.status !== DOC_OK) {
    throw new SkeinError("SK-DOC-400", `the body is not valid JSON at byte ${split.at}`, {
      details: { position: split.at },
    });
  }
  const member = (name: string): Member | undefined =>
    split.members.find((candidate) => candidate.name === name);
  const documents = member("documents");
  if (documents?.kind !== "array") {
    const problem =
      documents === undefined
        ? "is missing; expected an array of documents"
        : `must be an array of documents, not ${KINDS[documents.kind]}`;
    throw new SkeinError("SK-DOC-400", `documents ${problem}`);
  }
  const action = readActionMember(body, member("action"));
  if (split.documents.length > limits.batchDocumentsMax) {
    throw new SkeinError(
      "SK-DOC-413",
      `documents holds ${split.documents.length} documents; at most ${limits.batchDocumentsMax} are allowed per request`,
    );
  }
  return prepareDocuments(body, split.documents, action, shards, limits);
}

/** Prepares NDJSON lines, none of which may be blank. */
export function prepareLines(
  lines: Uint8Array,
  action: Action,
  shards: number,
  workbench: Workbench,
  limits: PrepareLimits,
): PreparedWrite {
  return prepareDocuments(lines, workbench.splitLines(lines, true).documents, action, shards, limits);
}

/** Prepares one document whose id is known. */
export function prepareOne(
  document: { id: string; hash: bigint; raw: Uint8Array },
  action: Action,
  shards: number,
): PreparedWrite {
  const message = encode(action, [{ index: 0, seq: 0, ...document }]);
  return {
    action,
    received: 1,
    refusals: [],
    seqs: 1,
    shards,
    messages: [{ shard: shardOf(document.hash, shards), message }],
    ids: [document.id],
  };
}

/** A document made from a feed's item, or a mark. */
export interface SyncedDocument {
  readonly id: string;
  /**
   * The document. Null for a mark: the feed contains the id but its item failed, so the document stored under
   * the id must stay.
   */
  readonly json: Uint8Array | null;
}

/**
 * Prepares documents made from a feed's items. A document refused here also becomes a mark, because the feed
 * contains its id, unless the id itself is invalid. Marks are neither counted as received nor reported as
 * failed.
 */
export function prepareSynced(
  documents: readonly SyncedDocument[],
  shards: number,
  workbench: Workbench,
  limits: Pick<PrepareLimits, "documentBytesMax">,
): PreparedWrite {
  const refusals: Refusal[] = [];
  const ids: (string | null)[] = [];
  const byShard = new ByShard(shards);
  for (const [index, { id, json }] of documents.entries()) {
    ids.push(json === null ? null : id);
    const idBytes = Buffer.byteLength(id);
    const idFits = idBytes > 0 && idBytes <= ID_BYTES_MAX;
    let raw = json ?? NO_BYTES;
    if (!idFits || raw.length > limits.documentBytesMax) {
      const code = idFits ? DOC_TOO_LARGE : DOC_BAD_ID;
      if (json !== null) refusals.push({ index, id, code, slot: NO_SLOT, at: 0 });
      raw = NO_BYTES;
    }
    if (idFits) byShard.add(index, id, workbench.hash(id), raw);
  }
  const received = documents.filter(({ json }) => json !== null).length;
  return { action: Action.SYNC, received, refusals, ids, ...byShard.encoded(Action.SYNC) };
}

/**
 * Divides a write among `shards` shards, because its index has been spread since the write was prepared for
 * one shard.
 */
export function divided(prepared: PreparedWrite, shards: number): PreparedWrite {
  const byShard = new ByShard(shards);
  for (const { message } of prepared.messages)
    for (const { index, id, hash, raw } of writtenDocuments(message)) byShard.add(index, id, hash, raw);
  return { ...prepared, ...byShard.encoded(prepared.action) };
}

function readActionMember(body: Uint8Array, member: Member | undefined): Action {
  if (member === undefined) return Action.UPSERT;
  if (member.kind !== "string")
    throw new SkeinError("SK-DOC-400", `action must be a string, not ${KINDS[member.kind]}`);
  const text: unknown = JSON.parse(
    Buffer.from(body.subarray(member.valueStart, member.valueEnd)).toString("utf8"),
  );
  return readAction(String(text));
}

function prepareDocuments(
  body: Uint8Array,
  documents: readonly SplitDocument[],
  action: Action,
  shards: number,
  limits: PrepareLimits,
): PreparedWrite {
  const refusals: Refusal[] = [];
  const byShard = new ByShard(shards);
  documents.forEach((document, index) => {
    const { id, hash, start, end } = document;
    const code = refusalCode(document, action, limits);
    if (code !== DOC_OK || id === null) {
      refusals.push({ index, id, code, slot: NO_SLOT, at: Math.max(0, document.at - start) });
      return;
    }
    byShard.add(index, id, hash, action === Action.DELETE ? NO_BYTES : body.subarray(start, end));
  });
  return {
    action,
    received: documents.length,
    refusals,
    ids: documents.map((document) => document.id),
    ...byShard.encoded(action),
  };
}

/** Collects documents for each shard. Relative sequence numbers follow the order of arrival. */
class ByShard {
  readonly #shards: number;
  readonly #lists = new Map<number, WriteDocument[]>();
  #seqs = 0;

  constructor(shards: number) {
    this.#shards = shards;
  }

  add(index: number, id: string, hash: bigint, raw: Uint8Array): void {
    const shard = shardOf(hash, this.#shards);
    const entry: WriteDocument = { index, seq: this.#seqs++, id, hash, raw };
    const list = this.#lists.get(shard);
    if (list === undefined) this.#lists.set(shard, [entry]);
    else list.push(entry);
  }

  encoded(action: Action): Pick<PreparedWrite, "seqs" | "shards" | "messages"> {
    const messages = Array.from(this.#lists, ([shard, list]) => ({ shard, message: encode(action, list) }));
    return { seqs: this.#seqs, shards: this.#shards, messages };
  }
}

function refusalCode({ status, start, end }: SplitDocument, action: Action, limits: PrepareLimits): number {
  if (end - start > limits.documentBytesMax) return DOC_TOO_LARGE;
  if (status !== DOC_ID_ONLY) return status;
  return action === Action.DELETE ? DOC_OK : DOC_NOT_OBJECT;
}

/** The head is filled in just before the message is sent (stampWrite). */
const UNSTAMPED = { uid: 0, generation: 0, oldestGeneration: 0, published: 0, shards: 0 };

function encode(action: Action, documents: WriteDocument[]): Uint8Array<ArrayBuffer> {
  return encodeWrite({ ...UNSTAMPED, action, documents });
}
