// Lists a JSON object's members as ranges of its text, for projection, partial updates and batch body
// parameters. Entries are linked while they are collected, because other scratch separates them, and made
// contiguous at the end. Decoded names overwrite their own text in the input.

import {
  DOC_OK,
  MEMBER_BYTES,
  MEMBER_KIND,
  MEMBER_NAME,
  MEMBER_NAME_BYTES,
  MEMBER_START,
  MEMBER_VALUE,
  MEMBER_VALUE_END,
  SPLIT_AT,
  SPLIT_HEADER_BYTES,
  SPLIT_MEMBERS,
  SPLIT_MEMBERS_AT,
  SPLIT_STATUS,
} from "../layout";
import { scratch, scratchMark, scratchRewind, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { unescape } from "./json-values";
import { Members } from "./json-walk";

const NEXT: usize = 24; // offset in an entry: u32, the next entry's address, used only until `finish`

/** The members collected from one text. Allocated in scratch memory. */
@unmanaged
export class MemberList {
  input: usize; // address of the input, to which positions in the result are relative
  first: usize;
  last: usize;
  count: u32;

  static make(input: usize): MemberList {
    const made = changetype<MemberList>(scratchZeroed(offsetof<MemberList>()));
    made.input = input;
    return made;
  }

  /** Discards the members collected so far. */
  clear(): void {
    this.first = 0;
    this.last = 0;
    this.count = 0;
  }

  /** Adds the member whose name literal is [name, nameEnd) and whose value is [value, after). */
  putEscaped(name: usize, nameEnd: usize, nameEscaped: bool, value: usize, after: usize, kind: i32): void {
    const bytes = nameEscaped ? unescape(name, nameEnd, name + 1) : <u32>(nameEnd - name - 2);
    this.put(name, bytes, value, after, kind);
  }

  /** Adds a member whose name was decoded in place and has `nameBytes` bytes. */
  put(name: usize, nameBytes: u32, value: usize, after: usize, kind: i32): void {
    const input = this.input;
    const entry = scratchZeroed(MEMBER_BYTES);
    Mem.putU32(entry + MEMBER_NAME, <u32>(name + 1 - input));
    Mem.putU32(entry + MEMBER_NAME_BYTES, nameBytes);
    Mem.putU32(entry + MEMBER_START, <u32>(name - input));
    Mem.putU32(entry + MEMBER_VALUE, <u32>(value - input));
    Mem.putU32(entry + MEMBER_VALUE_END, <u32>(after - input));
    Mem.putU32(entry + MEMBER_KIND, kind);
    if (this.first == 0) this.first = entry;
    else Mem.putU32(this.last + NEXT, <u32>entry);
    this.last = entry;
    this.count++;
  }

  /** Copies the entries to contiguous fresh scratch and records them in the header at `result`. */
  finish(result: usize): void {
    const table = scratch(<usize>this.count * MEMBER_BYTES);
    let entry = this.first;
    for (let i: u32 = 0; i < this.count; i++) {
      Mem.copy(table + <usize>i * MEMBER_BYTES, entry, MEMBER_BYTES);
      entry = Mem.u32At(entry + NEXT);
    }
    Mem.putU32(result + SPLIT_MEMBERS, this.count);
    Mem.putU32(result + SPLIT_MEMBERS_AT, <u32>(table - result));
  }
}

/**
 * Lists the members of the JSON object in the `bytes` bytes at p, which are in scratch memory. Returns the
 * address of the result.
 */
export function topLevel(p: usize, bytes: usize): usize {
  const members = Members.make();
  const list = MemberList.make(p);
  const result = scratchZeroed(16 + SPLIT_HEADER_BYTES) + 16;
  if (members.begin(p, p + bytes) == DOC_OK) {
    let mark = scratchMark();
    while (members.next()) {
      Mem.copy(members.nameStart + 1, members.nameAt, members.nameBytes);
      scratchRewind(mark);
      list.put(members.nameStart, members.nameBytes, members.start, members.end, members.kind);
      mark = scratchMark();
    }
  }
  if (members.status != DOC_OK) {
    Mem.putU32(result + SPLIT_STATUS, members.status);
    Mem.putU32(result + SPLIT_AT, <u32>(members.stoppedAt - p));
    list.clear();
  }
  list.finish(result);
  Mem.putU32(result - 4, <u32>(scratch(0) - result));
  return result - 4;
}
