// Makes sure that each document has the string `id` that the service requires, by editing the document's
// bytes. The rest of the document stays as written.

import { scanObject } from "./json-scan.js";

const ID = Buffer.from("id");
const QUOTE = 0x22;
const MINUS = 0x2d;

export interface Identified {
  readonly bytes: Buffer;
  readonly problem?: string;
}

/**
 * Returns the document with a string `id`, taken from the field `idField` (which also stays in the document)
 * or, if that is null, from its own `id`. A number becomes a string. If the field is missing or is neither a
 * string nor a number, returns the document unchanged with a problem.
 */
export function identify(document: Buffer, idField: string | null): Identified {
  const wanted = idField === null ? ID : Buffer.from(JSON.stringify(idField).slice(1, -1));
  let idStart = -1;
  let idEnd = -1;
  let fromStart = -1;
  let fromEnd = -1;
  const whole = scanObject(document, (nameStart, nameEnd, valueStart, valueEnd) => {
    if (isName(document, nameStart, nameEnd, ID)) {
      idStart = valueStart;
      idEnd = valueEnd;
    }
    if (isName(document, nameStart, nameEnd, wanted)) {
      fromStart = valueStart;
      fromEnd = valueEnd;
    }
  });
  if (!whole) return { bytes: document, problem: "not a complete JSON object" };
  if (fromStart < 0) return { bytes: document, problem: `no field "${idField ?? "id"}"` };
  const first = document[fromStart]!;
  if (first === QUOTE && wanted === ID) return { bytes: document };
  const value = document.subarray(fromStart, fromEnd);
  if (first !== QUOTE && first !== MINUS && !(first >= 0x30 && first <= 0x39)) {
    return { bytes: document, problem: `"${idField ?? "id"}" is neither a string nor a number` };
  }
  const id = first === QUOTE ? value : Buffer.concat([QUOTE_BYTES, value, QUOTE_BYTES]);
  if (idStart >= 0) {
    return { bytes: Buffer.concat([document.subarray(0, idStart), id, document.subarray(idEnd)]) };
  }
  const inside = document.indexOf(0x7b) + 1;
  return {
    bytes: Buffer.concat([document.subarray(0, inside), ID_MEMBER, id, COMMA, document.subarray(inside)]),
  };
}

const QUOTE_BYTES = Buffer.from('"');
const ID_MEMBER = Buffer.from('"id":');
const COMMA = Buffer.from(",");

function isName(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  if (end - start !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}
