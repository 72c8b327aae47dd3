// The members of a JSON object as ranges of its text, for projection, partial updates and the parameters of a
// batch body. Entries are linked while they are found (other scratch lies between them) and laid side by side
// at the end. Decoded names replace their own text in the input.

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
import {
  memberEnd,
  memberKind,
  memberNameAt,
  memberNameBytes,
  memberNameStart,
  memberStart,
  membersNext,
  membersStart,
  walkAt,
  walkStatus,
} from "./json-walk";

const NEXT: usize = 24; // u32 in an entry: address of the next one, only while they are collected

let firstMember: usize = 0;
let lastMember: usize = 0;
let memberCount: u32 = 0;

/** Forgets the members collected so far. */
export function membersBegin(): void {
  firstMember = 0;
  lastMember = 0;
  memberCount = 0;
}

/** Adds the member whose name literal is [name, nameEnd) and whose value is [value, after). */
export function putMember(
  input: usize,
  name: usize,
  nameEnd: usize,
  nameEscaped: bool,
  value: usize,
  after: usize,
  kind: i32,
): void {
  const bytes = nameEscaped ? unescape(name, nameEnd, name + 1) : <u32>(nameEnd - name - 2);
  put(input, name, bytes, value, after, kind);
}

function put(input: usize, name: usize, nameBytes: u32, value: usize, after: usize, kind: i32): void {
  const entry = scratchZeroed(MEMBER_BYTES);
  Mem.putU32(entry + MEMBER_NAME, <u32>(name + 1 - input));
  Mem.putU32(entry + MEMBER_NAME_BYTES, nameBytes);
  Mem.putU32(entry + MEMBER_START, <u32>(name - input));
  Mem.putU32(entry + MEMBER_VALUE, <u32>(value - input));
  Mem.putU32(entry + MEMBER_VALUE_END, <u32>(after - input));
  Mem.putU32(entry + MEMBER_KIND, kind);
  if (firstMember == 0) firstMember = entry;
  else Mem.putU32(lastMember + NEXT, <u32>entry);
  lastMember = entry;
  memberCount++;
}

/** Lays the entries side by side in fresh scratch and enters them into the header at `result`. */
export function finishMembers(result: usize): void {
  const table = scratch(<usize>memberCount * MEMBER_BYTES);
  let entry = firstMember;
  for (let i: u32 = 0; i < memberCount; i++) {
    Mem.copy(table + <usize>i * MEMBER_BYTES, entry, MEMBER_BYTES);
    entry = Mem.u32At(entry + NEXT);
  }
  Mem.putU32(result + SPLIT_MEMBERS, memberCount);
  Mem.putU32(result + SPLIT_MEMBERS_AT, <u32>(table - result));
}

/** Lists the members of the JSON object of `bytes` bytes at p, in scratch. Returns the result's address. */
export function topLevel(p: usize, bytes: usize): usize {
  const result = scratchZeroed(16 + SPLIT_HEADER_BYTES) + 16;
  membersBegin();
  if (membersStart(p, p + bytes) == DOC_OK) {
    let mark = scratchMark();
    while (membersNext()) {
      Mem.copy(memberNameStart + 1, memberNameAt, memberNameBytes);
      scratchRewind(mark);
      put(p, memberNameStart, memberNameBytes, memberStart, memberEnd, memberKind);
      mark = scratchMark();
    }
  }
  if (walkStatus != DOC_OK) {
    Mem.putU32(result + SPLIT_STATUS, walkStatus);
    Mem.putU32(result + SPLIT_AT, <u32>(walkAt - p));
    membersBegin();
  }
  finishMembers(result);
  Mem.putU32(result - 4, <u32>(scratch(0) - result));
  return result - 4;
}
