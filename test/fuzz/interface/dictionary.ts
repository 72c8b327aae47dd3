// Plausible values for members and parameters, by name, so that requests pass the first checks. The OpenAPI
// document gives the types; this file gives the words. Names not listed here get arbitrary text.
import { FIELD_NAMES } from "./tenants.js";

/** On whose behalf a request is generated: the word and the indexes that it may mention. */
export interface Voice {
  /**
   * The word that the request's texts may contain: the tenant's word, or the word of the index that the
   * request is about.
   */
  readonly word: string;
  /** The tenant's own indexes. */
  readonly indexes: readonly string[];
}

const LISTS = [
  "title",
  "title,brand",
  "title, tags",
  "brand,_queries",
  "tags",
  "price",
  "nofield",
  "id",
  ",",
  "*",
];
const FILTERS = [
  "price:>2",
  "brand:=acme && sale:true",
  "tags:[t1,t2] || stock:[-3..3]",
  "(title:shoe && !price:<3) || big:!=1099511627777",
  "brand:!=`a b`",
  "sizes:[36..40, 44]",
  "nofield:1",
  "price:>",
  "((((",
  "id:=3",
  "ratios:<0.5 && sale:!=false",
  "title:=*",
];
const SORTS = [
  "price:asc",
  "price:desc,stock:asc",
  "_text_match:desc",
  "brand:asc",
  "title:asc",
  "price",
  "price:up",
];
const QUERIES = [
  "shoe",
  "runing sho",
  "*",
  '"running shoe" -acme',
  "shoes under 10",
  "a",
  "",
  "AB-12/3",
  "靴 зима",
  "\u{1f45f}",
];
const IDS = ["0", "3", "11", "feed1", "missing", "export", "a/b", ".", "..", "é"];
/**
 * No URL reaches anything outside loopback: all other addresses are reserved for documentation or cannot
 * exist.
 */
const URLS = [
  "http://127.0.0.1:{feeds}/WORD.json",
  "http://127.0.0.1:{feeds}/WORD.csv",
  "http://127.0.0.1:{feeds}/WORD.xml",
  "http://127.0.0.1:{feeds}/missing",
  "http://127.0.0.1:{feeds}/locked",
  "http://user:pass%40@127.0.0.1:{feeds}/WORD.csv",
  "http://127.0.0.1:{feeds}/away",
  "http://127.0.0.1:1/WORD",
  "http://[::1]:1/WORD",
  "https://127.0.0.1:{feeds}/",
  "http://192.0.2.1/WORD",
  "http://feed.invalid/WORD",
  "http://localhost:{feeds}/",
  "http://2130706433/",
  "http://0/",
  "http://[::ffff:127.0.0.1]:{feeds}/",
  "file:///etc/passwd",
  "http://",
  "//127.0.0.1/",
];
const TIMES = [
  "2026-11-20T00:00:00Z",
  "2027-01-01T00:00:00Z",
  "2030-01-01T00:00:00+14:00",
  "2026-02-30",
  "1970-01-01",
  "9999-12-31T23:59:59.999Z",
  "now",
  "20",
];

/**
 * In careful mode, only this many words from the start of each list are used; they are valid for the world's
 * indexes.
 */
export const GOOD_WORDS = 3;

type Words = (voice: Voice) => readonly unknown[];

const WORDS: readonly (readonly [name: RegExp, words: Words])[] = [
  [/^(index|source_index|target_index)$/, ({ indexes }) => indexes],
  [/^indexes$/, ({ indexes, word }) => [...indexes.slice(0, 2), "*", `${word}*`, "*-shoes", "**"]],
  [/^(q|query)$/, ({ word }) => [...QUERIES, `${word} shoe`]],
  [
    /query_contains|synonyms|stop_words|root/,
    ({ word }) => ["shoe", "running", word, `${word}syn`, "two words"],
  ],
  [/^filter_by$/, () => FILTERS],
  [/^(sort|sort_by)$/, () => SORTS],
  [/weights$/, () => ["2", "3", "1", "1,2", "0", "-1", "1e9", "a"]],
  [/^(facets|facet_by|group_by_field|brand_field)$/, () => ["brand", "tags", "price", "title", "nofield"]],
  [/^default_sorting_field$/, () => ["price", "stock", "big", "brand", ""]],
  [/(_by|fields|attributes|highlight_fields|_field)$/, () => [...LISTS, ...FIELD_NAMES]],
  [/^(document_id|id|ids)$|^documents$/, () => IDS],
  [/url$/, ({ word }) => URLS.map((url) => url.replace("WORD", word))],
  [/_at$|^from$|^to$|timestamp/, () => TIMES],
  [/^schedule$/, () => ["manual", "hourly", "daily", "0 */2 * * *", "* * * * * *", "61 * * * *", "@reboot"]],
  [/^plan$/, () => ["default", "default", "small", "none"]],
  [/language/, () => ["de", "en", "fr", "xx", "", "zh"]],
  [/encoding/, () => ["utf-8", "utf-16le", "windows-1252", "rot13"]],
  [/delimiter|separators|symbols|_tag$/, () => [",", ";", "\t", "|", "\u{1f45f}", "ab", "", "<b>"]],
  [/^(items_path|id_field)$/, () => ["/items", "id", "sku", "a.b", "/", "~2"]],
  [/(user|session|event|query)_id/, ({ word }) => ["u1", "s1", `${word}person`, ""]],
  [
    /^(name|username|password|model|api_key)$/,
    ({ word }) => [word, `${word}-new`, `${word}-other`, "title", "x", "constructor"],
  ],
];

/** Returns the words to choose from for a member or parameter; null if any text will do. */
export function wordsFor(name: string, voice: Voice): readonly unknown[] | null {
  return WORDS.find(([pattern]) => pattern.test(name))?.[1](voice) ?? null;
}

/** Documents that fit the world's indexes, or nearly fit them. */
export function documentWords(voice: Voice): readonly Record<string, unknown>[] {
  const { word } = voice;
  return [
    { id: "3", title: `${word} shoe`, brand: word, price: 4.5, tags: [word, "t1"], sizes: [40], sale: true },
    { id: "new", title: `${word} boot`, big: 9007199254740991, stock: 2147483647, ratios: [1e308, -0] },
    { id: "é/ü", title: "running", extra: { deep: [{ er: word }] }, embedding: Array(512).fill(0.5) },
    { id: "4", price: "4", sale: 1 },
    { id: "5", _hidden: word, embedding: [1] },
    { title: "no id" },
  ];
}
