/** Routes of the ledger as a proof: exports, sealed months, the signed head, verification. */
import { z } from 'zod';
import {
  type Event,
  exportQuerySchema,
  ledgerHeadSchema,
  ledgerProofSchema,
  ledgerSegmentSchema,
} from '../../contract/schema.ts';
import { type Answer, empty } from '../answer.ts';
import { CSV_HEADER, csvRow } from '../csv.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { streamText } from '../stream-text.ts';

const tag = 'Ledger';
const JSON_LINES = 'application/jsonl';
const segmentParams = z.strictObject({ id: z.string().regex(/^\d{4}-\d{2}$/, 'must be a month, like 2026-11') });

const FORMATS = {
  csv: { mediaType: 'text/csv; charset=utf-8', first: CSV_HEADER, text: csvRow },
  jsonl: { mediaType: JSON_LINES, first: '', text: (event: Event) => `${JSON.stringify(event)}\n` },
} as const;

const download = (mediaType: string, name: string) => ({
  'content-type': mediaType,
  'content-disposition': `attachment; filename="${name}"`,
});

export const ledgerRoutes: Route[] = [
  customRoute({
    method: 'GET',
    path: '/events/export',
    operation: 'exportEvents',
    name: 'exportEvents',
    summary:
      'Downloads the ledger, newest first, as CSV or JSON lines, narrowed by the filters of the list. The download is itself a line of the ledger; the same one again is counted.',
    tag,
    query: exportQuerySchema,
    answers: {
      200: {
        description: 'The lines; as CSV with a row of names, where what could be a formula begins with an apostrophe',
        mediaType: 'text/csv',
        headers: { 'Content-Disposition': 'A name for the file' },
      },
    },
    async handle({ services, caller, query, head }): Promise<Answer> {
      const { mediaType, first, text } = FORMATS[query.format];
      const headers = download(mediaType, `winterdock-ledger.${query.format}`);
      if (head) return empty(200, headers);
      const pages = await services.operations.exportEvents(caller, query);
      const texts = async function* () {
        yield first;
        for await (const page of pages) yield page.map(text).join('');
      };
      return {
        status: 200,
        headers,
        body: { stream: (sink) => void streamText(sink, texts(), { failed: services.events.failed }) },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/events/head',
    operation: 'ledgerHead',
    name: 'getLedgerHead',
    summary:
      'Gives the signed head of the ledger: number and hash of its last line. Kept elsewhere, it proves later that nothing up to there was changed or removed.',
    tag,
    answers: { 200: { description: 'The signed head', schema: ledgerHeadSchema } },
  }),
  route({
    method: 'GET',
    path: '/events/verify',
    operation: 'verifyLedger',
    summary: 'Verifies that no line of the ledger was changed, removed or reordered, or names the first that was.',
    tag,
    answers: { 200: { description: 'What was found', schema: ledgerProofSchema } },
  }),
  route({
    method: 'GET',
    path: '/events/segments',
    operation: 'ledgerSegments',
    name: 'listLedgerSegments',
    summary: 'Lists the sealed months of the ledger, oldest first.',
    tag,
    answers: { 200: { description: 'The segments', schema: z.array(ledgerSegmentSchema) } },
  }),
  customRoute({
    method: 'GET',
    path: '/events/segments/:id',
    operation: 'exportSegment',
    name: 'exportLedgerSegment',
    summary:
      'Downloads a sealed month as JSON lines, each with its hash, the signed head last: a file that `npm run ledger:verify -- --file` proves by itself. Once it was taken whole, the month may be dropped after `WB_LEDGER_KEEP_DAYS`.',
    tag,
    params: segmentParams,
    answers: {
      200: {
        description: 'The lines and the signed head',
        mediaType: JSON_LINES,
        headers: { 'Content-Disposition': 'A name for the file' },
      },
    },
    async handle({ services, caller, params, head }): Promise<Answer> {
      const headers = download(JSON_LINES, `winterdock-ledger-${params.id}.jsonl`);
      if (head) return empty(200, headers);
      const { texts, taken } = await services.operations.exportSegment(caller, params.id);
      return {
        status: 200,
        headers,
        body: { stream: (sink) => void streamText(sink, texts, { taken, failed: services.events.failed }) },
      };
    },
  }),
];
