// docs/limits.md lists the actual limits.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FIXED_LIMITS, REQUEST_LIMITS, SERVER_LIMITS } from "../../../../server/ground/limits.js";

const UNITS: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Converts "64 MiB" or "10,000" to a number; "none" is infinity. */
function numberOf(shown: string): number {
  if (shown === "none") return Number.POSITIVE_INFINITY;
  const [digits = "", unit] = shown.split(" ");
  return Number(digits.replaceAll(",", "")) * (unit === undefined ? 1 : (UNITS[unit] ?? Number.NaN));
}

test("the tables in docs/limits.md have every limit with its value, in the order of server/ground/limits.ts", () => {
  const text = readFileSync(new URL("../../../../docs/limits.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm)];
  expect(rows.map(([, name, shown]) => [name, numberOf(shown!)])).toEqual(
    Object.entries({ ...REQUEST_LIMITS, ...SERVER_LIMITS, ...FIXED_LIMITS }),
  );
});
