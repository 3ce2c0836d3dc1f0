/**
 * Prints the types of the client's calls from the contract's schemas: one plain type by name for each schema that a
 * call takes or answers with, and beside it a test that the compiler holds each against its schema.
 */
import { z } from 'zod';
import * as schemas from '../../lib/contract/schema.ts';
import { type NameOf, plainType, type Side } from './plain-type.ts';

const schemaNames = new Map<unknown, string>(Object.entries(schemas).map(([name, value]) => [value, name]));

/**
 * `createSchema` as an input is `CreateInput`, `listQuerySchema` is `ListQuery`, `instanceSchema` as an output is
 * `Instance`.
 */
function typeName(schemaName: string, side: Side): string {
  const stem = schemaName.replace(/Schema$/, '');
  const name = `${stem.slice(0, 1).toUpperCase()}${stem.slice(1)}`;
  return side === 'output' || /(?:Input|Query)$/.test(name) ? name : `${name}Input`;
}

/** The named types that something uses, and those that lie in them. */
export class TypeBook {
  readonly #asked = new Set<string>();
  readonly #comparing = new Set<z.core.$ZodType>();
  readonly #types = new Map<string, { schemaName: string; side: Side; text: string }>();

  /** Every type of the book by name, with what it is printed from. */
  entries(): { name: string; schema: z.core.$ZodType; side: Side }[] {
    const schemaOf = new Map([...schemaNames].map(([schema, name]) => [name, schema as z.core.$ZodType]));
    return [...this.#types]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { schemaName, side }]) => {
        const schema = schemaOf.get(schemaName);
        return schema === undefined ? [] : [{ name, schema, side }];
      });
  }

  /** The name of a schema's type, or null when lib/contract/schema.ts does not export it. */
  name(schema: z.core.$ZodType, side: Side): string | null {
    const name = this.#add(schema, side);
    if (name !== null) this.#asked.add(name);
    return name;
  }

  /** What `name` was asked for, sorted. */
  requestedNames(): string[] {
    return [...this.#asked].sort();
  }

  #add(schema: z.core.$ZodType, side: Side): string | null {
    const schemaName = schemaNames.get(schema);
    if (schemaName === undefined) return null;
    const name = typeName(schemaName, side);
    if (!this.#types.has(name)) {
      this.#types.set(name, { schemaName, side, text: '' });
      this.#types.set(name, { schemaName, side, text: plainType(schema, side, this.nameWithin) });
    }
    return name;
  }

  /** Objects within others go by their names; one that is the same on both sides has one name. */
  readonly nameWithin: NameOf = (schema, side) => {
    if (!(schema instanceof z.ZodObject) || !schemaNames.has(schema)) return undefined;
    // In itself a schema goes by its name: of one that holds itself both sides are the same.
    if (this.#comparing.has(schema)) return typeName(schemaNames.get(schema) ?? '', 'output');
    this.#comparing.add(schema);
    const isOne = plainType(schema, 'input', this.nameWithin) === plainType(schema, 'output', this.nameWithin);
    this.#comparing.delete(schema);
    return this.#add(schema, isOne ? 'output' : side) ?? undefined;
  };

  /** lib/client/types.ts. */
  typesText(): string {
    return `/**
 * What the calls take and answer, as plain types: the client's users need no schema library. Printed from the
 * contract's schemas by \`npm run client:calls\`. Not to be written by hand.
 */

${this.#each((name, { text }) => `export type ${name} = ${text};\n`)}`;
  }

  /** lib/client/types.test.ts. */
  testText(): string {
    const used = [...new Set([...this.#types.values()].map(({ schemaName }) => schemaName))].sort();
    return `/**
 * Holds each plain type against its schema; the compiler does the work. Printed by \`npm run client:calls\`. Not to be
 * written by hand.
 */
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { ${used.join(', ')} } from '../contract/schema.ts';
import type { ${[...this.#types.keys()].sort().join(', ')} } from './types.ts';

test('the plain types of the client are those of the contract’s schemas', () => {
${this.#each((name, { schemaName, side }) => `  expectTypeOf<${name}>().toEqualTypeOf<z.${side}<typeof ${schemaName}>>();`)}
});
`;
  }

  #each(line: (name: string, type: { schemaName: string; side: Side; text: string }) => string): string {
    return [...this.#types]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, type]) => line(name, type))
      .join('\n');
  }
}
