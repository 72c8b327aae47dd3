// Finds the tags in XML text that arrives in pieces: each tag's start, end and name, in order. Skips
// comments, CDATA, processing instructions and the DOCTYPE; never resolves an entity. Keeps only text that
// its caller asks it to keep, so comments and attributes of any length take no memory. Knows nothing about
// items and does not check nesting.

export const NEED_MORE = 0;
export const START_TAG = 1;
export const END_TAG = 2;
/** The text is not XML; `name` says why. Scanning continues after the faulty part. */
export const BROKEN = 3;
/** Text other than white space between two tags. Reported only while `watchText` is on. */
export const TEXT = 4;
type Found = typeof NEED_MORE | typeof START_TAG | typeof END_TAG | typeof BROKEN | typeof TEXT;

const NAME_LENGTH_MAX = 256;

const IN_TEXT = 0;
const IN_TAG = 1;
const UNTIL_END = 2;
const IN_DOCTYPE = 3;

export class XmlScanner {
  /** The last tag found: its name, its start, and the start of the text after it, as offsets into `text`. */
  name = "";
  from = 0;
  to = 0;
  selfClosing = false;
  /** If true, `next` reports text between tags. Needed outside the root element, where text is an error. */
  watchText = true;
  text = "";

  #state = IN_TEXT;
  #at = 0;
  /**
   * The text that closes what is open in the current tag or DOCTYPE: a quotation mark, or in a DOCTYPE also
   * the end of a comment or processing instruction. "" if nothing is open.
   */
  #quote = "";
  #brackets = 0;
  #terminator = "";
  /** Newlines have been counted up to the offset `#counted`, which is on this line. */
  #line = 1;
  #counted = 0;

  /** Appends a piece of text and drops the text before `keepFrom`, which shifts all offsets. */
  push(piece: string, keepFrom: number): void {
    this.lineOf(keepFrom);
    this.#counted -= keepFrom;
    this.text = this.text.slice(keepFrom) + piece;
    this.#at -= keepFrom;
    this.from -= keepFrom;
    this.to -= keepFrom;
  }

  /** Start of the text that the scanner has not scanned yet. */
  get needsFrom(): number {
    return this.#at;
  }

  /** Start of the tag being scanned. Between tags, the scanner's position. */
  get tagFrom(): number {
    return this.#state === IN_TAG ? this.from : this.#at;
  }

  /** True if the scanner has reached the end of the text and is between two tags. */
  get between(): boolean {
    return this.#state === IN_TEXT && this.#at === this.text.length;
  }

  /**
   * Line number of the text at an offset. Offsets must ascend: for an earlier offset, returns the latest line
   * number.
   */
  lineOf(offset: number): number {
    while (this.#counted < offset) {
      const newline = this.text.indexOf("\n", this.#counted);
      if (newline < 0 || newline >= offset) this.#counted = offset;
      else {
        this.#counted = newline + 1;
        this.#line++;
      }
    }
    return this.#line;
  }

  next(): Found {
    for (;;) {
      let found: Found | null;
      if (this.#state === IN_TEXT) found = this.#stepText();
      else if (this.#state === IN_TAG) found = this.#stepTag();
      else if (this.#state === UNTIL_END) found = this.#stepUntilEnd();
      else found = this.#stepDoctype();
      if (found !== null) return found;
    }
  }

  #stepText(): Found | null {
    const { text } = this;
    const open = text.indexOf("<", this.#at);
    const end = open < 0 ? text.length : open;
    if (this.watchText && end > this.#at) {
      const start = this.#at;
      this.#at = end;
      const word = text.slice(start, end).search(/\S/);
      if (word >= 0) return this.#found(TEXT, start + word, end, "text");
    }
    this.#at = end;
    if (open < 0 || open + 1 === text.length) return NEED_MORE;
    switch (text.charCodeAt(open + 1)) {
      case 0x2f:
        return this.#endTag(open);
      case 0x21:
        return this.#declaration(open);
      case 0x3f:
        return this.#until("?>", open, open + 2);
      default:
        return this.#startTag(open);
    }
  }

  #startTag(open: number): Found | null {
    const end = this.#nameEnd(open + 1);
    if (end === NO_NAME) return this.#broken(open, "a < that opens no tag");
    if (end === NAME_CUT) return NEED_MORE;
    this.name = this.text.slice(open + 1, end);
    this.from = open;
    this.#at = end;
    if (this.text.charCodeAt(end) === GREATER) return this.#endOfTag(end, false);
    this.#state = IN_TAG;
    this.#quote = "";
    return null;
  }

  /** Scans from a tag's name to its end. A `>` or `/` inside a quoted value does not end the tag. */
  #stepTag(): Found | null {
    const { text } = this;
    for (let at = this.#at; at < text.length; at++) {
      if (this.#quote !== "") {
        const close = text.indexOf(this.#quote, at);
        const less = text.slice(at, close < 0 ? text.length : close).indexOf("<");
        if (less >= 0) return this.#brokenTag(at + less);
        if (close < 0) break;
        this.#quote = "";
        at = close;
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === GREATER) return this.#endOfTag(at, false);
      if (code === 0x22 || code === 0x27) this.#quote = text[at]!;
      else if (code === LESS) return this.#brokenTag(at);
      else if (code === SLASH) {
        if (at + 1 === text.length) return this.#wait(at);
        if (text.charCodeAt(at + 1) !== GREATER) return this.#brokenTag(at + 1);
        return this.#endOfTag(at + 1, true);
      }
    }
    return this.#wait(text.length);
  }

  #endOfTag(greater: number, selfClosing: boolean): Found {
    this.selfClosing = selfClosing;
    this.#state = IN_TEXT;
    this.#at = greater + 1;
    this.to = this.#at;
    return START_TAG;
  }

  #brokenTag(resumeAt: number): Found {
    this.#state = IN_TEXT;
    this.#at = resumeAt;
    return this.#found(BROKEN, this.from, resumeAt, `a broken tag <${this.name}`);
  }

  #endTag(open: number): Found | null {
    const end = this.#nameEnd(open + 2);
    if (end === NO_NAME) return this.#broken(open, "a </ that closes nothing");
    if (end === NAME_CUT) return NEED_MORE;
    let close = end;
    while (isSpace(this.text.charCodeAt(close))) close++;
    if (close === this.text.length)
      return close - end > NAME_LENGTH_MAX ? this.#broken(open, "a broken end tag") : NEED_MORE;
    if (this.text.charCodeAt(close) !== GREATER) return this.#broken(open, "a broken end tag");
    this.#at = close + 1;
    return this.#found(END_TAG, open, close + 1, this.text.slice(open + 2, end));
  }

  #declaration(open: number): Found | null {
    const { text } = this;
    if (text.startsWith("<!--", open)) return this.#until("-->", open, open + 4);
    if (text.startsWith("<![CDATA[", open)) {
      if (this.watchText) return this.#broken(open, "CDATA outside the root element");
      return this.#until("]]>", open, open + 9);
    }
    if (/^<!doctype[\s[>]/i.test(text.slice(open, open + 10))) {
      this.from = open;
      this.#at = open + 9;
      this.#state = IN_DOCTYPE;
      this.#quote = "";
      this.#brackets = 0;
      // A DOCTYPE inside an element is an error. Report it, then skip it like any other.
      return this.watchText ? null : this.#found(BROKEN, open, open, "a DOCTYPE in an element");
    }
    return text.length - open < 10 ? NEED_MORE : this.#broken(open, "an unknown <! declaration");
  }

  #until(terminator: string, open: number, at: number): null {
    this.from = open;
    this.#at = at;
    this.#terminator = terminator;
    this.#state = UNTIL_END;
    return null;
  }

  #stepUntilEnd(): Found | null {
    const end = this.text.indexOf(this.#terminator, this.#at);
    if (end < 0) return this.#wait(Math.max(this.#at, this.text.length - this.#terminator.length + 1));
    this.#at = end + this.#terminator.length;
    this.#state = IN_TEXT;
    return null;
  }

  #stepDoctype(): Found | null {
    const { text } = this;
    for (let at = this.#at; at < text.length; at++) {
      if (this.#quote !== "") {
        const close = text.indexOf(this.#quote, at);
        if (close < 0) return this.#wait(Math.max(at, text.length - this.#quote.length + 1));
        at = close + this.#quote.length - 1;
        this.#quote = "";
        continue;
      }
      const char = text[at]!;
      if (char === '"' || char === "'") this.#quote = char;
      else if (char === "[") this.#brackets++;
      else if (char === "]") this.#brackets--;
      else if (char === "<") {
        if (text.length - at < 4) return this.#wait(at);
        if (text.startsWith("<!--", at)) {
          this.#quote = "-->";
          at += 3;
        } else if (text.startsWith("<?", at)) {
          this.#quote = "?>";
          at += 1;
        }
      } else if (char === ">" && this.#brackets <= 0) {
        this.#at = at + 1;
        this.#state = IN_TEXT;
        return null;
      }
    }
    return this.#wait(text.length);
  }

  #nameEnd(start: number): number {
    const { text } = this;
    const limit = Math.min(text.length, start + NAME_LENGTH_MAX);
    let at = start;
    for (; at < limit; at++) {
      const code = text.charCodeAt(at);
      // ASCII characters allowed in a name are letters, digits and : - . _
      if (code >= 0x80 || (code >= 0x61 && code <= 0x7a) || code === 0x3a || code === 0x5f) continue;
      if (code >= 0x41 && code <= 0x5a) continue;
      if (at > start && ((code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e)) continue;
      return at > start && (code === GREATER || code === SLASH || isSpace(code)) ? at : NO_NAME;
    }
    return at === text.length && at - start < NAME_LENGTH_MAX ? NAME_CUT : NO_NAME;
  }

  #broken(open: number, what: string): Found {
    this.#at = open + 1;
    return this.#found(BROKEN, open, open + 1, what);
  }

  #wait(at: number): Found {
    this.#at = at;
    return NEED_MORE;
  }

  #found(found: Found, from: number, to: number, name: string): Found {
    this.from = from;
    this.to = to;
    this.name = name;
    return found;
  }
}

const GREATER = 0x3e;
const LESS = 0x3c;
const SLASH = 0x2f;
const NO_NAME = -1;
const NAME_CUT = -2;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
