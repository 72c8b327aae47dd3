// Generates a catalogue of any size, about 412 bytes of JSON per product, with plausible titles, brands,
// categories and numbers. Description words follow the Zipf-Mandelbrot law over a vocabulary with a long
// tail, as in natural language.

import { Random, Zipf } from "../random.js";
import { COLOURS, DEPARTMENTS, FREQUENT_WORDS, MATERIALS, QUALITIES, SIZES, UNITS } from "./departments.js";

const VOCABULARY = 150_000;
const BRANDS = 3_000;
/** The Zipf-Mandelbrot law's two parameters, as measured on English text. */
const WORD_EXPONENT = 1.07;
const WORD_SHIFT = 2.7;
const DESCRIPTION_WORDS: readonly [number, number] = [8, 33];
const CONSONANTS = [
  "b",
  "c",
  "d",
  "f",
  "g",
  "h",
  "k",
  "l",
  "m",
  "n",
  "p",
  "r",
  "s",
  "t",
  "v",
  "z",
  "st",
  "tr",
];
const VOWELS = ["a", "e", "i", "o", "u", "ea", "io"];
const ENDINGS = ["", "", "n", "r", "s", "l", "t", "nd", "x"];

/**
 * Yields `count` documents as JSON text. The same seed always gives the same documents; a smaller count
 * yields a prefix of them.
 */
export function* generateCatalogue(count: number, seed: number): Generator<string> {
  const random = new Random(seed);
  const words = vocabulary(random);
  const brands = Array.from({ length: BRANDS }, (_, i) => capital(words[words.length - 1 - i]!));
  const wordRanks = new Zipf(VOCABULARY, WORD_EXPONENT, WORD_SHIFT);
  const brandRanks = new Zipf(BRANDS, 0.9);
  const departmentRanks = new Zipf(DEPARTMENTS.length, 0.6);
  const goodsRanks = DEPARTMENTS.map(({ goods }) => new Zipf(goods.length, 0.7));
  const qualityRanks = new Zipf(QUALITIES.length, 0.8);
  for (let i = 0; i < count; i++) {
    const number = departmentRanks.draw(random);
    const department = DEPARTMENTS[number]!;
    const good = department.goods[goodsRanks[number]!.draw(random)]!;
    const brand = brands[brandRanks.draw(random)]!;
    const color = random.pick(COLOURS);
    const title = [brand, capital(QUALITIES[qualityRanks.draw(random)]!)];
    if (random.next() < 0.5) title.push(capital(random.pick(MATERIALS)));
    title.push(capital(good));
    // A model name is a word from the long tail, which few other products share.
    if (random.next() < 0.35)
      title.push(capital(words[FREQUENT_WORDS.length + random.below(VOCABULARY >> 1)]!));
    title.push(variant(random, color));
    const description = Array.from(
      { length: random.from(...DESCRIPTION_WORDS) },
      () => words[wordRanks.draw(random)]!,
    );
    yield JSON.stringify({
      id: `p${i}`,
      sku: `${brand.slice(0, 2).toUpperCase()}-${random.from(1000, 99999)}/${random.from(1, 9)}`,
      title: title.join(" "),
      brand,
      categories: [department.name, `${department.name} > ${capital(good)}`],
      color,
      price: Math.round(Math.exp(1 + random.next() * 6) * 100) / 100,
      rating: Math.round(random.next() * 50) / 10,
      rating_count: Math.floor(Math.exp(random.next() * 9)),
      in_stock: random.next() < 0.85,
      released: 1_500_000_000 + random.below(200_000_000),
      description: `${capital(description.join(" "))}.`,
    });
  }
}

/**
 * Returns the end of a title, which distinguishes a product's variants: colour, colour and size, or an
 * amount.
 */
function variant(random: Random, color: string): string {
  const kind = random.next();
  if (kind < 0.4) return color;
  if (kind < 0.65) return `${color} ${random.pick(SIZES)}`;
  return `${random.from(1, 40) * 5} ${random.pick(UNITS)}`;
}

/**
 * Returns distinct words, most frequent first. The frequent words are real, the others invented. Rarer words
 * are longer.
 */
function vocabulary(random: Random): string[] {
  const words = new Set<string>([...FREQUENT_WORDS, ...QUALITIES, ...MATERIALS]);
  while (words.size < VOCABULARY) {
    const syllables = 1 + Math.min(3, Math.floor(Math.log10(words.size) - 1.6 + random.next() * 1.4));
    let word = "";
    for (let i = 0; i < syllables; i++) word += random.pick(CONSONANTS) + random.pick(VOWELS);
    words.add(word + random.pick(ENDINGS));
  }
  return [...words];
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}
