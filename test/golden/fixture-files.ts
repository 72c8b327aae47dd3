// The fixture files: bytes as hexadecimal text in lines of 32 bytes, JSON files unchanged. A fixture is never
// rewritten, because it represents bytes in existing data directories.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(process.cwd(), "test", "golden", "bytes");
const HEX_LINE = /.{1,64}/g;

export function readFixture(file: string): Buffer {
  const text = readFileSync(join(FOLDER, file), "utf8");
  return file.endsWith(".hex") ? Buffer.from(text.replace(/\s/g, ""), "hex") : Buffer.from(text);
}

/** Writes a new fixture. Returns false and writes nothing if the file already exists. */
export function writeFixture(file: string, bytes: Uint8Array): boolean {
  const view = Buffer.from(bytes);
  const text = file.endsWith(".hex") ? `${view.toString("hex").match(HEX_LINE)!.join("\n")}\n` : view;
  try {
    writeFileSync(join(FOLDER, file), text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
