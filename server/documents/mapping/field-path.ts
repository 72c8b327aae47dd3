// Follows paths into a feed's item. A step of a path is a column, an XML element with or without its prefix,
// a member of a nested object, or an element of a list. Paths are compiled once per run and followed for each
// item. Inherited members of an object are ignored, whatever their names.
import type { FeedObject } from "../feeds/feed-item.js";

/** Returns the value at the end of a path; undefined if there is none. */
export type FieldPath = (item: FeedObject) => unknown;

/** Removes the prefix: `g:price` becomes `price`. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/**
 * Compiles a path such as "price", "g:price", "price.amount" or "images.0.src". "variants.sku" collects the
 * sku of each variant.
 */
export function fieldPath(path: string): FieldPath {
  const steps = path.split(".");
  if (steps.length === 1) return (item) => memberOf(item, path);
  return (item) => (Object.hasOwn(item, path) ? item[path] : follow(item, steps));
}

/** Returns the member with this name, or else one whose name differs only in its prefix. */
function memberOf(object: FeedObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = localName(name);
  const found = Object.keys(object).find((candidate) => localName(candidate) === wanted);
  return found === undefined ? undefined : object[found];
}

export function isFeedObject(value: unknown): value is FeedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function follow(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  if (isFeedObject(value)) return follow(memberOf(value, step), rest);
  if (!Array.isArray(value)) return undefined;
  if (/^\d+$/.test(step)) return follow(value[Number(step)], rest);
  const found = value.map((element) => follow(element, [step, ...rest])).filter((one) => one !== undefined);
  return found.length === 0 ? undefined : found;
}
