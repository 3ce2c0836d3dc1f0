/** Small segments of several sandboxes, with the file that each state is, for tests of where they lie. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { newSeries, type SegmentSeries, segmentFile, seriesName } from '../names/replica-names.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';

const PAGE = 512;
const PAGES = 4;

export class MadeSegments {
  readonly #folder: string;
  readonly #series = new Map<string, SegmentSeries>();
  /** Of each sandbox, by the number of the last segment: the bytes of its file, and the time. */
  readonly states = new Map<string, { bytes: Buffer; timeMs: number }[]>();

  /** `folder`: absolute, of the spool. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The next segment of a sandbox: a base, or one that changes one page. */
  async next(id: string, timeMs: number): Promise<SpooledSegment> {
    const series = this.#series.get(id) ?? newSeries(1, timeMs);
    this.#series.set(id, series);
    const states = this.states.get(id) ?? [];
    this.states.set(id, states);
    const txid = states.length + 1;
    const level = txid === 1 ? 9 : 0;
    const folder = join(this.#folder, id, seriesName(series));
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${level}-${segmentFile(txid, txid)}`);
    const header = { pageSize: PAGE, commit: PAGES, minTxid: txid, maxTxid: txid, timeMs, log: null };
    const writer = await LtxWriter.create(path, header);
    const bytes = Buffer.from(states.at(-1)?.bytes ?? Buffer.alloc(PAGE * PAGES));
    for (let page = 1; page <= PAGES; page += 1) {
      if (level === 0 && page !== 1 + (txid % PAGES)) continue;
      const body = Buffer.alloc(PAGE, `${id} ${txid} `);
      body.copy(bytes, (page - 1) * PAGE);
      await writer.page(page, body);
    }
    const size = await writer.finish(false);
    states.push({ bytes, timeMs });
    return { id, series, level, min: txid, max: txid, path, bytes: size, timeMs };
  }
}
