/**
 * The bundle in a page that was shipped as one `.html`: found by its link, decoded piece by piece. The page is
 * untrusted, so nothing else of it is read; what comes out is inspected like any upload.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeStream } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { BUNDLE_LINK, MAX_BUNDLE_BYTES } from './self-contained.ts';

/** Where a page begins, in any case of its letters. */
export const PAGE_MAGIC = '<!doctype html';

const PIECE_BYTES = 256 * 1024;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Saves the bundle of a page at `target`. Throws `validation` when there is none in it, when it is cut off and when it
 * is no base64, and `too_large`.
 */
export async function extractBundle(page: string, target: string): Promise<void> {
  const pieces = Readable.from(decoded(linkedText(page)), { objectMode: false });
  await pipeline(pieces, writeStream(target, { flags: 'wx' }));
}

/** The characters between the link's begin and its closing quote. */
async function* linkedText(page: string): AsyncGenerator<string> {
  let before = '';
  let isInside = false;
  for await (const piece of createReadStream(page, { highWaterMark: PIECE_BYTES, encoding: 'latin1' })) {
    let text = `${before}${piece}`;
    before = '';
    if (!isInside) {
      const at = text.indexOf(BUNDLE_LINK);
      if (at < 0) {
        before = text.slice(1 - BUNDLE_LINK.length);
        continue;
      }
      isInside = true;
      text = text.slice(at + BUNDLE_LINK.length);
    }
    const end = text.indexOf('"');
    yield end < 0 ? text : text.slice(0, end);
    if (end >= 0) return;
  }
  throw refused(isInside ? 'The bundle in the page is cut off.' : 'It is a page without a bundle in it.');
}

async function* decoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let rest = '';
  let bytes = 0;
  for await (const piece of pieces) {
    const text = rest + piece;
    // Only the last four characters may be padded, so what may be the last ones waits.
    const whole = Math.max(0, Math.floor((text.length - 1) / 4) * 4);
    rest = text.slice(whole);
    if (whole > 0) yield decode(text.slice(0, whole), false);
  }
  yield decode(rest, true);

  function decode(text: string, isLast: boolean): Uint8Array {
    if (!BASE64.test(text) || (!isLast && text.endsWith('=')) || text.length % 4 !== 0)
      throw refused('The bundle in the page is damaged: it is no base64.');
    const content = Buffer.from(text, 'base64');
    bytes += content.length;
    if (bytes <= MAX_BUNDLE_BYTES) return content;
    throw new WinterdockError('too_large', `The bundle in the page is over the limit of ${MAX_BUNDLE_BYTES} bytes.`, {
      extra: { limit: MAX_BUNDLE_BYTES },
    });
  }
}

function refused(message: string): WinterdockError {
  return new WinterdockError('validation', message);
}
