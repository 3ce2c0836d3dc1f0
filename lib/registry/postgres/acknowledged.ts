/**
 * What this process has acknowledged of a registry: the end of the chain of its ledger, counted on from what was there
 * when it was opened by every line that is announced. Each new connection has to lead to a database that has it. After
 * a failover to a server that lacks the last commits it does not, and then nothing is read from it or written to it:
 * what it says is older than what was answered. Knows nothing of how connections are made.
 */
import type { Sql } from 'postgres';
import { WinterdockError } from '../../base/errors.ts';
import { type ChainHead, canonicalLine, chainHash } from '../chain.ts';
import type { LedgerLine } from '../types.ts';

/**
 * Of each session of an open registry, in milliseconds, where its user has no such setting: how long a statement may
 * take, and wait for a lock, and how long a transaction may hold its locks while its process, which may be frozen,
 * sends nothing.
 */
const LIMITS = { statement_timeout: 300_000, lock_timeout: 30_000, idle_in_transaction_session_timeout: 60_000 };
const SET = Object.entries(LIMITS).map(
  ([name, ms]) => `set_config('${name}', coalesce(nullif(current_setting('${name}'), '0'), '${ms}'), false)`,
);

export class AcknowledgedChain {
  #head: ChainHead;
  /** Whether the hash is that of the number. */
  #isKnown = true;

  /** `head`: the end of the chain when the registry was opened. */
  constructor(head: ChainHead) {
    this.#head = head;
  }

  /** Null: it is not known before the next connection says it. */
  get head(): ChainHead | null {
    return this.#isKnown ? this.#head : null;
  }

  /** Lines that were announced, in order. The chain goes on with `own` ones: those of others may have been changed. */
  add(lines: readonly LedgerLine[], own: boolean): void {
    let { seq, hash } = this.#head;
    for (const line of lines) {
      if (line.seq <= seq) continue;
      this.#isKnown &&= own && line.seq === seq + 1;
      if (this.#isKnown) hash = chainHash(hash, canonicalLine(line));
      seq = line.seq;
    }
    this.#head = { seq, hash };
  }

  /**
   * Examines a new connection, and prepares its session. Resolves with whether it leads to a standby. Throws
   * `registry_unavailable` for a database that lacks a line that was acknowledged, or has another one in its place.
   */
  async check(sql: Sql): Promise<{ isStandby: boolean }> {
    const [{ seq, hash }, isKnown] = [this.#head, this.#isKnown];
    const [[isStandby, lastSeq, lastHash, hashThere] = []] = await sql
      .unsafe(
        `select pg_is_in_recovery()::int, seq, hash, (select hash from events where seq = ${seq}), ${SET.join()} from ledger_head`,
      )
      .values();
    const there = Number(lastSeq) === seq ? lastHash : hashThere;
    // A line that is not there though others follow was dropped with its month.
    const isThere = there === hash || ((there ?? null) === null && Number(lastSeq) > seq);
    if (isKnown ? !isThere : Number(lastSeq) < seq) throw isOlder(Number(lastSeq), seq);
    if (!isKnown && this.#head.seq <= Number(lastSeq)) {
      this.#head = { seq: Number(lastSeq), hash: String(lastHash) };
      this.#isKnown = true;
    }
    return { isStandby: Number(isStandby) === 1 };
  }
}

function isOlder(last: number, acknowledged: number): WinterdockError {
  const why =
    last < acknowledged
      ? `its ledger ends at line ${last}, and line ${acknowledged} was acknowledged`
      : `line ${acknowledged} of its ledger is another one than was acknowledged`;
  return new WinterdockError(
    'registry_unavailable',
    `The database has not the newest registry: ${why}. Nothing is read from it or written to it.`,
    {
      hint: 'It may have failed over to a server that lacks the last commits. See docs/operations.md, "A registry on Postgres".',
      retryAfterSeconds: 30,
      extra: { registry: 'older' },
    },
  );
}
