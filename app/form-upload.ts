/**
 * Forms that are posted to an address of their own because what they send or get is too large for a server action: a
 * file that goes up, a bundle that comes down. The front has let them through only from the console itself.
 */
import type { UploadAnswer } from '#components/files/upload-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { getHost } from '#lib/host/host.ts';
import { readBody } from '#lib/http/body.ts';
import { readFormUpload } from '#lib/http/form-upload.ts';
import { currentCaller } from './caller.ts';
import { keepFlash } from './flash.ts';
import { problemInWords, problemOf } from './problem.ts';

const SMALL_FORM_BYTES = 64 * 1024;

async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

/** A form with a file; the file is not read yet. Throws `validation`. */
export function readUpload(request: Request) {
  return readFormUpload(piecesOf(request), request.headers.get('content-type'), getHost().config.maxSandboxBytes);
}

/** A form without a file, of at most 64 KiB. */
export async function readFields(request: Request): Promise<URLSearchParams> {
  const body = await readBody(
    {
      length: null,
      async read(onChunk) {
        for await (const piece of piecesOf(request)) await onChunk(piece);
      },
    },
    SMALL_FORM_BYTES,
  );
  return new URLSearchParams(body.toString('utf8'));
}

/** Leads on to the page that shows what came of it: by a redirect, or in words for the form's own script. */
export function redirectTo(request: Request, to: string): Response {
  const asked = request.headers.get('accept') ?? '';
  if (asked.startsWith('application/json')) return Response.json({ to } satisfies UploadAnswer);
  return new Response(null, { status: 303, headers: { location: to } });
}

/**
 * Answers a posted form by what `work` does for who posted it. What it throws is shown on `page`, which may have a
 * query and an anchor; whoever is not signed in is led to the sign-in page and from there to `page`. A 303 each time:
 * the form is never sent on.
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
    const held = `${address}${address.includes('?') ? '&' : '?'}held=${key}`;
    return redirectTo(request, anchor === undefined ? held : `${held}#${anchor}`);
  }
}
