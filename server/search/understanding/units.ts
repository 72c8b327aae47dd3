// Units and currencies as people write them, and units in field names.

export type Dimension =
  | "length"
  | "weight"
  | "data"
  | "power"
  | "charge"
  | "volume"
  | "voltage"
  | "frequency";

export interface Unit {
  readonly dimension: Dimension;
  /** The unit's size in the dimension's base unit. */
  readonly factor: number;
  /**
   * True for imperial units. The system of units matters, because in a shop, inches and metres measure
   * different things: a screen and its cable.
   */
  readonly imperial: boolean;
}

const IMPERIAL: ReadonlySet<string> = new Set(["inch", "ft", "lb", "oz"]);

const CURRENCIES =
  "$ € £ ¥ eur euro euros usd dollar dollars dolar dolares dollari bucks gbp chf franken francs yen";

/** [names, dimension, factor] */
const UNITS: readonly (readonly [string, Dimension, number])[] = [
  ["mm millimeter millimeters millimetre millimetres milimetros", "length", 0.001],
  ["cm centimeter centimeters centimetre centimetres zentimeter centimetros", "length", 0.01],
  ["m meter meters metre metres metro metros mtr", "length", 1],
  ['inch inches zoll pouce pouces pulgada pulgadas "', "length", 0.0254],
  ["ft foot feet fuss pieds pies", "length", 0.3048],
  ["mg milligram milligrams milligramm", "weight", 0.000001],
  ["g gram grams gramm grammes gramos", "weight", 0.001],
  ["kg kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos", "weight", 1],
  ["lb lbs pound pounds pfund", "weight", 0.45359237],
  ["oz ounce ounces onzas", "weight", 0.028349523],
  ["mb megabyte megabytes", "data", 0.001],
  ["gb gigabyte gigabytes gig gigs", "data", 1],
  ["tb terabyte terabytes", "data", 1000],
  ["w watt watts vatios", "power", 1],
  ["kw kilowatt kilowatts", "power", 1000],
  ["mah", "charge", 1],
  ["ml milliliter milliliters millilitre", "volume", 0.001],
  ["l liter liters litre litres litros", "volume", 1],
  ["v volt volts voltios", "voltage", 1],
  ["hz hertz", "frequency", 1],
  ["khz", "frequency", 1e3],
  ["mhz", "frequency", 1e6],
  ["ghz", "frequency", 1e9],
];

const BY_NAME: ReadonlyMap<string, Unit> = new Map(
  UNITS.flatMap(([names, dimension, factor]) =>
    names
      .split(" ")
      .map(
        (name, _, all) => [name, { dimension, factor, imperial: IMPERIAL.has(all[0] as string) }] as const,
      ),
  ),
);
const CURRENCY_NAMES: ReadonlySet<string> = new Set(CURRENCIES.split(" "));
const STARS: ReadonlySet<string> = new Set(
  "star stars stern sterne sternen etoile etoiles estrella estrellas".split(" "),
);

/** All words and symbols that can be a number's unit. */
export const AMOUNT_WORDS: readonly string[] = [...BY_NAME.keys(), ...CURRENCY_NAMES, ...STARS];

export function isCurrency(key: string): boolean {
  return CURRENCY_NAMES.has(key);
}

export function isStars(key: string): boolean {
  return STARS.has(key);
}

export function unitNamed(key: string): Unit | undefined {
  return BY_NAME.get(key);
}

/** Converts a number to another unit of the same dimension, without errors from binary fractions. */
export function converted(value: number, from: Unit, to: Unit): number {
  return Number(((value * from.factor) / to.factor).toPrecision(9));
}
