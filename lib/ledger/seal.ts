/**
 * Seals past months of the ledger, and drops those that were exported and whose time is over. Knows the rules of both;
 * the rows are the registry's.
 */
import type { Clock } from '../base/clock.ts';
import type { Signer } from '../base/signing.ts';
import { CHAIN_START, type ChainHead } from '../registry/chain.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { Segment } from '../registry/segments.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { SEGMENT_KIND, type SegmentDrop, type SegmentHead } from './documents.ts';
import { endOfMonth, monthAfter, monthOf } from './months.ts';
import { dropOf, signed } from './sign.ts';
import { LedgerFlaw, nextHead } from './verify.ts';

interface Parts {
  registry: Pick<Registry, 'ledger' | 'segments'>;
  signer: Signer;
  clock: Clock;
  /** Called between units of work, so that requests are served. */
  pause: () => Promise<void>;
}

/** Lines read at a time. */
const PAGE = 200;
/** Lines removed in one transaction. */
const SWEPT = 200;

/**
 * Seals every month that is over and has lines, each with a line of its own. Returns their ids. Throws a `LedgerFlaw`
 * when the lines do not match their hashes: a ledger that was tampered with is not signed.
 */
export async function sealMonths({ registry, signer, clock, pause }: Parts): Promise<string[]> {
  const sealed: string[] = [];
  for (;;) {
    const before: Segment | undefined = (await registry.segments.list()).at(-1);
    const start: ChainHead = before === undefined ? CHAIN_START : { seq: before.lastSeq, hash: before.lastHash };
    const [first] = await registry.ledger.chain(start.seq, 1);
    if (first === undefined) return sealed;
    // A clock that was set back can put a line into a month that is sealed: it belongs to the next.
    const id = [monthOf(first.timeMs), before === undefined ? '' : monthAfter(before.id)].sort().at(-1) ?? '';
    if (id >= monthOf(clock.now())) return sealed;

    const next = await registry.segments.firstSince(start.seq, endOfMonth(id));
    const { last, firstHash } = await followTo(registry, start, next, { pause, issuers: signer.trusted });
    const head = signed<SegmentHead>(signer, {
      kind: SEGMENT_KIND,
      id,
      first_seq: start.seq + 1,
      last_seq: last.seq,
      lines: last.seq - start.seq,
      previous_hash: start.hash,
      first_hash: firstHash,
      last_hash: last.hash,
      sealed_ms: clock.now(),
    });
    await registry.segments.seal(
      {
        id,
        firstSeq: head.first_seq,
        lastSeq: head.last_seq,
        lines: head.lines,
        previousHash: head.previous_hash,
        firstHash: head.first_hash,
        lastHash: head.last_hash,
        sealedMs: head.sealed_ms,
        issuer: head.issuer,
        signature: head.signature,
      },
      ledgerEntry({ clock }, null, systemAudit('schedule'), 'ledger.sealed', {
        reason: `${id}: lines ${head.first_seq} to ${head.last_seq}`,
      }),
    );
    sealed.push(id);
  }
}

/** Verifies the chain from `start` up to, not including, line `next`; null: up to the end. */
async function followTo(
  registry: Parts['registry'],
  start: ChainHead,
  next: number | null,
  { pause, issuers }: Pick<Parts, 'pause'> & { issuers: readonly string[] },
): Promise<{ last: ChainHead; firstHash: string }> {
  let last = start;
  let firstHash = '';
  for (;;) {
    const limit = next === null ? PAGE : Math.min(PAGE, next - 1 - last.seq);
    const lines = limit === 0 ? [] : await registry.ledger.chain(last.seq, limit);
    for (const one of lines) {
      last = nextHead(last, one, issuers);
      if (firstHash === '') firstHash = last.hash;
    }
    if (lines.length < PAGE) break;
    await pause();
  }
  if (next !== null && last.seq !== next - 1) throw new LedgerFlaw(last.seq + 1, `line ${last.seq + 1} is missing`);
  return { last, firstHash };
}

/**
 * Drops the oldest segments that were exported and sealed at least `keepDays` ago (null: never), each with a line of
 * its own, and removes their lines. Returns their ids. Finishes an interrupted drop.
 */
export async function dropSegments(parts: Parts & { keepDays: number | null }): Promise<string[]> {
  const { registry, signer, clock, pause, keepDays } = parts;
  const dropped: string[] = [];
  if (keepDays !== null) {
    for (const segment of await registry.segments.list()) {
      if (segment.droppedMs !== null) continue;
      const until = segment.sealedMs + keepDays * 86_400_000;
      // In order, so that the ledger has no gap in its middle.
      if (segment.exportedMs === null || until > clock.now() || !signer.trusted.includes(segment.issuer)) break;
      const { signature, dropped_ms: timeMs } = signed<SegmentDrop>(signer, dropOf(segment, clock.now()));
      await registry.segments.markDropped(
        segment.id,
        { timeMs, signature },
        ledgerEntry({ clock }, null, systemAudit('schedule'), 'ledger.dropped', {
          reason: `${segment.id}: lines ${segment.firstSeq} to ${segment.lastSeq}, kept for ${keepDays} days`,
        }),
      );
      dropped.push(segment.id);
    }
  }
  while ((await registry.segments.deleteDropped(SWEPT)) > 0) await pause();
  return dropped;
}
