/** The commands for text and dates among the shell's own commands. */
import type { OwnCommand } from './own-command.ts';

export const TEXT_COMMANDS: Readonly<Record<string, () => Promise<OwnCommand>>> = {
  cat: async () => (await import('./cat.ts')).cat,
  cut: async () => (await import('./cut.ts')).cut,
  date: async () => (await import('./date/date.ts')).date,
  diff: async () => (await import('./diff/diff.ts')).diffCommand,
  fold: async () => (await import('./line-tools.ts')).fold,
  head: async () => (await import('./head-tail.ts')).head,
  hexdump: async () => (await import('./od.ts')).hexdump,
  jq: async () => (await import('./jq/jq.ts')).jq,
  join: async () => (await import('./join.ts')).join,
  nl: async () => (await import('./line-tools.ts')).nl,
  od: async () => (await import('./od.ts')).od,
  paste: async () => (await import('./paste.ts')).paste,
  patch: async () => (await import('./diff/patch.ts')).patch,
  rev: async () => (await import('./line-tools.ts')).rev,
  sed: async () => (await import('./sed/sed.ts')).sed,
  shuf: async () => (await import('./shuf.ts')).shuf,
  sort: async () => (await import('./sort.ts')).sort,
  tac: async () => (await import('./line-tools.ts')).tac,
  tail: async () => (await import('./head-tail.ts')).tail,
  uniq: async () => (await import('./uniq.ts')).uniq,
  wc: async () => (await import('./wc.ts')).wc,
  xargs: async () => (await import('./xargs.ts')).xargs,
  xxd: async () => (await import('./od.ts')).xxd,
};
