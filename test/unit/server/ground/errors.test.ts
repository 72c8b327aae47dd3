// The error catalogue agrees with its documentation and follows its own rules.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ERRORS, errorBody, FEED_ERRORS, SkeinError } from "../../../../server/ground/errors.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/ERRORS.md", import.meta.url), "utf8");

describe("the error catalogue", () => {
  test("equals the table in docs/ERRORS.md, in the same order", () => {
    const rows = [...DOCUMENT.matchAll(/^\| `(SK-[A-Z]+-\d+)` \| (\d+) \| (.+) \|$/gm)].map(
      ([, code, status, meaning]) => ({ code, status: Number(status), meaning }),
    );
    const entries = Object.entries(ERRORS).map(([code, { status, meaning }]) => ({ code, status, meaning }));
    expect(rows).toEqual(entries);
  });

  test("has the errors of runs in the second table of docs/ERRORS.md", () => {
    const rows = [...DOCUMENT.matchAll(/^\| `(SK-DS-\d+)` \| ([^|]+) \|$/gm)].map(([, code, meaning]) => [
      code,
      meaning,
    ]);
    expect(rows).toEqual(Object.entries(FEED_ERRORS));
  });

  test("includes the status in every code", () => {
    for (const [code, { status }] of Object.entries(ERRORS)) expect(code).toMatch(new RegExp(`-${status}$`));
  });
});

test("leaves details out of the body if there are none", () => {
  expect(errorBody(new SkeinError("SK-SE-400", "q is missing"))).toEqual({
    error: "q is missing",
    code: "SK-SE-400",
  });
  const error = new SkeinError("SK-SE-400", "no", { details: { position: 3 }, cause: new Error("inner") });
  expect(errorBody(error)).toEqual({ error: "no", code: "SK-SE-400", details: { position: 3 } });
  expect(error.status).toBe(400);
  expect(error.cause).toBeInstanceOf(Error);
});
