/**
 * Operations on the ledger: reading and following its lines, exports, sealed months, and proving that it is whole. An
 * export is itself a line of the ledger, written before its first line goes out.
 */
import { setImmediate } from 'node:timers/promises';
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Event, EventsQuery, ExportQuery, LedgerProof, LedgerSegment, StreamQuery } from '../contract/schema.ts';
import type { LedgerHead } from '../ledger/documents.ts';
import type { LedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import { segmentHeadOf } from '../ledger/sign.ts';
import { exportedLine } from '../ledger/verify-file.ts';
import type { LedgerFilter } from '../registry/ledger.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { Segment } from '../registry/segments.ts';
import type { LedgerLine } from '../registry/types.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';
import { eventOf } from './serializer.ts';

/** The filter of a ledger stream. */
type StreamFilter = Omit<StreamQuery, 'last_event_id'>;

/** A sealed month on its way out. */
interface SegmentExport {
  /** The texts of its lines, oldest first, in pieces, and at last its signed head; each ends with a newline. */
  texts: AsyncIterable<string>;
  /** To be called once the receiver has everything: only then may the segment be dropped one day. */
  taken(): Promise<void>;
}

export interface LedgerOperations {
  /** `deleted`: also those of one that was deleted, instead of `gone`. */
  instanceEvents(
    caller: Caller,
    id: InstanceId,
    query: { type?: string; limit: number; cursor?: string },
    options?: { deleted?: boolean },
  ): Promise<ListPage<Event>>;
  events(caller: Caller, query: EventsQuery): Promise<ListPage<Event>>;
  /** Lines after `seq` that the caller may see, oldest first; empty at the end, never before. */
  eventsAfter(caller: Caller, seq: number, limit: number): Promise<Event[]>;
  /** What a stream sends to this caller: the filter, narrowed to the tenants it may see (null: all). */
  followEvents(
    caller: Caller,
    filter: StreamFilter,
  ): Promise<{ filter: StreamFilter; tenants: readonly string[] | null }>;
  /** Checks the whole ledger. A flaw is an answer, not an error. */
  verifyLedger(caller: Caller): Promise<LedgerProof>;
  /** Throws `corrupt` when the ledger contradicts its own signed head. */
  ledgerHead(caller: Caller): Promise<LedgerHead>;
  /** Oldest first. */
  ledgerSegments(caller: Caller): Promise<LedgerSegment[]>;
  /** Itself a line of the ledger. Throws `not_found`, and `gone` for a segment whose lines were dropped. */
  exportSegment(caller: Caller, id: string): Promise<SegmentExport>;
  /** The matching lines, newest first, in pages. Itself a line of the ledger. */
  exportEvents(caller: Caller, query: ExportQuery): Promise<AsyncIterable<Event[]>>;
}

const EXPORT_PAGE = 500;
/** Sequence numbers looked through at a time for the lines of some tenants. */
const SCAN_LINES = 10_000;

export function ledgerOperations(parts: {
  registry: Registry;
  auth: { actors: ActorDirectory };
  keeper: LedgerMaintenance;
  clock: Clock;
}): LedgerOperations {
  const { registry, keeper, clock } = parts;

  const named = async (lines: readonly LedgerLine[]): Promise<Event[]> => {
    const { actors } = parts.auth;
    await actors.load(lines.map(({ actor }) => actor));
    return lines.map((line) => eventOf(line, actors));
  };

  async function* linesOf(segment: Segment): AsyncGenerator<string> {
    let seq = segment.firstSeq - 1;
    while (seq < segment.lastSeq) {
      const lines = await registry.ledger.chain(seq, Math.min(EXPORT_PAGE, segment.lastSeq - seq));
      if (lines[0]?.seq !== seq + 1) throw new WinterdockError('gone', `The lines of ${segment.id} are being dropped.`);
      seq = lines.at(-1)?.seq ?? segment.lastSeq;
      yield `${lines.map(exportedLine).join('\n')}\n`;
    }
    yield `${JSON.stringify(segmentHeadOf(segment))}\n`;
  }

  async function* eventsOf(filter: LedgerFilter): AsyncGenerator<Event[]> {
    let cursor: string | undefined;
    do {
      const page = await registry.ledger.page(filter, EXPORT_PAGE, cursor);
      yield await named(page.rows);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  return {
    async instanceEvents(_caller, id, { type, limit, cursor }, { deleted = false } = {}) {
      // A deleted sandbox still has the lines of its life.
      if (!deleted || (await registry.instances.get(id)) === null) await requireInstance(parts, id);
      const page = await registry.ledger.page({ instance: id, ...(type === undefined ? {} : { type }) }, limit, cursor);
      return { items: await named(page.rows), next: page.next };
    },

    async events({ tenants }, { limit, cursor, ...query }) {
      const page = await registry.ledger.page(ledgerFilterOf(query, tenants), limit, cursor);
      return { items: await named(page.rows), next: page.next };
    },

    async eventsAfter({ tenants }, seq, limit) {
      if (tenants === null) return named(await registry.ledger.after(seq, limit));
      for (let from = seq; ; from += SCAN_LINES) {
        const lines = await registry.ledger.ofTenants(tenants, { from, to: from + SCAN_LINES }, limit);
        if (lines.length > 0 || from + SCAN_LINES >= (await registry.ledger.lastSeq())) return named(lines);
        // A tenant with few lines makes this scan the whole ledger: other requests get their turn in between.
        await setImmediate();
      }
    },

    followEvents: async ({ tenants }, filter) => ({ filter, tenants }),

    async verifyLedger() {
      const { flaw, lines, dropped, blanked, segments, last, signedTo, tookMs } = await keeper.verify();
      return {
        ok: flaw === null,
        flaw,
        lines,
        dropped,
        blanked,
        segments,
        last_seq: last.seq,
        last_hash: last.hash,
        signed_to: signedTo,
        took_ms: Math.round(tookMs * 10) / 10,
      };
    },

    ledgerHead: () => keeper.head(),

    ledgerSegments: async () => (await registry.segments.list()).map(segmentOf),

    async exportSegment(caller, id) {
      const segment = await registry.segments.get(id);
      if (segment === null) throw new WinterdockError('not_found', `There is no sealed segment "${id}".`);
      if (segment.droppedMs !== null) {
        throw new WinterdockError('gone', `The lines of the segment ${id} were dropped.`, {
          hint: 'They are where they were exported to; its signed head is in the list of segments.',
        });
      }
      await registry.ledger.append([
        ledgerEntry(parts, null, auditContextOf(caller), 'ledger.exported', { reason: `the segment ${id}` }),
      ]);
      return { texts: linesOf(segment), taken: async () => registry.segments.markExported(id, clock.now()) };
    },

    async exportEvents(caller, { format, ...query }) {
      const filter = ledgerFilterOf(query, caller.tenants);
      const words = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : ` ${name}=${value}`));
      const reason = `${format}:${words.join('') || ' everything'}`;
      await registry.ledger.append([
        {
          ...ledgerEntry(parts, null, auditContextOf(caller), 'ledger.exported', { reason }),
          tenant: query.tenant ?? null,
        },
      ]);
      return eventsOf(filter);
    },
  };
}

/** The members of a query that are set, narrowed to a caller's tenants (null: all). */
function ledgerFilterOf(
  { request_id: requestId, ...query }: Omit<EventsQuery, 'limit' | 'cursor'>,
  tenants: readonly string[] | null,
): LedgerFilter {
  return {
    ...Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
    ...(requestId === undefined ? {} : { requestId }),
    ...(tenants === null ? {} : { tenants }),
  };
}

const secondsOf = (timeMs: number) => epochSeconds({ now: () => timeMs });

function segmentOf(segment: Segment): LedgerSegment {
  const { exportedMs, droppedMs } = segment;
  return {
    id: segment.id,
    first_seq: segment.firstSeq,
    last_seq: segment.lastSeq,
    lines: segment.lines,
    sealed: secondsOf(segment.sealedMs),
    exported: exportedMs === null ? null : secondsOf(exportedMs),
    dropped: droppedMs === null ? null : secondsOf(droppedMs),
    head: segmentHeadOf(segment),
  };
}
