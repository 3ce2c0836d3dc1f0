/** For tests: names that are `.git` on a file system of somebody else. */
export const DOT_GITS: readonly string[] = [
  '.GIT',
  '.Git',
  'git~1',
  'GIT~2',
  '.git.',
  '.git ',
  '.git. .',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  '.g\u200cit',
  '\ufeff.git',
];
