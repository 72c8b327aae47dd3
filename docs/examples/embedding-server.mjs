// A server of embeddings as Skein asks for them (POST /v1/embeddings, as OpenAI has it), for trying the embedder source "endpoint"
// without any model: node docs/examples/embedding-server.mjs [port]. docs/semantic.md shows it at work. Put your model in the
// place of `embed`; everything else may stay.
import { createServer } from "node:http";

/** All vectors of Skein have as many numbers. */
const NUMBERS = 512;
/** What this toy knows of meaning: the words of a line are one and the same to it. */
const MEANINGS = [
  ["sofa", "couch", "settee"],
  ["notebook", "laptop"],
  ["parka", "jacket", "anorak"],
].map((words) => new Set(words));

/** A vector of a text: each word, or the first one that means the same, adds 1 or takes it away at eight places. */
function embed(text) {
  const vector = new Array(NUMBERS).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const meaning = MEANINGS.find((words) => words.has(word));
    let state = 0;
    for (const letter of meaning?.values().next().value ?? word)
      state = Math.imul(state ^ letter.codePointAt(0), 0x01000193);
    for (let i = 0; i < 8; i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      vector[(state >>> 16) % NUMBERS] += state & 0x8000 ? 1 : -1;
    }
  }
  if (vector.every((number) => number === 0)) vector[0] = 1; // a text without words
  return fitted(vector);
}

/** A shorter vector is filled up with zeros, a longer one is cut: right for models that were trained to be cut, and only for these. */
function fitted(vector) {
  return Array.from({ length: NUMBERS }, (_, i) => vector[i] ?? 0);
}

const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  try {
    const { model, input } = JSON.parse(String(Buffer.concat(pieces)));
    const texts = typeof input === "string" ? [input] : input;
    const data = texts.map((text, index) => ({ object: "embedding", index, embedding: embed(text) }));
    console.log(`${model}: ${texts.length} texts`);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", model, data }));
  } catch (error) {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: String(error) } }));
  }
});

server.listen(Number(process.argv[2] ?? 8901), "127.0.0.1", () =>
  console.log(`embeddings at http://127.0.0.1:${server.address().port}/v1`),
);
