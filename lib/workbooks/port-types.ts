/** The types of inputs and outputs: how they are written, and which output may become which input. Pure. */
import type { ComponentPort } from './types.ts';

const PORT_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'any', 'bytes'] as const;
const PORT = /^([A-Za-z][A-Za-z0-9_]{0,62})(\?)?:([a-z]+)(\[\])?$/;

/** Words of the types, for sentences. */
export const PORT_TYPE_WORDS = `${PORT_TYPES.join(', ')}, or one of them with [] behind it`;

/** Reads `name:type` or `name?:type`; null when it is neither. */
export function portOf(text: string): ComponentPort | null {
  const [, name, optional, base, array = ''] = PORT.exec(text) ?? [];
  if (name === undefined || base === undefined) return null;
  if (!(PORT_TYPES as readonly string[]).includes(base)) return null;
  return { name, type: `${base}${array}`, optional: optional !== undefined };
}

/** Whether every value of an output's type may be given to an input of the other type, as far as types tell. */
export function typesMeet(output: string, input: string): boolean {
  if (output === input || output === 'any' || input === 'any') return true;
  const [from, to] = [elementOf(output), elementOf(input)];
  if (from !== null && to !== null) return typesMeet(from, to);
  return output === 'integer' && input === 'number';
}

/** The type of an array's elements; null for what is no array. */
function elementOf(type: string): string | null {
  if (type === 'array') return 'any';
  return type.endsWith('[]') ? type.slice(0, -2) : null;
}
