// Defines every number that the engine shares with its host, such as byte offsets in a segment, codes in
// binary query programs, and status codes. Compiled by both asc and tsc, so it contains only `export const N
// = <int>`. docs/FORMATS.md shows the layouts. ON DISK numbers never change.

// --- Segment header (ON DISK). All offsets are u32, relative to the segment's first byte, 8-aligned.
export const SEGMENT_MAGIC = 0x47534b53; // "SKSG"
export const SEGMENT_VERSION = 1;
export const SEG_MAGIC = 0;
export const SEG_VERSION = 4;
export const SEG_BYTES = 8; // segment length in bytes
export const SEG_ROWS = 12;
export const SEG_TERMS = 16;
export const SEG_FIELDS = 20; // number of entries in the field table
export const SEG_SEQS = 24; // -> u64[rows], the documents' sequence numbers, strictly ascending
export const SEG_ID_HASHES = 28; // -> u64[rows], hashes of the rows' ids, ascending
export const SEG_ID_ROWS = 32; // -> u32[rows], the row that each id hash belongs to
export const SEG_TERM_OFFSETS = 36; // -> u32[terms + 1], where each term starts in the term bytes
export const SEG_TERM_BYTES = 40; // -> the terms in UTF-8, sorted by bytes
export const SEG_TERM_LCP = 44; // -> u8[terms], number of leading bytes shared with the previous term
export const SEG_TERM_LISTS = 48; // -> u32[terms + 1], where each term's posting lists start
export const SEG_LISTS = 52; // -> posting lists
export const SEG_FIELD_TABLE = 56; // -> the field entries below
export const SEG_HEADER_BYTES = 64;

// --- Segment field entry (ON DISK), sorted by slot. Offset 0 means "no such section".
export const FIELD_SLOT = 0; // u16, the field's permanent number in the index
export const FIELD_TYPE = 2; // u8, TYPE_*
export const FIELD_FLAGS = 3; // u8, FLAG_*
// -> u8[rows], each row's length in tokens, encoded as in memory/norm.ts (text fields).
export const FIELD_NORMS = 4;
export const FIELD_PRESENT = 8; // -> u64[ceil(rows / 64)], bitset of the rows with a value
export const FIELD_VALUES = 12; // -> numbers: i32[], i64[], f64[]; bool: u8[] (0 or 1)
// -> u32[rows + 1], arrays only: elements of row r are offsets[r]..offsets[r + 1].
export const FIELD_OFFSETS = 16;
export const FIELD_ORDINALS = 20; // -> u32[elements], index into the dictionary (FACET or SORT)
export const FIELD_DICTIONARY = 24; // -> dictionary of the distinct values (FACET or SORT)
export const FIELD_HASHES = 28; // -> u64[elements], hash of the folded value (string without dictionary)
export const FIELD_ELEMENTS = 32; // u32, number of elements (rows for single-valued fields)
export const FIELD_DOCUMENTS = 36; // u32, number of rows with at least one token (text fields)
export const FIELD_LENGTHS = 40; // f64, sum of all rows' decoded lengths (text fields)
export const FIELD_ENTRY_BYTES = 48;

// --- Field types (ON DISK). A type's bit in a mask is 1 << its number.
export const TYPE_STRING = 0;
export const TYPE_INT32 = 1;
export const TYPE_INT64 = 2;
export const TYPE_FLOAT = 3;
export const TYPE_BOOL = 4;
export const TYPE_STRINGS = 5;
export const TYPE_INT32S = 6;
export const TYPE_FLOATS = 7;
export const TYPE_COUNT = 8; // the number of types, which are numbered from 0 without gaps
export const STRING_TYPES = (1 << TYPE_STRING) | (1 << TYPE_STRINGS);
// All other numeric types are integers, including bool.
export const FLOAT_TYPES = (1 << TYPE_FLOAT) | (1 << TYPE_FLOATS);
export const LONG_TYPES = 1 << TYPE_INT64; // integers that a JavaScript number may not represent exactly
export const ARRAY_TYPES = (1 << TYPE_STRINGS) | (1 << TYPE_INT32S) | (1 << TYPE_FLOATS);

export const FLAG_FACET = 1;
export const FLAG_SORT = 2;
export const FLAG_INDEX = 4; // the field can be filtered and, if it is a string field, searched
export const FLAG_REQUIRED = 8;
export const FLAG_SKU = 16; // the whole value is also indexed as one word (TERM_SKU)
export const FLAG_BRAND = 32; // the whole value is also indexed (TERM_VALUE)

export const NO_ORDINAL = -1; // 0xffffffff in a column of ordinals: the row has no value

// --- Column dictionary (ON DISK). Strings are sorted by (folded bytes, raw bytes), numbers ascending.
export const DICT_COUNT = 0; // u32
// Strings: -> u32[count + 1], where each raw string starts, relative to the dictionary's first byte.
export const DICT_RAW_OFFSETS = 4;
export const DICT_FOLDED_OFFSETS = 8; // strings: -> u32[count + 1], the same for the folded strings
export const DICT_VALUES = 12; // numbers: -> 8 bytes each: i64 (int32, int64, bool) or f64 (float)
export const DICT_HEADER_BYTES = 16;

// --- Posting list (ON DISK). docs/FORMATS.md shows the layout.
export const BLOCK_ROWS = 128;
export const BLOCK_LAST_ROW = 0; // u32
// u32, where the packed rows start, counted from the end of the directory and its tail.
export const BLOCK_DATA = 4;
export const BLOCK_POSITIONS = 8; // u32, where the block's first positions start in the list's positions
export const BLOCK_MAX_TF = 12; // u8, min(255, largest tf)
export const BLOCK_MIN_NORM = 13; // u8, smallest norm byte
export const BLOCK_ROW_BITS = 14; // u8, 0..32
export const BLOCK_TF_BITS = 15; // u8, 0..24
export const BLOCK_ENTRY_BYTES = 16;
// After the directory, only if there are blocks: u32 tail data, u32 tail positions.
export const LIST_TAIL_BYTES = 8;

export const TERM_BYTES_MAX = 120;
export const ELEMENT_GAP = 8; // number of positions left free between two elements of a string[]

// Must be incremented when any text starts to yield different terms. Existing indexes are then rebuilt.
export const ANALYSIS_VERSION = 2;

// --- Marker terms (ON DISK): dictionary terms that are not text tokens. Tokens never begin with a byte below
// TERM_TEXT, so marker terms sort first. No marker term is longer than TERM_BYTES_MAX.
export const TERM_STEM = 0x01; // followed by TERM_LANGUAGE + language number, then a token's stem
export const TERM_SKU = 0x02; // followed by all tokens of a value, joined
export const TERM_VALUE = 0x03; // followed by all tokens of a value, separated by single spaces
export const TERM_TEXT = 0x20; // smallest byte that a text token can start with
export const TERM_LANGUAGE = 0x20;
export const LANGUAGE_NUMBER_MAX = 0x5f; // languages are numbered from 1; 0 = the field has no language

// --- Snapshot: a query's input. u32 count, then count x {u32 segment, u32 live, u32 summary, u32 codes}.
// live = 0: all rows live, else -> u64 bitset. summary = 0: none, else -> the output of `summarise`.
// codes = 0: no row has a code that may be compared.
export const SNAP_COUNT = 0;
export const SNAP_ENTRIES = 4;
export const SNAP_ENTRY_BYTES = 16;
// A merge's input is laid out like a snapshot, but an entry has only `segment` and `live`.
export const MERGE_ENTRY_BYTES = 8;

// --- First fields of programs and results.
export const PROGRAM_VERSION = 6;
export const PROGRAM_EXPAND = 1;
export const PROGRAM_SEARCH = 2;
export const PROGRAM_NEAREST = 3;
export const PROGRAM_COMPANY = 4;

export const WORD_EXACT = 1; // flags of a word in an expand program
export const WORD_PREFIX = 2;
export const WORD_TYPO_PREFIX = 4; // a term also matches if only a prefix of it is near the word
export const WORD_INFIX = 8; // also find longer terms that contain the word
export const WORD_INSIDE = 16; // like WORD_INFIX, but not terms that start with the word
export const PREFIX_TERMS_LISTED = 64; // maximum number of terms listed for a prefix
// Maximum number of terms listed that contain a word; the shortest are listed.
export const INFIX_TERMS_LISTED = 256;

// Maximum number of words, and of candidates, in a company program. There is a limit because each word needs
// a bitset of rows.
export const COMPANY_WORDS_MAX = 64;

export const MATCH_ALL = 0;
export const MATCH_ANY = 1; // one word is enough, but rows with every word rank first
export const MATCH_BY_SCORE = 2; // one word is enough, and rows with every word do not rank first

export const TERM_WHOLE = 0;
export const TERM_PREFIX = 1;

export const ALT_EXACT = 0; // kinds of alternatives
export const ALT_SYNONYM = 1;
export const ALT_PREFIX = 2;
export const ALT_TYPO = 3;
export const ALT_STEM = 4;
export const ALT_JOINED = 5;
export const ALT_SPLIT = 6;
export const ALT_INFIX = 7;

export const ALTERNATIVE_NEAR = 1; // flags of an alternative. NEAR: its positions count toward closeness
export const ALTERNATIVE_EXACT = 2; // treated as if it were the word itself
export const ALTERNATIVE_SEQUENCE = 4; // the alternative's terms must be adjacent
export const ALTERNATIVE_INFIX = 8; // the alternative matches only in slots with SLOT_INFIX

export const SLOT_INFIX = 1; // flag of a queried slot: alternatives with ALTERNATIVE_INFIX match there too

export const BONUS_TERMS_MAX = 256;
export const RULES_MAX = 256;
export const RULE_HIDE = 0; // effects of rules
export const RULE_BURY = 1;
export const RULE_BOOST = 2;
export const RULE_KEEP = 3;

export const PLACE_STARTS = 1; // which place bonus a row gets; 0 = none
export const PLACE_WHOLE = 2;

export const NEAR_NONE = 0; // how a program's neighbours affect ranking. NONE: it has no neighbours
export const NEAR_ADDED = 1; // neighbours' points are added to the relevance
export const NEAR_FIRST = 2; // neighbours rank before all other rows

export const NEIGHBOUR_MATCHES = 1; // flag of a neighbour: it matches even without the query's words

export const ROW_MATCHED = 1; // flags of a result row. MATCHED: it matches the query's words
export const ROW_PINNED = 2;
export const ROW_NEIGHBOUR = 4; // the row is a neighbour with NEIGHBOUR_MATCHES
export const ROW_HAS_WORD = 8; // the row has ROW_NEIGHBOUR and contains at least one of the query's words

export const OP_ALL = 0; // filter operations, in postfix order
export const OP_AND = 1;
export const OP_OR = 2;
export const OP_NOT = 3;
export const OP_INT_RANGE = 4; // u16 slot, i64 low, i64 high, both inclusive (int32, int64, bool)
// u16 slot, f64 low, f64 high, u8 flags: 1 = low is exclusive, 2 = high is exclusive.
export const OP_FLOAT_RANGE = 5;
export const OP_EQUALS = 6; // u16 slot, u32 length, folded bytes
// u16 slot, u16 count, count x {u16 length, bytes}: tokens in this order within one element.
export const OP_TOKENS = 7;
export const OP_IDS = 8; // u32 count, count x u64 id hash

// Bit in a facet's limit: a shard returns only its most frequent values (search/facets.ts).
export const FACET_SHARE = 0x80000000;

export const SORT_RELEVANCE = 0;
export const SORT_FIELD = 1;
export const SORT_SEQ = 2;
export const SORT_CLASS = 3;

// --- Status codes that kernels return.
export const STATUS_OK = 0;
export const STATUS_BAD_PROGRAM = 1;
export const STATUS_DAMAGED = 2; // stored bytes, such as a segment's, are inconsistent
export const STATUS_UNKNOWN_TYPE = 3; // a field has a type that the kernel does not support

// --- Status codes for a single document.
export const DOC_OK = 0;
export const DOC_BAD_JSON = 1;
export const DOC_NOT_OBJECT = 2;
export const DOC_NO_ID = 3;
export const DOC_BAD_ID = 4;
export const DOC_LONE_SURROGATE = 5;
export const DOC_TOO_DEEP = 6;
export const DOC_WRONG_TYPE = 7; // the value does not have the type of the slot's field
export const DOC_OUT_OF_RANGE = 8;
export const DOC_MISSING_FIELD = 9;
export const DOC_BAD_EMBEDDING = 10;
export const DOC_BAD_UTF8 = 11;

export const JSON_DEPTH_MAX = 64;
export const ID_BYTES_MAX = 512;

// --- Entries for refused documents in the build kernel's result.
export const REFUSED_INDEX = 0; // u32, the document's position in the input
export const REFUSED_CODE = 4; // u32, DOC_*
export const REFUSED_SLOT = 8; // u32, the field's slot; 0xffffffff if the error is not in a field
export const REFUSED_AT = 12; // u32, byte position of the error in the document
export const REFUSED_BYTES = 16;

// --- Result of splitting a batch body or a piece of an NDJSON stream. Positions are relative to the input's
// first byte. Decoded ids and names replace their original text in the kernel's input.
export const DOC_ID_ONLY = 12; // the element is a string, which is the id of a document to delete
export const SPLIT_STATUS = 0; // u32, DOC_* for the whole body
export const SPLIT_AT = 4; // u32, position of the error
export const SPLIT_CONSUMED = 8; // u32, number of bytes that the caller need not send again (NDJSON)
export const SPLIT_MEMBERS = 12; // u32, number of top-level members (batch body)
export const SPLIT_MEMBERS_AT = 16; // u32, -> member entries, relative to the result's first byte
export const SPLIT_DOCUMENTS = 20; // u32, number of document entries
export const SPLIT_DOCUMENTS_AT = 24; // u32, -> document entries
export const SPLIT_HEADER_BYTES = 32;

export const SPLIT_DOC_START = 0; // u32
export const SPLIT_DOC_END = 4; // u32
export const SPLIT_DOC_STATUS = 8; // u32, DOC_*
export const SPLIT_DOC_AT = 12; // u32, position of the error
export const SPLIT_DOC_ID = 16; // u32, position of the decoded id
export const SPLIT_DOC_ID_BYTES = 20; // u32
export const SPLIT_DOC_HASH = 24; // u64, hash of the id
export const SPLIT_DOC_BYTES = 32;

export const MEMBER_NAME = 0; // u32, position of the decoded name
export const MEMBER_NAME_BYTES = 4; // u32
export const MEMBER_START = 8; // u32, position of the name's opening quote
export const MEMBER_VALUE = 12; // u32
export const MEMBER_VALUE_END = 16; // u32
export const MEMBER_KIND = 20; // u32: 0 null, 1 false, 2 true, 3 number, 4 string, 5 array, 6 object
export const MEMBER_BYTES = 32;

// --- Tokens reported by the analyse kernel, each followed by its term. A joined token follows its last part.
export const TOKEN_START = 0; // u32
export const TOKEN_END = 4; // u32
export const TOKEN_POSITION = 8; // u32, token number; for a joined token, its first part's number
export const TOKEN_PARTS = 12; // u32, number of tokens that were joined; 1 = not a joined token
export const TOKEN_TERM_BYTES = 16; // u32
export const TOKEN_TERM = 20;

export const JOIN_PARTS_MAX = 6; // maximum number of tokens in a run that is joined
export const JOIN_NONE = 0; // whether a code point joins the tokens around it. NONE: never
export const JOIN_WORDS = 1; // joins them unless all tokens of the run are numbers
export const JOIN_ALL = 2; // always joins them

// --- Analysis overrides: u32 entries in ascending code point order. An entry is the code point, plus this
// bit if it is a separator.
export const OVERRIDE_SEPARATOR = 0x40000000;

// --- Unicode table (ON DISK, engine-wasm/unicode/fold.bin). Two stages: a u16 block number per run of code
// points, then u32 entries. An entry has the class in bits 0..2, the folding's length in bytes in bits 3..8
// (0: folds to itself), and the folding's offset in the folding bytes from bit 9.
export const FOLD_MAGIC = 0x46554b53; // "SKUF"
export const FOLD_VERSION = 2;
export const FOLD_MAGIC_AT = 0;
export const FOLD_VERSION_AT = 4;
export const FOLD_BYTES_AT = 8; // u32, table length in bytes
export const FOLD_ENTRIES_AT = 12; // u32, -> u32[] entries
export const FOLD_POOL_AT = 16; // u32, -> UTF-8 bytes of all foldings
export const FOLD_GROWTH_AT = 20; // u32, largest factor by which folding can lengthen a text
export const FOLD_UNICODE_AT = 24; // u32, the table's Unicode version times ten
export const FOLD_STAGE1_AT = 28; // the block numbers start here
export const FOLD_BLOCK_SHIFT = 6;
export const FOLD_LENGTH_SHIFT = 3;
export const FOLD_PLACE_SHIFT = 9;

export const CLASS_SEPARATOR = 0;
export const CLASS_LETTER = 1;
export const CLASS_DIGIT = 2;
export const CLASS_IGNORED = 3; // ignored inside a word, does not split it
export const CLASS_IDEOGRAPH = 4; // each is a separate token
export const CLASS_APOSTROPHE = 5; // dropped between two letters or digits, else a separator
export const CLASS_VOICING = 6; // belongs to the preceding ideograph (kana, Thai ...); ignored elsewhere

// --- Vectors (ON DISK). A record is f32 scale, i8[VECTOR_SIZE] numbers. It represents the vector scale *
// numbers, which has length 1. If scale and all numbers are 0, there is no vector. All vectors are rotated
// (vector/rotation.ts).
export const VECTOR_SIZE = 512; // numbers per vector
export const VECTOR_SCALE = 0; // f32, 1 / length of the numbers
export const VECTOR_NUMBERS = 4; // i8[VECTOR_SIZE]
export const VECTOR_BYTES = 516;

// --- Embedded model (ON DISK). Contains a vector for each of an index's terms. Offsets are u32 from the
// model's first byte, 8-aligned.
export const EMBEDDED_MAGIC = 0x4d454b53; // "SKEM"
export const EMBEDDED_VERSION = 1;
export const MODEL_MAGIC = 0;
export const MODEL_VERSION = 4;
export const MODEL_BYTES = 8; // model length in bytes
export const MODEL_TERMS = 12;
export const MODEL_SLOTS = 16; // number of entries in the slot table
export const MODEL_DOCUMENTS = 20; // number of documents in the training set
export const MODEL_NUMBER = 24;
export const MODEL_FLAGS = 28; // 0 or MODEL_ALIGNED
export const MODEL_SLOT_TABLE = 32; // -> slot entries
export const MODEL_TERM_OFFSETS = 36; // -> u32[terms + 1], where each term starts in the term bytes
export const MODEL_TERM_BYTES = 40; // -> terms as in a segment, UTF-8, sorted by bytes
export const MODEL_FACTORS = 44; // -> f32[terms], factor by which each term's numbers are multiplied
export const MODEL_VECTORS = 48; // -> i8[terms][VECTOR_SIZE]
export const MODEL_HEADER_BYTES = 64;

export const MODEL_ALIGNED = 1; // flag: this model's vectors can be compared with the previous model's

export const MODEL_SLOT = 0; // u16, the field's slot; entries are in ascending slot order
export const MODEL_SLOT_STEMMED = 2; // u8, 1 = stems and terms with a digit also contribute to a vector
export const MODEL_SLOT_WEIGHT = 4; // f32, weight of one occurrence of a term in the field
export const MODEL_SLOT_BYTES = 8;

export const MODEL_NUMBER_LIMIT = 1000000; // limit on weights and factors, which must not be negative
export const MODEL_SLOTS_MAX = 256;
// Maximum number of a document's terms that contribute to its vector; the heaviest do.
export const DOCUMENT_TERMS_MAX = 64;

// --- Training options.
export const TRAIN_NUMBER = 0; // u32, number of the new model
export const TRAIN_TERMS_MAX = 4; // u32
export const TRAIN_PREVIOUS = 8; // u32, address of a checked model to align to; 0 = none
export const TRAIN_SLOTS = 12; // u32
export const TRAIN_SLOTS_AT = 16; // from here on: slot entries, as in a model

// --- Codes region (ON DISK): the codes for a segment's rows. u32 rows, u32 0, u64[ceil(rows / 64)] rows with
// a code, then CODE_BYTES per row. Bit i of a code (byte i >> 3, bit i & 7) is set if number i of the vector
// is not negative.
export const CODES_ROWS = 0; // u32
export const CODES_ZERO = 4; // u32
export const CODES_PRESENT = 8; // u64[ceil(rows / 64)]
export const CODE_BYTES = 64;

// --- A row in the `nearest` kernel's result.
export const NEAREST_SEQ = 0; // f64
export const NEAREST_DISTANCE = 8; // u32, number of bits in which the row's code and the query's differ
export const NEAREST_ESTIMATE = 12; // f32, approximate cosine
export const NEAREST_ROW_BYTES = 16;
