// All languages. A query is read in all of them at once: shoppers mix them, and an index does not say which
// one they speak.
import { ENGLISH } from "./english.js";
import { FRENCH } from "./french.js";
import { GERMAN } from "./german.js";
import { SPANISH } from "./spanish.js";

/** Of two readings of equal length, the earlier language wins. */
export const LANGUAGES = [ENGLISH, GERMAN, FRENCH, SPANISH] as const;
