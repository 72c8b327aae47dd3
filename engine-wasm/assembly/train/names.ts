// Copies the chosen terms' bytes, in ascending order, so that their segment need not stay in memory.

import { reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Features } from "../model/features";
import { Chosen, Vocabulary } from "./vocabulary";

@unmanaged
export class Names {
  count: u32;
  private offsets: usize; // u32[count + 1]: where each term starts in the bytes
  private bytes: usize;

  make(features: Features, chosen: Chosen): void {
    this.count = chosen.count;
    this.offsets = reserve((<usize>chosen.count + 1) << 2);
    let length: u32 = 0;
    for (let i: u32 = 0; i < chosen.count; i++) {
      features.openTerm(Vocabulary.term(chosen.entries, i));
      Mem.putU32(this.offsets + ((<usize>i) << 2), length);
      length += features.length;
    }
    Mem.putU32(this.offsets + ((<usize>chosen.count) << 2), length);
    this.bytes = reserve(length);
    for (let i: u32 = 0; i < chosen.count; i++) {
      features.openTerm(Vocabulary.term(chosen.entries, i));
      Mem.copy(this.at(i), features.at, features.length);
    }
  }

  at(i: u32): usize {
    return this.bytes + <usize>Mem.u32At(this.offsets + ((<usize>i) << 2));
  }

  length(i: u32): u32 {
    const offset = this.offsets + ((<usize>i) << 2);
    return Mem.u32At(offset + 4) - Mem.u32At(offset);
  }
}

export const NAMES_BYTES: usize = offsetof<Names>();
