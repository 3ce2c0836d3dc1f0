/**
 * Ids as clients of Ash read them: UUIDs, always. A sandbox with a UUID is a session of that id. One with another id is
 * shown under a UUID that is computed from it and leads back to it. Pure: knows no engine.
 */
import { createHash } from 'node:crypto';
import { type InstanceId, isInstanceId, parseInstanceId } from '../../base/ids.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** RFC 9562, sections 5.8 and 5.5: version 8 is any scheme's own, and version 5 a hash of a name. */
const WRITTEN = 8;
const HASHED = 5;

/** What an id is made of. Place 0 is no character: it is what follows a shorter id. */
const CHARACTERS = ' 0123456789abcdefghijklmnopqrstuvwxyz_-';
const BASE = BigInt(CHARACTERS.length);
/** 39^23 is the largest power of 39 below 2^122, and a UUID of version 8 has 122 bits of its own. */
const LONGEST = 23;

const versionOf = (text: string): number | null => {
  const [, version] = UUID.exec(text) ?? [];
  return version === undefined ? null : Number.parseInt(version, 16);
};

/** 122 bits as a UUID of a version. */
function uuidOf(bits: bigint, version: number): string {
  const hex = [bits >> 74n, (bits >> 62n) & 0xfffn, bits & ((1n << 62n) - 1n)] as const;
  const first = hex[0].toString(16).padStart(12, '0');
  const last = ((2n << 62n) | hex[2]).toString(16).padStart(16, '0');
  const middle = version.toString(16) + hex[1].toString(16).padStart(3, '0');
  return `${first.slice(0, 8)}-${first.slice(8)}-${middle}-${last.slice(0, 4)}-${last.slice(4)}`;
}

/** The 122 bits of a UUID, without its version and variant. */
function bitsOf(uuid: string): bigint {
  const hex = uuid.replaceAll('-', '');
  const [first, middle, last] = [hex.slice(0, 12), hex.slice(13, 16), hex.slice(16)].map((part) => BigInt(`0x${part}`));
  return ((first ?? 0n) << 74n) | ((middle ?? 0n) << 62n) | ((last ?? 0n) & ((1n << 62n) - 1n));
}

/** A UUID that stands for some text, always the same one. */
export function uuidFor(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return uuidOf(BigInt(`0x${digest}`) & ((1n << 122n) - 1n), HASHED);
}

/** The id of the session that a sandbox is. */
export function sessionIdOf(id: InstanceId | string): string {
  const version = versionOf(id);
  if (version !== null && version !== WRITTEN && version !== HASHED) return id;
  if (id.length > LONGEST) return uuidFor(id);
  const digits = [...id.padEnd(LONGEST)].map((character) => BigInt(CHARACTERS.indexOf(character)));
  return uuidOf(
    digits.reduce((sum, digit) => sum * BASE + digit, 0n),
    WRITTEN,
  );
}

/** The sandbox that an id of a session names: its own id is one too. `isHashed`: only a search finds the sandbox. */
export function parseSessionId(text: string): { id: InstanceId; isHashed: boolean } | null {
  const given = text.toLowerCase();
  const version = versionOf(given);
  if (version === null) return isInstanceId(text) ? { id: text, isHashed: false } : null;
  let bits = version === WRITTEN ? bitsOf(given) : 0n;
  let written = '';
  for (; bits > 0n; bits /= BASE) written = CHARACTERS[Number(bits % BASE)] + written;
  const id = written.trimEnd();
  // Nobody takes the place of another's session by a sandbox that is called as that one is shown.
  if (isInstanceId(id) && sessionIdOf(id) === given) return { id, isHashed: false };
  return { id: parseInstanceId(given), isHashed: version === HASHED };
}
