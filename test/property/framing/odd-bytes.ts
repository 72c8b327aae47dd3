// Arbitrary bytes that a client may send on one connection: a request with a few odd parts, then a plain
// request, which must not be taken if the bytes before it are broken.
import fc from "fast-check";

export const PLAIN = "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n";

/** Usually one of `usual`; one time in `times` one of `odd`. */
function mostly(usual: readonly string[], odd: readonly string[], times = 12): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: times - 1, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

const lineEnd = mostly(["\r\n"], ["\n", "\r", "\r\r\n", "\n\r\n", "", " \r\n"], 40);
const method = mostly(
  ["GET", "POST", "PUT", "DELETE"],
  ["get", "G T", "", "G@T", "G\0T", "HEAD", "CONNECT", "PRI"],
);
const target = mostly(
  ["/a", "/a/b?c=d", "/?"],
  [
    "a",
    "",
    "*",
    "http://x/a",
    "x:80",
    "/a b",
    "/a\x7f",
    "/\xfc",
    "/\0",
    "/a#b",
    '/"<|>',
    "/a\tb",
    "//x",
    "/a??b",
  ],
);
const version = mostly(
  ["HTTP/1.1"],
  ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/11", "http/1.1", "HTTP/1.1x", "", "HTTP/01.1"],
);
const host = mostly(
  ["Host: x", "host:x:80", "HOST: [::1]"],
  [
    "",
    "Host:",
    "Host : x",
    "Host: a b",
    "Host: a/b",
    "Host: x@y",
    "Host: x:y",
    " Host: x",
    "Host: x\r\nHost: x",
  ],
);
const line = mostly(
  ["A: b", "A:", "A:b ", "Accept: */*", "Content-Type: text/plain", "Connection: keep-alive"],
  [
    "A : b",
    "A\t: b",
    ": b",
    "A",
    "A: b\r\n c",
    "A: b\r\n\tc",
    " A: b",
    "A: \0",
    "A\0: b",
    "A: \x01",
    "A: b\x7fc",
    "A: \xfc",
    "\xfc: b",
    "A(b): c",
    "A: b\rc",
    "A: b\nTransfer-Encoding: chunked",
    "A: b\nContent-Length: 30",
    "Connection: close",
    "Connection: x, Close",
    "Expect: 100-continue",
    "Expect: x",
    "Transfer-Encoding : chunked",
    "Content-Length : 30",
  ],
  4,
);
const content = fc.constantFrom("", "abc", "0\r\n\r\n", PLAIN, "{}".repeat(40));

interface Framed {
  readonly lines: string;
  readonly body: string;
}

/** Content-Length lines for a body of `n` bytes. */
function lengthLines(n: number): fc.Arbitrary<string> {
  const right = `Content-Length: ${n}`;
  return mostly(
    [right],
    [
      ...[`+${n}`, `-${n}`, `0${n}`, `${n}, ${n}`, `${n} ${n}`, `${n};`, `0x${n}`, "", `${n}.0`, `${n}e0`],
      ...[n + 1, n + 2 ** 32, 2 ** 53, 10n ** 25n, `\t${n}\t`, `\x0b${n}`, `"${n}"`, `${n}_`, "٣"].map(
        String,
      ),
    ]
      .map((value) => `Content-Length: ${value}`)
      .concat(`${right}\r\n${right}`, `${right}\r\nContent-Length: ${n + 1}`, `Content-Length:\r\n${right}`),
    3,
  );
}

const codingLines = mostly(
  ["Transfer-Encoding: chunked"],
  [
    ...[
      "Chunked",
      "chunked, identity",
      "identity, chunked",
      "gzip, chunked",
      "chunked, chunked",
      "identity",
      "",
    ],
    ...[
      "\tchunked",
      "\x0bchunked",
      "xchunked",
      '"chunked"',
      "chunked;a",
      "chunked,",
      ",chunked",
      "\r\n chunked",
    ],
  ]
    .map((value) => `Transfer-Encoding: ${value}`)
    .concat(
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 3",
      "Content-Length: 3\r\nTransfer-Encoding: chunked",
    ),
  3,
);

/** One chunk of `text`; an empty text makes the last chunk. */
function chunk(text: string): fc.Arbitrary<string> {
  const size = text.length.toString(16);
  const sizes = mostly(
    [size, size.toUpperCase(), `0${size}`, `${size};a=b`, `${size};a;b="c d"`],
    [
      ...[`0x${size}`, `+${size}`, `-${size}`, ` ${size}`, `${size} `, `${size}\t`, `${size};`, `${size} ;a`],
      ...[
        "",
        "g",
        "@",
        `10000000000000000${size}`,
        `100000000${size}`,
        `${size};a=\0`,
        `${size};a\nb`,
        `${size},`,
      ],
    ],
    8,
  );
  const end = mostly(["\r\n"], ["", "\n", "\r", "XX", "\r\n\r\n", " \r\n"], 12);
  return fc
    .tuple(sizes, lineEnd, text === "" ? fc.constant("") : end)
    .map(([a, b, c]) => `${a}${b}${text}${c}`);
}

const trailers = mostly(
  ["", "", "X: y\r\n"],
  [
    "a:GET /trailer HTTP/1.1\r\nHost: x\r\n",
    "XX",
    "X : y\r\n",
    ": y\r\n",
    "X: y\n",
    "X\r\n",
    "Content-Length: 3\r\n",
  ],
  6,
);

const inChunks = fc
  .tuple(codingLines, content, trailers, lineEnd)
  .chain(([lines, text, trailer, end]) =>
    fc
      .tuple(text === "" ? fc.constant("") : chunk(text), chunk(""))
      .map(([some, last]): Framed => ({ lines, body: `${some}${last}${trailer}${end}` })),
  );
const withLength = content.chain((body) =>
  lengthLines(body.length).map((lines): Framed => ({ lines, body })),
);
const without = fc.constant<Framed>({ lines: "", body: "" });
const framed = fc.oneof(without, withLength, inChunks, inChunks);

const request = fc
  .record({ method, target, version, host, before: fc.array(line, { maxLength: 1 }), framed })
  .chain((parts) =>
    fc
      .tuple(fc.array(line, { maxLength: 1 }), mostly([" "], ["  ", "\t", ""], 40), lineEnd, lineEnd)
      .map(([after, space, lineEnd1, lineEnd2]) => {
        const { method, target, version, host, before, framed } = parts;
        const lines = [host, ...before, framed.lines, ...after].filter((text) => text !== "");
        const head = `${method}${space}${target} ${version}${lineEnd1}${lines.join("\r\n")}${lineEnd2}\r\n`;
        return head + framed.body;
      }),
  );

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.constantFrom(0, 1, 2),
  added: fc.constantFrom("", "\r", "\n", "\r\n", "\0", " ", "\t", ":", ",", ";", "0", "\x7f", "\xff", "A"),
});

const text = fc
  .record({
    before: mostly([""], [PLAIN, "\r\n", "\n", "\0"], 8),
    request,
    behind: fc.constantFrom(PLAIN, PLAIN, PLAIN, ""),
    mutations: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 2 }) },
    ),
  })
  .map(({ before, request, behind, mutations }) => {
    let changed = request;
    for (const { at, removed, added } of mutations) {
      const place = Math.floor(at * changed.length);
      changed = changed.slice(0, place) + added + changed.slice(place + removed);
    }
    return before + changed + behind;
  });

/** The bytes of one connection as latin1 text, in the pieces in which the client sends them. */
export const oddBytes: fc.Arbitrary<string[]> = fc
  .tuple(text, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }))
  .map(([bytes, cuts]) => {
    const places = [...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b);
    return places.map((end, i) => bytes.slice(places[i - 1] ?? 0, end)).filter((piece) => piece !== "");
  });
