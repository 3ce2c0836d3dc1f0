/**
 * A form with one file, as a browser without scripts sends it (`multipart/form-data`, RFC 7578): its fields, and the
 * file as a stream. Holds the fields and one chunk in memory. Fields after the file are ignored. The library parses the
 * format; this module sets the limits and makes sure that a broken form never yields a file that seems complete.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MIMEType } from 'node:util';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import type { UploadStream } from '../operations/streams.ts';
import { type BodySource, uploadOf } from './body.ts';

interface FormUpload {
  fields: Readonly<Record<string, string>>;
  /** Name of the file as the browser says it, or null. */
  fileName: string | null;
  upload: UploadStream;
}

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 20;
/** RFC 2046, 5.1.1. */
const MAX_BOUNDARY_LENGTH = 70;

function broken(why: string, cause?: unknown): WinterdockError {
  return new WinterdockError('validation', `The form is not valid: ${why}.`, {
    extra: { errors: [{ path: 'body', message: why }] },
    cause,
  });
}

/** The error of a broken form: our own as it is; one of the parser or the connection as an early end. */
function failureOf(error: unknown): WinterdockError {
  return isWinterdockError(error) ? error : broken('it ends in its middle', error);
}

/** A parser for the form that a `Content-Type` announces. Throws `validation` when it announces none. */
function parserOf(contentType: string | null): BusboyInstance {
  let type: MIMEType;
  try {
    type = new MIMEType(contentType ?? '');
  } catch (error) {
    throw broken('it is not multipart/form-data', error);
  }
  const boundary = type.params.get('boundary') ?? '';
  if (type.essence !== 'multipart/form-data' || boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH) {
    throw broken('it is not multipart/form-data');
  }
  return new Busboy({
    headers: { 'content-type': type.toString() },
    limits: { fields: MAX_FIELDS, parts: MAX_FIELDS + 1, fieldSize: MAX_FIELD_BYTES, headerSize: MAX_HEADER_BYTES },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
}

/** The bytes of a form's file. The rest of the form is left unread, also when the file is not wanted to its end. */
function sourceOf(file: Readable, parser: BusboyInstance): BodySource {
  let failure: unknown = null;
  // The parser reports an early end, and then still ends the file as if it were complete.
  file.on('error', (error) => {
    failure ??= error;
  });
  return {
    length: null,
    async read(onChunk) {
      try {
        for await (const piece of file) {
          if (failure !== null) break;
          await onChunk(piece as Uint8Array);
        }
      } catch (error) {
        failure ??= error;
      } finally {
        parser.destroy();
      }
      if (failure !== null) throw failureOf(failure);
    },
  };
}

/**
 * Reads a form up to its file. `limit`: most bytes of the file. Throws `validation` for what is no such form, or has no
 * file; the upload then throws as any other does.
 */
export async function readFormUpload(
  body: AsyncIterable<Uint8Array>,
  contentType: string | null,
  limit: number,
): Promise<FormUpload> {
  const parser = parserOf(contentType);
  const fields: Record<string, string> = {};
  return new Promise((resolve, reject) => {
    let file: Readable | null = null;
    const tooMany = () => parser.destroy(broken(`it has more than ${MAX_FIELDS} fields`));
    parser.on('fieldsLimit', tooMany).on('partsLimit', tooMany);
    parser.on('field', (name: string | undefined, value, _nameIsCut, isCut) => {
      if (name === undefined) parser.destroy(broken('a part of it has no name'));
      else if (isCut) parser.destroy(broken(`a part of it is over ${MAX_FIELD_BYTES} bytes`));
      else fields[name] = value;
    });
    parser.on('file', (name: string | undefined, stream, fileName, _encoding, type) => {
      const source = sourceOf(stream, parser);
      if (name === undefined) parser.destroy(broken('a part of it has no name'));
      else if (file !== null) stream.resume();
      else {
        file = stream;
        resolve({ fields, fileName: fileName === '' ? null : fileName, upload: uploadOf(source, type, limit) });
      }
    });
    pipeline(body, parser).then(
      () => reject(broken('there is no file in it')),
      (error: unknown) => {
        const failure = failureOf(error);
        file?.destroy(failure);
        reject(failure);
      },
    );
  });
}
