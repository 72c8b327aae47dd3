// Keeps optimised code alive. V8 compiles a hot function for the object shapes that it sees. A full
// collection discards that code if no object of such a shape is alive at the time, and the function has to be
// compiled again for the next request that creates one. Therefore each class whose objects live for only one
// request keeps one object alive permanently. Closures have the same problem, so a request's hot loops are
// plain loops and named functions, not callbacks created per request.

/** One object per class, which keeps the map small. */
const kept = new Map<unknown, object>();

/** Keeps the first object of a hot class alive. The object should retain little memory. */
export function keepShape(object: object): void {
  if (!kept.has(object.constructor)) kept.set(object.constructor, object);
}
