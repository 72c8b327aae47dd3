// The source of an index's vectors, and which of them can be compared with each other.
import type { VectorPolicy } from "../protocol/control.js";
import type { ModelRecord } from "./model-store.js";

/**
 * The origin under which new vectors are stored, and the origins in the same space. A null Space means that
 * no vector can be made.
 */
export interface Space {
  origin: number;
  /** Vectors of this origin or a later one, up to `origin`, are comparable. */
  first: number;
}

/** `model`: the active one, null if there is none. */
export function spaceOf(policy: VectorPolicy, model: ModelRecord | null): Space | null {
  switch (policy.source) {
    case "none":
      return null;
    case "documents":
      return model === null ? null : { origin: model.number, first: model.since };
    case "pushed":
    case "endpoint":
      return { origin: policy.origin, first: policy.origin };
  }
}

export function isComparable(origin: number, { origin: last, first }: Space): boolean {
  return origin >= first && origin <= last;
}
