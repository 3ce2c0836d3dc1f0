/** A registry of npm packages: which versions there are, and their bytes, which are untrusted. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { maxSatisfying, satisfies, validRange } from 'semver';
import { PackageError, type PackageSource } from '../package-source.ts';

const ACCEPT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8';
/** In the order in which they are trusted. */
const ALGORITHMS = ['sha512', 'sha384', 'sha256', 'sha1'];
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

export type Dependencies = Readonly<Record<string, string>>;

/** A version of a package as the registry, or a package.json, says it. */
export interface PackageManifest {
  name: string;
  version: string;
  dependencies: Dependencies;
  optionalDependencies: Dependencies;
  hasInstallScript: boolean;
  tarball: string;
  integrity: string | null;
}

export interface Packument {
  tags: Dependencies;
  versions: ReadonlyMap<string, { manifest: PackageManifest; isDeprecated: boolean }>;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The texts of an object by name; empty for anything else. */
export function textsOf(value: unknown): Dependencies {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** A name that may be a folder: npm's rules, without those of long ago. */
export function isPackageName(name: string): boolean {
  return name.length <= 214 && /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/i.test(name);
}

/** What a registry knows of a package. Throws `PackageError`. */
export async function packumentOf(name: string, registry: string, fetch: PackageSource): Promise<Packument> {
  if (!isPackageName(name)) throw new PackageError(`"${name}" is no name of a package`);
  const url = `${registry.replace(/\/*$/, '')}/${name}`;
  const { answer } = await fetch(url, ACCEPT);
  if (answer.status === 404) throw new PackageError(`there is no package "${name}" on ${registry}`);
  if (answer.status !== 200) throw new PackageError(`${url} answered ${answer.status}`);
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(answer.body).toString());
  } catch {
    // Said below.
  }
  if (!isJsonObject(document) || !isJsonObject(document.versions))
    throw new PackageError(`${url} is no list of versions`);
  const versions = new Map<string, { manifest: PackageManifest; isDeprecated: boolean }>();
  for (const [version, fields] of Object.entries(document.versions)) {
    const manifest = manifestOf(fields, name, version);
    if (manifest === null) continue;
    versions.set(version, { manifest, isDeprecated: isJsonObject(fields) && Boolean(fields.deprecated) });
  }
  return { tags: textsOf(document['dist-tags']), versions };
}

function manifestOf(fields: unknown, name: string, version: string): PackageManifest | null {
  if (!isJsonObject(fields) || !isJsonObject(fields.dist) || typeof fields.dist.tarball !== 'string') return null;
  const { integrity, shasum, tarball } = fields.dist;
  const scripts = textsOf(fields.scripts);
  const optionalDependencies = textsOf(fields.optionalDependencies);
  const dependencies = Object.fromEntries(
    Object.entries(textsOf(fields.dependencies)).filter(([one]) => !Object.hasOwn(optionalDependencies, one)),
  );
  const ofHex = typeof shasum === 'string' && /^[0-9a-f]{40}$/.test(shasum);
  return {
    name,
    version,
    dependencies,
    optionalDependencies,
    hasInstallScript:
      fields.hasInstallScript === true || INSTALL_SCRIPTS.some((script) => Object.hasOwn(scripts, script)),
    tarball,
    integrity:
      typeof integrity === 'string'
        ? integrity
        : ofHex
          ? `sha1-${Buffer.from(shasum as string, 'hex').toString('base64')}`
          : null,
  };
}

/** The version that a range, a tag or nothing asks for. Throws `PackageError`. */
export function pick({ tags, versions }: Packument, name: string, wanted: string): PackageManifest {
  const asked = wanted === '' ? 'latest' : wanted;
  const tagged = Object.hasOwn(tags, asked) ? versions.get(tags[asked] ?? '') : undefined;
  if (tagged !== undefined) return tagged.manifest;
  const range = validRange(asked);
  if (range === null) {
    const isElsewhere = /[:/]/.test(asked);
    throw new PackageError(
      isElsewhere
        ? `${name}@${asked}: only packages of the registry are installed`
        : `there is no version or tag "${asked}" of ${name}`,
    );
  }
  const latest = versions.get(tags.latest ?? '');
  if (latest !== undefined && satisfies(latest.manifest.version, range)) return latest.manifest;
  const kept = [...versions].flatMap(([version, { isDeprecated }]) => (isDeprecated ? [] : [version]));
  const best = maxSatisfying(kept, range) ?? maxSatisfying([...versions.keys()], range);
  const found = best === null ? undefined : versions.get(best);
  if (found === undefined)
    throw new PackageError(`no version of ${name} is in "${asked}"; the latest is ${tags.latest}`);
  return found.manifest;
}

/** The bytes of a package, which have the hash that is known. Throws `PackageError`. */
export async function downloadPackage(
  { name, version, tarball, integrity }: Pick<PackageManifest, 'name' | 'version' | 'tarball' | 'integrity'>,
  fetch: PackageSource,
): Promise<Buffer> {
  if (!URL.canParse(tarball)) throw new PackageError(`${name}@${version} has no address`);
  const { answer } = await fetch(tarball, '*/*');
  if (answer.status !== 200) throw new PackageError(`${tarball} answered ${answer.status}`);
  const bytes = Buffer.from(answer.body);
  requireIntegrity(bytes, integrity, `${name}@${version}`);
  return bytes;
}

function requireIntegrity(bytes: Buffer, integrity: string | null, what: string): void {
  const hashes = (integrity ?? '').split(/\s+/).flatMap((one) => {
    const [, algorithm = '', hash = ''] = /^(\w+)-([A-Za-z0-9+/=]+)/.exec(one) ?? [];
    return ALGORITHMS.includes(algorithm) ? [{ algorithm, hash: Buffer.from(hash, 'base64') }] : [];
  });
  const best = ALGORITHMS.find((algorithm) => hashes.some((one) => one.algorithm === algorithm));
  if (best === undefined) throw new PackageError(`${what} has no hash by which it could be known`);
  const found = createHash(best).update(bytes).digest();
  const isKnown = hashes.some(
    ({ algorithm, hash }) => algorithm === best && hash.length === found.length && timingSafeEqual(hash, found),
  );
  if (!isKnown)
    throw new PackageError(`${what} is not what the registry says: its ${best} is ${found.toString('base64')}`);
}
