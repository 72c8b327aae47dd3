// All languages. A query is read in each of them at once: shoppers mix them, and an index does not say which one is spoken.
import { ENGLISH } from "./english.js";
import { FRENCH } from "./french.js";
import { GERMAN } from "./german.js";
import { SPANISH } from "./spanish.js";

/** Of two readings of equal length, that of the earlier language holds. */
export const LANGUAGES = [ENGLISH, GERMAN, FRENCH, SPANISH] as const;
