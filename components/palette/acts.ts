/** What the palette does to a sandbox besides moving it, and the typed lines that say it, such as `hold 2h`. Pure. */
/** Something done at one press. */
export type SandboxAct =
  | { kind: 'hold'; seconds: number }
  | { kind: 'release' }
  | { kind: 'keep-hot'; keep: boolean }
  | { kind: 'copy' }
  | { kind: 'snapshot'; tag: string };

/** A typed line that names an act. `command` is empty when only the word was typed. */
export type TypedAct = SandboxAct | { kind: 'run'; command: string } | { kind: 'revive'; reason: string };

/** Why each kind of act cannot be done now; null: it can. */
export interface ActRefusals {
  change: string | null;
  snapshot: string | null;
  run: string | null;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `2h`, `90 min`, `1 day` in seconds; null for anything else. */
export function parseLength(text: string): number | null {
  const match = /^(\d{1,6})\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)$/i.exec(text.trim());
  if (match === null) return null;
  const seconds = Number(match[1]) * (UNIT_SECONDS[match[2]?.[0]?.toLowerCase() ?? ''] ?? 0);
  return seconds > 0 ? seconds : null;
}

/** The act that a typed line names, or null. */
export function parseAct(typed: string): TypedAct | null {
  const text = typed.trim();
  const hold = /^hold\s+(?:for\s+)?(.+)$/i.exec(text);
  if (hold !== null) {
    const seconds = parseLength(hold[1] ?? '');
    return seconds === null ? null : { kind: 'hold', seconds };
  }
  if (/^keep\s+hot$/i.test(text)) return { kind: 'keep-hot', keep: true };
  if (/^stop keeping hot$/i.test(text)) return { kind: 'keep-hot', keep: false };
  if (/^copy(\s+(its\s+)?id)?$/i.test(text)) return { kind: 'copy' };
  const snapshot = /^snapshot(?:\s+as)?(?:\s+(.*))?$/i.exec(text);
  if (snapshot !== null) return { kind: 'snapshot', tag: snapshot[1]?.trim() ?? '' };
  const run = /^(?:(?:exec|run)(?:\s+|$)|\$\s*)([\s\S]*)$/i.exec(text);
  if (run !== null) return { kind: 'run', command: run[1] ?? '' };
  const revive = /^revive[\s:]+(\S.*)$/i.exec(text);
  return revive === null ? null : { kind: 'revive', reason: revive[1] ?? '' };
}
