/** Sends a call of the explorer with the visitor's session, and reads what comes back. */
import { addressText, type SampleCall } from '#lib/client/call-text.ts';
import { fetchAWhile } from './streams.ts';

/** What came back, ready to show. */
export interface CallAnswer {
  status: number;
  tookMs: number;
  /** Headers that say something about this answer. */
  headers: [name: string, value: string][];
  /** The answer's text, cut at `SHOWN_CHARACTERS`; null for bytes that are no text. */
  text: string | null;
  bytes: number;
  /** The answer itself, for saving. */
  blob: Blob;
  fileName: string;
}

const SHOWN_CHARACTERS = 20_000;
const SHOWN_HEADERS = ['location', 'etag', 'x-next-cursor', 'link', 'retry-after', 'x-request-id'];

function isText(type: string): boolean {
  return /^(text\/|application\/(json|problem\+json|x-ndjson|jsonl|openmetrics-text))/.test(type) || type === '';
}

function fileNameOf(call: SampleCall, disposition: string | null): string {
  const given = /filename="?([^";]+)"?/.exec(disposition ?? '')?.[1];
  return given ?? call.path?.path?.split('/').at(-1) ?? call.name;
}

/** Sends it. Rejects when the server does not answer. */
export async function sendCall(call: SampleCall, method: string, bytes: boolean): Promise<CallAnswer> {
  const started = performance.now();
  const { body } = call;
  const answer = await fetchAWhile(addressText(call), {
    method,
    redirect: 'error',
    headers: {
      ...call.headers,
      ...(body === undefined ? {} : { 'content-type': bytes ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: bytes ? String(body) : JSON.stringify(body) }),
  });
  const blob = await answer.blob();
  const tookMs = performance.now() - started;
  const type = answer.headers.get('content-type') ?? '';
  let text = isText(type) ? await blob.slice(0, SHOWN_CHARACTERS * 4).text() : null;
  if (text !== null && type.includes('json') && blob.size < SHOWN_CHARACTERS * 4) {
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Lines of JSON are shown as they came.
    }
  }
  const cut = text !== null && text.length > SHOWN_CHARACTERS;
  return {
    status: answer.status,
    tookMs,
    headers: SHOWN_HEADERS.flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
    text: cut ? `${text?.slice(0, SHOWN_CHARACTERS)}\n… the rest is in the saved answer.` : text,
    bytes: blob.size,
    blob,
    fileName: fileNameOf(call, answer.headers.get('content-disposition')),
  };
}
