/**
 * Whether a JSON value has the inputs or outputs that a component declares. Written by hand: it runs inside workers,
 * where a schema library takes megabytes, and at every call. Pure.
 */
import type { ComponentPort } from './types.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Problems in one sentence; a value may have thousands. */
const MAX_NAMED = 5;

/** The words of types, each with its test. */
const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: isRecord,
  array: Array.isArray,
  any: () => true,
  bytes: (value) => typeof value === 'string' && value.length % 4 === 0 && BASE64.test(value),
};

/**
 * What is wrong with a value, in a sentence, or null. `strict`: it must have no other names than those declared. Where
 * nothing is declared any value will do.
 */
export function portProblem(
  ports: readonly ComponentPort[],
  value: unknown,
  { strict }: { strict: boolean },
): string | null {
  if (ports.length === 0) return null;
  if (!isRecord(value)) return 'It must be an object with the declared names.';
  const problems = ports.flatMap(({ name, type, optional }) => {
    if (!Object.hasOwn(value, name)) return optional ? [] : [`${name} is missing`];
    return optional && value[name] === null ? [] : wrong(name, type, value[name]);
  });
  if (strict) {
    const declared = new Set(ports.map(({ name }) => name));
    for (const name of Object.keys(value)) {
      if (!declared.has(name)) problems.push(`${JSON.stringify(name.slice(0, 80))} is not declared`);
    }
  }
  if (problems.length === 0) return null;
  const more = problems.length > MAX_NAMED ? `, and ${problems.length - MAX_NAMED} more` : '';
  return `${problems.slice(0, MAX_NAMED).join(', ')}${more}.`;
}

function wrong(name: string, type: string, value: unknown): string[] {
  if (!type.endsWith('[]')) return hasType(type, value) ? [] : [`${name} must be ${type}, not ${kindOf(value)}`];
  if (!Array.isArray(value)) return [`${name} must be ${type}, not ${kindOf(value)}`];
  const item = type.slice(0, -2);
  const at = value.findIndex((one) => wrong('', item, one).length > 0);
  return at < 0 ? [] : [`${name}[${at}] must be ${item}, not ${kindOf(value[at])}`];
}

function hasType(type: string, value: unknown): boolean {
  return Object.hasOwn(TESTS, type) && (TESTS[type]?.(value) ?? false);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Whether it is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
