// The request and response formats of embedding servers: request bodies and accepted answers.
import { expect, test } from "vitest";
import { EMBEDDING_WIRES } from "../../../../server/models/embedding-wires.js";

const { openai } = EMBEDDING_WIRES;

test("an OpenAI-compatible server is asked for vectors of the right length", () => {
  expect(openai.body("small", ["a", "b"])).toEqual({
    model: "small",
    input: ["a", "b"],
    dimensions: 512,
    encoding_format: "float",
  });
});

test("its vectors are put in the order of the texts", () => {
  const data = [
    { index: 1, embedding: [2] },
    { index: 0, embedding: [1] },
  ];
  expect(openai.vectors({ data }, 2)).toEqual([[1], [2]]);
  expect(openai.vectors({ data: [{ embedding: [1] }, { embedding: [2] }] }, 2)).toEqual([[1], [2]]);
});

test.each([
  [[], "without a list of vectors"],
  [{ data: [{ embedding: [1] }] }, "with 1 vectors for 2 texts"],
  [{ data: [1, 2] }, "without a list of vectors"],
  [{ data: [{ index: 0 }, { index: 0 }] }, "with vectors whose index matches no text"],
  [{ data: [{ index: 5 }, { index: 0 }] }, "with vectors whose index matches no text"],
])("%j is not a valid reply", (answer, why) => {
  expect(() => openai.vectors(answer, 2)).toThrow(why);
});
