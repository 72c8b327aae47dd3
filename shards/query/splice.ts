// Applies partial updates. Splices one JSON object's members into another by copying bytes, so that untouched
// parts stay exactly as written (numbers beyond 2^53, spacing inside values, member order).

import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { Member } from "../../engine-wasm/host/programs/split-result.js";

const OPEN = Buffer.from("{");
const CLOSE = Buffer.from("}");
const COMMA = Buffer.from(",");

/**
 * Builds an object from these members. Each element contains the bytes from a member's name to the end of its
 * value.
 */
export function joinMembers(members: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [OPEN];
  for (const [i, member] of members.entries()) {
    if (i > 0) parts.push(COMMA);
    parts.push(member);
  }
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

function bytesOf(raw: Uint8Array, member: Member): Uint8Array {
  return raw.subarray(member.nameStart, member.valueEnd);
}

/**
 * Returns `base` with its top-level members replaced by `patch`'s members of the same name. New members are
 * appended. The `id` in `base` is kept. If a name repeats, its last value counts.
 */
export function spliceMembers(base: Uint8Array, patch: Uint8Array, workbench: Workbench): Uint8Array {
  const changes = new Map<string, Uint8Array>();
  for (const member of workbench.topLevel(patch)) {
    if (member.name !== "id") changes.set(member.name, bytesOf(patch, member));
  }
  const members = new Map<string, Uint8Array>();
  for (const member of workbench.topLevel(base)) members.set(member.name, bytesOf(base, member));
  for (const [name, bytes] of changes) members.set(name, bytes);
  return joinMembers([...members.values()]);
}

/** Returns the object without the top-level members that have these names. */
export function withoutMembers(
  raw: Uint8Array,
  names: ReadonlySet<string>,
  workbench: Workbench,
): Uint8Array {
  const kept = workbench.topLevel(raw).filter(({ name }) => !names.has(name));
  return joinMembers(kept.map((member) => bytesOf(raw, member)));
}
