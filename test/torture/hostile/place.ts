// What an attacker knows: the server's address, its keys, and what is in the indexes; and how it makes
// requests of that. Plain data, because attackers run in a process of their own.

/** Index of products, which both tenants have. */
export const GOODS = "goods";
/** Index of the attacked tenant with many fields and large documents. */
export const WIDE = "wide";

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly keys: {
    readonly search: string;
    /** A search key that is limited to one request per second. */
    readonly limited: string;
    readonly documents: string;
    readonly events: string;
  };
  /** File with the documents of GOODS, one per line. */
  readonly path: string;
  readonly documents: number;
  /** Frequent words of GOODS. */
  readonly words: readonly string[];
}

const MARK = "@@@@@@@@";

/** A POST request's bytes; the connection ends with the reply. */
export function post(
  { host, port }: Place,
  path: string,
  key: string,
  body: object | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const payload = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const head = headOf("POST", path, {
    host: `${host}:${port}`,
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": String(payload.length),
    ...headers,
  });
  return Buffer.concat([head, payload]);
}

export function get({ host, port }: Place, path: string, key: string): Buffer {
  return headOf("GET", path, { host: `${host}:${port}`, authorization: `Bearer ${key}` });
}

function headOf(method: string, path: string, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}connection: close\r\n\r\n`);
}

/** Stands for a number in a request: eight digits, other ones each time, so that no answer is cached. */
export const NUMBER = `0.${MARK}`;

/** Makes requests of templates in turn, each with a number of its own wherever the template has NUMBER. */
export function numbered(templates: readonly Buffer[]): (i: number) => Buffer {
  const places = templates.map(placesOfMarks);
  return (i) => {
    const own = Buffer.from(templates[i % templates.length]!);
    const number = String(i).padStart(MARK.length, "0");
    for (const at of places[i % templates.length]!) own.write(number, at, "latin1");
    return own;
  };
}

function placesOfMarks(template: Buffer): number[] {
  const places: number[] = [];
  for (let at = template.indexOf(MARK); at >= 0; at = template.indexOf(MARK, at + MARK.length))
    places.push(at);
  return places;
}
