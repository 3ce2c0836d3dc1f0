/** What a package asks for: names, versions, extras and markers, as pip reads them (PEP 440, 503 and 508). Pure. */
import { parse as parseVersion, satisfies } from '@renovatebot/pep440';
import {
  type EnvironmentMarker,
  type EnvironmentMarkerLeaf,
  type Requirement as Parsed,
  parsePipRequirementsFile,
  parsePipRequirementsLine,
} from 'pip-requirements-js';
import { PYTHON_VERSION } from '../../../python/python-paths.ts';

/** The whole version of the sandbox's CPython. */
export const FULL_VERSION = `${PYTHON_VERSION}.2`;

export interface Requirement {
  /** As PEP 503 has it: lower case, with single dashes. */
  name: string;
  /** As `>=1,<2`; empty for any. */
  versions: string;
  extras: string[];
  /** Who asks, for the person: a package, or a file of requirements. Null: who called pip. */
  by: string | null;
}

/** What cannot be read, or is not supported, for the person. */
export class RequirementError extends Error {}

export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** What CPython in a sandbox says of itself. */
const MARKERS: Readonly<Record<string, string>> = {
  python_version: PYTHON_VERSION,
  python_full_version: FULL_VERSION,
  os_name: 'posix',
  sys_platform: 'emscripten',
  platform_machine: 'wasm32',
  platform_system: 'Emscripten',
  platform_release: '',
  platform_version: '',
  platform_python_implementation: 'CPython',
  implementation_name: 'cpython',
  implementation_version: FULL_VERSION,
};

/** Reads one requirement. Null when its marker excludes this Python. Throws `RequirementError`. */
export function parseRequirement(
  text: string,
  { by = null, extras = [] }: { by?: string | null; extras?: readonly string[] } = {},
): Requirement | null {
  const parsed = parsedLine(text);
  return parsed === null ? null : ofParsed(parsed, text, by, extras);
}

function parsedLine(text: string): Parsed | null {
  try {
    return parsePipRequirementsLine(text);
  } catch {
    throw new RequirementError(`Invalid requirement: '${text}'`);
  }
}

function ofParsed(parsed: Parsed, text: string, by: string | null, extras: readonly string[]): Requirement | null {
  if (parsed.type === 'ProjectURL') {
    throw new RequirementError(
      `'${text}' names an address: only packages of the index are installed, and wheels of the sandbox`,
    );
  }
  if (parsed.type !== 'ProjectName') throw new RequirementError(`Invalid requirement: '${text}'`);
  const { name, versionSpec = [], environmentMarkerTree: marker } = parsed;
  if (marker !== undefined && !['', ...extras].some((extra) => holds(marker, extra))) return null;
  const versions = versionSpec.map(({ operator, version }) => `${operator}${version ?? ''}`).join(',');
  return { name: normalName(name), versions, extras: (parsed.extras ?? []).map(normalName), by };
}

/** The requirements of a file. `include` reads another one that it names. Throws `RequirementError`. */
export async function requirementsOfFile(
  text: string,
  by: string,
  include: (path: string) => Promise<{ text: string; by: string }>,
  depth = 0,
): Promise<{ wanted: Requirement[]; constraints: Requirement[] }> {
  let lines: Parsed[];
  try {
    // What pip takes from a file about the index is the caller's here.
    lines = parsePipRequirementsFile(
      text.replace(/^\s*--?(?:i|index-url|extra-index-url|no-cache-dir|pre)\b.*$/gm, ''),
    );
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new RequirementError(`${by}: ${why}`);
  }
  const found: { wanted: Requirement[]; constraints: Requirement[] } = { wanted: [], constraints: [] };
  for (const line of lines) {
    if (line.type === 'RequirementsFile' || line.type === 'ConstraintsFile') {
      if (depth >= 10) throw new RequirementError(`${by}: files of requirements name each other without an end`);
      const other = await include(line.path);
      const read = await requirementsOfFile(other.text, other.by, include, depth + 1);
      found.constraints.push(...read.constraints, ...(line.type === 'ConstraintsFile' ? read.wanted : []));
      if (line.type === 'RequirementsFile') found.wanted.push(...read.wanted);
    } else {
      const name = line.type === 'ProjectName' ? line.name : '';
      const requirement = ofParsed(line, name, by, []);
      if (requirement !== null) found.wanted.push(requirement);
    }
  }
  return found;
}

function holds(marker: EnvironmentMarker, extra: string): boolean {
  if (marker.operator === 'and' || marker.operator === 'or') {
    const { left, right } = marker as Extract<EnvironmentMarker, { operator: 'and' | 'or' }>;
    return marker.operator === 'and'
      ? holds(left, extra) && holds(right, extra)
      : holds(left, extra) || holds(right, extra);
  }
  return leafHolds(marker as EnvironmentMarkerLeaf, extra);
}

function leafHolds({ left, operator, right }: EnvironmentMarkerLeaf, extra: string): boolean {
  const isExtra = left === 'extra' || right === 'extra';
  const sideOf = (side: string) => {
    if (/^(['"]).*\1$/s.test(side)) return isExtra ? normalName(side.slice(1, -1)) : side.slice(1, -1);
    return side === 'extra' ? extra : (MARKERS[side] ?? '');
  };
  const [a, b] = [sideOf(left), sideOf(right)];
  if (operator === 'in') return b.includes(a);
  if (operator === 'not in') return !b.includes(a);
  if (!isExtra && parseVersion(a) !== null && parseVersion(b.replace(/\.\*$/, '')) !== null) {
    return satisfies(a, `${operator}${b}`, { prereleases: true });
  }
  switch (operator) {
    case '==':
    case '===':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    default:
      return false;
  }
}
