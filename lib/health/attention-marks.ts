/**
 * What somebody has acknowledged of what needs a person: one small value of the registry, for everybody who sees the
 * same. Knows no source of it, and nobody's rights. Two servers that write in the same moment may lose one of the two.
 */
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';

const NAME = 'attention_marks';
/** What is never said again of it goes, so that the value stays small. */
const KEPT_SECONDS = 30 * 86_400;
const MOST = 500;

const markSchema = z.object({
  key: z.string(),
  tenant: z.string().nullable(),
  by: z.string(),
  at: z.int(),
  until: z.int().nullable(),
  reason: z.string().nullable().default(null),
});

/**
 * An acknowledgement of what has this `key`, by whom and when (epoch seconds), `until` when; null: until it ends. What
 * has begun since is not meant.
 */
type AttentionMark = z.infer<typeof markSchema>;

export interface AttentionMarks {
  /** Those that hold. */
  list(): Promise<AttentionMark[]>;
  /** Takes the place of an earlier one of its key. */
  put(mark: Pick<AttentionMark, 'key' | 'tenant' | 'by' | 'until' | 'reason'>, line: LedgerEntry): Promise<void>;
  /** False when there is none of that key that `isTheirs`. */
  remove(key: string, isTheirs: (mark: AttentionMark) => boolean, line: LedgerEntry): Promise<boolean>;
  /** Removes those of a tenant. */
  forget(tenant: string): Promise<void>;
}

export function attentionMarks({ facts }: Pick<Registry, 'facts'>, clock: Clock): AttentionMarks {
  /** Writes of this server come one after the other. */
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  const list = async (): Promise<AttentionMark[]> => {
    const now = epochSeconds(clock);
    const kept = z
      .array(markSchema)
      .catch([])
      .parse(await facts.read(NAME));
    return kept.filter(({ at, until }) => (until === null || until > now) && at > now - KEPT_SECONDS);
  };
  const write = (marks: AttentionMark[], line?: LedgerEntry) =>
    facts.write(NAME, marks.slice(-MOST), epochSeconds(clock), line);
  return {
    list,
    put: (mark, line) =>
      inTurn(async () => {
        const others = (await list()).filter(({ key }) => key !== mark.key);
        await write([...others, { ...mark, at: epochSeconds(clock) }], line);
      }),
    remove: (key, isTheirs, line) =>
      inTurn(async () => {
        const marks = await list();
        const others = marks.filter((mark) => mark.key !== key || !isTheirs(mark));
        if (others.length === marks.length) return false;
        await write(others, line);
        return true;
      }),
    forget: (tenant) =>
      inTurn(async () => {
        const marks = await list();
        const others = marks.filter((mark) => mark.tenant !== tenant);
        if (others.length < marks.length) await write(others);
      }),
  };
}
