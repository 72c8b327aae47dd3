// Recognises internal members, which no answer shows: `embedding`, and every member whose name starts with an
// underscore.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";

const EMBEDDING = "embedding";
const UNDERSCORE_NAME = Buffer.from('"_');
const EMBEDDING_NAME = Buffer.from(`"${EMBEDDING}"`);
const ESCAPED_ASCII = Buffer.from("\\u00");

export function isInternal(name: string): boolean {
  return name === EMBEDDING || name.startsWith("_");
}

/**
 * True if a document has internal members at the top level. Scans the JSON only if the bytes contain a hint
 * of one.
 */
export function hasInternalMembers(raw: Uint8Array, workbench: Workbench): boolean {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const hinted =
    text.includes(UNDERSCORE_NAME) || text.includes(EMBEDDING_NAME) || text.includes(ESCAPED_ASCII);
  return hinted && workbench.topLevel(raw).some(({ name }) => isInternal(name));
}
