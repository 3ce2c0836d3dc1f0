/** What letters behind a backslash stand for in C, and in the formats of many tools. Pure. */

/** Of `find -printf` and `stat --printf`, by their letter; each has a few of its own besides. */
export const C_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** The bytes that have such a letter, as they are printed. */
export const C_ESCAPED_BYTES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
};
