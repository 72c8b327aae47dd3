// Decompresses one block in Snappy's raw format. LevelDB writes compressed tables when it repairs a database;
// all other tables in Skein are uncompressed.
// https://github.com/google/snappy/blob/main/format_description.txt

/** Returns the uncompressed bytes; null if the input is not a valid block. */
export function unpackSnappy(packed: Uint8Array): Buffer | null {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = packed[at++];
    if (byte === undefined || shift > 28) return null;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (length > packed.length * 64) return null; // a copy of three bytes yields at most 64
  const out = Buffer.alloc(length);
  let end = 0;
  const little = (from: number, bytes: number): number => {
    let value = 0;
    for (let i = 0; i < bytes; i++) value += (packed[from + i] ?? 0) * 2 ** (8 * i);
    return value;
  };
  while (at < packed.length) {
    const tag = packed[at++]!;
    if ((tag & 3) === 0) {
      const short = tag >> 2;
      const extra = short < 60 ? 0 : short - 59;
      const count = (extra === 0 ? short : little(at, extra)) + 1;
      at += extra;
      if (at + count > packed.length || end + count > length) return null;
      out.set(packed.subarray(at, at + count), end);
      at += count;
      end += count;
      continue;
    }
    const near = (tag & 3) === 1;
    const bytes = near ? 1 : (tag & 3) === 2 ? 2 : 4;
    const count = near ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const distance = little(at, bytes) + (near ? (tag >> 5) * 256 : 0);
    at += bytes;
    if (distance === 0 || distance > end || end + count > length) return null;
    // The copy may overlap its own output.
    for (let i = 0; i < count; i++, end++) out[end] = out[end - distance]!;
  }
  return end === length ? out : null;
}
