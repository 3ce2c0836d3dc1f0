/** What a file looks like from its first bytes and its name: text, JSON, an image, or bytes. Pure. */

export type PreviewKind =
  | { kind: 'empty' }
  | { kind: 'image' }
  | { kind: 'text'; text: string }
  | { kind: 'json'; text: string }
  | { kind: 'hex'; rows: { offset: string; hex: string; text: string }[] };

/** Images that a browser only shows and never runs; the API sends the same ones with their own type. */
const IMAGES = /\.(png|jpe?g|gif|webp|avif)$/i;
const HEX_BYTES = 512;
const HEX_ROW = 16;

/** The bytes as UTF-8 text, or null when they are not. `complete` is false when the file goes on: its last sign may be cut. */
function textOf(bytes: Uint8Array, complete: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !complete });
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    // Fatal decoding says by throwing that the bytes are no text.
    return null;
  }
}

function hexRows(bytes: Uint8Array): { offset: string; hex: string; text: string }[] {
  const rows = [];
  for (let at = 0; at < Math.min(bytes.length, HEX_BYTES); at += HEX_ROW) {
    const row = [...bytes.subarray(at, at + HEX_ROW)];
    rows.push({
      offset: at.toString(16).padStart(6, '0'),
      hex: row.map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
      text: row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(''),
    });
  }
  return rows;
}

/** JSON set out with indentation; null when it is none. */
function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON after all: it is shown as the text that it is.
    return null;
  }
}

/** Decides how to show a file. `bytes` are its first ones; `complete` says whether they are all of it. */
export function previewOf(path: string, bytes: Uint8Array, complete: boolean): PreviewKind {
  if (bytes.length === 0 && complete) return { kind: 'empty' };
  if (IMAGES.test(path)) return { kind: 'image' };
  const text = textOf(bytes, complete);
  if (text === null) return { kind: 'hex', rows: hexRows(bytes) };
  const pretty = complete && /\.json$/i.test(path) ? prettyJson(text) : null;
  return pretty === null ? { kind: 'text', text } : { kind: 'json', text: pretty };
}
