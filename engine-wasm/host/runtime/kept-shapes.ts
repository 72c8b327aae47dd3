// Keeps optimised code. V8 compiles a hot function for the shapes of the objects that it sees. A full collection throws this
// code away when no object of such a shape is alive, even if the next request makes one again, and the function is compiled
// anew. So of classes whose objects live for one request one object lives for ever. V8 treats closures alike, so hot loops
// of a request are loops and named functions, not callbacks that are made for it.

/** By class, so that it stays small. */
const kept = new Map<unknown, object>();

/** Keeps an object of a hot class alive, the first one that comes. It should hold little. */
export function keepShape(object: object): void {
  if (!kept.has(object.constructor)) kept.set(object.constructor, object);
}
