/**
 * A schema of the contract as a plain TypeScript type, so that the client's users need no schema library. Throws for a
 * kind of schema that the contract does not use yet: add its case here.
 */
import type { z } from 'zod';
import { docComment } from './doc-comment.ts';

/**
 * `input`: what may be sent. `output`: what was read. They differ by defaults and by numbers that may arrive as words.
 */
export type Side = 'input' | 'output';

/** Most members lie at this depth; the formatter moves those that lie deeper. */
const MEMBER_INDENT = 2;

/** Gives a name to an object that has one; undefined writes it out. */
export type NameOf = (schema: z.core.$ZodType, side: Side) => string | undefined;

/** Prints the type of `schema` in full; schemas within it by their names, where they have one. */
export function plainType(schema: z.core.$ZodType, side: Side, nameOf: NameOf): string {
  const inner = (within: z.core.$ZodType) => nameOf(within, side) ?? plainType(within, side, nameOf);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'unknown':
      return def.type;
    case 'number':
      return side === 'input' && 'coerce' in def && def.coerce === true ? 'number | string' : 'number';
    case 'enum':
      return oneOf(Object.values(def.entries).map((value) => JSON.stringify(value)));
    case 'literal':
      return oneOf(def.values.map((value) => JSON.stringify(value)));
    case 'array':
      return `Array<${inner(def.element)}>`;
    case 'record':
      return `Record<${inner(def.keyType)}, ${inner(def.valueType)}>`;
    case 'union':
      return oneOf(def.options.map(inner));
    case 'nullable':
      return oneOf([inner(def.innerType), 'null']);
    case 'optional':
      return oneOf([inner(def.innerType), 'undefined']);
    case 'default':
      return side === 'input' ? oneOf([inner(def.innerType), 'undefined']) : inner(def.innerType);
    case 'pipe':
      return inner(side === 'input' ? def.in : def.out);
    case 'object':
      return objectType(def, side, inner);
    default:
      throw new Error(`A schema of the kind "${def.type}" cannot be written as a type yet.`);
  }
}

function oneOf(types: readonly string[]): string {
  return types.join(' | ');
}

function objectType(
  { shape, catchall }: z.core.$ZodObjectDef,
  side: Side,
  inner: (schema: z.core.$ZodType) => string,
): string {
  const members = Object.entries(shape).map(([name, schema]) => {
    // An input is `optional` or `defaulted` where it may be left out.
    const mayBeLeftOut = (side === 'input' ? schema._zod.optin : schema._zod.optout) !== undefined;
    return `${commentOf(schema)}${JSON.stringify(name)}${mayBeLeftOut ? '?' : ''}: ${inner(schema)};`;
  });
  if (catchall?._zod.def.type === 'unknown') members.push('[name: string]: unknown;');
  return `{\n${members.join('\n')}\n}`;
}

/** The description of a schema as a comment. */
function commentOf(schema: z.core.$ZodType): string {
  const { description } = schema as z.ZodType;
  return description === undefined ? '' : docComment(description, MEMBER_INDENT);
}
