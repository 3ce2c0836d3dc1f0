/**
 * Limits ledger lines that anyone can cause over and over without changing anything: refusals and failures. The first
 * of a kind is written as it is; repeats are counted and written as one line per window, with the count and the last
 * time. Counts are in memory; the tables are not touched here.
 */
import type { LedgerEntry } from './types.ts';

/**
 * Types of lines about something that did not happen or was cut short, so that no state changed. An export counts too:
 * anyone who may read the ledger may repeat it.
 */
const REPEATABLE = /\.(?:refused|failed|timed_out)$|^ledger\.exported$/;
/** Types without a sandbox whose reason names the attempt. */
const TOLD_APART_BY_REASON: ReadonlySet<string> = new Set(['access.refused', 'signin.failed', 'ledger.exported']);
/** Filings whose failures are numbered: after a few the sandbox is left alone, so each has a line of its own. */
const NUMBERED = /^(?:suspend|freeze|archive)\.failed$/;
const FAILURE_NUMBER = /\(failure (\d+) of \d+\)$/;
/** The first window of a repeated line; each further one is twice as long, at most `LONGEST_MS`. */
const FIRST_MS = 60_000;
const LONGEST_MS = 3_600_000;
/** Lines an hour for one actor's refusals; further ones are counted together, by type. */
export const LINES_AN_HOUR = 300;

/** A line to append, and a callback for when it is on disk. */
interface AdmittedLine {
  entry: LedgerEntry;
  written: () => void;
}

interface Repeated {
  /** True when it counts all refusals of an actor who has used up their lines. */
  together: boolean;
  sinceMs: number;
  windowMs: number;
  /** Number of repeats since the last line. */
  more: number;
  last: LedgerEntry;
  /** The tenant of all of them; null: several tenants, or none. */
  tenant: string | null;
}

/** Recent refusals. Times are the times of the lines. */
export class RepeatThrottle {
  readonly #kept = new Map<string, Repeated>();
  readonly #spent = new Map<string, { sinceMs: number; lines: number }>();

  /** The entries to write now. Repeats are counted and left out. */
  admit(entries: readonly LedgerEntry[]): AdmittedLine[] {
    return entries.flatMap((entry) =>
      REPEATABLE.test(entry.type) ? (this.#siftOne(entry) ?? []) : [{ entry, written: nothing }],
    );
  }

  /** The summary lines due at `nowMs`, or all of them. Drops counters without a repeat for a whole window. */
  dueSummaries(nowMs: number, all = false): AdmittedLine[] {
    const sums: AdmittedLine[] = [];
    for (const [key, kept] of this.#kept) {
      if (!all && isOpen(kept, nowMs)) continue;
      if (kept.more === 0) this.#kept.delete(key);
      else if (all || kept.together || this.#hasLines(kept.last.actor, nowMs)) sums.push(this.#sum(kept, nowMs));
    }
    for (const [actor, { sinceMs }] of this.#spent) {
      if (!isWithin(sinceMs, LONGEST_MS, nowMs)) this.#spent.delete(actor);
    }
    return sums;
  }

  #siftOne(entry: LedgerEntry): AdmittedLine | null {
    const { timeMs, actor, type } = entry;
    const own = keyOf(entry);
    const together = !this.#kept.has(own) && !this.#hasLines(actor, timeMs);
    const key = together ? JSON.stringify([actor, type]) : own;
    const kept = this.#kept.get(key);
    if (kept === undefined || (kept.more === 0 && !isOpen(kept, timeMs))) {
      const { tenant } = entry;
      const first = { together, sinceMs: timeMs, windowMs: FIRST_MS, more: 0, last: entry, tenant };
      return {
        entry,
        written: () => {
          this.#kept.set(key, first);
          if (!together) this.#spend(actor, timeMs);
        },
      };
    }
    kept.more += 1;
    kept.last = entry;
    if (kept.tenant !== entry.tenant) kept.tenant = null;
    if (isOpen(kept, timeMs) || !(kept.together || this.#hasLines(actor, timeMs))) return null;
    return this.#sum(kept, timeMs);
  }

  #sum(kept: Repeated, nowMs: number): AdmittedLine {
    const { last, more, together } = kept;
    const times = more === 1 ? 'once more' : `${more} more times`;
    const which = together ? `${more} more of this caller, not told one by one,` : times;
    const counted = `${which} since ${iso(kept.sinceMs)}, the last at ${iso(last.timeMs)}`;
    return {
      entry: {
        ...last,
        timeMs: nowMs,
        // A line without a tenant must not reveal one.
        ...(together ? { instance: null, tenant: kept.tenant, error: kept.tenant === null ? null : last.error } : {}),
        reason: together || last.reason === null ? counted : `${last.reason}; ${counted}`,
      },
      written: () => {
        kept.sinceMs = nowMs;
        kept.windowMs = Math.min(2 * kept.windowMs, LONGEST_MS);
        kept.more = 0;
        if (!together) this.#spend(last.actor, nowMs);
      },
    };
  }

  #hasLines(actor: string, nowMs: number): boolean {
    const spent = this.#spent.get(actor);
    return spent === undefined || !isWithin(spent.sinceMs, LONGEST_MS, nowMs) || spent.lines < LINES_AN_HOUR;
  }

  #spend(actor: string, nowMs: number): void {
    const spent = this.#spent.get(actor);
    if (spent !== undefined && isWithin(spent.sinceMs, LONGEST_MS, nowMs)) spent.lines += 1;
    else this.#spent.set(actor, { sinceMs: nowMs, lines: 1 });
  }
}

/** The key by which two lines are the same: numbers in an error (such as a current count) are ignored. */
function keyOf({ type, actor, instance, tenant, trigger, error, reason, address }: LedgerEntry): string {
  const what = TOLD_APART_BY_REASON.has(type) ? [reason, actor === 'nobody' ? address : null] : [];
  const number = NUMBERED.test(type) ? (FAILURE_NUMBER.exec(error ?? '')?.[1] ?? null) : null;
  const same = error?.replace(/\d+/g, '#') ?? null;
  return JSON.stringify([type, actor, instance, tenant, trigger, same, number, ...what]);
}

/** When the clock was set back, every window ends. */
function isWithin(sinceMs: number, spanMs: number, nowMs: number): boolean {
  return nowMs >= sinceMs && nowMs < sinceMs + spanMs;
}

function isOpen(kept: Repeated, nowMs: number): boolean {
  return isWithin(kept.sinceMs, kept.windowMs, nowMs);
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function nothing(): void {}
