// The words of random stories, and texts made of them. The words are chosen to collide: shared prefixes,
// typos of each other, forms of one word, parts and spellings of part numbers, accents, other scripts.
import fc from "fast-check";

const WORDS = [
  "red",
  "reed",
  "read",
  "ready",
  "shirt",
  "shirts",
  "skirt",
  "skirts",
  "blue",
  "bleu",
  "café",
  "cafe",
  "CAFE",
  "a",
  "naïve",
  "wifi",
  "wi",
  "fi",
  "abc123",
  "abc124",
  "ab",
  "abcdefgh",
  "abcdefghi",
  "abcdfegh",
  "programming",
  "programing",
  "progarmming",
  "internationalization",
  "internationalisation",
  "東京",
  "東",
  "京都",
  "𝒳yz",
  "😀",
  "l'été",
  "über",
  "uber",
  "straße",
  "strasse",
  "Ελλάς",
  "Москва",
  "москву",
  "한국",
  "한국어",
  "2024",
  "x",
  "wi-fi",
  "wi fi",
  "t-shirt",
  "tshirt",
  "run",
  "runs",
  "running",
  "runner",
  "shoes",
  "shoe",
  "Haus",
  "Häuser",
  "Hause",
  "the",
  "and",
  "und",
  "die",
  "AB-123/4",
  "ab1234",
  "AB 123 4",
  "ab-1234",
  "AB123",
  "123",
  "4",
  "iphone15",
  "iphone 15",
  "i-phone",
  "東京都",
  "日本語",
  "日本",
  "本",
  "ภาษาไทย",
  "ไทย",
  "ภาษา",
];
const SEPARATORS = [" ", " ", " ", "-", ", ", "  ", "/", "_", ". "];

/** A few of WORDS, so that documents, queries, rules and synonyms share words. */
export const vocabulary: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom(...WORDS), {
  minLength: 5,
  maxLength: 20,
  size: "max",
});

/** A text: a few words with separators between them. */
export function textOf(words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(words, fc.constantFrom(...SEPARATORS)), { maxLength: 7, size: "max" })
    .map((parts) => parts.map(([part, separator], i) => (i === 0 ? part : separator + part)).join(""));
}

/** A word as it is, cut short, or with one letter changed, lost, added or swapped. */
function misspelt(words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const changes = fc.constantFrom("keep", "keep", "keep", "cut", "lose", "swap", "change", "add");
  return fc.tuple(words, changes, fc.nat(20)).map(([original, change, at]) => {
    const letters = [...original];
    const i = at % letters.length;
    if (change === "cut") return letters.slice(0, i + 1).join("");
    if (change === "lose") letters.splice(i, 1);
    if (change === "swap" && i > 0) [letters[i - 1], letters[i]] = [letters[i]!, letters[i - 1]!];
    if (change === "change") letters[i] = "q";
    if (change === "add") letters.splice(i, 0, "z");
    return letters.join("");
  });
}

/** A query text made of these words. */
export function queryText(words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pair = fc.tuple(words, words);
  const plain = fc.array(words, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" "));
  const part = fc.oneof(
    { weight: 10, arbitrary: misspelt(words) },
    { weight: 1, arbitrary: pair.map(([a, b]) => `"${a} ${b}"`) },
    { weight: 1, arbitrary: words.map((one) => `-${one}`) },
    { weight: 1, arbitrary: pair.map(([a, b]) => `-"${a} ${b}"`) },
  );
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant("*") },
    { weight: 4, arbitrary: plain },
    { weight: 6, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(" ")) },
  );
}
