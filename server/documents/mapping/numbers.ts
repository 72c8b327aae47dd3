// Parses numbers and prices as shops write them: with currencies, thousands separators, decimal commas and
// units. docs/feeds.md has the conversion table.

export interface WrittenNumber {
  /**
   * The number's digits, with an optional sign and decimal point. Very large and very small numbers have an
   * exponent.
   */
  readonly digits: string;
  /** ISO 4217 code. Null if the text has no currency or only an ambiguous symbol. */
  readonly currency: string | null;
}

const SYMBOLS: Readonly<Record<string, string>> = {
  "€": "EUR",
  $: "USD",
  US$: "USD",
  C$: "CAD",
  CA$: "CAD",
  A$: "AUD",
  AU$: "AUD",
  R$: "BRL",
  "£": "GBP",
  "¥": "JPY",
  "₹": "INR",
  "₽": "RUB",
  "₺": "TRY",
  "₩": "KRW",
  "₴": "UAH",
  "₪": "ILS",
  zł: "PLN",
  Kč: "CZK",
  Ft: "HUF",
};
/** Symbols shared by several currencies. */
const SHARED_SYMBOLS = new Set(["kr", "kr.", "Kr", "Kr."]);
const CODES = new Set(Intl.supportedValuesOf("currency"));
/** Currencies with three decimals, where 1.250 means one and a quarter. */
const THREE_DECIMALS = new Set(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]);
/** Units that may follow a number. They are dropped, and the number is not converted. */
const UNITS = new Set(
  "% kg g mg t lb lbs oz km m cm mm in inch inches ft l ml cl dl gal w kw v a ah mah hz ghz mhz gb mb tb pcs pc st".split(
    " ",
  ),
);

/** Longer texts do not count as numbers, because the patterns below take quadratic time. */
const CHARACTERS_MAX = 100;

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const SCIENTIFIC = /^[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+$/;
const WRITTEN = /^([^\d+\-.,\s]*)\s*([+-]?)\s*(\d[\d.,'’\s]*|[.,]\d+)([^\d.,].*)?$/u;

/** Returns null if the text is not a number. */
export function parseNumber(text: string): WrittenNumber | null {
  const trimmed = text.trim();
  if (trimmed.length > CHARACTERS_MAX) return null;
  if (PLAIN.test(trimmed)) return { digits: plainDigits(trimmed), currency: null };
  if (SCIENTIFIC.test(trimmed)) return fromScientific(trimmed);
  const match = WRITTEN.exec(trimmed);
  if (match === null) return null;
  const [, before = "", sign = "", number = "", behind = ""] = match;
  const marks = [before.trim(), behind.trim()].filter((mark) => mark !== "");
  const currency = marks.length === 1 ? currencyOf(marks[0]!) : null;
  if (marks.length > 1 || (marks.length === 1 && currency === undefined)) return null;
  const digits = digitsOf(number.trim(), currency ?? null);
  return digits === null ? null : { digits: plainDigits(sign + digits), currency: currency ?? null };
}

/**
 * Returns the currency that a mark before or after a number stands for: null for a unit or an ambiguous
 * symbol, undefined if the mark is neither a currency nor a unit.
 */
function currencyOf(mark: string): string | null | undefined {
  const code = mark.toUpperCase();
  if (CODES.has(code)) return code;
  if (Object.hasOwn(SYMBOLS, mark)) return SYMBOLS[mark];
  return SHARED_SYMBOLS.has(mark) || UNITS.has(mark.toLowerCase()) ? null : undefined;
}

/**
 * Returns the digits with a point as decimal separator and no other separators. Null if the separators make
 * no sense.
 */
function digitsOf(written: string, currency: string | null): string | null {
  if (/[\s'’]/.test(written)) {
    if (!/^\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?$/.test(written)) return null;
    return written.replace(/[\s'’]/g, "").replace(",", ".");
  }
  const decimal = decimalMark(written, currency);
  const [whole = "", ...rest] = decimal === null ? [written] : written.split(decimal);
  if (rest.length > 1 || !/^(?:\d*|\d{1,3}(?:[.,]\d{3})+)$/.test(whole) || /\..*,|,.*\./.test(whole))
    return null;
  const decimals = rest[0] ?? "";
  if (!/^\d*$/.test(decimals)) return null;
  return `${whole.replace(/[.,]/g, "")}${decimals === "" ? "" : `.${decimals}`}`;
}

/**
 * Returns the decimal separator, or null if there is none. If points and commas both occur, the last of them
 * is the decimal separator. A mark that occurs repeatedly separates thousands.
 */
function decimalMark(written: string, currency: string | null): "." | "," | null {
  const [point, comma] = [written.lastIndexOf("."), written.lastIndexOf(",")];
  if (point >= 0 && comma >= 0) return point > comma ? "." : ",";
  if (point < 0 && comma < 0) return null;
  const mark = point >= 0 ? "." : ",";
  if (written.indexOf(mark) !== written.lastIndexOf(mark)) return null;
  const looksGrouped = /^[1-9]\d{0,2}[.,]\d{3}$/.test(written);
  if (!looksGrouped) return mark;
  if (mark === ",") return null;
  return currency === null || THREE_DECIMALS.has(currency) ? "." : null;
}

/** Removes a plus sign and leading zeros. */
function plainDigits(text: string): string {
  const [, sign, whole, decimals] = /^([+-]?)0*(\d*?)(?:\.(\d*))?$/.exec(text)!;
  const digits = `${whole === "" ? "0" : whole}${decimals === undefined || decimals === "" ? "" : `.${decimals}`}`;
  return sign === "-" && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

function fromScientific(text: string): WrittenNumber | null {
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  return { digits: String(value), currency: null };
}
