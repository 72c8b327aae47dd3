// Places where terms stand one behind the other, as a posting list of their own: a sequence is then matched, scored
// and measured for closeness like any term. The list is made in scratch, in the format of a segment's lists.

import {
  NOWHERE,
  phraseFirst,
  phraseNextRow,
  phraseOpen,
  phrasePlace,
  phraseReadRow,
  phraseRowsMax,
} from "../filter/phrase";
import { STATUS_DAMAGED } from "../layout";
import { scratch, scratchMark, scratchRewind } from "../memory/arena";
import { Bits } from "../memory/bitset";
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

const LIST_EXTRA: usize = 64; // header and tail entry of a list, generously

let writer: ListWriter = changetype<ListWriter>(0);
let sink: Sink = changetype<Sink>(0);

/** End of the list that `sequenceList` made. */
export let sequenceEnd: usize = 0;

/** Takes the scratch that every sequence of a query shares. */
export function sequencesSetUp(): void {
  writer = changetype<ListWriter>(scratch(LIST_WRITER_BYTES));
  writer.block = scratch(LIST_BLOCK_BYTES);
  sink = changetype<Sink>(scratch(SINK_BYTES));
}

/**
 * Address of the list of the rows among `bits` with these terms at consecutive positions of the slot: frequency =
 * number of such places, position = that of the first term. 0 when there is none; other scratch is given back.
 */
export function sequenceList(segment: usize, terms: usize, termCount: u32, slot: u32, bits: usize): usize {
  const before = scratchMark();
  const field = findField(segment, slot);
  if (field == 0 || !phraseOpen(segment, terms, termCount, slot)) {
    scratchRewind(before);
    return 0;
  }
  const norms = Field.norms(segment, field);
  const bytes = listDataMax(phraseRowsMax()) + positionBytesMax();
  scratchRewind(before); // the list comes first, so that all the rest can go
  sinkInScratchOf(sink, bytes + LIST_EXTRA);
  const list = sinkEnd(sink);
  phraseOpen(segment, terms, termCount, slot);
  listBegin(writer, scratch(bytes), phraseRowsMax(), norms);
  if (norms == 0) fail(STATUS_DAMAGED);
  for (let row = phraseNextRow(0); row != TERMINATED && !failed(); row = phraseNextRow(row + 1)) {
    if (Bits.has(bits, row)) addRow(row);
  }
  const any = !failed() && listEnd(writer, slot, sink);
  sequenceEnd = sinkEnd(sink);
  scratchRewind(any ? (sequenceEnd + 15) & ~15 : before);
  return any ? list : 0;
}

/** Places are positions of the first term, and fewer of them never need more bytes. */
function positionBytesMax(): usize {
  const first = phraseFirst();
  return first.positionsEnd - first.positions;
}

function addRow(row: u32): void {
  if (!phraseReadRow()) return;
  let places: u32 = 0;
  for (let at = phrasePlace(0); at != NOWHERE; at = phrasePlace(at + 1)) places++;
  if (places == 0) return;
  listPosting(writer, row, places);
  phraseReadRow();
  let previous: u32 = 0;
  for (let at = phrasePlace(0); at != NOWHERE; at = phrasePlace(at + 1)) {
    writer.positionsEnd = putVarintU32(writer.positionsEnd, at - previous);
    previous = at;
  }
}
