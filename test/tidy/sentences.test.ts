// Checks that user-visible error messages share one style: `<what> must be <expected>, not <what came>`.
import { expect, test } from "vitest";
import { otherVoices } from "./sentences.js";
import { product, type Source } from "./tree.js";
import { expectNone } from "./violations.js";

test("an error sentence begins in lower case and ends without a full stop", () => {
  expectNone(
    otherVoices(product.filter(({ path }) => path.startsWith("server/"))),
    "A client prints it after a code or a name; several causes are joined by a semicolon.",
  );
});

test("a different style is found wherever it occurs, and a name is not mistaken for it", () => {
  const source = (path: string, text: string): Source => ({ path, text, imports: [], packages: [] });
  const wrong = source(
    "server/wrong.ts",
    `throw new SkeinError(code, \`The filter needs \${n} steps\`, { cause });
     throw new ConfigError(late ? "it ends." : "it ends");
     function late(problem: string): SkeinError { return new SkeinError(code, \`\${problem}. Retry later\`); }
     throw late("A shard ended");
     class Ended extends SkeinError { constructor() { super(code, "it ended!"); } }
     send({ line, error: \`The line \${line} is long\` });`,
  );
  const right = source(
    "server/right.ts",
    `throw new SkeinError(code, "JSON is expected", { cause: "The cause." });
     throw new SkeinError(code, \`\${name} must be a number, not \${shown}...\`);
     log.warn("A line of the log."); throw new Error("The end."); throw late("Skein has ended", "End.");`,
  );
  expect(otherVoices([wrong, right])).toEqual([
    "server/wrong.ts:1 The filter needs x steps",
    "server/wrong.ts:2 it ends.",
    "server/wrong.ts:3 x. Retry later",
    "server/wrong.ts:4 A shard ended",
    "server/wrong.ts:5 it ended!",
    "server/wrong.ts:6 The line x is long",
  ]);
});
