// Reads the heads of uWebSockets.js requests, one after another.
import { HEADER_PLACES, READ_HEADERS } from "./port.js";
import { RequestHead } from "./request-head.js";

const NO_HEADERS: readonly string[] = READ_HEADERS.map(() => "");

/** The library's request, which can be read only inside its callback. */
interface HeaderSource {
  forEach(take: (name: string, value: string) => void): void;
}

/** One object serves all requests of a listener, so a request creates only the list of its values. */
export class HeadReader {
  /** The head that was read last. */
  readonly head = new RequestHead();
  #values: string[] = [];

  /**
   * Returns the values of READ_HEADERS, in the same order. If a header is repeated, the first value counts,
   * except that the values of X-Forwarded-For are joined into a list, because each proxy may add one.
   */
  read(request: HeaderSource): readonly string[] {
    const values = NO_HEADERS.slice();
    this.head.clear();
    this.#values = values;
    request.forEach(this.#take);
    return values;
  }

  readonly #take = (name: string, value: string): void => {
    this.head.add(name, value);
    const at = HEADER_PLACES.get(name);
    if (at === undefined) return;
    if (this.#values[at] === "") this.#values[at] = value;
    else if (name === "x-forwarded-for") this.#values[at] += `, ${value}`;
  };
}
