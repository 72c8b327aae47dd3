// Finds joined tokens. A run of tokens with a single joiner between neighbours ("wi-fi", "AB-123/4") also
// forms one word ("wifi", "ab1234"). Follows the tokenizer from token to token. The last token of a text ends
// its run, so no state carries over to the next text.
//
//   while (tokens.next()) { ... if (joined.endsHere()) { joined.at, joined.bytes, joined.start, joined.parts } }

import { JOIN_ALL, JOIN_NONE, JOIN_PARTS_MAX, TERM_BYTES_MAX } from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { allDigits } from "./digits";
import { Tokenizer } from "./tokenize";

const JOINED_ROOM: usize = 128;

/** The joined tokens found in a tokenizer's texts. In scratch, followed by space for the joined term. */
@unmanaged
export class JoinedTokens {
  tokens: Tokenizer;
  /** The joined term's length in bytes. */
  bytes: u32;
  /** Start of the joined term in the text. The term ends with the current token. */
  start: u32;
  /** Number of tokens in the joined term, 2..JOIN_PARTS_MAX. */
  parts: u32;

  // Number of tokens in the run (tokens linked by joiners) that the next token continues; 0 = none.
  private run: u32;
  private joinable: bool; // whether the run so far can be joined: few enough tokens and bytes, no ideographs
  private numbers: bool; // whether every token of the run so far consists of digits
  private joinsNumbers: bool; // whether every joiner of the run so far is JOIN_ALL

  static make(tokens: Tokenizer): JoinedTokens {
    const made = changetype<JoinedTokens>(scratchZeroed(offsetof<JoinedTokens>() + JOINED_ROOM));
    made.tokens = tokens;
    return made;
  }

  /** Address of the joined term. Its bytes stay valid until the next run. */
  @inline get at(): usize {
    return changetype<usize>(this) + offsetof<JoinedTokens>();
  }

  /** True if a joined term ends with the current token. Must be called once per token. */
  endsHere(): bool {
    const joiner = this.tokens.joinerBehind();
    if (joiner == JOIN_NONE && this.run == 0) return false;
    return this.extendRun(joiner);
  }

  private extendRun(joiner: u32): bool {
    const tokens = this.tokens;
    if (this.run == 0) {
      this.bytes = 0;
      this.start = tokens.start;
      this.joinable = true;
      this.numbers = true;
      this.joinsNumbers = true;
    }
    this.run++;
    if (
      tokens.isIdeograph ||
      this.run > <u32>JOIN_PARTS_MAX ||
      this.bytes + tokens.bytes > <u32>TERM_BYTES_MAX
    ) {
      this.joinable = false;
    }
    if (this.joinable) {
      Mem.copy(this.at + this.bytes, tokens.at, tokens.bytes);
      this.bytes += tokens.bytes;
      this.numbers = this.numbers && allDigits(tokens.at, tokens.bytes);
    }
    if (joiner != JOIN_NONE) {
      this.joinsNumbers = this.joinsNumbers && joiner == JOIN_ALL;
      return false;
    }
    this.parts = this.run;
    this.run = 0;
    return this.joinable && (this.joinsNumbers || !this.numbers);
  }
}
