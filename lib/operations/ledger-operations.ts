/**
 * The ledger's operations over its keeper and the registry. Taking lines away is itself told to the ledger, before the
 * first one goes.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Event, LedgerSegment } from '../contract/schema.ts';
import type { LedgerKeeper } from '../ledger/keeper.ts';
import { segmentHeadOf } from '../ledger/sign.ts';
import { exportedLine } from '../ledger/verify-file.ts';
import type { LedgerFilter } from '../registry/ledger.ts';
import type { Registry } from '../registry/registry.ts';
import type { Segment } from '../registry/segments.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { causeOf } from './audit-context.ts';
import type { LedgerOperations } from './interfaces/ledger.ts';
import { eventOf } from './representation.ts';

const PAGE = 500;

const seconds = (timeMs: number | null) => (timeMs === null ? null : epochSeconds({ now: () => timeMs }));

function segmentOf(segment: Segment): LedgerSegment {
  return {
    id: segment.id,
    first_seq: segment.firstSeq,
    last_seq: segment.lastSeq,
    lines: segment.lines,
    sealed: epochSeconds({ now: () => segment.sealedMs }),
    exported: seconds(segment.exportedMs),
    dropped: seconds(segment.droppedMs),
    head: segmentHeadOf(segment),
  };
}

/** Makes them. */
export function createLedgerOperations(parts: {
  registry: Registry;
  keeper: LedgerKeeper;
  clock: Clock;
}): LedgerOperations {
  const { registry, keeper, clock } = parts;

  async function* linesOf(segment: Segment): AsyncGenerator<string> {
    let seq = segment.firstSeq - 1;
    while (seq < segment.lastSeq) {
      const lines = await registry.ledger.chain(seq, Math.min(PAGE, segment.lastSeq - seq));
      if (lines[0]?.seq !== seq + 1) throw new WinterdockError('gone', `The lines of ${segment.id} are being dropped.`);
      seq = lines.at(-1)?.seq ?? segment.lastSeq;
      yield `${lines.map(exportedLine).join('\n')}\n`;
    }
    yield `${JSON.stringify(segmentHeadOf(segment))}\n`;
  }

  async function* eventsOf(filter: LedgerFilter): AsyncGenerator<Event[]> {
    let cursor: string | undefined;
    do {
      const page = await registry.ledger.page(filter, PAGE, cursor);
      yield page.rows.map(eventOf);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  return {
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
        ledgerEntry({ clock }, null, causeOf(caller), 'ledger.exported', { reason: `the segment ${id}` }),
      ]);
      return { texts: linesOf(segment), taken: async () => registry.segments.markExported(id, clock.now()) };
    },

    async exportEvents(caller, { format, ...query }) {
      const asked = Object.entries(query).filter(([, value]) => value !== undefined);
      const filter: LedgerFilter = {
        ...Object.fromEntries(asked),
        ...(caller.tenants === null ? {} : { tenants: caller.tenants }),
      };
      const what = asked.map(([name, value]) => ` ${name}=${value}`).join('');
      await registry.ledger.append([
        {
          ...ledgerEntry({ clock }, null, causeOf(caller), 'ledger.exported', {
            reason: `${format}:${what || ' everything'}`,
          }),
          tenant: query.tenant ?? null,
        },
      ]);
      return eventsOf(filter);
    },
  };
}
