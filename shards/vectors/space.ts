// Decides which of an index's vectors can be compared with each other, based on their source.
import type { VectorPolicy } from "../protocol/control.js";
import type { ModelRecord } from "./model-store.js";

/**
 * Which vectors can be compared. A vector's origin is a number that identifies what made it; new vectors get
 * `origin`. A null Space means that no vectors can be made.
 */
export interface Space {
  origin: number;
  /** The earliest comparable origin: vectors with origins from `first` to `origin` are comparable. */
  first: number;
}

/** `model`: the active model; null if there is none. */
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
