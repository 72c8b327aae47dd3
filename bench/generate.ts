// A generated catalogue of any size: words by Zipf's law over an invented vocabulary, brands and categories for
// facets, numbers for filters. `node dist/bench/generate.js 100000 > catalogue.jsonl` writes one document a line.

import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { Random, Zipf } from "./random.js";

const VOCABULARY = 60_000;
const BRANDS = 400;
const CATEGORIES = 60;
const COLOURS = [
  "black",
  "white",
  "grey",
  "navy",
  "green",
  "rust",
  "sand",
  "red",
  "blue",
  "yellow",
  "plum",
  "pink",
];
const SYLLABLES = [
  "ba",
  "be",
  "bo",
  "ca",
  "co",
  "da",
  "de",
  "di",
  "do",
  "el",
  "en",
  "er",
  "fa",
  "fi",
  "ga",
  "go",
  "ha",
  "in",
  "ka",
  "ke",
  "la",
  "le",
  "li",
  "lo",
  "ma",
  "me",
  "mi",
  "mo",
  "na",
  "ne",
  "ni",
  "no",
  "or",
  "pa",
  "pe",
  "ra",
  "re",
  "ri",
  "ro",
  "sa",
  "se",
  "si",
  "so",
  "ta",
  "te",
  "ti",
  "to",
  "un",
  "va",
  "ve",
  "vi",
  "za",
];

/** `count` documents as JSON text. The same seed gives the same documents. */
export function* generateCatalogue(count: number, seed: number): Generator<string> {
  const random = new Random(seed);
  const words = vocabulary(random);
  const wordRanks = new Zipf(VOCABULARY, 1.05);
  const brandRanks = new Zipf(BRANDS, 0.8);
  const categoryRanks = new Zipf(CATEGORIES, 0.7);
  const text = (length: number) => Array.from({ length }, () => words[wordRanks.draw(random)]!).join(" ");
  for (let i = 0; i < count; i++) {
    const brand = capital(words[VOCABULARY - 1 - brandRanks.draw(random)]!);
    const category = words[VOCABULARY - 1000 - categoryRanks.draw(random)]!;
    yield JSON.stringify({
      id: `g${i}`,
      sku: `${words[random.below(200)]!.slice(0, 2).toUpperCase()}-${random.from(100, 999)}/${random.from(1, 9)}`,
      title: `${brand} ${text(random.from(3, 8))}`,
      brand,
      categories:
        random.next() < 0.7 ? [category] : [category, words[VOCABULARY - 1000 - random.below(CATEGORIES)]!],
      color: random.pick(COLOURS),
      price: Math.round(Math.exp(1 + random.next() * 6) * 100) / 100,
      rating: Math.round(random.next() * 50) / 10,
      rating_count: Math.floor(Math.exp(random.next() * 9)),
      in_stock: random.next() < 0.85,
      released: 1_500_000_000 + random.below(200_000_000),
      description: text(random.from(15, 90)),
    });
  }
}

/** Different words; frequent ones are short, as in languages. */
function vocabulary(random: Random): string[] {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const syllables = 1 + Math.min(4, Math.floor(Math.log10(words.size + 2) + random.next() * 1.5));
    words.add(Array.from({ length: syllables }, () => random.pick(SYLLABLES)).join(""));
  }
  return [...words];
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

async function main(): Promise<void> {
  const count = Number(process.argv[2]);
  const seed = Number(process.argv[3] ?? 1);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    process.stderr.write("usage: node dist/bench/generate.js DOCUMENTS [SEED] > catalogue.jsonl\n");
    process.exitCode = 2;
    return;
  }
  for (const document of generateCatalogue(count, seed)) {
    if (!process.stdout.write(`${document}\n`)) await once(process.stdout, "drain");
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
