// Keeps optimised code. V8 compiles a hot function for the shapes of the objects that it sees. A full collection throws this
// code away when no object of such a shape is alive, even if the next request makes one again, and the function is compiled
// anew: during an import that took a tenth of all work. So classes whose objects live for one request keep one for ever.

const kept: object[] = [];

/** Keeps an object of a hot class alive. To be called once for a class, with an object that holds little. */
export function keepShape(object: object): void {
  kept.push(object);
}
