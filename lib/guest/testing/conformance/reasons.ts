/** Why an invocation is answered otherwise than by the machine's bash. Every difference of the table has its reason. */

const REASONS: readonly [pattern: RegExp, reason: string][] = [
  [/^file /, 'file names Markdown and other kinds of text where GNU’s says “ASCII text”'],
  [/^tree /, 'the machine has no tree; ours has'],
  [/\bcolumn -s/, 'column leaves out the blanks behind the last column'],
  [/^find \/ /, 'the machine hides a folder of the root from its user; the sandbox has none'],
  [
    /^(?:cat|head) .*nowhere .* 2>&1/,
    'with `2>&1` the errors of cat and head stand behind their output, not in its order',
  ],
  [/gzip -l/, 'gzip -l prints its title before it finds that a file is none of its own'],
  [/ls \/usr\/bin \/usr\/local\/bin/, 'lists the commands that there are: ours are others'],
  [/rg --files/, 'rg is here; the machine has none'],
  [/\bnproc\b/, 'there is no nproc: it fails with “command not found”'],
  [/sort data\/words.*sort -u/, 'of several shortest differences another is shown'],
  [/\b(?:cmp|id|mktemp|nohup|uname|yes)\b/, 'the command is not there: it fails with “command not found”'],
  [/grep .*-r.*\| head/, 'the first lines of a walk, whose order is the file system’s own'],
];

/** Null: the difference has no reason yet. */
export function differenceReason(command: string): string | null {
  return REASONS.find(([pattern]) => pattern.test(command))?.[1] ?? null;
}
