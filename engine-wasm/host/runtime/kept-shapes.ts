// Keeps optimised code alive. V8 compiles a hot function for the object shapes that it sees. A full
// collection discards that code if no object with that shape is alive, even if the next request creates one
// again, and the function must then be recompiled. For this reason, classes whose objects live for only one
// request keep one object alive permanently. Closures have the same problem, so hot loops of a request are
// plain loops and named functions, not callbacks created per request.

/** By class, so that it stays small. */
const kept = new Map<unknown, object>();

/** Keeps the first object of a hot class alive. The object should retain little memory. */
export function keepShape(object: object): void {
  if (!kept.has(object.constructor)) kept.set(object.constructor, object);
}
