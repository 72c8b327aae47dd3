// Joined tokens: a run of tokens with one joiner between every two neighbours ("wi-fi", "AB-123/4") is also one
// word ("wifi", "ab1234"). Follows the tokenizer from token to token; the last token of a text always ends its
// run, so nothing is left for the next text.
//
//   while (tokenizeNext()) { ... if (joinsToken()) { joinedAt, joinedBytes, joinedStart, joinedParts } }

import { JOIN_ALL, JOIN_NONE, JOIN_PARTS_MAX, TERM_BYTES_MAX } from "../layout";
import { Mem } from "../memory/mem";
import { allDigits } from "./digits";
import { joinerBehind, tokenAt, tokenBytes, tokenIdeograph, tokenStart } from "./tokenize";

/** Address of the joined term. Its bytes stay valid until the next run. */
export const joinedAt: usize = memory.data(128);
/** Length of the joined term in bytes. */
export let joinedBytes: u32 = 0;
/** Where its text begins; it ends with the token at hand. */
export let joinedStart: u32 = 0;
/** The number of tokens in it, 2..JOIN_PARTS_MAX. */
export let joinedParts: u32 = 0;

let parts: u32 = 0; // of the run that goes on behind the token at hand, 0 = none
let joinable: bool = false; // short enough, without ideographs
let numbers: bool = false; // nothing but digits so far
let joinsNumbers: bool = false; // all joiners so far are JOIN_ALL

/** To be asked once for every token: true when it is the last of a run that is joined. */
export function joinsToken(): bool {
  const joiner = joinerBehind();
  if (joiner == JOIN_NONE && parts == 0) return false;
  return extendRun(joiner);
}

function extendRun(joiner: u32): bool {
  if (parts == 0) {
    joinedBytes = 0;
    joinedStart = tokenStart;
    joinable = true;
    numbers = true;
    joinsNumbers = true;
  }
  parts++;
  if (tokenIdeograph || parts > <u32>JOIN_PARTS_MAX || joinedBytes + tokenBytes > <u32>TERM_BYTES_MAX) {
    joinable = false;
  }
  if (joinable) {
    Mem.copy(joinedAt + joinedBytes, tokenAt, tokenBytes);
    joinedBytes += tokenBytes;
    numbers = numbers && allDigits(tokenAt, tokenBytes);
  }
  if (joiner != JOIN_NONE) {
    joinsNumbers = joinsNumbers && joiner == JOIN_ALL;
    return false;
  }
  joinedParts = parts;
  parts = 0;
  return joinable && (joinsNumbers || !numbers);
}
