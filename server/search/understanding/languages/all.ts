// All languages. A query is read in all of them at once: shoppers mix them, and an index does not record
// which one its shoppers speak.
import { ENGLISH } from "./english.js";
import { FRENCH } from "./french.js";
import { GERMAN } from "./german.js";
import { SPANISH } from "./spanish.js";

/** If two readings are equally long, the one in the earlier language wins. */
export const LANGUAGES = [ENGLISH, GERMAN, FRENCH, SPANISH] as const;
