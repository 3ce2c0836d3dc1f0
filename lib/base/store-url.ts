/**
 * WB_COLD_URL: where the object store is. A URL may be given with a password in it, so no message here repeats what was
 * given. Credentials are never in it: they come from the usual environment and files of AWS.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where a store is, and which driver opens it. */
export type StoreAddress =
  /** `folder`: absolute. */
  | { readonly driver: 'file'; readonly folder: string; readonly url: string }
  /** `prefix`: of every name, with a slash at its end, or empty. */
  | { readonly driver: 's3'; readonly bucket: string; readonly prefix: string; readonly url: string };

/** How a store is spoken to. */
export interface StoreConnection {
  /** The origin of a server that speaks S3; null: Amazon's own for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** The bucket is in the path and not in the host's name. */
  readonly pathStyle: boolean;
  /** What the store encrypts with: a header of each write; null: what it does by itself. */
  readonly encryption: { readonly algorithm: 'AES256' | 'aws:kms'; readonly key: string | null } | null;
  /** The variables by which credentials are found, for the process that transfers files. Never shown. */
  readonly credentials: Readonly<Record<string, string>>;
}

const FORMS = 's3://BUCKET/PREFIX or file:///FOLDER';
const PART = /^[A-Za-z0-9_][A-Za-z0-9._=+@-]{0,199}$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** S3 allows names of 1024 bytes, of which ours take 700. */
const MOST_PREFIX = 300;

/** Parses the URL of a store. Throws an Error whose message says what is allowed and never contains the text. */
export function parseStoreUrl(text: string): StoreAddress {
  const wrong = (why: string) => new Error(`must be ${FORMS}: ${why}`);
  const [, scheme = '', rest = ''] = /^([a-z0-9]+):\/\/(.*)$/i.exec(text) ?? [];
  if (/[\u0000-\u0020\u007f]/.test(text)) throw wrong('it has no spaces and no control characters');
  if (scheme === '') throw wrong('this is no URL');
  const host = rest.split('/')[0] ?? '';
  if (host.includes('@')) throw wrong('credentials do not belong into it; set AWS_ACCESS_KEY_ID and its like');
  if (/[?#]/.test(rest)) throw wrong('it takes no parameters');
  switch (scheme.toLowerCase()) {
    case 'file': {
      if (host !== '') throw wrong('a folder has three slashes and an absolute path');
      let path: string;
      try {
        path = decodeURIComponent(rest);
      } catch {
        throw wrong('a % in a name is written %25');
      }
      if (/[\u0000-\u001f\u007f]/.test(path)) throw wrong('its path has control characters');
      const folder = resolve(path);
      if (folder === '/') throw wrong('this is the root of the file system');
      return { driver: 'file', folder, url: pathToFileURL(folder).href };
    }
    case 's3': {
      if (!BUCKET.test(host)) throw wrong('a bucket has 3 to 63 of a-z, 0-9, dots and dashes');
      const parts = rest.split('/').slice(1);
      if (parts.at(-1) === '') parts.pop();
      if (!parts.every((part) => PART.test(part)) || parts.join('/').length > MOST_PREFIX) {
        throw wrong('a prefix has parts of A-Z, a-z, 0-9 and ._=+@- that begin with a letter, a digit or _');
      }
      const prefix = parts.map((part) => `${part}/`).join('');
      return { driver: 's3', bucket: host, prefix, url: `s3://${[host, ...parts].join('/')}` };
    }
    default:
      throw wrong(`there is no driver for ${scheme.toLowerCase()}://`);
  }
}
