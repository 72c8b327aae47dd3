// Keeps optimised code alive. V8 compiles a hot function for the object shapes that it sees. A full
// collection discards that code if no object of such a shape is alive, even if the next request creates one
// again, and the function must be recompiled. So classes whose objects live for one request keep one object
// alive permanently. Closures behave in the same way, so hot loops of a request are plain loops and named
// functions, not callbacks created per request.

/** By class, so that it stays small. */
const kept = new Map<unknown, object>();

/** Keeps the first object of a hot class alive. It should hold little. */
export function keepShape(object: object): void {
  if (!kept.has(object.constructor)) kept.set(object.constructor, object);
}
