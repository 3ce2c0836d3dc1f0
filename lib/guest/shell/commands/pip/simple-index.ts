/** An index of Python packages (PEP 503, 691): which wheels of a package there are, and their bytes. */
import { createHash } from 'node:crypto';
import { parse as parseVersion, satisfies } from '@renovatebot/pep440';
import { PackageError, type PackageSource } from '../package-source.ts';
import { FULL_VERSION, normalName } from './requirements.ts';

const ACCEPT = 'application/vnd.pypi.simple.v1+json, text/html;q=0.1';
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

interface Listed {
  filename: string;
  url: string;
  hashes: Record<string, string>;
  requiresPython: string | null;
  isYanked: boolean;
}

/** The wheels of a package on the first index that has it. Throws `PackageError`. */
export async function candidatesOf(
  name: string,
  indexes: readonly string[],
  fetch: PackageSource,
): Promise<Candidates> {
  for (const index of indexes) {
    const url = `${index.replace(/\/*$/, '')}/${name}/`;
    const { answer, url: last } = await fetch(url, ACCEPT);
    if (answer.status === 404) continue;
    if (answer.status !== 200) throw new PackageError(`${url} answered ${answer.status}`);
    const type = answer.headers.find(([header]) => header === 'content-type')?.[1] ?? '';
    const text = Buffer.from(answer.body).toString();
    const listed = type.includes('json') ? ofJson(text, url) : ofHtml(text);
    const wheels = listed.flatMap((file) => usable(file, name, last) ?? []);
    return { wheels, others: listed.length - wheels.length };
  }
  throw new PackageError(`there is no package "${name}" on ${indexes.join(', ')}`);
}

/** The bytes of a wheel, which have the hash that the index says. Throws `PackageError`. */
export async function downloadWheel({ url, file, sha256 }: IndexedWheel, fetch: PackageSource): Promise<Buffer> {
  const { answer } = await fetch(url, '*/*');
  if (answer.status !== 200) throw new PackageError(`${url} answered ${answer.status}`);
  const bytes = Buffer.from(answer.body);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== null && found !== sha256) {
    throw new PackageError(`${file} is not what the index says: its SHA-256 is ${found}, and not ${sha256}`);
  }
  return bytes;
}

function ofJson(text: string, url: string): Listed[] {
  let files: unknown;
  try {
    files = (JSON.parse(text) as { files?: unknown }).files;
  } catch {
    // Said below.
  }
  if (!Array.isArray(files)) throw new PackageError(`${url} is no list of files`);
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
