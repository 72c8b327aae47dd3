// The list of all languages. A query is read in all of them at once, because shoppers mix languages, and an
// index does not record which language its shoppers speak.
import { ENGLISH } from "./english.js";
import { FRENCH } from "./french.js";
import { GERMAN } from "./german.js";
import { SPANISH } from "./spanish.js";

/** Order matters: if two languages give readings of the same length, the earlier language wins. */
export const LANGUAGES = [ENGLISH, GERMAN, FRENCH, SPANISH] as const;
