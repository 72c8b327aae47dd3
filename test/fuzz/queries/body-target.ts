// Bodies of queries, read by their scans and in full: both readings must agree. Each input has several bodies
// of one client: the same spelling with other texts, filters, pages and users, and damaged copies.
import type { Random } from "../../../bench/random.js";
import { BodyTwin } from "../../unit/server/question/request/body-twin.js";
import { finding, mutateBytes, mutateText, type Target } from "../target.js";

const PIECES = [
  ...'{}[]:,"\\0123456789.-+eE \t\n\r\u0000\u001f\u007f\u00a0\u2028\ufeffé日😀',
  "\\u0071",
  "\\ud83d",
  "\\ude00",
  "\\u0000int:",
  "\\n",
  "1234567890123456789",
  '"q":"y"',
  ',"q":"y"',
  ',"page":2',
  ',"__proto__":{}',
  "null",
];
const TEXTS = [
  '""',
  '"*"',
  '" "',
  '"red shoe"',
  '"\\"red\\" -x"',
  '"Größe 日本 😀"',
  '"\\u00e9\\ud83d\\ude00"',
];
const ODD_TEXTS = [
  '"\\ud800"',
  '"\\x"',
  '"a\tb"',
  '"\\u0000int:1234567890123456789"',
  '"1234567890123456789"',
  `"${"x".repeat(4097)}"`,
  "7",
  "null",
  '["a"]',
];
const FILTER_TEXTS = [
  '"price:>5"',
  '"brand:=a || brand:=b"',
  '""',
  '" "',
  '"nope:1"',
  '"price:>`"',
  '"id:a"',
];
const FILTER_OBJECTS = ["{}", '{"brand":"a"}', '{"brand":["a","b"],"price":5}', '{"views":1e17}', '{"a":{}}'];
const ODD_OBJECTS = [
  "[]",
  '{"views":1234567890123456789}',
  '{"brand":"\\ud800"}',
  '{"brand":"a"]',
  '{"brand" "a"}',
];
const NUMBERS = ["0", "1", "2", "10", "251", "999999999"];
const ODD_NUMBERS = ["-0", "-1", "1.0", "1e1", "01", "1.5", "12345678901234567890", '"1"', "null", "1e999"];
const PEOPLE = ['""', '"ann"', '"é"'];
const ODD_PEOPLE = ['"\\u0061"', `"${"x".repeat(257)}"`, "1"];

/** Values that a client varies, by member: usual ones and odd ones. */
const VARIED: Readonly<Record<string, readonly [usual: readonly string[], odd: readonly string[]]>> = {
  q: [TEXTS, ODD_TEXTS],
  filter_by: [FILTER_TEXTS, ODD_TEXTS],
  filters: [FILTER_OBJECTS, ODD_OBJECTS],
  page: [NUMBERS, ODD_NUMBERS],
  per_page: [NUMBERS, ODD_NUMBERS],
  user_id: [PEOPLE, ODD_PEOPLE],
  session_id: [PEOPLE, ODD_PEOPLE],
};
/** Values that stay the same. */
const FIXED: Readonly<Record<string, readonly [usual: readonly string[], odd: readonly string[]]>> = {
  query_by: [
    ['"title"', '"title,brand"'],
    ['"nope"', "1"],
  ],
  sort: [['"price:asc"', '"_text_match:desc"'], ['"title:asc"']],
  facets: [['["brand"]', "[]"], ['"brand"']],
  highlight_fields: [['"title"'], ["null"]],
  fields: [['["a"]'], ["[1]"]],
  prefix: [["true", "false"], ["1"]],
  analytics: [
    ["true", "false"],
    ["null", '"true"'],
  ],
  num_typos: [["1", "-0", "2e0"], ["1.5"]],
  unknown: [
    ["[[[]]]", '{"q":"x","page":2}', "1e5"],
    ["1234567890123456789", '"\\u0000int:1234567890123456789"'],
  ],
  __proto__: [["{}"], ['{"q":"x"}']],
  p: [["1"], ["1234567890123456789"]],
};
const isVaried = (name: string): boolean => Object.hasOwn(VARIED, name);

/** Draws bodies of one spelling. Some are odd. */
class Spelling {
  readonly #random: Random;
  readonly #oddOneIn: number;
  readonly #names: readonly string[];
  /** What stands before each member's value, or also the value if it stays the same. */
  readonly #pieces: readonly string[];
  readonly #tail: string;

  constructor(random: Random) {
    this.#random = random;
    this.#oddOneIn = random.pick([5, 20, 60]);
    const names = [...Object.keys(VARIED), ...Object.keys(FIXED)].filter(
      (name) => name !== "q" && random.below(5) === 0,
    );
    names.splice(random.below(names.length + 1), 0, "q");
    if (this.#isOdd()) names.push(random.pick([...names, "q"]));
    this.#names = names;
    this.#pieces = names.map((name, i) => {
      const written = this.#isOdd() ? name.replace("q", "\\u0071").replace("a", "\\u0061") : name;
      const before = `${this.#space()}${i === 0 ? "{" : ","}${this.#space()}"${written}"${this.#space()}:${this.#space()}`;
      return isVaried(name) ? before : before + this.#pick(FIXED[name]!) + this.#space();
    });
    this.#tail = this.#isOdd() ? random.pick(["}}", "} x", ""]) : `${this.#space()}}${this.#space()}`;
  }

  body(): Uint8Array {
    const random = this.#random;
    const text = this.#pieces.map((piece, i) => piece + this.#value(this.#names[i]!)).join("") + this.#tail;
    if (this.#isOdd()) return Buffer.from(mutateText(random, text, PIECES));
    return this.#isOdd() ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
  }

  #value(name: string): string {
    if (!isVaried(name)) return "";
    const value = this.#pick(VARIED[name]!);
    return this.#isOdd() ? mutateText(this.#random, value, PIECES) : value;
  }

  #pick([usual, odd]: readonly [readonly string[], readonly string[]]): string {
    return this.#random.pick(this.#isOdd() ? odd : usual);
  }

  #space(): string {
    if (this.#random.below(6) > 0) return "";
    return this.#isOdd()
      ? this.#random.pick(["\u00a0", "\ufeff", "\f"])
      : this.#random.pick([" ", "\n", "\t\r\n "]);
  }

  #isOdd(): boolean {
    return this.#random.below(this.#oddOneIn) === 0;
  }
}

/** Input: a byte that selects the index and the token, then the bodies, each after its length. */
export function bodyTarget(): Target {
  return {
    name: "bodies",
    generate(random) {
      const spelling = new Spelling(random);
      const bodies = Array.from({ length: 6 }, () => spelling.body());
      const sized = bodies.flatMap((body) => [Uint8Array.of(body.length >> 8, body.length), body]);
      return Buffer.concat([Uint8Array.of(random.pick([0, 0, 0, 1, 2])), ...sized]);
    },
    check(input) {
      const twin = new BodyTwin(input[0] === 1 ? "stock:>0" : "", input[0] === 2);
      for (let at = 1; at + 2 <= input.length; ) {
        const length = input[at]! * 256 + input[at + 1]!;
        const problem = twin.disagreement(input.subarray(at + 2, at + 2 + length));
        if (problem !== null) finding(problem);
        at += 2 + length;
      }
    },
    close: async () => undefined,
  };
}
