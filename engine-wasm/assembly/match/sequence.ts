// Builds a posting list of the positions at which given terms are adjacent. A sequence can then be matched,
// scored and measured for closeness like any term. The list is in scratch memory, in the format of a
// segment's lists.

import { NOWHERE, PhraseReader } from "../filter/phrase";
import { STATUS_DAMAGED } from "../layout";
import { scratch, scratchMark, scratchRewind, scratchZeroed } from "../memory/arena";
import { putVarintU32 } from "../memory/varint";
import { TERMINATED } from "../segment/postings";
import { Field, findField } from "../segment/segment";
import { fail, failed } from "../status";
import {
  LIST_BLOCK_BYTES,
  LIST_WRITER_BYTES,
  ListWriter,
  listBegin,
  listDataMax,
  listEnd,
  listPosting,
} from "../write/posting-writer";
import { SINK_BYTES, Sink, sinkEnd, sinkInScratchOf } from "../write/segment-sink";

const LIST_EXTRA: usize = 64; // more than enough bytes for a list's header and tail entry

/** Builds the sequence lists for one search. Allocated in scratch memory. */
@unmanaged
export class Sequences {
  phrase: PhraseReader;
  writer: ListWriter;
  sink: Sink;
  /** End of the list that `listOf` built. */
  end: usize;

  static make(phrase: PhraseReader): Sequences {
    const made = changetype<Sequences>(scratchZeroed(offsetof<Sequences>()));
    made.phrase = phrase;
    made.writer = changetype<ListWriter>(scratch(LIST_WRITER_BYTES));
    made.writer.block = scratch(LIST_BLOCK_BYTES);
    made.sink = changetype<Sink>(scratch(SINK_BYTES));
    return made;
  }

  /**
   * Builds a list of the rows in `bits` that contain these terms at consecutive positions in the slot, and
   * returns its address, or 0 if there are no such rows. A row's frequency is its number of matches; a
   * match's position is its first term's position. Releases all other scratch memory that it used.
   */
  listOf(segment: usize, terms: usize, termCount: u32, slot: u32, bits: usize): usize {
    const phrase = this.phrase;
    const before = scratchMark();
    const field = findField(segment, slot);
    if (field == 0 || !phrase.open(segment, terms, termCount, slot)) {
      scratchRewind(before);
      return 0;
    }
    const norms = Field.norms(segment, field);
    const bytes = listDataMax(phrase.rowsMax()) + this.positionBytesMax();
    // Starts over, so that the list is allocated first and everything after it can be freed.
    scratchRewind(before);
    sinkInScratchOf(this.sink, bytes + LIST_EXTRA);
    const list = sinkEnd(this.sink);
    phrase.open(segment, terms, termCount, slot);
    listBegin(this.writer, scratch(bytes), phrase.rowsMax(), norms);
    if (norms == 0) fail(STATUS_DAMAGED);
    for (
      let row = phrase.nextRow(0, bits);
      row != TERMINATED && !failed();
      row = phrase.nextRow(row + 1, bits)
    )
      this.addRow(row);
    const any = !failed() && listEnd(this.writer, slot, this.sink);
    this.end = sinkEnd(this.sink);
    scratchRewind(any ? (this.end + 15) & ~15 : before);
    return any ? list : 0;
  }

  /**
   * Upper bound on the size in bytes of the list's positions. They are a subset of the first term's
   * positions, so they never take more bytes.
   */
  private positionBytesMax(): usize {
    const first = this.phrase.first();
    return first.positionsEnd - first.positions;
  }

  private addRow(row: u32): void {
    const phrase = this.phrase;
    if (!phrase.readRow()) return;
    let places: u32 = 0;
    for (let at = phrase.placeFrom(0); at != NOWHERE; at = phrase.placeFrom(at + 1)) places++;
    if (places == 0) return;
    listPosting(this.writer, row, places);
    phrase.rereadRow();
    let previous: u32 = 0;
    for (let at = phrase.placeFrom(0); at != NOWHERE; at = phrase.placeFrom(at + 1)) {
      this.writer.positionsEnd = putVarintU32(this.writer.positionsEnd, at - previous);
      previous = at;
    }
  }
}
