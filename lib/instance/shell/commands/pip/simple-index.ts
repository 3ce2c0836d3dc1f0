/** An index of Python packages (PEP 503, 691): which wheels of a package there are, and their bytes. */
import { createHash } from 'node:crypto';
import { parse as parseVersion, satisfies } from '@renovatebot/pep440';
import type { FetchAnswer } from '../../../fetch-messages.ts';
import { followRedirects } from '../../../redirects.ts';
import { FULL_VERSION, normalName } from './requirements.ts';

const ACCEPT = 'application/vnd.pypi.simple.v1+json, text/html;q=0.1';
const MOST_REDIRECTS = 5;
const MINOR = Number(FULL_VERSION.split('.')[1]);

/** A wheel that this Python can use. */
export interface IndexedWheel {
  name: string;
  version: string;
  file: string;
  url: string;
  sha256: string | null;
  isYanked: boolean;
}

export interface Candidates {
  wheels: IndexedWheel[];
  /** Files of the package that are none: sources, wheels with machine code, or for another Python. */
  others: number;
}

/** Why something could not be fetched or used, for the person. */
export class IndexError extends Error {}

export type Fetcher = (url: string, headers: [string, string][]) => Promise<FetchAnswer>;

interface Listed {
  filename: string;
  url: string;
  hashes: Record<string, string>;
  requiresPython: string | null;
  isYanked: boolean;
}

/** The wheels of a package on the first index that has it. Throws `IndexError`. */
export async function candidatesOf(name: string, indexes: readonly string[], fetch: Fetcher): Promise<Candidates> {
  for (const index of indexes) {
    const url = `${index.replace(/\/*$/, '')}/${name}/`;
    const { answer, last } = await get(url, fetch, ACCEPT);
    if (answer.status === 404) continue;
    if (answer.status !== 200) throw new IndexError(`${url} answered ${answer.status}`);
    const type = answer.headers.find(([header]) => header === 'content-type')?.[1] ?? '';
    const text = Buffer.from(answer.body).toString();
    const listed = type.includes('json') ? ofJson(text, url) : ofHtml(text);
    const wheels = listed.flatMap((file) => usable(file, name, last) ?? []);
    return { wheels, others: listed.length - wheels.length };
  }
  throw new IndexError(`there is no package "${name}" on ${indexes.join(', ')}`);
}

/** The bytes of a wheel, which have the hash that the index says. Throws `IndexError`. */
export async function download({ url, file, sha256 }: IndexedWheel, fetch: Fetcher): Promise<Buffer> {
  const { answer } = await get(url, fetch, '*/*');
  if (answer.status !== 200) throw new IndexError(`${url} answered ${answer.status}`);
  const bytes = Buffer.from(answer.body);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== null && found !== sha256) {
    throw new IndexError(`${file} is not what the index says: its SHA-256 is ${found}, and not ${sha256}`);
  }
  return bytes;
}

async function get(url: string, fetch: Fetcher, accept: string) {
  const headers: [string, string][] = [
    ['accept', accept],
    ['user-agent', 'pip/winterdock'],
  ];
  const first = { url, method: 'GET', headers, body: null, decode: true, timeoutMs: null };
  const followed = await followRedirects(first, (request) => fetch(request.url, request.headers), {
    most: MOST_REDIRECTS,
  });
  const { answer } = followed;
  if ('failure' in answer) {
    const hint =
      answer.failure === 'refused'
        ? `. An operator allows it: winterdock network allow ${new URL(followed.url).origin}/ --tenant TENANT`
        : '';
    throw new IndexError(`${followed.url}: ${answer.message}${hint}`);
  }
  if (followed.tooMany) throw new IndexError(`${url}: more than ${MOST_REDIRECTS} redirects`);
  return { answer, last: followed.url };
}

function ofJson(text: string, url: string): Listed[] {
  let files: unknown;
  try {
    files = (JSON.parse(text) as { files?: unknown }).files;
  } catch {
    // Said below.
  }
  if (!Array.isArray(files)) throw new IndexError(`${url} is no list of files`);
  return files.flatMap((file: Record<string, unknown>) => {
    if (typeof file?.filename !== 'string' || typeof file.url !== 'string') return [];
    const hashes =
      typeof file.hashes === 'object' && file.hashes !== null ? (file.hashes as Record<string, string>) : {};
    const requires = file['requires-python'];
    return {
      filename: file.filename,
      url: file.url,
      hashes,
      requiresPython: typeof requires === 'string' ? requires : null,
      isYanked: file.yanked === true || typeof file.yanked === 'string',
    };
  });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };

/** The anchors of a page as every index writes it. */
function ofHtml(text: string): Listed[] {
  const plain = (value: string) => value.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
  return [...text.matchAll(/<a\s([^>]*)>([^<]*)<\/a>/gi)].flatMap(([, attributes = '', label = '']) => {
    const of = (name: string) => {
      const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(attributes);
      return found === null ? null : plain(found[1] ?? found[2] ?? '');
    };
    const href = of('href');
    if (href === null) return [];
    const [, algorithm, hash] = /#(\w+)=([0-9a-f]+)$/.exec(href) ?? [];
    return {
      filename: plain(label).trim(),
      url: href,
      hashes: algorithm === undefined || hash === undefined ? {} : { [algorithm]: hash },
      requiresPython: of('data-requires-python'),
      isYanked: /(?:^|\s)data-yanked\b/i.test(attributes),
    };
  });
}

/** The file as a wheel; null when this Python cannot use it, or it is of another package. */
function usable({ filename, url, hashes, requiresPython, isYanked }: Listed, name: string, base: string) {
  const wheel = wheelName(filename);
  if (wheel === null || wheel.name !== name || !URL.canParse(url, base)) return null;
  if (requiresPython !== null && !allows(requiresPython)) return null;
  const at = new URL(url, base);
  at.hash = '';
  const { sha256 } = hashes;
  return { ...wheel, file: filename, url: at.href, sha256: typeof sha256 === 'string' ? sha256 : null, isYanked };
}

function allows(requiresPython: string): boolean {
  try {
    return satisfies(FULL_VERSION, requiresPython, { prereleases: true });
  } catch {
    // As pip does: what cannot be read excludes nothing.
    return true;
  }
}

/** Name and version of a wheel by its file's name; null when it is no wheel of pure Python for this version. */
export function wheelName(filename: string): { name: string; version: string } | null {
  const [, name, version, pythons = '', abi, platform] =
    /^([^-]+)-([^-]+)(?:-\d[^-]*)?-([^-]+)-([^-]+)-([^-]+)\.whl$/.exec(filename) ?? [];
  if (name === undefined || version === undefined || parseVersion(version) === null) return null;
  if (!(abi ?? '').split('.').includes('none') || !(platform ?? '').split('.').includes('any')) return null;
  const isOurs = pythons.split('.').some((tag) => {
    const [, kind, minor] = /^(py|cp)3(\d*)$/.exec(tag) ?? [];
    if (kind === undefined) return false;
    return kind === 'cp' ? Number(minor) === MINOR : minor === '' || Number(minor) <= MINOR;
  });
  return isOurs ? { name: normalName(name), version } : null;
}
