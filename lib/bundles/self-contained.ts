/**
 * A bundle as one `.html`: its own page, with the whole bundle in a link that saves it. Browsers need no network and no
 * script for it. Bytes are streamed; knows nothing of what is in them.
 */
import { createReadStream } from 'node:fs';
import { WinterdockError } from '../base/errors.ts';
import { escaped } from './html.ts';
import { PAGE_END } from './page.ts';

/** Browsers take links of up to 512 MB. */
export const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;
/** A multiple of three, so that the base64 of pieces is that of the whole. */
const PIECE_BYTES = 192 * 1024;
/** How the link begins. Text of the page has no raw quotes, so the first one is the link. */
export const BUNDLE_LINK = 'href="data:application/zip;base64,';

/** Throws `too_large` for a bundle that browsers would not save. */
export function requireSelfContained(bytes: number): void {
  if (bytes <= MAX_BUNDLE_BYTES) return;
  throw new WinterdockError('too_large', `The bundle has ${bytes} bytes: too many for one page.`, {
    hint: 'Ship it as a zip.',
    extra: { limit: MAX_BUNDLE_BYTES },
  });
}

/** The page in pieces. `page`: the bundle's own, of `pageBytes`; `zip`: the bundle, to be saved as `fileName`. */
export async function* selfContainedPage(
  page: { path: string; bytes: number },
  zip: { path: string; bytes: number; fileName: string },
): AsyncGenerator<Uint8Array> {
  yield* createReadStream(page.path, { end: page.bytes - PAGE_END.length - 1 });
  yield Buffer.from(`<h2>The bundle</h2>\n<p><a download="${escaped(zip.fileName)}" ${BUNDLE_LINK}`);
  let rest = Buffer.alloc(0);
  for await (const piece of createReadStream(zip.path, { highWaterMark: PIECE_BYTES })) {
    const bytes = Buffer.concat([rest, piece as Buffer]);
    const whole = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.subarray(0, whole).toString('base64'));
    rest = bytes.subarray(whole);
  }
  yield Buffer.from(
    `${rest.toString('base64')}">Save the bundle</a>: the signed zip, ${zip.bytes} bytes, is in this page.</p>\n`,
  );
  yield Buffer.from(PAGE_END);
}
