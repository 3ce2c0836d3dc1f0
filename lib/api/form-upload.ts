/**
 * A form with one file, as a browser without scripts sends it (`multipart/form-data`, RFC 7578): its fields, and the file as an upload that goes to
 * disk as it comes. Nothing but the fields and one piece is held. Fields that stand behind the file are not seen.
 */
import { WinterdockError } from '../errors.ts';
import { type Upload, uploadOf } from './body.ts';

interface FormUpload {
  fields: Readonly<Record<string, string>>;
  /** Name of the file as the browser says it, or null. */
  fileName: string | null;
  upload: Upload;
}

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 20;
const LINE_END = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');

function broken(why: string): WinterdockError {
  return new WinterdockError('validation', `The form is not valid: ${why}.`, {
    extra: { errors: [{ path: 'body', message: why }] },
  });
}

/** The bytes of a form, taken as far as they are wanted. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw broken('it ends in its middle');
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value]);
  }

  #take(bytes: number): Buffer {
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async exactly(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes) await this.#more();
    return this.#take(bytes);
  }

  /** Everything before `mark`, which is passed over, in pieces. */
  async *before(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#held.indexOf(mark);
      if (at >= 0) {
        if (at > 0) yield this.#take(at);
        this.#take(mark.length);
        return;
      }
      const safe = this.#held.length - mark.length + 1;
      if (safe > 0) yield this.#take(safe);
      await this.#more();
    }
  }

  /** The same at once, at most `limit` bytes. */
  async textBefore(mark: Buffer, limit: number): Promise<string> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.before(mark)) {
      bytes += piece.length;
      if (bytes > limit) throw broken(`a part of it is over ${limit} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  }
}

/** A parameter of a header: quoted, or a bare word. */
function parameterOf(header: string, name: string): string | null {
  const [, quoted, bare] = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^";\\s]+))`, 'i').exec(header) ?? [];
  return quoted ?? bare ?? null;
}

/**
 * Reads a form up to its file. `limit`: most bytes of the file. Throws `validation` for what is no such form, or has no file; the upload then throws
 * as any other does.
 */
export async function readFormUpload(
  body: AsyncIterable<Uint8Array>,
  contentType: string | null,
  limit: number,
): Promise<FormUpload> {
  const boundary = /^multipart\/form-data\b/i.test(contentType ?? '')
    ? parameterOf(contentType ?? '', 'boundary')
    : null;
  if (boundary === null || boundary.length > 70) throw broken('it is not multipart/form-data');
  const end = Buffer.from(`\r\n--${boundary}`);
  const pieces = new Pieces(body);
  const fields: Record<string, string> = {};
  await pieces.textBefore(end.subarray(LINE_END.length), MAX_HEADER_BYTES);
  for (let count = 0; count <= MAX_FIELDS; count += 1) {
    const after = await pieces.exactly(LINE_END.length);
    if (after.toString() === '--') throw broken('there is no file in it');
    if (!after.equals(LINE_END)) throw broken('a boundary is not followed by a line end');
    const headers = (await pieces.textBefore(BLANK_LINE, MAX_HEADER_BYTES)).split('\r\n');
    const disposition = headers.find((header) => /^content-disposition:\s*form-data\s*;/i.test(header));
    const name = disposition === undefined ? null : parameterOf(disposition, 'name');
    if (disposition === undefined || name === null) throw broken('a part of it has no name');
    const fileName = parameterOf(disposition, 'filename');
    if (fileName === null) {
      fields[name] = await pieces.textBefore(end, MAX_FIELD_BYTES);
      continue;
    }
    const type = headers.find((header) => /^content-type:/i.test(header))?.replace(/^[^:]*:\s*/, '') ?? null;
    const source = {
      length: null,
      async read(onChunk: (chunk: Uint8Array) => void | Promise<void>) {
        for await (const piece of pieces.before(end)) await onChunk(piece);
      },
    };
    return { fields, fileName: fileName === '' ? null : fileName, upload: uploadOf(source, type, limit) };
  }
  throw broken(`it has more than ${MAX_FIELDS} fields`);
}
