// Search tokens: a token whose content has been altered is rejected, and the programs in docs/api.md create
// valid tokens.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashKey, newKeyValue, shownPrefix } from "../../../../../server/access/tenants/keys.js";
import {
  isSignedBy,
  makeToken,
  openToken,
  sentToken,
} from "../../../../../server/access/tenants/search-token.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";

const KEY = newKeyValue();
const MEMBERS = { filter_by: 'brand:="Ä/é" && shop:[1,2]', indexes: ["a*"], user_id: "ada" };

const tokenOf = (members: object): string => makeToken(KEY, shownPrefix(KEY), { ...members });

test("every changed character is noticed", () => {
  const token = tokenOf(MEMBERS);
  const changed = fc.tuple(fc.nat(token.length - 1), fc.string({ minLength: 0, maxLength: 2 }));
  fc.assert(
    fc.property(changed, ([at, text]) => {
      const other = token.slice(0, at) + text + token.slice(at + 1);
      const sent = sentToken(other);
      if (sent === null || !isSignedBy(sent, hashKey(KEY))) return;
      // The last character of Base64 text has unused bits, so the same signature can be written in several
      // ways. The signed content has only one form.
      expect(sent.signed).toBe(sentToken(token)!.signed);
    }),
    { numRuns: 2_000 },
  );
  expect(isSignedBy(sentToken(token)!, hashKey(newKeyValue()))).toBe(false);
});

describe("the programs in docs/api.md", () => {
  const docs = readFileSync("docs/api.md", "utf8");
  const section = docs.slice(docs.indexOf("### Search tokens"));
  const programOf = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``).exec(section)![1]!;
  const members = JSON.stringify(MEMBERS);
  const read = (token: string) => {
    const sent = sentToken(token.trim())!;
    expect(isSignedBy(sent, hashKey(KEY))).toBe(true);
    return openToken(sent, DEFAULT_LIMITS);
  };
  const opened = {
    filterBy: MEMBERS.filter_by,
    indexes: ["a*"],
    userId: "ada",
    expiresAt: null,
    rateLimit: null,
  };
  const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

  test("in TypeScript", () => {
    const withoutTypes = programOf("ts").replaceAll(/: (string|object)/g, "");
    const program = `${withoutTypes}\nconsole.log(searchToken(process.argv[2], ${members}));`;
    const args = ["--input-type=module", "-", KEY];
    const token = execFileSync(process.execPath, args, { input: program, encoding: "utf8" });
    expect(read(token)).toMatchObject(opened);
  });

  test.skipIf(!has("python3"))("in Python", () => {
    const program = `${programOf("python")}\nimport sys\nprint(search_token(sys.argv[1], json.loads(sys.argv[2])))`;
    const token = execFileSync("python3", ["-c", program, KEY, members], { encoding: "utf8" });
    expect(read(token)).toMatchObject(opened);
  });

  test.skipIf(!has("php"))("in PHP", () => {
    const program = `${programOf("php")}\necho search_token($argv[1], json_decode($argv[2], true));`;
    const token = execFileSync("php", ["--", KEY, members], { input: program, encoding: "utf8" });
    expect(read(token)).toMatchObject(opened);
  });
});
