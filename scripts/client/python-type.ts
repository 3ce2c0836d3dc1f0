/**
 * The contract's schemas as Python's types: a TypedDict for each object, for Python 3.9 and later. Throws for a kind of
 * schema that the contract does not use yet: add its case here.
 */
import type { z } from 'zod';
import type { NameOf, Side } from './plain-type.ts';

const WIDTH = 100;

/** Words that no member of a class may be called. */
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** A name of the contract in snake case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Brackets whose line would be too long, one element a line. Only the outermost are broken. */
function wrapped(head: string, type: string, indent: string): string {
  const line = `${indent}${head}${type}`;
  const bracket = /^(\w+)\[(.*)\]$/s.exec(type);
  if (line.length <= WIDTH || bracket === null) return line;
  const [, name = '', inside = ''] = bracket;
  const parts = topLevel(inside).map((part) => `${wrapped('', part, `${indent}    `)},`);
  return [`${indent}${head}${name}[`, ...parts, `${indent}]`].join('\n');
}

/** The elements between brackets, split at the commas that lie in none. */
function topLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    if (quoted) continue;
    if (sign === '[') depth += 1;
    if (sign === ']') depth -= 1;
    if (sign !== ',' || depth > 0) continue;
    parts.push(text.slice(from, at).trim());
    from = at + 1;
  }
  return [...parts, text.slice(from).trim()];
}

function oneOf(types: readonly string[]): string {
  const kinds = [...new Set(types)];
  const others = kinds.filter((type) => type !== 'None');
  const union = others.length === 1 ? (others[0] ?? '') : `Union[${others.join(', ')}]`;
  return others.length === kinds.length ? union : `Optional[${union}]`;
}

/** A comment of `text` before a member. */
function commentOf(schema: z.core.$ZodType): string[] {
  const { description } = schema as z.ZodType;
  if (description === undefined) return [];
  const lines = [''];
  for (const word of description.split(/\s+/)) {
    const current = lines.at(-1) ?? '';
    if (current.length + word.length + 8 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = current === '' ? word : `${current} ${word}`;
  }
  return lines.map((line) => `    #: ${line}`);
}

/** The definitions of one named type; `nameOf` gives the names of schemas within it. */
export function pythonDefinitions(name: string, schema: z.core.$ZodType, side: Side, nameOf: NameOf): string[] {
  const definitions: string[] = [];

  const typeOf = (within: z.core.$ZodType, hint: string): string => {
    const named = nameOf(within, side);
    return named ?? shapeOf(within, hint);
  };

  const shapeOf = (within: z.core.$ZodType, hint: string): string => {
    const { def } = (within as z.core.$ZodTypes)._zod;
    switch (def.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'unknown':
        return 'Any';
      case 'number':
        return (within as z.ZodNumber).isInt ? 'int' : 'float';
      case 'enum':
        return `Literal[${Object.values(def.entries)
          .map((value) => JSON.stringify(value))
          .join(', ')}]`;
      case 'literal':
        return oneOf(
          def.values.map((value) =>
            value === null
              ? 'None'
              : `Literal[${typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)}]`,
          ),
        );
      case 'array':
        return `List[${typeOf(def.element, `${hint}Item`)}]`;
      case 'record':
        return `Dict[str, ${typeOf(def.valueType, `${hint}Value`)}]`;
      case 'union':
        return oneOf(def.options.map((option, at) => typeOf(option, `${hint}${at + 1}`)));
      case 'nullable':
        return oneOf([typeOf(def.innerType, hint), 'None']);
      case 'optional':
      case 'default':
        return typeOf(def.innerType, hint);
      case 'pipe':
        return typeOf(side === 'input' ? def.in : def.out, hint);
      case 'object':
        define(hint, def);
        return hint;
      default:
        throw new Error(`A schema of the kind "${def.type}" cannot be written as a type of Python yet.`);
    }
  };

  /** A part of a class: by its members, or, where one has a keyword's name, by a call. */
  const partText = (
    title: string,
    base: string,
    total: boolean,
    members: [string, z.core.$ZodType][],
    root: string,
  ) => {
    const typed = members.map(
      ([key, member]) => [key, typeOf(member, `${root}${pascal(key)}`), commentOf(member)] as const,
    );
    if (typed.some(([key]) => KEYWORDS.has(key))) {
      const lines = typed.flatMap(([key, type, comment]) => [
        ...comment,
        `        "${key}": ${JSON.stringify(type).replaceAll('\\"', "'")},`,
      ]);
      const call = [
        `TypedDict(`,
        `    "${title}",`,
        '    {',
        ...lines,
        '    },',
        ...(total ? [] : ['    total=False,']),
        ')',
      ];
      return `${title} = ${call.join('\n')}`;
    }
    const lines = typed.flatMap(([key, type, comment]) => [...comment, wrapped(`${key}: `, type, '    ')]);
    return `class ${title}(${base}${total ? '' : ', total=False'}):\n${lines.length === 0 ? '    pass' : lines.join('\n')}`;
  };

  const define = (title: string, { shape }: z.core.$ZodObjectDef) => {
    const members = Object.entries(shape);
    const mayBeLeftOut = (member: z.core.$ZodType) =>
      (side === 'input' ? member._zod.optin : member._zod.optout) !== undefined;
    const required = members.filter(([, member]) => !mayBeLeftOut(member));
    const optional = members.filter(([, member]) => mayBeLeftOut(member));
    const texts: string[] = [];
    if (optional.length === 0) texts.push(partText(title, 'TypedDict', true, required, title));
    else if (required.length === 0) texts.push(partText(title, 'TypedDict', false, optional, title));
    else {
      texts.push(partText(`_${title}Required`, 'TypedDict', true, required, title));
      if (!optional.some(([key]) => KEYWORDS.has(key))) {
        texts.push(partText(title, `_${title}Required`, false, optional, title));
      } else {
        texts.push(partText(`_${title}Optional`, 'TypedDict', false, optional, title));
        texts.push(`class ${title}(_${title}Required, _${title}Optional):\n    pass`);
      }
    }
    definitions.push(...texts);
  };

  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') define(name, def);
  else definitions.push(wrapped(`${name} = `, shapeOf(schema, name), ''));
  return definitions;
}

function pascal(key: string): string {
  return key
    .split('_')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('');
}
