/**
 * Forms that post to a route of their own because their data is too large for a server action: an upload, or a bundle
 * to download. The front server admits them only from the console's own origin.
 */
import type { UploadAnswer } from '#components/files/upload-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { getHost } from '#lib/host/host.ts';
import { readBody, uploadOf } from '#lib/http/body.ts';
import { readFormUpload } from '#lib/http/form-upload.ts';
import type { UploadStream } from '#lib/operations/streams.ts';
import { currentCaller } from './caller.ts';
import { keepFlash } from './flash.ts';
import { problemInWords, problemOf } from './problem.ts';

const SMALL_FORM_BYTES = 64 * 1024;

async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

/** A form with a file, which is not read yet. Throws `validation`. */
export function readUpload(request: Request) {
  return readFormUpload(piecesOf(request), request.headers.get('content-type'), getHost().config.maxSandboxBytes);
}

/** A text as the body that an operation takes. */
export function textUpload(text: string, type: string): UploadStream {
  const bytes = Buffer.from(text);
  return uploadOf(
    { length: bytes.byteLength, read: async (onChunk) => void (await onChunk(bytes)) },
    type,
    Math.max(1, bytes.byteLength),
  );
}

/** A body of text, of at most `mostBytes`. Throws `too_large`. */
export async function readText(request: Request, mostBytes: number): Promise<string> {
  const body = await readBody(
    {
      length: null,
      async read(onChunk) {
        for await (const piece of piecesOf(request)) await onChunk(piece);
      },
    },
    mostBytes,
  );
  return body.toString('utf8');
}

/** A form without a file, of at most 64 KiB. */
export async function readFields(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(request, SMALL_FORM_BYTES));
}

/** Sends the visitor to the page with the result: by a redirect, or as JSON for the form's own script. */
export function redirectTo(request: Request, to: string): Response {
  const accept = request.headers.get('accept') ?? '';
  if (accept.startsWith('application/json')) return Response.json({ to } satisfies UploadAnswer);
  return new Response(null, { status: 303, headers: { location: to } });
}

/**
 * Answers a posted form with what `work` returns for its caller. An error is shown on `page`, which may have a query
 * and an anchor. A visitor who is not signed in goes to the sign-in page and from there to `page`. Always a 303, so
 * that the form is not sent again.
 */
export async function answerForm(
  request: Request,
  page: string,
  work: (caller: Caller) => Promise<Response>,
): Promise<Response> {
  const caller = await currentCaller();
  const [address = '/', anchor] = page.split('#', 2);
  if (caller === null) return redirectTo(request, `/signin?to=${encodeURIComponent(address)}`);
  try {
    return await work(caller);
  } catch (error) {
    const key = keepFlash(caller, { kind: 'refusal', ...problemInWords(problemOf(error, caller)) });
    const withFlash = `${address}${address.includes('?') ? '&' : '?'}flash=${key}`;
    return redirectTo(request, anchor === undefined ? withFlash : `${withFlash}#${anchor}`);
  }
}
