import fc from 'fast-check';

/**
 * Random changes of valid texts, by token, so that most results are still nearly valid; then some
 * of their bytes.
 */

/** JSON values that parsers take for something else, or fail on. */
// prettier-ignore
const VALUES = [
  'null', 'true', '{}', '[]', '""', '" "', '"\\ud800"', '"\\u0000"', '"\u2028"', '"\u202E"', '"\uFEFF"', '"\u{10FFFF}"', '"e\u0301"', '"a/b"', '"%00"',
  '"__proto__"', '"constructor"', '"toString"', '"length"', '"then"', '"all"', '{"__proto__":1}', '{"constructor":{"prototype":1}}', '["__proto__"]',
  '0', '-0', '1', '-1', '0.1', '1e3', '1E-9', '1e400', '-1e400', '0.0000001', '"1"', '"-0"', '"1e3"', '"0.10"', '"+1"', '"01"', '"0x10"', '"NaN"',
  '9007199254740991', '9007199254740992', '-9007199254740992', '"9007199254740991"', '"-9007199254740992"', '0.30000000000000001', '123456789012345',
  '1234567890123456', '"0001-01-01T00:00:00Z"', '"0000-01-01T00:00:00Z"', '"9999-12-31T23:59:59.999Z"', '"10000-01-01T00:00:00Z"',
  '"2026-02-30T00:00:00Z"', '"2026-11-20T23:59:60Z"', '"2026-11-20T09:00:00+23:59"', '"2026-11-20"', '["a","b","a"]', `["${'x'.repeat(256)}"]`,
  `"${'x'.repeat(128)}"`, `"${'x'.repeat(129)}"`, `"${'中'.repeat(43)}"`, `"${'9'.repeat(64)}"`, '9'.repeat(65), `"0.${'3'.repeat(62)}"`,
  `[${Array.from({ length: 65 }, (_, n) => `"v${n}"`).join()}]`, `{${Array.from({ length: 65 }, (_, n) => `"v${n}":1`).join()}}`,
] as const;

/** Parts of texts in any of the languages. */
// prettier-ignore
const PIECES = [
  '', ' ', '\n', '\0', '\t', '\uFEFF', '\u2028', '\u202E', '\uD800', '\u{10FFFF}', 'e\u0301', '\\', '\\u0000', '/', '%', '%00', '%zz', '%ff', '%C3%A9',
  '"', "'", '{', '}', '[', ']', ',', ':', '=', '@', '#', '&', '*', '!', '|', '>', '-', '?', '<<', '---', '&one ', '*one', '*columns', '!!binary ',
  '__proto__', 'constructor', 'toString', 'length', 'null', 'NaN', '0', '-1', '1e3', '9007199254740992', '0x10', '9'.repeat(65), 'x'.repeat(129),
  '2026-W53', '2026-W00', '2026-13', '2026-02-30', '10000', 'all', 'week', 'week:previous', 'day:current', 'interval:', 'season:', 'region=eu',
] as const;

/** Changes a list of tokens at an index. */
type Edit = (tokens: string[], at: number, piece: string) => void;

const replace: Edit = (tokens, at, piece) => tokens.splice(at, 1, piece);
const replaceInside: Edit = (tokens, at, piece) => {
  const [token = ''] = tokens.slice(at);
  tokens[at] = token.startsWith('"') ? `"${piece}${token.slice(1)}` : token + piece;
};
/** Replaces the next string or number, so that JSON stays JSON. */
const replaceValue: Edit = (tokens, at, value) => {
  const found = tokens.findIndex((token, index) => index >= at && /^["\d]/.test(token));
  if (found >= 0) tokens[found] = value;
};
const insert: Edit = (tokens, at, piece) => tokens.splice(at, 0, piece);
const remove: Edit = (tokens, at) => tokens.splice(at, 1);
const swap: Edit = (tokens, at) => tokens.splice(at, 2, ...tokens.slice(at, at + 2).reverse());
const cut: Edit = (tokens, at) => tokens.splice(at);
const repeatRest: Edit = (tokens, at) => tokens.push(...tokens.slice(at));
const MAX_REPEATED = 1_000; // a token that was repeated before may be long
const repeated = (times: number): Edit => {
  return (tokens, at) =>
    tokens.splice(at, 1, (tokens[at] ?? '').slice(0, MAX_REPEATED).repeat(times));
};
/** Puts a token into lists, in lists of lists and so on. */
const nested = (levels: number, [open, close]: readonly [string, string]): Edit => {
  return (tokens, at) =>
    tokens.splice(at, 1, open.repeat(levels) + (tokens[at] ?? '') + close.repeat(levels));
};

const USUAL = [replace, replaceInside, insert, insert, remove, swap, cut];
const PARENTHESES = [['[', ']'], ['{"a":', '}'], ['[', '']] as const; // prettier-ignore
const RARE = [
  ...[repeatRest, repeated(2), repeated(64), repeated(300), repeated(5_000)],
  ...[3, 97, 98, 99, 100, 1_000, 20_000].flatMap((levels) =>
    PARENTHESES.map((pair) => nested(levels, pair)),
  ),
];

const pieceArbitrary = fc.constantFrom<string>(...PIECES);
const editArbitrary = fc.oneof(
  {
    weight: 45,
    arbitrary: fc.tuple(fc.constant(replaceValue), fc.nat(), fc.constantFrom<string>(...VALUES)),
  },
  { weight: 15, arbitrary: fc.tuple(fc.constantFrom(...USUAL), fc.nat(), pieceArbitrary) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...RARE), fc.nat(), pieceArbitrary) },
);
const edits = fc.array(editArbitrary, { maxLength: 4, size: 'max' });

const TOKEN = /"(?:[^"\\\n]|\\.)*"|[\p{L}\p{N}_.]+|[^]/gu;

/** Texts that result from changes of these. */
export function editedArbitrary(texts: readonly string[]): fc.Arbitrary<string> {
  const tokens = texts.map((text) => text.match(TOKEN) ?? []);
  return fc.tuple(fc.constantFrom(...tokens), edits).map(([original, list]) => {
    const changed = [...original];
    for (const [edit, place, piece] of list) edit(changed, place % (changed.length + 1), piece);
    return changed.join('');
  });
}

/** Bytes that are not valid UTF-8, or end texts early. */
const BYTES = [0x00, 0x0a, 0x22, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xed, 0xef, 0xf0, 0xf8, 0xff];
const byteEdits = fc.oneof(
  { weight: 19, arbitrary: fc.constant([]) },
  fc.array(fc.tuple(fc.nat(), fc.constantFrom(...BYTES)), { maxLength: 3, size: 'max' }),
);

/** As editedArbitrary, in UTF-8; at times with other bytes in place of some. */
export function editedBytesArbitrary(texts: readonly string[]): fc.Arbitrary<Buffer> {
  return fc.tuple(editedArbitrary(texts), byteEdits).map(([text, list]) => {
    const bytes = Buffer.from(text);
    for (const [place, byte] of list) if (bytes.length > 0) bytes[place % bytes.length] = byte;
    return readable(bytes);
  });
}

/** Bytes that a report of fast-check shows as a text. */
export function readable(bytes: Buffer): Buffer {
  const shown = () => `Buffer.from(${JSON.stringify(bytes.toString('latin1'))}, 'latin1')`;
  return Object.assign(bytes, { [fc.toStringMethod]: shown });
}
